"""Which records are seeds: drawn at random and evenly over strata, each used once.

Strata are the values of some columns (language, source and topic by default). A record without a
text, or made by a machine, is not a seed. What is edited without changing its facts, or altered,
starts from text that is labelled true: its label then follows from what was done to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.core.record import SCHEMA
from claimlab.core.stats.streams import share_of
from claimlab.core.types import JsonObject
from claimlab.text.tokens import spaced

STRATA_COLUMNS = ("language", "source", "topic")
FEWEST_WORDS = 5


def seeds_of(dataset: Dataset, veracity: str, languages: Sequence[str]) -> pl.DataFrame:
    """The records that can be a seed of text of this veracity."""
    words = spaced(dataset.records["text"]).str.count_matches(r"\S+").fill_null(0) >= FEWEST_WORDS
    people = pl.col("authorship").is_null() | (pl.col("authorship") == "HWT")
    spoken = pl.col("language").is_in(list(languages))
    label = pl.col("veracity")  # a translation keeps its seed's label, so there must be one
    fits = label.is_not_null() if veracity == "seed" else label == "true"
    rows = dataset.records.filter(words & people & spoken & fits)
    if not rows.height:
        raise DataError(
            f"'{dataset.name}' holds no text that can be a seed of {veracity} text.",
            "Seeds are texts by people in one of `languages`, of five words or more, labelled"
            " true.",
        )
    return rows


def draw(
    rows: pl.DataFrame, size: int, *, seed: int, by: Sequence[str] = STRATA_COLUMNS
) -> list[JsonObject]:
    """At most `size` seeds, in the order of the draw. One stratum after another gives one, so that
    small ones are not drowned by large ones.
    """
    if unknown := [name for name in by if name not in SCHEMA]:
        raise UsageError(
            f"'{unknown[0]}' is not a column of records.",
            f"Use some of: {', '.join(STRATA_COLUMNS)}, split.",
        )
    strata: dict[tuple[object, ...], list[tuple[float, str]]] = defaultdict(list)
    for record, *stratum in rows.select("id", *by).iter_rows():
        strata[tuple(stratum)].append((share_of(seed, "seed", record), record))
    ranked = [
        (rank, share_of(seed, "stratum", *stratum), record)
        for stratum, members in strata.items()
        for rank, (_, record) in enumerate(sorted(members))
    ]
    by_id = {row["id"]: row for row in rows.iter_rows(named=True)}
    return [by_id[record] for _, _, record in sorted(ranked)[:size]]
