"""Which evidence a detector may see: none, all of it, all but social media, all but what gives the
answer away, or only what corresponds to the record.

The marks were put there by `claimlab enrich`; nothing is judged here. A piece without a mark is not
known to be harmless, so a reading that needs the mark leaves it out, and the run says how many.

Whole pages for a detector that searches: fetched where a result has an address, and shown by the
part that fits.

A snippet often stops before what matters. Of each search the first `pages` results are read whole:
from the web through a guarded fetcher (claimlab.search.snapshot), from a local index as far as it
gives them. What a model is shown of a page is bounded, so that a run stays within its caps whatever
a page holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, PageRefused
from claimlab.core.words import several, several_of, verb
from claimlab.detect.asking import PIECE
from claimlab.search.analysis import EXACT, best_passage, terms_of
from claimlab.search.evidence import Evidence
from claimlab.search.snapshot import Snapshot, with_page

Mode = Literal["none", "complete", "filtered", "guarded", "corresponding"]
PIECES = 5
RATED, UNNAMED = " (a fact-check by {} rates it: {})", "an unnamed fact-checker"
SEPARATOR = (  # between a text and what was found for it, for detectors that read texts only
    "\n\n[evidence]\n"
)
FEW = 0.1  # share of records with evidence that corresponds, below which a reader is warned
_MARKS: dict[Mode, tuple[str, ...]] = {
    "none": (),
    "complete": (),
    "filtered": ("filtered",),
    "guarded": ("guard_factcheck", "guard_own_source", "guard_copy"),
    "corresponding": ("corresponds",),
}
_OPTIONAL = {"as_of": pl.String, "corresponds": pl.Boolean, "guard_factcheck": pl.Boolean}
_LIST = pl.List(pl.Struct({"id": pl.String(), "text": pl.String()}))


@dataclass(frozen=True)
class Reading:
    """One reading of a dataset's evidence. `table` maps a record to its pieces, best first;
    `unmarked` counts pieces that were left out because they have no mark; `rated` are the records
    that are shown a fact-check, `corresponding` those with evidence that corresponds (null: not
    measured).
    """

    mode: Mode
    pieces: int = PIECES
    table: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema={"id": pl.String(), "evidence": _LIST})
    )
    unmarked: int = 0
    rated: frozenset[str] = frozenset()
    corresponding: frozenset[str] | None = None

    def attach(self, records: pl.DataFrame, *, as_list: bool) -> pl.DataFrame:
        """The records as a detector gets them: with a list column, or with the evidence behind the
        text.
        """
        if self.mode == "none" and not as_list:
            return records
        joined = records.join(self.table, on="id", how="left", maintain_order="left")
        if as_list:
            return joined
        evidence_text = (
            pl.col("evidence").list.eval(pl.element().struct.field("text")).list.join("\n")
        )
        parts = [pl.col("text"), evidence_text]
        return joined.with_columns(
            text=pl.concat_str(parts, separator=SEPARATOR, ignore_nulls=True)
        ).drop("evidence")

    def notes(self, records: pl.DataFrame) -> list[str]:
        """What a reader must know of this reading, for the records that were predicted."""
        if self.mode == "none":
            return []
        without = records.height - records.join(self.table, on="id", how="semi").height
        of = several_of(without, records.height, "record")
        sentences = [
            f"{of} {verb(without, 'has', 'have')} no evidence in the reading '{self.mode}'."
        ]
        if self.corresponding is not None:
            n = sum(i in self.corresponding for i in records["id"])
            sentence = (
                f"{several_of(n, records.height, 'test record')} {verb(n, 'has', 'have')} evidence"
                " that corresponds."
            )
            few = n < FEW * records.height and self.mode != "corresponding"
            noise = " What the others were shown is not about their claim."
            sentences.append(sentence + noise if few else sentence)
        rated = sum(i in self.rated for i in records["id"])
        if rated:
            sentences.append(
                f"The evidence of {several_of(rated, records.height, 'record')} includes a"
                " fact-check: compare with `evidence='guarded'`."
            )
        if self.unmarked:
            n = self.unmarked
            pieces = several(n, "piece of evidence", "pieces of evidence")
            sentences.append(
                f"{pieces} without marks {verb(n, 'was', 'were')} left out of '{self.mode}'."
            )
        return sentences


def read_evidence(
    dataset: Dataset, mode: Mode, pieces: int = PIECES, *, required: bool = True
) -> Reading:
    """The evidence of `dataset` in one reading, at most `pieces` for a record. A detector that
    searches for itself does not require any."""
    table = dataset.tables.get("evidence")
    if mode == "none" or (table is None and not required):
        return Reading(mode, pieces)
    if table is None or not table.height:
        raise DataError(
            f"The dataset '{dataset.name}' has no evidence.",
            "Find some first, with claimlab enrich, or pass `evidence='none'`.",
        )
    marks, known = _MARKS[mode], table.columns
    if missing := [mark for mark in marks if mark not in known]:
        raise DataError(
            f"The evidence of '{dataset.name}' was never marked ({', '.join(missing)}), so it"
            f" cannot be {mode}.",
            "Pass `evidence='complete'`, or find marked evidence with claimlab enrich.",
        )
    absent = {n: pl.lit(None, kind) for n, kind in _OPTIONAL.items() if n not in known}
    # undated evidence may be newer than the claim: enrich counts it as not found
    table = table.with_columns(**absent).filter(pl.col("as_of").ne_missing("undated"))
    marked = table.drop_nulls(marks) if marks else table
    left_out = pl.any_horizontal(pl.lit(False), *marks)
    usable = marked.filter(left_out if mode == "corresponding" else ~left_out)
    about = frozenset(usable.filter(pl.col("corresponds"))["record_id"])
    unmeasured = usable.height > 0 and not usable["corresponds"].count()
    corresponding = None if unmeasured or "corresponds" not in known else about
    chosen = _first(usable, pieces)
    factcheck = pl.col("rating").is_not_null() | pl.col("guard_factcheck").fill_null(False)
    rated = frozenset(chosen.filter(factcheck)["record_id"])
    unmarked = table.height - marked.height
    return Reading(mode, pieces, _lists(chosen), unmarked, rated, corresponding)


def _first(table: pl.DataFrame, pieces: int) -> pl.DataFrame:
    """The pieces that are shown: the first of each record that have words. What corresponds to the
    record comes first, and so does what came with the dataset, for which that was not measured."""
    words = pl.concat_str([pl.col("title"), pl.col("text")], separator=": ", ignore_nulls=True)
    apart = ~pl.col("corresponds").fill_null(True)
    readable = table.with_columns(words=words, apart=apart).filter(
        pl.col("words").str.contains(r"\S")
    )
    ordered = readable.sort("record_id", "apart", "rank", maintain_order=True, nulls_last=True)
    return ordered.filter(pl.int_range(pl.len()).over("record_id") < pieces)


def _lists(table: pl.DataFrame) -> pl.DataFrame:
    """One row per record with its pieces. A rating is a fact-checker's, and says whose it is where
    that is known.
    """
    rating = pl.format(RATED, pl.col("publisher").fill_null(UNNAMED), pl.col("rating")).fill_null(
        ""
    )
    piece = pl.struct(id="evidence_id", text=pl.col("words") + rating)
    lists = table.group_by("record_id", maintain_order=True).agg(evidence=piece)
    return lists.rename({"record_id": "id"}).with_columns(pl.col("evidence").cast(_LIST))


PAGES = 2  # results of a search that are read whole
PAGE = 6000  # characters that a local index gives of a document
PASSAGE = 2000  # characters of a page that a model reads


class Pages(Protocol):
    """What fetches a page; claimlab.search.snapshot.PageFetcher does."""

    async def fetch(self, url: str) -> Snapshot: ...


async def with_pages(
    pieces: Sequence[Evidence], pages: int, reader: Pages | None, count: Callable[[str], None]
) -> tuple[list[Evidence], dict[str, str]]:
    """The pieces with what the pages of the first say of themselves (a better date, a fact-check),
    and the text of those pages by evidence id. A page that cannot be had is counted by its reason,
    and its snippet stays.
    """
    read, texts = list(pieces), {}
    for number, piece in enumerate(read[:pages]):
        if piece.text:
            texts[piece.evidence_id] = piece.text
        if reader is None or piece.url is None or piece.provider == "local":
            continue
        try:
            page = await reader.fetch(piece.url)
        except PageRefused as refusal:
            count(f"page_{refusal.kind}")
            continue
        count("pages_read")
        read[number] = with_page(piece, page)
        texts[piece.evidence_id] = page.text
    return read, texts


def words_of(piece: Evidence, query: str, language: str | None, page: str | None) -> str:
    """A piece as a model reads it: day, title, the part that fits the query best, and a
    fact-checker's rating.
    """
    day = f"({piece.published:%Y-%m-%d}) " if piece.published is not None else ""
    whole, limit = (piece.text or "", PIECE) if page is None else (page, PASSAGE)
    text = best_passage(whole, set(terms_of(query, EXACT, language)), limit, fill=True)
    review = piece.review
    rated = review is not None and review.rating
    rating = RATED.format(review.publisher or UNNAMED, review.rating) if review and rated else ""
    return f"{day}{': '.join(part for part in (piece.title, text) if part)}{rating}"
