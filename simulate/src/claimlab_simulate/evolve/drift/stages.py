"""The seed, middle and evolved stage of traces as datasets: what the claims said before, halfway
and after; and what the null model makes of the seeds, to test a detector on as well.

Every record carries its label, origin and change log, and the hops that made it are its traces.
Seeds are listed once however many traces start from them. A trace of one hop has no middle; it is
counted, not invented.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from claimlab.core.choices import each_of, one_of
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import UsageError
from claimlab.core.record import SCHEMA, SIDE_TABLES, meta_json
from claimlab.core.types import JsonObject
from claimlab.text.changes import changes
from claimlab_simulate.evolve.drift.noise import NOISE, with_noise
from claimlab_simulate.evolve.drift.verdicts import START

NULL = "null"  # the seeds after as many words changed as on the way to `evolved`, at random
LEVELS = ("seed", "middle", "evolved", NULL)
STEP = "step-"  # with a number: the claims after that many hops
LABELS = ("source", "verdict")


def wanted_levels(words: str | Sequence[str]) -> list[str]:
    """The user's stages ("seed,middle"), checked: before anything is measured."""
    names = [name.strip() for name in ",".join(each_of(words)).split(",") if name.strip()]
    wrong = [name for name in names if name not in LEVELS and not _step(name)]
    if wrong or not names:
        named = f"There is no stage '{wrong[0]}'." if wrong else "No stage was named."
        raise UsageError(named, f"Choose among: {', '.join(LEVELS)}, {STEP}10 (any number).")
    return names


def _step(name: str) -> int:
    """The hop that the name of a stage says; 0 where it says none."""
    number = name.removeprefix(STEP)
    return int(number) if number != name and number.isdecimal() else 0


def stages(
    dataset: Dataset,
    hops: pl.DataFrame,
    names: Sequence[str] = LEVELS,
    prompts: Mapping[str, Any] | None = None,
    label: str = "source",
) -> dict[str, Dataset]:
    """Each wanted stage of one run as a dataset; `prompts` are the words that judges of its hops
    were asked with.

    `label` is what `label_raw` says: "source", the label of the claim, or "verdict", how true the
    text was judged to be on six levels (task `veracity-six`); texts that were not judged have none.
    """
    names = wanted_levels(names)
    one_of(LABELS, label, "label")
    line = main_line(hops if NOISE in hops.columns else with_noise(hops))
    return {name: _stage(dataset, line, name, prompts or {}, label) for name in names}


def main_line(hops: pl.DataFrame) -> pl.DataFrame:
    """Of a cascade only the hops that led to its last text, numbered anew; walks as they are."""
    branched = hops.filter(pl.col("parent").is_not_null().any().over("trace_id"))
    if not branched.height:
        return hops
    path: list[tuple[str, int]] = []
    for (trace,), part in branched.group_by("trace_id", maintain_order=True):
        parents = dict(part.select("hop", "parent").iter_rows())
        at: int | None = max(parents)
        while at:
            path.append((str(trace), at))
            at = parents.get(at)
    wanted = pl.DataFrame(path, schema={"trace_id": pl.String, "hop": pl.Int32}, orient="row")
    line = branched.join(wanted, on=["trace_id", "hop"], how="semi").sort("trace_id", "hop")
    walks = hops.join(branched.select("trace_id").unique(), on="trace_id", how="anti")
    return pl.concat([walks, line]).with_columns(
        hop=pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("trace_id"),
        hops=pl.len().over("trace_id").cast(pl.Int32),
    )


def _stage(
    dataset: Dataset, hops: pl.DataFrame, name: str, prompts: Mapping[str, Any], label: str
) -> Dataset:
    rows = {r["id"]: r for r in dataset.records.iter_rows(named=True)}
    if name == NULL:
        hops = hops.with_columns(output=pl.col(NOISE), verdict=pl.lit(None, dtype=pl.String))
    chosen = hops.filter(pl.col("hop") == stop_of(name)).drop_nulls(
        "base" if name == "seed" else "output"
    )
    records: dict[str, JsonObject] = {}  # by trace, and seeds by claim
    owners: dict[str, str] = {}
    for hop in chosen.iter_rows(named=True):
        source = rows.get(hop["record_id"], {})
        key = (source.get("group") or hop["base"]) if name == "seed" else hop["trace_id"]
        if key not in records:
            records[key] = _record(source, hop, name, label)
            owners[records[key]["id"]] = hop["trace_id"]
    table = _traces(dataset, hops, owners, name)
    frame = pl.DataFrame(list(records.values()), schema=SCHEMA)
    traces = hops["trace_id"].n_unique()
    step = Lineage(
        step=f"evolve drift: {name}",
        parameters={
            "stage": name,
            "label": label,
            **({"prompts": dict(prompts)} if prompts else {}),
        },
        inputs={"records.parquet": dataset.digest()},
        counts={
            "traces": traces,
            "records": frame.height,
            "without_this_stage": traces - chosen.height,
        },
    )
    out = Dataset.build(
        f"{dataset.name}-{name}", frame, {"traces": table} if table.height else {}, synthetic=True
    )
    out.licence, out.card = dataset.licence, dataset.card
    out.lineage = [*dataset.lineage, step]
    return out


