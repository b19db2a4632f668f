"""The local index: full-text search over a user's own documents, on disk, with no network and no
key.

    build_index("claims/", "claims.index", language="por")       # skipped when nothing has changed
    LocalIndex("claims.index").search(Query("vacina causa…", language="por"))

The words of a query are looked up as terms, never parsed as a query language, so punctuation in a
claim has no effect. Ranking is tantivy's BM25 on the language field plus, with a lower weight
(EXACT_WEIGHT), on the unstemmed words: these separate words with the same stem, and match names and
numbers in documents of other languages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields as fields_of
from dataclasses import replace
from datetime import date, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from claimlab.core.atomic import atomic_folder, recover
from claimlab.core.errors import OutputExists, SearchFailed
from claimlab.core.languages import require
from claimlab.core.progress import Progress, silent
from claimlab.core.types import JsonObject
from claimlab.search.analysis import (
    EXACT,
    OTHER,
    analyzer,
    best_passage,
    field_of,
    fields,
    prepared,
    terms_of,
)
from claimlab.search.documents import Source
from claimlab.search.evidence import Document, Evidence, stored
from claimlab.search.query import Query
from claimlab.search.results import now

if TYPE_CHECKING:
    import tantivy

LAYOUT = 2  # increase it when the fields or their analysis change: older indexes are then rebuilt
MANIFEST = "index.json"
EXACT_WEIGHT = 0.2
MAX_TIES = 10_000
HEAP = 128 << 20
EPOCH = date(1970, 1, 1)

_BLANK: JsonObject = dict.fromkeys(field.name for field in fields_of(Evidence)) | {
    "provider": "local"
}

LanguageOf = Callable[[str], str | None]


class IndexManifest(BaseModel):
    """What the folder contains and what it was built from. Without times and paths, as in a
    dataset's manifest.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    layout: int
    source: str  # sha256 over the names and contents of what was read
    language: str | None
    guessed: bool  # whether a function identified the language of documents that do not state it
    documents: int
    repeated: int  # documents skipped because one with the same text, title and address came before
    skipped: dict[str, int]  # reason -> how many were left out
    languages: dict[str, int]  # "und": the language is unknown
    reviews: int  # documents that are fact-checks


def build_index(
    source: str | Path,
    folder: str | Path,
    *,
    table: str = "records",
    factcheck: bool = False,
    language: str | None = None,
    language_of: LanguageOf | None = None,
    progress: Progress = silent,
) -> IndexManifest:
    """Index `source` into `folder` in one atomic step; does nothing if the folder already has this
    index.

    `table` is the table of a claimlab dataset to index: its records or its evidence. Its rows
    become documents without labels; with `factcheck`, each becomes a fact-check with its label as
    the rating. `language` is the language of documents that do not state one; if it is null,
    `language_of` identifies it from the text.
    """
    target = Path(folder)
    recover(target)
    reader = Source(source, table=table, factcheck=factcheck, retrieved=now())
    common = require(language) if language else None
    digest = reader.digest()
    existing = _read_manifest(target)
    guessed = language_of is not None
    wanted: JsonObject = {
        "layout": LAYOUT,
        "source": digest,
        "language": common,
        "guessed": guessed,
    }
    if existing is not None and existing.model_dump(include=set(wanted)) == wanted:
        return existing
    if existing is None and target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise OutputExists(target)
    with atomic_folder(target) as building:
        counted = _write(building, _with_language(reader, common, language_of), progress)
        manifest = IndexManifest(**wanted, **counted, skipped=dict(sorted(reader.skipped.items())))
        (building / MANIFEST).write_text(
            manifest.model_dump_json(indent=2) + "\n", encoding="utf-8"
        )
    return manifest


