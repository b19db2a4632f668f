"""Word n-grams that the test texts share with corpora.

A record counts as contaminated where at least 70% of its 8-grams occur in the corpora, the rule of
PaLM's report (Chowdhery et al. 2022); the share of records with any 13-gram in common, the rule of
GPT-3's (Brown et al. 2020), is reported next to it. The control is the same texts with their words
in random order.

The texts of a corpus (a dataset, a file, or a folder of files) come a batch at a time: Parquet and
JSON lines (packed with gzip or not) are read by their column or field `text`, plain text in
overlapping blocks. What has no text is counted. Memory is needed for the test texts and one batch
only. A word is what `text/tokens` calls one, lower-cased: by Unicode's rules, and by ICU's
dictionaries in scripts without spaces. An n-gram is known by a 64-bit number; two different ones
share it by chance once in 10^19.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.claims.contamination.result import RULE, not_measured, paired
from claimlab.core.dataset import MANIFEST, RECORDS, changed_files, read_manifest
from claimlab.core.errors import DataError, FileChanged, UnreadableFile, UsageError
from claimlab.core.finding import Finding
from claimlab.core.journal import Journal
from claimlab.core.progress import Progress, silent
from claimlab.core.stats.scores import Ints
from claimlab.core.types import JsonObject
from claimlab.core.words import several, several_of
from claimlab.search.documents import Source
from claimlab.text.tokens import tokenize

BATCH = 4_000_000  # characters
BLOCK, TAIL = 1_000_000, 400  # characters: the tail of a block is read again with the next
ROWS = 20_000
LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".json.gz")
PLAIN, PAGES = (".txt", ".md"), (".html", ".htm", ".json", ".jsonld")
SUFFIXES = (".parquet", *LINES, *PLAIN, *PAGES)


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
    """The texts of a file, about `BATCH` characters at a time; `counts` fills with documents and
    what was skipped.
    """
    batch: list[str] = []
    size = 0
    for text in _texts(file, counts):
        batch.append(text)
        size += len(text)
        if size >= BATCH:
            yield pl.Series("text", batch, dtype=pl.String)
            batch, size = [], 0
    if batch:
        yield pl.Series("text", batch, dtype=pl.String)


def _texts(file: Path, counts: Counter[str]) -> Iterator[str]:
    name = file.name.lower()
    if name.endswith(".parquet"):
        yield from _parquet(file, counts)
    elif name.endswith(LINES):
        yield from _lines(file, counts)
    elif name.endswith(PLAIN):
        yield from _blocks(file, counts)
    else:
        source = Source(file, retrieved=datetime(1970, 1, 1, tzinfo=UTC))
        for document in source.documents():
            counts["documents"] += 1
            yield " ".join(part for part in (document.title, document.text) if part)
        counts.update(source.skipped)


def _parquet(file: Path, counts: Counter[str]) -> Iterator[str]:
    try:
        scan = pl.scan_parquet(file)
        if scan.collect_schema().get("text") != pl.String:
            raise DataError(
                f"'{file.name}' has no column 'text'.", "Name its column of texts 'text'."
            )
        height = scan.select(pl.len()).collect().item()
        for start in range(0, height, ROWS):
            rows = scan.select("text").slice(start, ROWS).collect()["text"]
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
        while block := opened.read(BLOCK):
            yield tail + block
            tail = block[-TAIL:]


Hashes = npt.NDArray[np.uint64]
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no word is lost in the product


class Grams:
    """The distinct n-grams of the test texts, numbered in the order of their first occurrence."""

    def __init__(self, words: pl.Series, n: int) -> None:
        hashes, self.row = gram_hashes(words, n)
        self.n, self.rows = n, len(words)
        self._known, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        self._number = np.empty(len(first), dtype=np.int64)
        self._number[np.argsort(first, kind="stable")] = np.arange(len(first))
        self.gram: Ints = self._number[inverse] if len(first) else np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._known)

    def among(self, hashes: Hashes) -> Ints:
        """The numbers of those that are among `hashes`."""
        if not len(self) or not len(hashes):
            return np.empty(0, dtype=np.int64)
        place = np.minimum(np.searchsorted(self._known, hashes), len(self) - 1)
        return np.unique(self._number[place[self._known[place] == hashes]])

    def counts(self) -> Ints:
        """How many n-grams each text has."""
        return np.bincount(self.row, minlength=self.rows)

    def matches(self, numbers: Sequence[int] | Ints) -> Ints:
        """How many n-grams of each text are among `numbers`."""
        seen = np.zeros(len(self), dtype=bool)
        seen[np.asarray(numbers, dtype=np.int64)] = True
        return np.bincount(self.row[seen[self.gram]], minlength=self.rows)


def gram_hashes(words: pl.Series, n: int) -> tuple[Hashes, Ints]:
    """A number for every run of `n` words, and the row that it is in; `words` are lists of
    words.
    """
    lengths = words.list.len().fill_null(0).to_numpy().astype(np.int64)
    long = lengths >= n
    if not long.any():
        return np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    marks = words.filter(pl.Series(long)).explode().hash(seed=0).to_numpy()
    lengths, rows = lengths[long], np.flatnonzero(long)
    total = np.zeros(len(marks) - n + 1, dtype=np.uint64)
    for k in range(n):
        total = total * _FACTOR + marks[k : len(marks) - n + 1 + k]
    # Words from here to the end of the text.
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(marks))
    starts = np.flatnonzero(left >= n)
    return total[starts], np.repeat(rows, lengths)[starts]


SHORT, LONG = 8, 13  # words
THRESHOLD = 0.7  # of the 8-grams of a text


def overlap(
    records: pl.DataFrame,
    corpora: Sequence[Path],
    *,
    journal: Journal | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[pl.DataFrame, Finding]:
    """A row for each record (n-grams, how many occur in the corpora, and in which), and what
    follows from them.
    """
    words = _words(records["text"].fill_null(""))
    grams = {
        "short": Grams(words, SHORT),
        "long": Grams(words, LONG),
        "control": Grams(_shuffled(words, seed), SHORT),
    }
    journal = journal or Journal(None, {})
    table: JsonObject = {"id": records["id"], "words": words.list.len()}
    matches: dict[str, set[int]] = {name: set() for name in grams}
    counts: dict[str, dict[str, int]] = {}
    sources = pl.Series([""] * records.height, dtype=pl.String)
    for number, (name, corpus) in enumerate(zip(names_of(corpora), corpora, strict=True)):
        numbers, counts[name] = _scan(corpus, grams, journal, f"corpus-{number}", progress)
        if not counts[name].get("documents"):
            raise DataError(
                f"The corpus '{corpus}' holds no text.",
                "Nothing can be compared with it: leave it out.",
            )
        known = grams["short"].matches([*numbers["short"]])
        mine = known / np.maximum(grams["short"].counts(), 1) >= THRESHOLD
        counts[name]["contaminated"] = int(mine.sum())
        sources = pl.select(
            pl.when(pl.Series(mine)).then(sources + f"{name}; ").otherwise(sources)
        ).to_series()
        for name, seen in numbers.items():
            matches[name] |= seen
    shares = {}
    for name, suffix in (("short", "8"), ("long", "13"), ("control", "8_control")):
        table[f"grams_{suffix}"] = grams[name].counts()
        table[f"shared_{suffix}"] = grams[name].matches([*matches[name]])
        # Null where a text is too short to have any.
        every = pl.col(f"grams_{suffix}")
        shares[f"share_{suffix}"] = pl.when(every > 0).then(pl.col(f"shared_{suffix}") / every)
    sources = sources.str.strip_suffix("; ").replace("", None)
    frame = pl.DataFrame(table).with_columns(**shares, corpora=sources)
    frame = frame.drop("grams_8_control", "shared_8_control").with_columns(
        contaminated=pl.col("share_8") >= THRESHOLD, control=pl.col("share_8_control") >= THRESHOLD
    )
    return frame, _finding(frame, records["group"], counts, seed)


def _scan(
    corpus: Path, grams: dict[str, Grams], journal: Journal, shard: str, progress: Progress
) -> tuple[dict[str, set[int]], dict[str, int]]:
    """The n-grams that a corpus holds, file by file: one that an earlier start has finished is not
    read again.
    """
    numbers: dict[str, set[int]] = {name: set() for name in grams}
    counts: Counter[str] = Counter()
    files = files_in(corpus)
    for i, file in enumerate(files):
        progress(f"reading {corpus.name}", i, len(files))
        done = journal.read(f"{shard}-{i}")
        if done is None:
            done = _scan_file(file, grams)
            journal.write(f"{shard}-{i}", done)
        counts.update(done["counts"])
        for name, seen in done["numbers"].items():
            numbers[name].update(seen)
    progress(f"reading {corpus.name}", len(files), len(files))
    return numbers, dict(counts)


def _scan_file(file: Path, grams: dict[str, Grams]) -> JsonObject:
    numbers: dict[str, set[int]] = {name: set() for name in grams}
    counts: Counter[str] = Counter()
    for texts in batches(file, counts):
        words = _words(texts)
        hashes = {n: gram_hashes(words, n)[0] for n in {mine.n for mine in grams.values()}}
        for name, mine in grams.items():
            numbers[name].update(mine.among(hashes[mine.n]).tolist())
    return {
        "counts": dict(counts),
        "numbers": {name: sorted(seen) for name, seen in numbers.items()},
    }


def _words(texts: pl.Series) -> pl.Series:
    """Words without any punctuation, that inside a word included: published copies of a text have
    often lost it, and "it's" would not be found in "it s"."""
    return tokenize(texts.str.replace_all(r"[^\p{L}\p{M}\p{N}\s]", " "))


def _shuffled(words: pl.Series, seed: int) -> pl.Series:
    """The words of each text in random order."""
    rng = np.random.default_rng(seed)
    rows = [[row[i] for i in rng.permutation(len(row))] for row in words.to_list()]
    return pl.Series(words.name, rows, dtype=pl.List(pl.String))


def _finding(
    table: pl.DataFrame, groups: pl.Series, counts: dict[str, dict[str, int]], seed: int
) -> Finding:
    known = table["contaminated"].is_not_null()
    own, control = (
        table[c].filter(known).to_numpy().astype(np.float64) for c in ("contaminated", "control")
    )
    n, names = len(own), ", ".join(counts)
    measured = paired(own, control, groups.filter(known), seed=seed) if n else None
    if measured is None:
        why = (
            f"Only {several(n, 'record')} with at least {SHORT} words: a verdict needs"
            f" {RULE.min_units} groups."
        )
        return not_measured("overlap", why, n)
    hits, long = int(own.sum()), table["share_13"].drop_nulls()
    touched = int((long > 0).sum())
    why = (
        f"At least {100 * THRESHOLD:.0f}% of the {SHORT}-word sequences of"
        f" {several_of(hits, n, 'text')} occur in {names} (with shuffled words:"
        f" {control.sum():.0f}); {several_of(touched, len(long), 'text')}"
        f" {'shares' if touched == 1 else 'share'} a sequence of {LONG} words."
    )
    details = {
        "control": measured.control,
        "groups": measured.groups,
        "too_short": int((~known).sum()),
        "corpora": counts,
        "touched_13": {"records": touched, "n": len(long)},
    }
    records = table.filter(pl.col("contaminated").fill_null(False))["id"]
    return measured.finding("overlap", why, n, details, records)
