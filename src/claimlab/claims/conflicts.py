"""The same claim under different verdicts, in several datasets or within one.

Two records conflict when both have a verdict on truth (true, false or mixed; "unknown" is none) and
those differ. The same claim is the same text but for case, punctuation and whitespace, the same
tweet, or nearly the same text (`claims/graph.py`). Near-duplicates may differ in the one word that
matters ("is", "is not"): they are to be looked at. Sides that are dated further apart than
`APART` may be a verdict that changed over time: they are listed, and marked.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date, timedelta
from itertools import combinations

import numpy as np
import polars as pl

from claimlab.claims.graph import NEARLY, TWEET, Graph
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several

DECIDED = ("true", "false", "mixed")
SHOWN_IDS = 5
APART = timedelta(days=30)
KINDS = ("across", "within", "dated_apart")  # of conflicts
COLUMNS = {
    "conflict": pl.Int64,
    "similarity": pl.Float64,
    "dated_apart": pl.Boolean,
    **dict.fromkeys(("dataset", "veracity", "labels"), pl.String),
    "records": pl.Int64,
    **dict.fromkeys(("first", "last"), pl.Date),
    **dict.fromkeys(("ids", "text"), pl.String),
}


@dataclass(frozen=True)
class Side:
    """One verdict of one dataset on one text, with the number of records."""

    dataset: str
    veracity: str
    labels: tuple[str, ...]  # as the source wrote them
    text: str | None
    records: int
    ids: tuple[str, ...]  # the first few
    first: date | None = None
    last: date | None = None


@dataclass(frozen=True)
class Conflict:
    """Sides that do not agree. `similarity` is 1 for the same text or tweet, else the Jaccard
    similarity of two.
    """

    similarity: float
    sides: tuple[Side, ...]

    @property
    def across(self) -> bool:
        """Whether two datasets contradict each other."""
        return any(a.dataset != b.dataset for a, b in self._opposed())

    @property
    def within(self) -> bool:
        """Whether one dataset contradicts itself."""
        return any(a.dataset == b.dataset for a, b in self._opposed())

    @property
    def dated_apart(self) -> bool:
        """Whether every two sides that disagree are of different times."""
        return all(_apart(a, b) for a, b in self._opposed())

    def _opposed(self) -> list[tuple[Side, Side]]:
        return [(a, b) for a, b in combinations(self.sides, 2) if a.veracity != b.veracity]

    def to_json(self) -> JsonObject:
        return {
            "similarity": round(self.similarity, 4),
            **{name: getattr(self, name) for name in KINDS},
            "sides": [asdict(side) for side in self.sides],
        }


def _apart(one: Side, other: Side) -> bool:
    if one.first is None or one.last is None or other.first is None or other.last is None:
        return False
    return one.last + APART < other.first or other.last + APART < one.first


@dataclass(frozen=True, repr=False)
class Conflicts(Shown):
    """The conflicts, those between datasets first; what was compared, and what could not be."""

    conflicts: list[Conflict]
    compared: dict[str, int]  # dataset -> records with a text (or tweet) and a verdict
    left_out: dict[str, int]  # dataset -> records without one of them

    @property
    def table(self) -> pl.DataFrame:
        """A row for each side of a conflict, for a spreadsheet."""
        rows = [
            {
                "conflict": number,
                "similarity": round(conflict.similarity, 4),
                "dated_apart": conflict.dated_apart,
                **asdict(side),
                "labels": "; ".join(side.labels),
                "ids": "; ".join(side.ids),
            }
            for number, conflict in enumerate(self.conflicts, 1)
            for side in conflict.sides
        ]
        return pl.DataFrame(rows, schema=COLUMNS)

    def headline(self) -> str:
        return (
            f"{several(len(self.conflicts), 'conflict')} among"
            f" {several(sum(self.compared.values()), 'record')}"
        )

    def counts(self) -> dict[str, int]:
        return {
            "conflicts": len(self.conflicts),
            **{name: sum(getattr(c, name) for c in self.conflicts) for name in KINDS},
            "compared": sum(self.compared.values()),
            "left_out": sum(self.left_out.values()),
        }


def conflicts_in(graph: Graph) -> Conflicts:
    """Every claim of the graph under different verdicts."""
    decided = _decided(graph)
    labels = pl.col("label_raw").drop_nulls().unique(maintain_order=True)
    sides = decided.group_by("claim", "dataset", "veracity", maintain_order=True).agg(
        pl.col("text").first(),
        records=pl.len(),
        ids=pl.col("id").head(SHOWN_IDS),
        labels=labels.head(SHOWN_IDS),
        first=pl.col("date").min(),
        last=pl.col("date").max(),
    )
    compared = {name: decided.filter(dataset=name).height for name in graph.names}
    left_out = {name: n - compared[name] for name, n in graph.sizes.items()}
    conflicts = sorted(_same(sides) + _linked(sides, graph), key=_rank)
    return Conflicts(conflicts, compared, left_out)


def _decided(graph: Graph) -> pl.DataFrame:
    """The records with a claim and a verdict on truth, and the day of their date."""
    decided = graph.rows.filter(pl.col("veracity").is_in(DECIDED), pl.col("claim") >= 0)
    return decided.with_columns(pl.col("date").dt.date())


def _same(sides: pl.DataFrame) -> list[Conflict]:
    """Claims with more than one verdict."""
    torn = sides.filter(pl.col("veracity").n_unique().over("claim") > 1)
    return [
        Conflict(1.0, _sides(group)) for group in torn.partition_by("claim", maintain_order=True)
    ]


def _linked(sides: pl.DataFrame, graph: Graph) -> list[Conflict]:
    """Pairs of different claims of which some verdict on one is not a verdict on the other."""
    links = graph.by((NEARLY, TWEET))
    bit = pl.col("veracity").replace_strict(
        {v: 1 << i for i, v in enumerate(DECIDED)}, return_dtype=pl.Int64
    )
    known = sides.group_by("claim").agg(verdicts=bit.unique().sum())
    verdicts = np.zeros(graph.claims, np.int64)
    verdicts[known["claim"].to_numpy()] = known["verdicts"].to_numpy()
    left, right = verdicts[links.left], verdicts[links.right]
    one_and_the_same = (left == right) & (left & (left - 1) == 0)
    torn = np.flatnonzero(~one_and_the_same & (left > 0) & (right > 0))
    wanted = np.union1d(links.left[torn], links.right[torn])
    of = sides.filter(pl.col("claim").is_in(wanted)).partition_by(
        "claim", as_dict=True, maintain_order=True
    )
    return [
        Conflict(float(alike), _sides(of[a,]) + _sides(of[b,]))
        for a, b, alike in zip(
            links.left[torn].tolist(),
            links.right[torn].tolist(),
            links.similarity[torn].tolist(),
            strict=True,
        )
    ]


def _sides(group: pl.DataFrame) -> tuple[Side, ...]:
    rows = group.drop("claim").iter_rows(named=True)
    return tuple(
        Side(**{**row, "labels": tuple(row["labels"]), "ids": tuple(row["ids"])}) for row in rows
    )


def _rank(conflict: Conflict) -> tuple[bool, bool, float, int]:
    """Datasets that contradict each other first, the surest first, then those with most records."""
    return (
        not conflict.across,
        conflict.dated_apart,
        -conflict.similarity,
        -sum(side.records for side in conflict.sides),
    )


def disagreement(graph: Graph) -> pl.DataFrame:
    """For every two datasets: the claims whose text both decide, those whose verdicts differ, and
    those that differ and are dated apart."""
    verdicts = (
        _decided(graph)
        .group_by("part", "dataset", "claim")
        .agg(
            pl.col("veracity").unique().sort().str.join("+"),
            first=pl.col("date").min(),
            last=pl.col("date").max(),
        )
    )
    both = verdicts.join(verdicts, on="claim", suffix="_other").filter(
        pl.col("part") < pl.col("part_other")
    )
    torn = pl.col("veracity") != pl.col("veracity_other")
    apart = (pl.col("last") + APART < pl.col("first_other")) | (
        pl.col("last_other") + APART < pl.col("first")
    )
    later = torn & apart.fill_null(False)
    counted = both.group_by("part", "part_other", "dataset", other="dataset_other").agg(
        claims=pl.len(), disagree=(torn & ~later).sum(), dated_apart=later.sum()
    )
    numbers = pl.col("claims", "disagree", "dated_apart").cast(pl.Int64)
    return counted.sort("part", "part_other").select("dataset", "other", numbers)
