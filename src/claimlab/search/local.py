"""The local index: full-text search over a user's own documents, on disk, with no network and no
key.

    build_index("claims/", "claims.index", language="por")       # skipped when nothing has changed
    LocalIndex("claims.index").search(Query("vacina causa…", language="por"))

The words of a query are looked up as terms, never parsed as a query language, so punctuation in a
claim has no effect. Ranking is tantivy's BM25 on the language field plus, with a lower weight
(EXACT_WEIGHT), on the unstemmed words: these separate words with the same stem, and match names and
numbers in documents of other languages.

With a `SentenceEncoder`, documents are found by sentence vectors as well, and both are fused
(claimlab.search.fusion).
"""

from __future__ import annotations

import io
import json
import mmap
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields as fields_of
from dataclasses import replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from claimlab.core.atomic import atomic_bytes, atomic_folder, recover
from claimlab.core.errors import OutputExists, SearchFailed
from claimlab.core.languages import require
from claimlab.core.progress import progress
from claimlab.core.stats.scores import Floats32, Ints
from claimlab.core.types import JsonObject
from claimlab.search.analysis import EXACT, OTHER, analyzer, field_of, fields, prepared, terms_of
from claimlab.search.documents import DocumentSource
from claimlab.search.evidence import Evidence
from claimlab.search.fusion import RetrievedDocuments, SentenceEncoder, cosines, fused
from claimlab.search.indexed import Document, stored
from claimlab.search.passage import best_passage, said
from claimlab.search.query import MAX_RESULTS, Query
from claimlab.search.results import now

if TYPE_CHECKING:
    import tantivy

# increase it when the fields or their analysis change: older indexes are then rebuilt
LAYOUT_VERSION = 4
MANIFEST = "index.json"
DOCUMENTS, OFFSETS, VECTORS = "documents.jsonl", "offsets.npy", "vectors.npy"
REPEATS_FILE = "repeats.json"
EXACT_WEIGHT = 0.2
MOST_TIES = 10_000
LEAST_COSINE = 0.3  # of a document that has no word of the query
HEAP_BYTES = 128 << 20
EPOCH = date(1970, 1, 1)

_BLANK: JsonObject = dict.fromkeys(field.name for field in fields_of(Evidence)) | {
    "provider": "local"
}


class IndexManifest(BaseModel):
    """What the folder contains and what it was built from. Without times and paths, as in a
    dataset's manifest.
    """

    model_config = ConfigDict(frozen=True)

    layout: int
    source: str  # sha256 over the names and contents of what was read
    language: str | None
    documents: int
    repeated: int  # documents skipped because one with the same text, title and address came before
    skipped: dict[str, int]  # reason -> how many were left out
    languages: dict[str, int]  # "und": the language is unknown
    reviews: int  # documents that are fact-checks


def build_index(
    source: str | Path,
    folder: str | Path,
    *,
    factcheck: bool = False,
    language: str | None = None,
) -> IndexManifest:
    """Index `source` into `folder` in one atomic step; does nothing if the folder already has this
    index.

    The records of a claimlab dataset become documents without labels; with `factcheck`, each
    becomes a fact-check with its label as the rating. `language` is the language of documents that
    do not state one.
    """
    target = Path(folder)
    recover(target)
    reader = DocumentSource(source, factcheck=factcheck, retrieved=now())
    common = require(language) if language else None
    existing = _read_manifest(target)
    wanted: JsonObject = {"layout": LAYOUT_VERSION, "source": reader.digest(), "language": common}
    if existing is not None and existing.model_dump(include=set(wanted)) == wanted:
        return existing
    if existing is None and target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise OutputExists(target)
    with atomic_folder(target) as building:
        documents = (
            document if document.language else replace(document, language=common)
            for document in reader.documents()
        )
        counted = _write(building, documents)
        manifest = IndexManifest(**wanted, **counted, skipped=dict(sorted(reader.skipped.items())))
        (building / MANIFEST).write_text(
            manifest.model_dump_json(indent=2) + "\n", encoding="utf-8"
        )
    return manifest


class Hit(NamedTuple):
    """A document of the index by its number, its score, and what each retriever says of it."""

    score: float
    document: int
    words: float | None = None
    meaning: float | None = None


