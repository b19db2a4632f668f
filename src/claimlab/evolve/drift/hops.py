"""Traces as one table of hops: what every measure reads, whatever run or release wrote the traces.

A trace is one claim's way through the network. Steps are numbered anew in each round, so `hop`
counts from 1 through the whole trace; `base` is the text before the first hop, `home` the group
that the whole trace stayed in. In a cascade several hops stand side by side: `depth` says how far
each is from the base, `parent` which hop it came from; on a walk depth is the hop. What only the
run knows (network, auditors) is taken from the hop's own meta, else from the lineage of the
dataset, else it is null.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.types import JsonObject

SCHEMA: JsonObject = {
    "run": pl.String,
    "trace_id": pl.String,
    "record_id": pl.String,
    "hop": pl.Int32,
    "hops": pl.Int32,
    "round": pl.Int32,
    "step": pl.Int32,
    "agent": pl.String,
    "role": pl.String,
    "base": pl.String,
    "input": pl.String,
    "output": pl.String,
    "passed": pl.Boolean,
    "reason": pl.String,
    "topic": pl.String,
    "topology": pl.String,
    "group": pl.String,
    "home": pl.String,
    "dimension": pl.String,
    "target": pl.String,
    "auditors": pl.Int32,
    "verdict": pl.String,
    "attributes": pl.List(pl.String),
    "operators": pl.List(pl.String),
    "votes": pl.List(pl.String),
    "failure": pl.String,
    "why": pl.String,
    "depth": pl.Int32,
    "parent": pl.Int32,
}
# The names under which a run may state a thing in the meta of a hop or in its lineage, the first
# that is there counts.
KEYS: dict[str, tuple[str, ...]] = {
    "topology": ("topology", "network", "network_kind"),
    "group": ("agent_group", "group"),
    "dimension": ("dimension", "target_dimension"),
    "target": ("target_value", "value"),
    "auditors": ("auditors",),
    "verdict": ("verdict", "veracity_level"),
    "failure": ("failure",),
    "why": ("influencing_reason", "rewrite_reason", "why"),
}


_KEPT = (
    "trace_id",
    "record_id",
    "round",
    "step",
    "agent",
    "role",
    "input",
    "output",
    "passed",
    "reason",
)


def read_hops(datasets: Sequence[Dataset], groups: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Every hop of `datasets`, in order; `groups` says the social group of an agent where the hop
    does not.
    """
    frames = [_of(dataset, _name(dataset), groups or {}) for dataset in datasets]
    if len({f["run"][0] for f in frames if f.height}) < len(frames):
        frames = [
            f.with_columns((pl.lit(f"{i + 1}: ") + pl.col("run")).alias("run"))
            for i, f in enumerate(frames)
        ]
    return pl.concat(frames)


def _of(dataset: Dataset, run: str, groups: Mapping[str, str]) -> pl.DataFrame:
    table = dataset.tables.get("traces")
    if table is None or not table.height:
        raise DataError(
            f"'{run}' has no traces.",
            "Make some with: claimlab evolve run DIR -o DIR, or load evolved-claims.",
        )
    stated = stated_by_run(dataset)
    groups = {**groups_of(dataset), **groups}
    topics = dict(dataset.records.select("id", "topic").iter_rows())
    rows = []
    for row in table.sort("trace_id", "round", "step", maintain_order=True).iter_rows(named=True):
        meta = _object(row["meta"])
        fields = _fields(meta, stated)
        fields["group"] = fields["group"] or groups.get(row["agent"] or "")
        topic = topics.get(row["record_id"]) or meta.get("topic")
        rows.append({**{k: row[k] for k in _KEPT}, **fields, "topic": topic, "run": run})
    frame = pl.DataFrame(
        rows, schema={k: t for k, t in SCHEMA.items() if k not in ("hop", "hops", "base", "home")}
    )
    return (
        frame.with_columns(
            pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("trace_id").alias("hop"),
            pl.len().over("trace_id").cast(pl.Int32).alias("hops"),
            pl.col("input").first().over("trace_id").alias("base"),
            _home().alias("home"),
        )
        .with_columns(pl.coalesce("depth", "hop").alias("depth"))
        .select(list(SCHEMA))
        .sort("trace_id", "hop")
    )


def _fields(meta: JsonObject, stated: JsonObject) -> JsonObject:
    """What the meta of a hop says, or else the run."""
    fields: JsonObject = {name: _first(meta, keys, stated.get(name)) for name, keys in KEYS.items()}
    votes = [_vote(v) for v in meta.get("votes") or ()]
    auditors = fields.pop("auditors")
    return {
        **{name: None if value is None else str(value) for name, value in fields.items()},
        "auditors": auditors if isinstance(auditors, int) else len(votes) or None,
        "attributes": _words(meta.get("influencing_attributes")),
        "operators": _fired(meta.get("operators")),
        "votes": votes,
        "depth": meta.get("depth"),
        "parent": meta.get("parent"),
    }


