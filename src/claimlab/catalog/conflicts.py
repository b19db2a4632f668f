"""The same claim under different verdicts, in several datasets or within one.

Two records conflict when both have a verdict on truth (true, false or mixed; "unknown" is none) and
those differ. The same claim is the same text but for case, punctuation and whitespace, or nearly
the same by Jaccard similarity of its 5-grams (`text/near.py`). Near-duplicates may differ in the
one word that matters ("is", "is not"): they are to be looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Annotated, Literal, get_args

import numpy as np
import polars as pl

from claimlab.core.atomic import atomic_text
from claimlab.core.call import in_storage
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.guard import refuse_file
from claimlab.core.options import Argument, Force, Option, Place
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Source, Stored
from claimlab.core.settings import one_of
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.files.cells import escape_cells
from claimlab.text.near import NEAR, Claims, claims_of, same_claims

By = Literal["text", "tweet"]
DECIDED = ("true", "false", "mixed")
SHOWN_IDS = 5
COLUMNS = ("conflict", "similarity", "dataset", "veracity", "labels", "records", "ids", "text")


@dataclass(frozen=True)
class Side:
    """One verdict of one dataset on one text, with the number of records."""

    dataset: str
    veracity: str
    labels: tuple[str, ...]  # as the source wrote them
    text: str | None
    records: int
    ids: tuple[str, ...]  # the first few


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
        return any(
            a.veracity != b.veracity and a.dataset != b.dataset
            for a in self.sides
            for b in self.sides
        )

    @property
    def within(self) -> bool:
        """Whether one dataset contradicts itself."""
        return any(
            a.veracity != b.veracity and a.dataset == b.dataset
            for a in self.sides
            for b in self.sides
        )

    def to_json(self) -> JsonObject:
        return {
            "similarity": round(self.similarity, 4),
            "across": self.across,
            "within": self.within,
            "sides": [asdict(side) for side in self.sides],
        }


@dataclass(frozen=True, repr=False)
class Conflicts(Shown):
    """The conflicts, those between datasets first; what was compared, and what could not be.

    `shared` says how many of the compared records of the second of two datasets are in the first.
    """

    conflicts: list[Conflict]
    compared: dict[str, int]  # dataset -> records with a text (or tweet id) and a verdict
    left_out: dict[str, int]  # dataset -> records without one of them
    shared: dict[tuple[str, str], int] = field(
        default_factory=dict
    )  # two datasets -> records of the second in the first

    @property
    def table(self) -> pl.DataFrame:
        """A row for each side of a conflict."""
        rows = [
            {"conflict": i, **asdict(side)}
            for i, c in enumerate(self.conflicts)
            for side in c.sides
        ]
        return (
            pl.DataFrame(rows, infer_schema_length=None) if rows else pl.DataFrame({"conflict": []})
        )

    def headline(self) -> str:
        return (
            f"{several(len(self.conflicts), 'conflict')} among"
            f" {several(sum(self.compared.values()), 'record')}"
        )

    def counts(self) -> dict[str, int]:
        return {
            "conflicts": len(self.conflicts),
            "across": sum(c.across for c in self.conflicts),
            "within": sum(c.within for c in self.conflicts),
            "compared": sum(self.compared.values()),
            "left_out": sum(self.left_out.values()),
            "shared": sum(self.shared.values()),
        }


@in_storage()
def labels(
    data: Annotated[Stored | Sequence[Source], Argument("One or more claimlab dataset folders.")],
    *,
    output: Annotated[Place | None, Option("Write them all to this CSV file.", short="-o")] = None,
    by: Annotated[
        str,
        Option("What makes a claim the same: 'text', or 'tweet' (its id).", metavar="KEY"),
    ] = "text",
    near: Annotated[
        bool,
        Option("Also texts that are nearly the same; or only the same.", flag="--near/--exact"),
    ] = False,
    threshold: Annotated[
        float,
        Option(
            "How near: Jaccard similarity of 5-grams, with `near`.",
            least=0.1,
            most=1.0,
            metavar="J",
        ),
    ] = NEAR,
    force: Force = False,
    progress: Progress = silent,
) -> Conflicts:
    """List claims that have different labels, across datasets and within one."""
    sources = [data] if isinstance(data, Dataset | str | Path) else list(data)
    target = None if output is None else Path(output)
    if target is not None:
        refuse_file(target, force=force, kind="list of conflicts", sign=",".join(COLUMNS))
    key = one_of(get_args(By), by, "by")
    conflicts = find_conflicts(
        [Dataset.of(source) for source in sources],
        by=key,
        near=near,
        threshold=threshold,
        progress=progress,
    )
    if target is not None:
        table = to_table(conflicts.conflicts)
        texts = [
            c for c, kind in table.schema.items() if kind == pl.String
        ]  # a stranger's text must start no formula
        atomic_text(target, table.with_columns(escape_cells(pl.col(texts))).write_csv())
    return conflicts


def find_conflicts(
    datasets: Sequence[Dataset],
    *,
    by: By = "text",
    near: bool = False,
    threshold: float = NEAR,
    progress: Progress = silent,
) -> Conflicts:
    """Every claim of `datasets` under different verdicts; with `near` also texts that are nearly
    the same.
    """
    if near and by != "text":
        raise UsageError(
            f"Near-duplicates are found by text, not by {by}.", "Leave out `near`, or `by`."
        )
    known = names(datasets)
    rows = pl.concat([_rows(d, name) for name, d in zip(known, datasets, strict=True)])
    decided = rows.filter(pl.col("veracity").is_in(DECIDED))
    claims = (
        same_claims(decided["tweet_id"])
        if by == "tweet"
        else claims_of(decided["text"], near=threshold if near else None, progress=progress)
    )
    usable = decided.with_columns(claim=claims.of_row).filter(pl.col("claim") >= 0)
    sides = usable.group_by("claim", "dataset", "veracity", maintain_order=True).agg(
        pl.col("text").first(),
        pl.len().alias("records"),
        pl.col("id").head(SHOWN_IDS).alias("ids"),
        pl.col("label_raw")
        .drop_nulls()
        .unique(maintain_order=True)
        .head(SHOWN_IDS)
        .alias("labels"),
    )
    conflicts = same(sides) + nearly_same(sides, claims)
    compared, all_rows = Counter(usable["dataset"].to_list()), Counter(rows["dataset"].to_list())
    return Conflicts(
        sorted(conflicts, key=_rank),
        {name: compared[name] for name in known},
        {name: all_rows[name] - compared[name] for name in known},
        overlaps(decided["dataset"], known, claims),
    )


def overlaps(
    dataset: pl.Series, known: Sequence[str], claims: Claims
) -> dict[tuple[str, str], int]:
    """How many records of the second of every two datasets are in the first, too: without any, the
    lack of conflicts says nothing."""
    part = dataset.replace_strict(known, range(len(known)), return_dtype=pl.Int64).to_numpy()
    held = claims.held(part, len(known))
    return {
        (known[a], known[b]): int(held[part == b, a].sum())
        for a, b in combinations(range(len(known)), 2)
    }


def same(sides: pl.DataFrame) -> list[Conflict]:
    """Claims with more than one verdict."""
    torn = sides.filter(pl.col("veracity").n_unique().over("claim") > 1)
    return [
        Conflict(1.0, _sides(group)) for group in torn.partition_by("claim", maintain_order=True)
    ]


def nearly_same(sides: pl.DataFrame, claims: Claims) -> list[Conflict]:
    """Pairs of different claims of which some verdict on one is not a verdict on the other."""
    bit = pl.col("veracity").replace_strict(
        {v: 1 << i for i, v in enumerate(DECIDED)}, return_dtype=pl.Int64
    )
    verdicts = (
        sides.group_by("claim")
        .agg(bit.unique().sum().alias("verdicts"))
        .sort("claim")["verdicts"]
        .to_numpy()
    )
    left, right = verdicts[claims.left], verdicts[claims.right]
    one_and_the_same = (left == right) & (left & (left - 1) == 0)
    torn = np.flatnonzero(~one_and_the_same)
    of = {
        claim[0]: group
        for claim, group in sides.partition_by("claim", as_dict=True, maintain_order=True).items()
    }
    return [
        Conflict(float(alike), _sides(of[a]) + _sides(of[b]))
        for a, b, alike in zip(
            claims.left[torn], claims.right[torn], claims.similarity[torn], strict=True
        )
    ]


def names(datasets: Sequence[Dataset]) -> list[str]:
    """One name for each: that of the dataset, and of its folder too where several share it."""
    times = Counter(d.name for d in datasets)
    out = [d.name if times[d.name] == 1 else f"{d.name} ({d.path})" for d in datasets]
    if len(set(out)) < len(out):
        raise UsageError("A dataset is given twice.", "Give each folder once.")
    return out


def to_table(conflicts: Sequence[Conflict]) -> pl.DataFrame:
    """One row per side, for a spreadsheet."""
    rows = [
        {
            "conflict": number,
            "similarity": round(conflict.similarity, 4),
            "dataset": side.dataset,
            "veracity": side.veracity,
            "labels": "; ".join(side.labels),
            "records": side.records,
            "ids": "; ".join(side.ids),
            "text": side.text,
        }
        for number, conflict in enumerate(conflicts, 1)
        for side in conflict.sides
    ]
    kinds = {"conflict": pl.Int64, "similarity": pl.Float64, "records": pl.Int64}
    return pl.DataFrame(rows, schema={c: kinds.get(c, pl.String) for c in COLUMNS})


def _rows(dataset: Dataset, name: str) -> pl.DataFrame:
    blank_is_null = (
        pl.when(pl.col("tweet_id").str.strip_chars() != "").then("tweet_id").alias("tweet_id")
    )
    columns = dataset.records.select("id", "text", "label_raw", "veracity", blank_is_null)
    return columns.with_columns(pl.lit(name).alias("dataset"))


def _sides(group: pl.DataFrame) -> tuple[Side, ...]:
    return tuple(
        Side(
            row["dataset"],
            row["veracity"],
            tuple(row["labels"]),
            row["text"],
            row["records"],
            tuple(row["ids"]),
        )
        for row in group.iter_rows(named=True)
    )


def _rank(conflict: Conflict) -> tuple[bool, float, int]:
    """Datasets that contradict each other first, the surest first, then those with most records."""
    return (
        not conflict.across,
        -conflict.similarity,
        -sum(side.records for side in conflict.sides),
    )