class LocalIndex:
    """An index on disk, opened on first use; with `meaning`, by sentence vectors too."""

    def __init__(self, folder: str | Path, meaning: SentenceEncoder | None = None) -> None:
        self.folder = Path(folder)
        self.meaning = meaning

    @cached_property
    def manifest(self) -> IndexManifest:
        recover(self.folder)
        manifest = _read_manifest(self.folder)
        if manifest is None or manifest.layout != LAYOUT_VERSION:
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

    def search(
        self,
        query: Query,
        *,
        passage: int = 1000,
        vectors: Floats32 | None = None,
        without: Collection[int] = (),
    ) -> list[Evidence]:
        """The best documents, best first; a text longer than `passage` characters is cut to its
        best passage. `vectors` are the query's, where they are known already. Documents `without`
        which to search are treated as if they were not there.
        """
        hits = self.ranked(query, vectors, without)
        common = {**_BLANK, "retrieved": now(), "query": query.text}
        documents = self.documents([hit.document for hit in hits])
        is_long = any(len(document.get("text", "")) > passage for document in documents)
        words = frozenset(terms_of(query.text, EXACT, query.language) if is_long else ())
        return [
            _evidence({**common, **document}, hit, words, passage)
            for document, hit in zip(documents, hits, strict=True)
        ]

    def newer(self, query: Query) -> int:
        """How many results are excluded because they are newer than the last day of the query."""
        if query.before is None:
            return 0
        hits = self.ranked(replace(query, before=None))
        dates = [d.get("published") for d in self.documents([hit.document for hit in hits])]
        return sum(date is not None and date.date() > query.before for date in dates)

    def ranked(
        self, query: Query, vectors: Floats32 | None = None, without: Collection[int] = ()
    ) -> list[Hit]:
        """The best documents of both retrievers; of the words alone where the query has no vector,
        or no document does."""
        if vectors is None and self.meaning and query.language in self.meaning.languages:
            vectors = self.meaning.encode(said(query.text))
        if vectors is None or self.vectors is None:
            return [Hit(score, document, score) for score, document in self._less(query, without)]
        candidates = self.candidates(query, vectors, without)
        scores = fused(candidates)
        words, meaning = candidates.words, candidates.meaning
        hits = [
            Hit(float(scores[i]), candidates.documents[i], float(words[i]), float(meaning[i]))
            for i in np.argsort(-scores, kind="stable").tolist()
            if words[i] > 0 or meaning[i] >= LEAST_COSINE
        ]
        return hits[: query.max_results]

    def candidates(
        self, query: Query, vectors: Floats32, without: Collection[int] = ()
    ) -> RetrievedDocuments:
        """The best by words and the best by meaning, as many of each as a query may ask for. By
        meaning alone where no document is in the language of the query, and some are alike: the
        words that two languages share are rarely what a claim says."""
        assert self.vectors is not None
        alike = cosines(self.vectors, vectors)
        if query.before is not None:
            newer = self._days > (query.before - EPOCH).days
            alike[newer] = -np.inf
        alike[[*without]] = -np.inf
        words = []
        if self._language_fields(query.language) or alike.max() < LEAST_COSINE:
            words = self._less(replace(query, max_results=MAX_RESULTS), without)
        return RetrievedDocuments.of(words, alike, MAX_RESULTS)

    @cached_property
    def vectors(self) -> Floats32 | None:
        """A vector for each document, of its title and the beginning of its text: made once, and
        kept beside the index where that can be written."""
        if self.meaning is None or not self.manifest.documents:
            return None
        place = self.folder / VECTORS
        if not place.is_file():
            documents = map(self.document, range(self.manifest.documents))
            texts = [f"{d.get('title', '')} {d.get('text', '')}".strip() for d in documents]
            vectors = self.meaning.encode([text[: self.meaning.characters] for text in texts])
            buffer = io.BytesIO()
            np.save(buffer, vectors, allow_pickle=False)
            try:
                atomic_bytes(place, buffer.getvalue())
            except OSError:
                return vectors
        return np.asarray(np.load(place, mmap_mode="r", allow_pickle=False), np.float32)

    @cached_property
    def _days(self) -> Ints:
        """The day of each document; a long time ago where it has none."""
        dates = (self.document(n).get("published") for n in range(self.manifest.documents))
        return np.array([(d.date() - EPOCH).days if d else -(1 << 30) for d in dates], np.int64)

    def _less(self, query: Query, without: Collection[int]) -> list[tuple[float, int]]:
        """The best by words; of so many that enough are left."""
        most = min(query.max_results + len(without), MAX_RESULTS)
        hits = self.by_words(replace(query, max_results=most))
        return [hit for hit in hits if hit[1] not in without][: query.max_results]

    def by_words(self, query: Query) -> list[tuple[float, int]]:
        """BM25 and document. Ties keep the order of the source, also at the cut-off."""
        wanted = self._wanted(query)
        if wanted is None:
            return []
        searcher = self._searcher
        fetch = query.max_results + 10
        while True:
            hits = searcher.search(wanted, fetch, count=False).hits
            cut = query.max_results - 1
            if len(hits) < fetch or hits[-1][0] < hits[cut][0] or fetch >= MOST_TIES:
                break
            fetch *= 4
        numbers = searcher.fast_field_values("n", [where for _, where in hits])
        ranked = sorted(zip([-score for score, _ in hits], numbers, strict=True))
        return [(-less, int(n or 0)) for less, n in ranked[: query.max_results]]

    @cached_property
    def repeats(self) -> dict[str, str]:
        """The ids of documents that were left out, and of those that they repeat."""
        repeats: dict[str, str] = json.loads((self.folder / REPEATS_FILE).read_bytes())
        return repeats

    def document(self, number: int) -> JsonObject:
        """What is known of a document, by its number."""
        return self.documents([number])[0]

    def documents(self, numbers: Sequence[int]) -> list[JsonObject]:
        """What is known of some documents, read in one go."""
        content, offsets = self._stored
        return stored([content[offsets[number] : offsets[number + 1]] for number in numbers])

    @cached_property
    def _stored(self) -> tuple[mmap.mmap | bytes, list[int]]:
        """The documents, and where each begins. A list: reading one number of an array is slow."""
        offsets = np.load(self.folder / OFFSETS, allow_pickle=False).tolist()
        with (self.folder / DOCUMENTS).open("rb") as file:
            empty = len(offsets) < 2
            return b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), offsets

    def _wanted(self, query: Query) -> tantivy.Query | None:
        import tantivy

        schema, either = self._index.schema, tantivy.Occur.Should
        term_query = tantivy.Query.term_query
        should = [
            (
                either,
                tantivy.Query.boost_query(term_query(schema, EXACT, term, "freq"), EXACT_WEIGHT),
            )
            for term in terms_of(query.text, EXACT, query.language)
        ]
        for name in self._language_fields(query.language):
            terms = terms_of(query.text, name, query.language)
            should += [(either, term_query(schema, name, term, "freq")) for term in terms]
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
        indexed = {field_of(code) for code in self.manifest.languages}
        fields = indexed if language is None else indexed & {field_of(language), OTHER}
        return sorted(fields)

    @cached_property
    def _index(self) -> tantivy.Index:
        import tantivy

        _ = self.manifest  # raises our error before tantivy raises its own
        index = tantivy.Index.open(str(self.folder))
        _register(index)
        return index

    @cached_property
    def _searcher(self) -> tantivy.Searcher:
        """One for all queries: each new one begins with nothing in memory."""
        return self._index.searcher()


