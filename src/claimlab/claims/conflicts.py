"""The same claim under different verdicts, in several datasets or within one.

Two records conflict when both have a verdict on truth (true, false or mixed; "unknown" is none) and
those differ. The same claim is the same text but for case, punctuation and whitespace, the same
tweet, or nearly the same text (`claims/graph.py`), unless one of the two has another number, a
negation or another word in place of one: those are different claims, and counted. Where the source
wrote the same label on both sides, their label maps differ and nothing else: such conflicts are
marked. Sides that are dated further apart than `TIME_APART` may be a verdict that changed over
time: they are listed, and marked.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from itertools import combinations

import numpy as np
import polars as pl

from claimlab.claims.graph import NEARLY, TWEET, Graph
from claimlab.core.labels import fold, word_of
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.text.near import other_claim

DECIDED = ("true", "false", "mixed")
IDS_SHOWN = 5
TIME_APART = timedelta(days=30)
KINDS = ("across", "within", "dated_apart", "other_map")  # of conflicts
COLUMNS = {
    "conflict": pl.Int64,
    "similarity": pl.Float64,
    "dated_apart": pl.Boolean,
    "other_map": pl.Boolean,
    **dict.fromkeys(("dataset", "veracity", "labels"), pl.String),
    "records": pl.Int64,
    **dict.fromkeys(("first", "last"), pl.Date),
    **dict.fromkeys(("ids", "text"), pl.String),
}


@dataclass(frozen=True)
class ConflictSide:
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
    sides: tuple[ConflictSide, ...]

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

    @property
    def other_map(self) -> bool:
        """Whether the sources wrote the same label on every two sides that disagree."""
        return all(_same_word(a, b) for a, b in self._opposed())

    def _opposed(self) -> list[tuple[ConflictSide, ConflictSide]]:
        return [(a, b) for a, b in combinations(self.sides, 2) if a.veracity != b.veracity]

    def to_json(self) -> JsonObject:
        return {
            "similarity": round(self.similarity, 4),
            **{name: getattr(self, name) for name in KINDS},
            "sides": [asdict(side) for side in self.sides],
        }


def _same_word(side: ConflictSide, other: ConflictSide) -> bool:
    words, others = ({word_of(label) for label in s.labels} for s in (side, other))
    return bool(words) and None not in words | others and words == others


def _apart(side: ConflictSide, other: ConflictSide) -> bool:
    if side.first is None or side.last is None or other.first is None or other.last is None:
        return False
    return side.last + TIME_APART < other.first or other.last + TIME_APART < side.first


@dataclass(frozen=True, repr=False)
class Conflicts(Shown):
    """The conflicts, those between datasets first; what was compared, and what could not be."""

    conflicts: list[Conflict]
    compared: dict[str, int]  # dataset -> records with a text (or tweet) and a verdict
    left_out: dict[str, int]  # dataset -> records without one of them
    other_claims: int = 0  # pairs of nearly the same text that claim different things

    @property
    def table(self) -> pl.DataFrame:
        """A row for each side of a conflict, for a spreadsheet."""
        rows = [
            {
                "conflict": number,
                "similarity": round(conflict.similarity, 4),
                "dated_apart": conflict.dated_apart,
                "other_map": conflict.other_map,
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
            "other_claims": self.other_claims,
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
        ids=pl.col("id").head(IDS_SHOWN),
        labels=labels.head(IDS_SHOWN),
        first=pl.col("date").min(),
        last=pl.col("date").max(),
    )
    compared = {name: decided.filter(dataset=name).height for name in graph.names}
    left_out = {name: n - compared[name] for name, n in graph.sizes.items()}
    linked, other_claims = _linked(sides, graph)
    conflicts = sorted(_same(sides) + linked, key=_rank)
    return Conflicts(conflicts, compared, left_out, other_claims)


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


def _linked(sides: pl.DataFrame, graph: Graph) -> tuple[list[Conflict], int]:
    """Pairs of different texts of which some verdict on one is not a verdict on the other, and how
    many more such pairs are different claims.
    """
    bit = pl.col("veracity").replace_strict(
        {v: 1 << i for i, v in enumerate(DECIDED)}, return_dtype=pl.Int64
    )
    decided = sides.group_by("claim").agg(verdicts=bit.unique().sum())
    verdicts = np.zeros(graph.claims, np.int64)
    verdicts[decided["claim"].to_numpy()] = decided["verdicts"].to_numpy()
    links = graph.links.filter(pl.col("kind").is_in((NEARLY, TWEET)))
    left, right = (verdicts[links[end].to_numpy()] for end in ("left", "right"))
    agree = (left == right) & (left & (left - 1) == 0)
    torn = links.filter(pl.Series(~agree & (left > 0) & (right > 0)))
    texts = _texts(graph, {*torn["left"], *torn["right"]})
    conflicts, other_claims = [], 0
    wanted = np.union1d(torn["left"], torn["right"])
    of = sides.filter(pl.col("claim").is_in(wanted)).partition_by(
        "claim", as_dict=True, maintain_order=True
    )
    for a, b, kind, alike in torn.select("left", "right", "kind", "score").iter_rows():
        if kind == NEARLY and other_claim(texts[a][0], *texts[b]):
            other_claims += 1
        else:
            conflicts.append(Conflict(alike, _sides(of[a,]) + _sides(of[b,])))
    return conflicts, other_claims


def _texts(graph: Graph, claims: Collection[int]) -> dict[int, tuple[str, str | None]]:
    """A text of each of these claims, and its language."""
    rows = graph.rows.filter(pl.col("claim").is_in(list(claims))).drop_nulls("text")
    first = rows.unique("claim", keep="first", maintain_order=True)
    return {
        c: (text, language)
        for c, text, language in first.select("claim", "text", "language").iter_rows()
    }


def _sides(group: pl.DataFrame) -> tuple[ConflictSide, ...]:
    rows = group.drop("claim").iter_rows(named=True)
    return tuple(
        ConflictSide(**{**row, "labels": tuple(row["labels"]), "ids": tuple(row["ids"])})
        for row in rows
    )


def _rank(conflict: Conflict) -> tuple[bool, bool, bool, float, int]:
    """Datasets that contradict each other first, the surest first, then those with most records;
    what is only another label map last.
    """
    return (
        conflict.other_map,
        not conflict.across,
        conflict.dated_apart,
        -conflict.similarity,
        -sum(side.records for side in conflict.sides),
    )


def disagreement(graph: Graph) -> pl.DataFrame:
    """For every two datasets: the claims whose text both decide, those whose verdicts differ, of
    these the `opposed`, those that differ and are dated apart, and those that differ by `other_map`
    alone: the sources wrote the same label.

    Opposed is true against false where both datasets mean the same by each of their labels: one of
    the two labels is wrong. Any other difference may be one of label maps ("half true" is mixed to
    one and false to the other)."""
    decided = _decided(graph)
    words = {raw: word_of(raw) for raw in decided["label_raw"].drop_nulls().unique()}
    decided = decided.with_columns(
        word=pl.col("label_raw").replace_strict(words, return_dtype=pl.String)
    )
    verdicts = decided.group_by("part", "dataset", "claim").agg(
        pl.col("veracity").unique().sort().str.join("+"),
        words=pl.when(pl.col("word").is_not_null().all()).then(
            pl.col("word").unique().sort().str.join("\n")
        ),
        unnamed=pl.col("label_raw").is_null().any() | (pl.col("veracity") == "mixed").any(),
        first=pl.col("date").min(),
        last=pl.col("date").max(),
    )
    both = (
        verdicts.join(verdicts, on="claim", suffix="_other")
        .filter(pl.col("part") < pl.col("part_other"))
        .join(_one_map(decided), on=["part", "part_other"], how="left")
    )
    differ = pl.col("veracity") != pl.col("veracity_other")
    by_map = differ & (pl.col("words") == pl.col("words_other")).fill_null(False)
    torn = differ & ~by_map
    apart = (pl.col("last") + TIME_APART < pl.col("first_other")) | (
        pl.col("last_other") + TIME_APART < pl.col("first")
    )
    later = torn & apart.fill_null(False)
    at_once = torn & ~later
    opposed = at_once & pl.col("one_map") & ~pl.col("unnamed") & ~pl.col("unnamed_other")
    counted = both.group_by("part", "part_other", "dataset", other="dataset_other").agg(
        claims=pl.len(),
        disagree=at_once.sum(),
        opposed=opposed.sum(),
        dated_apart=later.sum(),
        other_map=by_map.sum(),
    )
    numbers = pl.col("claims", "disagree", "opposed", "dated_apart", "other_map").cast(pl.Int64)
    return counted.sort("part", "part_other").select("dataset", "other", numbers)


def _one_map(decided: pl.DataFrame) -> pl.DataFrame:
    """Whether every label, as its source wrote it, is one verdict in both of two datasets."""
    labels = decided.select("part", "label_raw", "veracity").drop_nulls().unique()
    meanings: dict[int, set[tuple[str, str]]] = {part: set() for part in decided["part"].unique()}
    for part, label, veracity in labels.iter_rows():
        meanings[part].add((fold(label), veracity))
    rows = []
    for part, other in combinations(sorted(meanings), 2):
        together = meanings[part] | meanings[other]
        rows.append((part, other, len({label for label, _ in together}) == len(together)))
    schema = {"part": pl.Int64, "part_other": pl.Int64, "one_map": pl.Boolean}
    return pl.DataFrame(rows, schema, orient="row")