def stop_of(name: str) -> pl.Expr:
    """The hop at which a stage stands; the seed is what the first hop was given."""
    if name == "seed":
        return pl.lit(1, dtype=pl.Int32)
    if name in ("evolved", NULL):
        return pl.col("hops")
    if number := _step(name):
        return pl.lit(number, dtype=pl.Int32)
    # Halfway, rounded up; a trace of one hop has no middle, and hop 0 matches nothing.
    return pl.when(pl.col("hops") > 1).then((pl.col("hops") + 1) // 2).otherwise(0)


def _record(source: JsonObject, hop: JsonObject, name: str, wanted: str) -> JsonObject:
    """The record of one trace at one stage."""
    meta = json.loads(source.get("meta") or "{}")
    note: JsonObject = meta["synthetic"] if isinstance(meta.get("synthetic"), dict) else {}
    origin = {
        "trace": hop["trace_id"],
        "base_claim": hop["base"],
        "run": hop["run"],
        "made": note.get("origin"),
    }
    label = note.get("label") or source.get("label_raw") or "none given"
    unmoved = name == "seed" or hop["output"] == hop["base"]
    verdict = _verdict(source, hop, name)
    row = {column: source.get(column) for column in SCHEMA}
    row |= {
        "id": f"{hop['trace_id']}-{name}",
        "text": hop["base"] if name == "seed" else hop["output"],
        "kind": source.get("kind") or "claim",
        # A rewrite may be true no more: the verdict of the seed is not handed on to what it became.
        "veracity": source.get("veracity") if unmoved else None,
        "topic": hop["topic"],
        "group": source.get("group") or hop["trace_id"],
        "authorship": _authorship(source.get("authorship"), name),
        "split": None,
        "label_raw": (
            verdict.get("verdict_level") if wanted == "verdict" else source.get("label_raw")
        ),
        "meta": meta_json(
            {
                **meta,
                "stage": name,
                "topology": hop["topology"],
                "home": hop["home"],
                **verdict,
                "synthetic": {
                    "label": label,
                    "origin": origin,
                    "changes": _log(hop, name),
                },
            }
        ),
    }
    return row


def _log(hop: JsonObject, name: str) -> list[JsonObject]:
    if name == NULL:
        return changes(hop["base"], hop["output"])
    change = {
        "stage": name,
        "hops": hop["hop"],
        "of": hop["hops"],
        "dimension": hop["dimension"],
        "value": hop["target"],
    }
    return [] if name == "seed" else [change]


def _authorship(of_record: str | None, name: str) -> str | None:
    """The record speaks of what the claim became; a person's seed that was altered on the way was a
    person's.
    """
    if name == "seed":
        return None if of_record == "HAT" else of_record
    return of_record or "MGT"


def _verdict(source: JsonObject, hop: JsonObject, name: str) -> JsonObject:
    """How true the text of this stage was judged to be, why and by whom; of a seed, what its own
    label says.
    """
    if name == "seed":
        return {"verdict_level": START if source.get("veracity") == "true" else None}
    more = ("verdict_rationale", "verdict_by") if hop["verdict"] else ()
    return {"verdict_level": hop["verdict"], **{k: hop[k] for k in more if hop.get(k)}}


def _traces(
    dataset: Dataset, hops: pl.DataFrame, owners: dict[str, str], name: str
) -> pl.DataFrame:
    """The hops that led to each record of the stage, keyed by its new id; a seed has none behind
    it.
    """
    table = dataset.tables["traces"]
    if name in ("seed", NULL) or not owners:
        return table.clear().select(list(SIDE_TABLES["traces"]))
    until = hops.filter(pl.col("hop") <= stop_of(name)).select("trace_id", "round", "step")
    ids = pl.DataFrame({"new": list(owners), "trace_id": list(owners.values())})
    rows = table.join(until, on=["trace_id", "round", "step"], how="semi").join(ids, on="trace_id")
    return (
        rows.drop("record_id")
        .rename({"new": "record_id"})
        .select(table.columns)
        .sort("trace_id", "round", "step")
    )
