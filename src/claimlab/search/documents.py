"""Documents from what a user has: a claimlab dataset, a folder or file of documents, a ClaimReview
dump.

Nothing is guessed silently: a file or line that cannot be read is left out, named and counted. A
row of a dataset is a plain document: its label comes from another corpus and is not a
fact-checker's rating, unless that is stated.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import polars as pl

from claimlab.core.dataset import MANIFEST, Dataset
from claimlab.core.digest import digest_file
from claimlab.core.errors import UnreadableFile
from claimlab.core.languages import normalise
from claimlab.core.plain import each_text, whole
from claimlab.core.types import Json, JsonObject
from claimlab.search.claimreview import holds_reviews, reviews_in
from claimlab.search.dates import date_of
from claimlab.search.evidence import FactCheckReview
from claimlab.search.fields import address
from claimlab.search.indexed import Document
from claimlab.search.page_text import read_page

SUFFIXES = (".txt", ".md", ".html", ".htm", ".jsonl", ".ndjson", ".json", ".jsonld")
FILE_BYTES = 1 << 30  # bytes of a file that must be read whole; lines of JSON may be of any length
_SCRIPT = re.compile(r"^\s*<script[^>]*>|</script>\s*$")
_HALF = re.compile(
    r"\\u[dD][89a-fA-F]"
)  # of a character beyond the first plane, or half of one alone


class DocumentSource:
    """Where documents come from. `skipped` fills while they are read: reason -> how many. With
    `factcheck`, each document is a fact-check, and a dataset's labels are the ratings that it
    gives."""

    def __init__(self, path: str | Path, *, factcheck: bool = False, retrieved: datetime) -> None:
        self.path = Path(path)
        self.factcheck = factcheck
        self.retrieved = retrieved
        self.skipped: Counter[str] = Counter()
        if not self.path.exists():
            raise UnreadableFile(f"There is no file or folder '{self.path}'.", "Check the path.")
        self.is_dataset = (self.path / MANIFEST).is_file()
        if not self.is_dataset and not self._files():
            raise UnreadableFile(
                f"'{self.path}' holds no documents.",
                f"Give files of: {', '.join(SUFFIXES)}; or a claimlab dataset: claimlab import"
                " makes one of a table.",
            )

    def digest(self) -> str:
        """sha256 over the names and contents of what would be read."""
        files = [self.path / MANIFEST] if self.is_dataset else self._files()
        root = self.path if self.path.is_dir() else self.path.parent
        lines = [f"{digest_file(f)}  {f.relative_to(root).as_posix()}" for f in files]
        read_as = ["records", *(["fact-checks"] if self.factcheck else [])]
        return hashlib.sha256("\n".join([*read_as, *lines]).encode()).hexdigest()

    def documents(self) -> Iterator[Document]:
        if self.is_dataset:
            yield from self._dataset()
            return
        for file in self._files():
            for document in self._file(file):
                plain = self.factcheck and not document.review
                yield replace(document, review=FactCheckReview()) if plain else document

    def _files(self) -> list[Path]:
        if self.path.is_file():
            return [self.path] if self.path.suffix.lower() in SUFFIXES else []
        files = (p for p in self.path.rglob("*") if p.is_file() and not p.is_symlink())
        return sorted(
            p for p in files if p.suffix.lower() in SUFFIXES and not p.name.startswith(".")
        )

    def _dataset(self) -> Iterator[Document]:
        dataset = Dataset.open(self.path)
        evidence = dataset.tables.get("evidence")
        checks = _reviews_by_record(evidence) if self.factcheck and evidence is not None else {}
        for row in dataset.records.filter(pl.col("text").is_not_null()).iter_rows(named=True):
            yield _factcheck(row, checks.get(row["id"], {})) if self.factcheck else _from_row(row)

    def _file(self, file: Path) -> Iterator[Document]:
        root = self.path if self.path.is_dir() else self.path.parent
        name, kind = file.relative_to(root).as_posix(), file.suffix.lower()
        if kind in (".jsonl", ".ndjson") or (kind in (".txt", ".md") and _is_lines_of_json(file)):
            yield from self._lines(file, name)
            return
        if file.stat().st_size > FILE_BYTES:
            todo = "Split it, or write one object per line (.jsonl)."
            raise UnreadableFile(f"'{name}' is larger than {FILE_BYTES >> 20} MB.", todo)
        content = _decode(file.read_bytes())
        if kind in (".html", ".htm"):
            yield from self._page(content, name)
        elif kind in (".json", ".jsonld"):
            yield from self._json(content, name)
        elif content.strip():
            yield Document(text=content.strip(), title=file.stem, source_id=name)
        else:
            self.skipped["empty file"] += 1

    def _page(self, content: str, name: str) -> Iterator[Document]:
        page = read_page(content, url=None, retrieved=self.retrieved)
        if not page.text:
            self.skipped["page without text"] += 1
            return
        yield Document(
            text=page.text,
            title=page.title,
            published=page.published,
            dated_from=page.dated_from,
            language=page.language,
            source_id=name,
        )

    def _lines(self, file: Path, name: str) -> Iterator[Document]:
        with file.open("rb") as lines:
            for number, raw in enumerate(lines, 1):
                try:
                    line = _SCRIPT.sub("", raw.decode("utf-8-sig")).strip()
                    data = _parse(line) if line else None
                except (ValueError, RecursionError):
                    self.skipped["line that is not JSON in UTF-8"] += 1
                    continue
                if line:
                    yield from self._object(data, f"{name}:{number}")

    def _json(self, content: str, name: str) -> Iterator[Document]:
        try:
            data = _parse(content)
        except (ValueError, RecursionError) as error:
            raise UnreadableFile(
                f"'{name}' is not JSON ({error}).", "Fix it, or leave it out."
            ) from None
        if isinstance(data, list) and not holds_reviews(data):
            for number, item in enumerate(data, 1):
                yield from self._object(item, f"{name}:{number}")
        else:
            yield from self._object(data, name)

    def _object(self, data: Json, where: str) -> Iterator[Document]:
        if holds_reviews(data):
            for review in reviews_in(data, retrieved=self.retrieved):
                if review.text is None and review.title is None:
                    self.skipped["fact-check without text"] += 1
                else:
                    yield review
        elif isinstance(data, dict) and isinstance(data.get("text"), str) and data["text"].strip():
            yield _from_object(data, where, self.retrieved)
        else:
            self.skipped["object without a text"] += 1


def _parse(content: str) -> Json:
    data = json.loads(content)
    return each_text(data, whole) if _HALF.search(content) else data


def _reviews_by_record(evidence: pl.DataFrame) -> dict[str, JsonObject]:
    """The first rated piece of each record: the fact-check that the record's label comes from."""
    rated = evidence.filter(pl.col("rating").is_not_null()).sort(
        "record_id", "rank", maintain_order=True
    )
    return {
        row["record_id"]: row
        for row in rated.unique("record_id", keep="first", maintain_order=True).to_dicts()
    }


