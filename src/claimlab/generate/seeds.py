"""Which records become seeds: drawn at random and evenly over strata, each used once.

Strata are the values of some columns (language, source and topic by default). A record without a
text, or made by a machine, is no seed. What is edited without changing its facts, or altered,
starts from text that is labelled true: its label then follows from what was done to it. With a
table of reputation (source, class) the class decides instead, and only sources that it lists are
drawn from: reputable ones for real text, flagged ones for altered text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.core.record import SCHEMA
from claimlab.core.stats.streams import share_of
from claimlab.core.types import JsonObject
from claimlab.files.read import user_table

BY = ("language", "source", "topic")
CLASSES = {"reputable": "real", "flagged": "altered"}
FEWEST_WORDS = 5


@dataclass(frozen=True)
class Seeds:
    """The drawn records in the order of the draw, and how many could have been drawn."""

    rows: list[JsonObject]
    eligible: int
    strata: int


def draw(
    dataset: Dataset,
    size: int,
    *,
    seed: int,
    by: Sequence[str] = BY,
    languages: Sequence[str] = (),
    classed: dict[str, str] | None = None,
    veracity: str = "real",
) -> Seeds:
    """At most `size` seeds. One stratum after another gives one, so that small ones are not drowned
    by large ones.
    """
    if unknown := [name for name in by if name not in SCHEMA]:
        raise UsageError(
            f"'{unknown[0]}' is not a column of records.", f"Use some of: {', '.join(BY)}, split."
        )
    words = pl.col("text").str.count_matches(r"\S+").fill_null(0) >= FEWEST_WORDS
    people = pl.col("authorship").is_null() | (pl.col("authorship") == "HWT")
    rows = dataset.records.filter(words & people & pl.col("language").is_not_null())
    if languages:
        rows = rows.filter(pl.col("language").is_in(list(languages)))
    rows = rows.filter(_fits(veracity, classed))
    if not rows.height:
        raise DataError(
            f"'{dataset.name}' holds no text that can be a seed of {veracity} text.",
            "Seeds are texts by people in one of `languages`, of five words or more, labelled true"
            " or from a source that `reputation` classes.",
        )
    strata: dict[tuple[Any, ...], list[tuple[float, str]]] = {}
    for row in rows.select("id", *by).iter_rows():
        strata.setdefault(row[1:], []).append((share_of(seed, "seed", row[0]), row[0]))
    ranked = [
        (rank, share_of(seed, "stratum", *stratum), record)
        for stratum, members in strata.items()
        for rank, (_, record) in enumerate(sorted(members))
    ]
    chosen = [record for _, _, record in sorted(ranked)[:size]]
    at = {row["id"]: row for row in rows.iter_rows(named=True)}
    return Seeds([at[record] for record in chosen], rows.height, len(strata))


def _fits(veracity: str, classed: dict[str, str] | None) -> pl.Expr:
    if veracity == "seed":  # a translation keeps its seed's label, so there must be one
        return pl.col("veracity").is_not_null()
    if classed is None:
        return pl.col("veracity") == "true"
    wanted = [source for source, name in classed.items() if CLASSES[name] == veracity]
    listed = pl.col("source").is_in(wanted)
    return listed & pl.col("veracity").ne_missing("false") if veracity == "real" else listed


def read_reputation(file: str | Path | None) -> dict[str, str] | None:
    """Source and class, as the user's table says; only the two classes are known."""
    if file is None:
        return None
    table = user_table(Path(file), "source", "class")
    if not {"source", "class"} <= set(table.columns):
        raise DataError(f"'{file}' does not have the columns source and class.", "Name them so.")
    classed = {
        str(source): str(name).strip().lower()
        for source, name in table.select("source", "class").iter_rows()
    }
    if unknown := sorted(set(classed.values()) - set(CLASSES)):
        raise DataError(
            f"'{unknown[0]}' is not a valid class of a source.", f"Use: {', '.join(CLASSES)}."
        )
    return classed