def _write(folder: Path, documents: Iterable[Document]) -> JsonObject:
    import tantivy

    index = tantivy.Index(_schema(), path=str(folder))
    _register(index)
    writer = index.writer(HEAP_BYTES, 1)  # one thread, so that documents keep their order
    languages: Counter[str] = Counter()
    seen: dict[bytes, str | None] = {}
    repeats: dict[str, str] = {}
    repeated = reviews = 0
    offsets = [0]
    try:
        with (folder / DOCUMENTS).open("wb") as file:
            for document in documents:
                mark = document.digest()
                if mark in seen:
                    repeated += 1
                    if document.source_id and (first := seen[mark]):
                        repeats[document.source_id] = first
                    continue
                writer.add_document(_entry(document, len(seen)))
                seen[mark] = document.source_id
                offsets.append(offsets[-1] + file.write(document.as_bytes() + b"\n"))
                languages[document.language or "und"] += 1
                reviews += document.review is not None
                if len(seen) % 5000 == 0:
                    progress("indexing", len(seen), None)
        np.save(folder / OFFSETS, np.array(offsets, np.int64), allow_pickle=False)
        (folder / REPEATS_FILE).write_text(json.dumps(repeats), encoding="utf-8")
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
    entry = tantivy.Document(n=number)
    entry.add_text(EXACT, written)
    entry.add_text(field_of(document.language), written)
    if document.published is not None:
        entry.add_integer("day", (document.published.date() - EPOCH).days)
    return entry


def _schema() -> tantivy.Schema:
    import tantivy

    builder = tantivy.SchemaBuilder()
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


def _evidence(fields: JsonObject, hit: Hit, words: frozenset[str], passage: int) -> Evidence:
    """Of what is known of a document and of the query; made for every result of every search."""
    id, publisher = fields.pop("source_id", None), fields.pop("publisher", None)
    whole = fields["text"] or ""
    text = whole if len(whole) <= passage else best_passage(whole, words, passage)
    more: JsonObject = {} if id is None else {"document": id}
    if hit.meaning is not None:
        more |= {"words": round(hit.words or 0.0, 4), "meaning": round(hit.meaning, 4)}
    if publisher is not None and fields["review"] is None:
        more["publisher"] = publisher
    if text and text is not whole and text != whole:
        more["passage_of"] = len(whole)
    fields["score"], fields["text"], fields["more"] = round(hit.score, 6), text or None, more
    evidence = object.__new__(
        Evidence
    )  # the constructor of a frozen class takes four times as long
    object.__setattr__(evidence, "__dict__", fields)
    return evidence
