"""The texts of a corpus (a dataset, a file, or a folder of files), a batch at a time. Parquet and
JSON lines (packed with gzip or not) are read by their column or field `text`, plain text in
overlapping blocks. What has no text is counted.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from claimlab.core.dataset import MANIFEST, RECORDS, changed_files, read_manifest
from claimlab.core.errors import DataError, FileChanged, UnreadableFile, UsageError
from claimlab.core.tables import scan_parquet
from claimlab.search.documents import DocumentSource

BATCH_CHARACTERS = 4_000_000
# the tail of a block is read again with the next
BLOCK_CHARACTERS, TAIL_CHARACTERS = 1_000_000, 400
ROWS_READ = 20_000
LINE_SUFFIXES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".json.gz")
TEXT_SUFFIXES, PAGE_SUFFIXES = (".txt", ".md"), (".html", ".htm", ".json", ".jsonld")
SUFFIXES = (".parquet", *LINE_SUFFIXES, *TEXT_SUFFIXES, *PAGE_SUFFIXES)


def files_in(corpus: Path) -> list[Path]:
    """The files of a corpus, in order. A dataset is its table of records, as claimlab wrote it."""
    if (corpus / MANIFEST).is_file():
        if changed := changed_files(corpus, read_manifest(corpus)):
            raise FileChanged(corpus, changed)
        return [corpus / RECORDS]
    if not corpus.exists():
        raise UnreadableFile(
            f"There is no file or folder '{corpus}'.", "Check the path of the corpus."
        )
    inside = (
        sorted(p for p in corpus.rglob("*") if p.is_file() and not p.is_symlink())
        if corpus.is_dir()
        else [corpus]
    )
    files = [p for p in inside if p.name.lower().endswith(SUFFIXES) and not p.name.startswith(".")]
    if not files:
        todo = (
            f"Give files of: {', '.join(SUFFIXES)}; claimlab import makes a dataset of any other"
            " table."
        )
        raise UnreadableFile(f"'{corpus}' holds no texts that can be read.", todo)
    return files


def names_of(corpora: Sequence[Path]) -> list[str]:
    """A name for each corpus: that of its file or folder, after the folder that it is in where
    others have it too.
    """
    plain = [corpus.name for corpus in corpora]
    longer = [
        f"{c.absolute().parent.name}/{c.name}" if plain.count(c.name) > 1 else c.name
        for c in corpora
    ]
    if len(set(longer)) < len(longer):
        raise UsageError("Two corpora have the same name.", "Rename one of them, or leave it out.")
    return longer


def batches(file: Path, counts: Counter[str]) -> Iterator[pl.Series]:
    """The texts of a file, about `BATCH_CHARACTERS` at a time; `counts` fills with documents and
    what was skipped.
    """
    batch: list[str] = []
    size = 0
    for text in _texts(file, counts):
        batch.append(text)
        size += len(text)
        if size >= BATCH_CHARACTERS:
            yield pl.Series("text", batch, dtype=pl.String)
            batch, size = [], 0
    if batch:
        yield pl.Series("text", batch, dtype=pl.String)


def _texts(file: Path, counts: Counter[str]) -> Iterator[str]:
    name = file.name.lower()
    if name.endswith(".parquet"):
        yield from _parquet(file, counts)
    elif name.endswith(LINE_SUFFIXES):
        yield from _lines(file, counts)
    elif name.endswith(TEXT_SUFFIXES):
        yield from _blocks(file, counts)
    else:
        source = DocumentSource(file, retrieved=datetime(1970, 1, 1, tzinfo=UTC))
        for document in source.documents():
            counts["documents"] += 1
            yield " ".join(part for part in (document.title, document.text) if part)
        counts.update(source.skipped)


def _parquet(file: Path, counts: Counter[str]) -> Iterator[str]:
    try:
        scan = scan_parquet(file)
        if scan.collect_schema().get("text") != pl.String:
            raise DataError(
                f"'{file.name}' has no column 'text'.", "Name its column of texts 'text'."
            )
        height = scan.select(pl.len()).collect().item()
        for start in range(0, height, ROWS_READ):
            rows = scan.select("text").slice(start, ROWS_READ).collect()["text"]
            counts["without a text"] += rows.null_count()
            counts["documents"] += rows.len() - rows.null_count()
            yield from rows.drop_nulls().to_list()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise UnreadableFile(
            f"'{file.name}' cannot be read as Parquet: {error}.", "Check the file."
        ) from None


def _lines(file: Path, counts: Counter[str]) -> Iterator[str]:
    try:
        with gzip.open(file, "rb") if file.suffix.lower() == ".gz" else file.open("rb") as lines:
            for raw in lines:
                try:
                    item = json.loads(raw)
                except (ValueError, RecursionError):
                    counts["line that is not JSON"] += bool(raw.strip())
                    continue
                text = item.get("text") if isinstance(item, dict) else None
                counts["documents" if isinstance(text, str) else "without a text"] += 1
                if isinstance(text, str):
                    yield text
    except (OSError, EOFError) as error:
        raise UnreadableFile(f"'{file.name}' cannot be read: {error}.", "Check the file.") from None


def _blocks(file: Path, counts: Counter[str]) -> Iterator[str]:
    counts["documents"] += 1
    with file.open(encoding="utf-8-sig", errors="replace") as opened:
        tail = ""
        while block := opened.read(BLOCK_CHARACTERS):
            yield tail + block
            tail = block[-TAIL_CHARACTERS:]