def _home() -> pl.Expr:
    """The group that a whole trace stayed in; null for one that crossed groups, which is the rule
    outside clusters.
    """
    one = (pl.col("group").n_unique() == 1).over("trace_id")
    return pl.when(one).then(pl.col("group"))


def stated_by_run(dataset: Dataset) -> JsonObject:
    """What the last `evolve` step in the lineage says of the whole run: its network, and how many
    auditors it had.
    """
    for step in reversed(dataset.lineage):
        if step.step == "evolve":
            network = step.parameters.get("society", {}).get("network", {})
            auditors = step.parameters.get("auditors")
            steered = bool(step.parameters.get("targets"))
            return {
                "topology": network.get("kind"),
                "auditors": len(auditors or ()) if steered else None,
            }
    return {}


def groups_of(dataset: Dataset) -> dict[str, str]:
    """Agent id to social group, from the table `agents` that a run leaves beside its traces."""
    table = dataset.tables.get("agents")
    if table is None or not {"id", "group"} <= set(table.columns):
        return {}
    return dict(table.select("id", "group").drop_nulls().iter_rows())


def _name(dataset: Dataset) -> str:
    return dataset.path.name if dataset.path is not None else dataset.name


def _object(text: str | None) -> JsonObject:
    try:
        value = json.loads(text) if text else {}
    except ValueError:
        raise DataError("The meta of a hop is not JSON.", "Make the traces again.") from None
    return value if isinstance(value, dict) else {}


def _first(values: Mapping[str, Any], keys: Sequence[str], default: Any) -> Any:
    return next((values[k] for k in keys if values.get(k) not in (None, "")), default)


def _words(value: Any) -> list[str]:
    return [str(v) for v in value] if isinstance(value, list) else [str(value)] if value else []


def _fired(value: Any) -> list[str]:
    """The operators that changed the text; those that were tried in vain are left out."""
    tried = value if isinstance(value, list) else []
    return [str(o.get("name")) if isinstance(o, dict) else str(o) for o in tried if _changed(o)]


def _changed(operator: Any) -> bool:
    return bool(operator.get("fired", True)) if isinstance(operator, dict) else bool(operator)


def _vote(vote: Any) -> str:
    """One auditor's vote as JSON text: who, whether it passed (null: no answer), why."""
    if isinstance(vote, dict):
        fields = {
            "auditor": vote.get("auditor") or vote.get("name"),
            "passed": vote.get("passed"),
            "reason": vote.get("reason") or vote.get("diagnosis") or vote.get("failure"),
        }
    else:
        fields = {
            "auditor": None,
            "passed": vote if isinstance(vote, bool) else None,
            "reason": None,
        }
    return json.dumps(fields, ensure_ascii=False)


# Hops by what they have in common: topics one by one, small ones pooled, so that no figure rests on
# a few traces.


LEAST = 20  # traces behind a slope, an interval or a group of its own
UNSTATED = "not stated"
_BETWEEN = (  # "health; taxes" and "health,taxes" are two topics, "Health, science" is one
    r"\s*[;|]\s*|,(\S)"
)


def by_topic(hops: pl.DataFrame, least: int = LEAST) -> pl.DataFrame:
    """`hops` once for each of their topics; topics with fewer than `least` traces are one, named
    with their number.
    """
    one_each = hops.with_columns(
        pl.col("topic")
        .fill_null(UNSTATED)
        .str.replace_all(_BETWEEN, "\x1f$1")
        .str.split("\x1f")
        .alias("topic")
    ).explode("topic")
    sizes = (
        one_each.select("run", "trace_id", "topic")
        .unique()
        .group_by("topic")
        .agg(pl.len().alias("size"))
        .sort("topic")
    )
    small = sizes.filter(pl.col("size") < least)["topic"].to_list()
    if len(small) < 2:
        return one_each
    rest = f"other ({len(small)} topics with fewer than {least} traces)"
    named = pl.when(pl.col("topic").is_in(small)).then(pl.lit(rest)).otherwise(pl.col("topic"))
    # A trace with two small topics is in the pool once.
    return one_each.with_columns(named.alias("topic")).unique(
        ["run", "trace_id", "hop", "topic"], keep="first", maintain_order=True
    )


def grouped(hops: pl.DataFrame, by: str) -> pl.DataFrame:
    """`hops` ready to be grouped by a column: topics split and pooled, what is not stated named."""
    return (
        by_topic(hops)
        if by == "topic"
        else hops.with_columns(pl.col(by).cast(pl.String).fill_null(UNSTATED))
    )
