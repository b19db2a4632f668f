"""What each of several annotators said of the records, and how well they agree."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from claimlab.core.types import JsonObject
from claimlab.core.words import several


@dataclass(frozen=True)
class Ratings:
    """What each annotator said: `table` has the number of the record, annotator, value and meta."""

    table: pl.DataFrame
    question: str
    ties: frozenset[int]  # records without a majority
    majority: bool = True  # whether it is the label
    merged: int = 0  # rows that became ratings of a record before them

    def agreement(self, seed: int = 0) -> JsonObject:
        """How well they agree, with intervals over items."""
        from claimlab.core.stats.agreement import (  # NumPy is loaded only for this
            alpha_of,
            figure,
            patterns,
            percent_of,
        )

        votes = self.table.drop_nulls("value").with_columns(
            pl.col("value").rank("dense").cast(pl.Float64)
        )
        units = votes.group_by("record", maintain_order=True).agg("value")["value"].to_list()
        ratings = patterns(units)
        share, alpha = (figure(ratings, one, seed=seed) for one in (percent_of, alpha_of))
        return {
            "items": self.table["record"].n_unique(),
            "annotators": self.table["annotator"].n_unique(),
            "ratings": votes.height,
            "ties": len(self.ties),
            "agreement": share.value,
            "alpha": alpha.value,
            "alpha_interval": alpha.interval,
        }

    def annotations(self, ids: pl.Series) -> pl.DataFrame:
        """The side table, for the records that have these ids."""
        rows = self.table.filter(pl.col("record") < ids.len())
        return rows.select(
            record_id=pl.lit(ids.gather(rows["record"])),
            annotator="annotator",
            annotator_kind=pl.lit("human"),
            question=pl.lit(self.question),
            value="value",
            meta="meta",
        )


def side_tables(ratings: Ratings, records: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """What each annotator said, and the records on which they are divided."""
    tables = {"annotations": ratings.annotations(records["id"])}
    tied = [number for number in sorted(ratings.ties) if number < records.height]
    if tied:
        tables["doubtful"] = records[tied].with_columns(
            step=pl.lit("import"), reason=pl.lit("annotators are divided")
        )
    return tables


def agreement_words(facts: JsonObject, question: str) -> str:
    """What a person should know of the annotators."""
    percent = "" if facts["agreement"] is None else f"; {facts['agreement']:.0%} of pairs agree"
    alpha = "" if facts["alpha"] is None else f", Krippendorff's alpha {facts['alpha']:.2f}"
    ends = facts["alpha_interval"]
    interval = f" ({ends[0]:.2f} to {ends[1]:.2f})" if alpha and ends else ""
    ties = several(facts["ties"], "item")
    tied = f" {ties} without a majority: null, and in `doubtful`." if facts["ties"] else ""
    return (
        f"{several(facts['annotators'], 'annotator')} gave {several(facts['ratings'], 'rating')} of"
        f" {several(facts['items'], 'item')} ('{question}'){percent}{alpha}{interval}.{tied}"
        " `rater='none'` keeps the rows as they are."
    )