def _from_row(row: JsonObject) -> Document:
    return Document(
        text=row["text"],
        url=row["url"],
        published=row["date"],
        dated_from="result" if row["date"] else None,
        language=row["language"],
        publisher=row["source"],
        source_id=row["id"],
    )


def _factcheck(row: JsonObject, check: JsonObject) -> Document:
    """A claim with the rating it got; address, title and publisher are those of the fact-check,
    where it is known. The record's source is never the publisher: it is where the claim was made.
    """
    publisher, published = check.get("publisher"), check.get("published") or row["date"]
    return replace(
        _from_row(row),
        title=check.get("title"),
        url=check.get("url") or row["url"],
        published=published,
        dated_from="result" if published else None,
        publisher=publisher,
        review=FactCheckReview(publisher, row["label_raw"], row["text"], mapped=row["veracity"]),
    )


def _from_object(data: JsonObject, where: str, retrieved: datetime) -> Document:
    language, url = _string(data.get("language")), address(data.get("url"))
    iso3 = normalise(language) if language else None
    when = date_of(
        data.get("published"), data.get("date"), url=url, retrieved=retrieved, language=iso3
    )
    rating, publisher = _string(data.get("rating")), _string(data.get("publisher"))
    return Document(
        text=data["text"].strip(),
        title=_string(data.get("title")),
        url=url,
        published=when.published,
        dated_from=when.dated_from,
        language=iso3,
        publisher=publisher,
        review=FactCheckReview(publisher=publisher, rating=rating) if rating else None,
        source_id=_string(data.get("id")) or where,
    )


def _string(value: Json) -> str | None:
    return str(value).strip() or None if isinstance(value, str | int) else None


def _is_lines_of_json(file: Path) -> bool:
    """Whether a .txt file is really a dump with one JSON object per line, as Data Commons publishes
    it.
    """
    with file.open("rb") as opened:
        head = opened.read(400).lstrip(b"\xef\xbb\xbf \r\n")
    return head.startswith(b'{"@context"') or (head.startswith(b"<script") and b"ld+json" in head)


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes  # only when it is not UTF-8

        best = from_bytes(data).best()
        return str(best) if best is not None else data.decode("cp1252", "replace")
