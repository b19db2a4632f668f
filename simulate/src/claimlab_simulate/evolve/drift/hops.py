"""Traces as one table of hops: what every measure reads, whatever run or release wrote the traces.

A trace is one claim's way through the network. Steps are numbered anew in each round, so `hop`
counts from 1 through the whole trace; `base` is the text before the first hop, `home` the group
that the whole trace stayed in. In a cascade several hops stand side by side: `depth` says how far
each is from the base, `parent` which hop it came from; on a walk depth is the hop. What only the
run knows (network, auditors) is taken from the hop's own meta, else from the lineage of the
dataset, else it is null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.stats.interval import DRAWS, Interval, unit_interval

_TEXT = pl.String()
_WORDS = pl.List(_TEXT)
_VOTE = dict.fromkeys(("auditor", "reason", "diagnosis", "failure"), _TEXT)
# What a run or a release may state in the meta of a hop.
META: dict[str, pl.DataType] = {
    "topology": _TEXT,
    "group": _TEXT,
    "dimension": _TEXT,
    "target_value": _TEXT,
    "auditors": pl.Int32(),
    "verdict": _TEXT,
    "influencing_attributes": _WORDS,
    "influencing_reason": _TEXT,
    "operators": pl.List(pl.Struct({"name": _TEXT, "fired": pl.Boolean()})),
    "votes": pl.List(pl.Struct({**_VOTE, "passed": pl.Boolean()})),
    "failure": _TEXT,
    "depth": pl.Int32(),
    "parent": pl.Int32(),
}
COLUMNS = (
    *("run", "trace_id", "record_id", "hop", "hops", "round", "step", "agent", "role", "base"),
    *("input", "output", "passed", "reason", "topic", "language", "topology", "group", "home"),
    *("dimension", "target", "auditors", "verdict", "attributes", "operators", "votes"),
    *("failure", "why", "depth", "parent"),
)
FEWEST_TRACES = 20  # traces behind a slope, an interval or a group of its own
UNSTATED = "not stated"
_BETWEEN = (  # "health; taxes" and "health,taxes" are two topics, "Health, science" is one
    r"\s*[;|]\s*|,(\S)"
)


def read_hops(datasets: Sequence[Dataset], groups: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Every hop of `datasets`, in order; `groups` says the social group of an agent where the hop
    does not.
    """
    frames = [_of(dataset, groups or {}) for dataset in datasets]
    if len({f["run"][0] for f in frames if f.height}) < len(frames):
        frames = [
            f.with_columns(run=pl.lit(f"{i + 1}: ") + pl.col("run")) for i, f in enumerate(frames)
        ]
    return pl.concat(frames)


def _of(dataset: Dataset, groups: Mapping[str, str]) -> pl.DataFrame:
    run = dataset.path.name if dataset.path is not None else dataset.name
    table = dataset.tables.get("traces")
    if table is None or not table.height:
        raise DataError(
            f"'{run}' has no traces.",
            "Make some with: claimlab evolve run DIR -o DIR, or load evolved-claims.",
        )
    try:
        stated = table.with_columns(pl.col("meta").str.json_decode(pl.Struct(META)))
    except pl.exceptions.ComputeError:
        raise DataError("The meta of a hop is not JSON.", "Make the traces again.") from None
    topology, auditors = stated_by_run(dataset)
    groups = {**groups_of(dataset), **groups}
    by_agent = pl.col("agent").replace_strict(groups, default=None, return_dtype=pl.String)
    fired = pl.element().struct.field("fired").fill_null(True)
    votes = pl.col("votes").list.len()
    about = dataset.records.select("topic", "language", record_id="id")
    return (
        stated.unnest("meta")
        .join(about, on="record_id", how="left", maintain_order="left")
        .sort("trace_id", "round", "step", maintain_order=True)
        .rename({"target_value": "target", "influencing_reason": "why"})
        .with_columns(
            pl.col("votes").fill_null([]),
            run=pl.lit(run),
            topology=pl.coalesce("topology", pl.lit(topology, dtype=pl.String)),
            auditors=pl.coalesce(
                "auditors", pl.lit(auditors, dtype=pl.Int32), pl.when(votes > 0).then(votes)
            ).cast(pl.Int32),
            group=pl.coalesce("group", by_agent),
            attributes=pl.col("influencing_attributes").fill_null([]),
            operators=pl.col("operators")
            .list.eval(pl.element().filter(fired).struct.field("name"))
            .fill_null([]),
            hop=pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("trace_id"),
            hops=pl.len().over("trace_id").cast(pl.Int32),
            base=pl.col("input").first().over("trace_id"),
        )
        # the group that a whole trace stayed in; none outside clusters, as a rule
        .with_columns(
            home=pl.when((pl.col("group").n_unique() == 1).over("trace_id")).then("group"),
            depth=pl.coalesce("depth", "hop"),
        )
        .select(COLUMNS)
        .sort("trace_id", "hop")
    )


def stated_by_run(dataset: Dataset) -> tuple[str | None, int | None]:
    """What the last `evolve` step in the lineage says of the whole run: its network, and how many
    auditors it had.
    """
    for step in reversed(dataset.lineage):
        if step.step == "evolve":
            network = step.parameters.get("society", {}).get("network", {})
            steered = bool(step.parameters.get("targets"))
            auditors = len(step.parameters.get("auditors") or ()) if steered else None
            return network.get("kind"), auditors
    return None, None


def groups_of(dataset: Dataset) -> dict[str, str]:
    """Agent id to social group, from the table `agents` that a run leaves beside its traces."""
    table = dataset.tables.get("agents")
    if table is None or not {"id", "group"} <= set(table.columns):
        return {}
    return dict(table.select("id", "group").drop_nulls().iter_rows())


# Hops by what they have in common: topics one by one, small ones pooled, so that no figure rests on
# a few traces.


def mean_interval(
    values: npt.NDArray[np.float64], seed: int, draws: int = DRAWS
) -> Interval | None:
    """95% interval of a mean over traces."""
    if len(values) < FEWEST_TRACES:
        return None
    return unit_interval(len(values), lambda at: float(values[at].mean()), seed=seed, draws=draws)


def by_topic(hops: pl.DataFrame, least: int = FEWEST_TRACES) -> pl.DataFrame:
    """`hops` once for each of their topics; topics with fewer than `least` traces are one, named
    with their number.
    """
    one_each = hops.with_columns(
        topic=pl.col("topic")
        .fill_null(UNSTATED)
        .str.replace_all(_BETWEEN, "\x1f$1")
        .str.split("\x1f")
    ).explode("topic")
    sizes = (
        one_each.select("run", "trace_id", "topic")
        .unique()
        .group_by("topic")
        .agg(size=pl.len())
        .sort("topic")
    )
    small = sizes.filter(pl.col("size") < least)["topic"].to_list()
    if len(small) < 2:
        return one_each
    rest = f"other ({len(small)} topics with fewer than {least} traces)"
    named = pl.when(pl.col("topic").is_in(small)).then(pl.lit(rest)).otherwise(pl.col("topic"))
    # A trace with two small topics is in the pool once.
    return one_each.with_columns(topic=named).unique(
        ["run", "trace_id", "hop", "topic"], keep="first", maintain_order=True
    )


def grouped(hops: pl.DataFrame, by: str) -> pl.DataFrame:
    """`hops` ready to be grouped by a column: topics split and pooled, what is not stated named."""
    return (
        by_topic(hops)
        if by == "topic"
        else hops.with_columns(pl.col(by).cast(pl.String).fill_null(UNSTATED))
    )
