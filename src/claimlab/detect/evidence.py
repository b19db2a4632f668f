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

from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.words import several, several_of, verb

Mode = Literal["none", "complete", "filtered", "guarded", "corresponding"]
PIECES_SHOWN = 5
RATED, UNNAMED = " (a fact-check by {} rates it: {})", "an unnamed fact-checker"
SEPARATOR = (  # between a text and what was found for it, for detectors that read texts only
    "\n\n[evidence]\n"
)
# share of records with evidence that corresponds, below which a reader is warned
FEW_CORRESPOND = 0.1
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
class EvidenceReading:
    """One reading of a dataset's evidence. `table` maps a record to its pieces, best first;
    `unmarked` counts pieces that were left out because they have no mark; `rated` are the records
    that are shown a fact-check, `corresponding` those with evidence that corresponds (null: not
    measured).
    """

    mode: Mode
    pieces: int = PIECES_SHOWN
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
            few = n < FEW_CORRESPOND * records.height and self.mode != "corresponding"
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
    dataset: Dataset, mode: Mode, pieces: int = PIECES_SHOWN, *, required: bool = True
) -> EvidenceReading:
    """The evidence of `dataset` in one reading, at most `pieces` for a record. A detector that
    searches for itself does not require any."""
    table = dataset.tables.get("evidence")
    if mode == "none" or (table is None and not required):
        return EvidenceReading(mode, pieces)
    if table is None or not table.height:
        raise DataError(
            f"The dataset '{dataset.name}' has no evidence.",
            "Find some first, with claimlab enrich, or pass `evidence='none'`.",
        )
    marks, columns = _MARKS[mode], table.columns
    if missing := [mark for mark in marks if mark not in columns]:
        raise DataError(
            f"The evidence of '{dataset.name}' was never marked ({', '.join(missing)}), so it"
            f" cannot be {mode}.",
            "Pass `evidence='complete'`, or find marked evidence with claimlab enrich.",
        )
    absent = {n: pl.lit(None, kind) for n, kind in _OPTIONAL.items() if n not in columns}
    # undated evidence may be newer than the claim: enrich counts it as not found
    table = table.with_columns(**absent).filter(pl.col("as_of").ne_missing("undated"))
    marked = table.drop_nulls(marks) if marks else table
    left_out = pl.any_horizontal(pl.lit(False), *marks)
    usable = marked.filter(left_out if mode == "corresponding" else ~left_out)
    about = frozenset(usable.filter(pl.col("corresponds"))["record_id"])
    unmeasured = usable.height > 0 and not usable["corresponds"].count()
    corresponding = None if unmeasured or "corresponds" not in columns else about
    chosen = _first(usable, pieces)
    factcheck = pl.col("rating").is_not_null() | pl.col("guard_factcheck").fill_null(False)
    rated = frozenset(chosen.filter(factcheck)["record_id"])
    unmarked = table.height - marked.height
    return EvidenceReading(mode, pieces, _lists(chosen), unmarked, rated, corresponding)


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