class LocalIndex:
    """An index on disk, opened on first use."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    @cached_property
    def manifest(self) -> IndexManifest:
        recover(self.folder)
        manifest = _read_manifest(self.folder)
        if manifest is None or manifest.layout != LAYOUT:
            what = (
                "is not an index"
                if manifest is None
                else f"is an index of another layout ({manifest.layout})"
            )
            raise SearchFailed(
                "local",
                "no-index",
                f"'{self.folder}' {what} that this claimlab can search.",
                "Build it with claimlab.search.local.build_index(source, folder).",
            )
        return manifest

    def search(self, query: Query, *, passage: int = 1000) -> list[Evidence]:
        """The best documents, best first; a text longer than `passage` characters is cut to its
        best passage.
        """
        hits = self._hits(query)
        retrieved = now()
        words = cache(
            lambda: frozenset(terms_of(query.text, EXACT, query.language))
        )  # only long texts need them
        return [
            _evidence(stored(raw), score, query, retrieved, words, passage) for score, raw in hits
        ]

    def newer(self, query: Query) -> int:
        """How many results are excluded because they are newer than the last day of the query."""
        if query.before is None:
            return 0
        dates = (stored(raw).get("published") for _, raw in self._hits(replace(query, before=None)))
        return sum(published is not None and published.date() > query.before for published in dates)

    def _hits(self, query: Query) -> list[tuple[float, bytes]]:
        """Score and stored document. Ties keep the order of the source, also at the cut-off."""
        wanted = self._wanted(query)
        if wanted is None:
            return []
        searcher = self._index.searcher()
        fetch = query.max_results + 10
        while True:
            hits = searcher.search(wanted, fetch, count=False).hits
            cut = query.max_results - 1
            if len(hits) < fetch or hits[-1][0] < hits[cut][0] or fetch >= MAX_TIES:
                break
            fetch *= 4
        order = searcher.fast_field_values("n", [where for _, where in hits])
        ranked = sorted((-score, n, where) for (score, where), n in zip(hits, order, strict=True))
        return [
            (-less, bytes(searcher.doc(where)["document"][0]))
            for less, _, where in ranked[: query.max_results]
        ]

    def _wanted(self, query: Query) -> tantivy.Query | None:
        import tantivy

        schema, should = self._index.schema, []
        for name in [EXACT, *self._language_fields(query.language)]:
            for term in terms_of(query.text, name, query.language):
                clause = tantivy.Query.term_query(schema, name, term, "freq")
                if name == EXACT:
                    clause = tantivy.Query.boost_query(clause, EXACT_WEIGHT)
                should.append((tantivy.Occur.Should, clause))
        if not should:
            return None
        words = tantivy.Query.boolean_query(should)
        if query.before is None:
            return words
        later = tantivy.Query.range_query(
            schema,
            "day",
            tantivy.FieldType.Integer,
            lower_bound=(query.before - EPOCH).days,
            include_lower=False,
        )
        return tantivy.Query.boolean_query(
            [(tantivy.Occur.Must, words), (tantivy.Occur.MustNot, later)]
        )

    def _language_fields(self, language: str | None) -> list[str]:
        """The fields to search besides the plain words: those of every indexed language if the
        query's is unknown.
        """
        held = {field_of(code) for code in self.manifest.languages}
        fields = held if language is None else held & {field_of(language), OTHER}
        return sorted(fields)

    @cached_property
    def _index(self) -> tantivy.Index:
        import tantivy

        _ = self.manifest  # raises our error before tantivy raises its own
        index = tantivy.Index.open(str(self.folder))
        _register(index)
        return index


def _write(folder: Path, documents: Iterator[Document], progress: Progress) -> JsonObject:
    import tantivy

    index = tantivy.Index(_schema(), path=str(folder))
    _register(index)
    writer = index.writer(HEAP, 1)  # one thread, so that documents keep their order
    languages: dict[str, int] = {}
    seen: set[bytes] = set()
    repeated = reviews = 0
    try:
        for document in documents:
            mark = document.digest()
            if mark in seen:
                repeated += 1
                continue
            seen.add(mark)
            writer.add_document(_entry(document, len(seen)))
            code = document.language or "und"
            languages[code] = languages.get(code, 0) + 1
            reviews += document.review is not None
            if len(seen) % 5000 == 0:
                progress("indexing", len(seen), None)
        writer.commit()
    finally:
        # also after a failure: its threads must not write into a folder that goes away
        writer.wait_merging_threads()
    progress("indexing", len(seen), len(seen))
    counts = {"documents": len(seen), "repeated": repeated, "reviews": reviews}
    return {**counts, "languages": dict(sorted(languages.items()))}


def _entry(document: Document, number: int) -> tantivy.Document:
    import tantivy

    written = prepared("\n".join(part for part in (document.title, document.text) if part))
    entry = tantivy.Document(n=number, document=document.as_bytes())
    entry.add_text(EXACT, written)
    entry.add_text(field_of(document.language), written)
    if document.published is not None:
        entry.add_integer("day", (document.published.date() - EPOCH).days)
    return entry


def _schema() -> tantivy.Schema:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_bytes_field("document", stored=True, indexed=False)
    builder.add_integer_field("n", fast=True)
    builder.add_integer_field("day", indexed=True, fast=True)
    for name in fields():
        builder.add_text_field(name, stored=False, tokenizer_name=name, index_option="freq")
    return builder.build()


def _register(index: tantivy.Index) -> None:
    for name in fields():
        index.register_tokenizer(name, analyzer(name))


def _read_manifest(folder: Path) -> IndexManifest | None:
    """The manifest of the index in `folder`; null when there is none that can be read."""
    try:
        return IndexManifest.model_validate_json((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValidationError, ValueError):
        return None


def _with_language(
    reader: Source, language: str | None, language_of: LanguageOf | None
) -> Iterator[Document]:
    for document in reader.documents():
        if document.language is None:
            guess = language or (
                language_of(document.text) if language_of and document.text else None
            )
            yield replace(document, language=guess)
        else:
            yield document


def _evidence(
    document: JsonObject,
    score: float,
    query: Query,
    retrieved: datetime,
    words: Callable[[], frozenset[str]],
    passage: int,
) -> Evidence:
    fields = {
        **_BLANK,
        **document,
        "retrieved": retrieved,
        "query": query.text,
        "score": round(score, 6),
    }
    id, publisher, whole = (
        fields.pop("source_id", None),
        fields.pop("publisher", None),
        fields["text"] or "",
    )
    text = fields["text"] = (
        whole if len(whole) <= passage else best_passage(whole, words(), passage)
    ) or None
    more = fields["more"] = {} if id is None else {"document": id}
    if publisher is not None and fields["review"] is None:
        more["publisher"] = publisher
    if text is not None and text != whole:
        more["passage_of"] = len(whole)
    evidence = object.__new__(
        Evidence
    )  # the constructor of a frozen class takes four times as long
    object.__setattr__(evidence, "__dict__", fields)
    return evidence
