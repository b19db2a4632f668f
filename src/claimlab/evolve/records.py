"""Lives as tables: what the claims became, with label, origin and change log, and every hop beside
them.

Evolved text is machine-made. No record leaves this file without saying so, and none keeps a verdict
that was given to another text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.record import SIDE_TABLES, meta_json
from claimlab.core.types import JsonObject
from claimlab.evolve.claims.model import Claim, Target
from claimlab.evolve.hop import Hop, Life, Start
from claimlab.evolve.propagation import Stage

_KEPT = ("label_raw", "veracity", "language", "topic", "source", "authorship", "split")
CONTEXTS = 3  # texts of the evidence table that an agent may see: the first is the context
_WHOLE = 5_000  # societies up to this size are kept whole; of larger ones, those who took part


def starts(claims: Dataset, targets: Sequence[Target]) -> list[Start]:
    """Every claim, once for each target; claims without a text cannot be told and are left out (and
    counted).
    """
    contexts = _contexts(claims)
    rows = claims.records.select("id", "text", _languages(claims.records)).iter_rows()
    wanted: Sequence[Target | None] = targets or (None,)
    return [
        Start(record_id, text, language, *contexts.get(record_id, (None, ())), target)
        for record_id, text, language in rows
        if text is not None
        for target in wanted
    ]


def _languages(records: pl.DataFrame) -> pl.Series:
    """The stated language of each claim, and where none is stated the measured one: words of
    another language must not get into a text. Null where it cannot be told either.
    """
    stated = records["language"]
    if not stated.null_count():
        return stated
    from claimlab.text.langid import identify

    unlabelled = records["text"].zip_with(
        stated.is_null(), pl.Series([None], dtype=pl.String).new_from_index(0, len(stated))
    )
    measured = pl.Series("language", identify(unlabelled), dtype=pl.String)
    return stated.zip_with(stated.is_not_null(), measured)


def tables(
    claims: Dataset,
    beginnings: Sequence[Start],
    lives: Sequence[Life],
    origin: JsonObject,
    stage: Stage,
) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """The records and the side tables: traces, the claims' evidence under their new ids, agents and
    edges.
    """
    before = {row["id"]: row for row in claims.records.iter_rows(named=True)}
    pairs = list(zip(beginnings, lives, strict=True))
    records = [_record(before[start.id], start, life, origin) for start, life in pairs]
    bare = [row["id"] for row in records if not _says_what_it_is(row["meta"])]
    if bare:
        raise DataError(
            f"Evolved claim '{bare[0]}' has no label, origin or change log.",
            "Report this: it is a fault.",
        )
    side = {"traces": _traces(pairs), **_society(stage, lives)}
    if "evidence" in claims.tables:
        new_ids = pl.DataFrame(
            {"record_id": [s.id for s in beginnings], "new": [life.key for life in lives]}
        )
        moved = new_ids.join(claims.tables["evidence"], on="record_id", maintain_order="left")
        side["evidence"] = (
            moved.drop("record_id")
            .rename({"new": "record_id"})
            .select(claims.tables["evidence"].columns)
        )
    return pl.DataFrame(records, infer_schema_length=None), side


def _contexts(claims: Dataset) -> dict[str, tuple[str | None, tuple[str, ...]]]:
    evidence = claims.tables.get("evidence")
    if evidence is None:
        return {}
    pieces: dict[str, list[str]] = {}
    for record_id, text in (
        evidence.sort("rank", maintain_order=True).select("record_id", "text").iter_rows()
    ):
        if text:
            pieces.setdefault(record_id, []).append(text)
    return {record_id: (texts[0], tuple(texts[1:CONTEXTS])) for record_id, texts in pieces.items()}


def _record(before: JsonObject, start: Start, life: Life, origin: JsonObject) -> JsonObject:
    known = {column: before[column] for column in _KEPT}
    if life.text != start.text:
        # A verdict is on a text, and this is another; nor did that outlet print it.
        known |= {"veracity": None, "source": None}
        known["authorship"] = "MGT" if before["authorship"] == "MGT" else "HAT"
    return {
        "id": life.key,
        "text": life.text,
        "kind": before["kind"] or "claim",
        **known,
        "group": before["group"] or start.id,
        "meta": meta_json(_meta(before, start, life, origin)),
    }


def _meta(before: JsonObject, start: Start, life: Life, origin: JsonObject) -> JsonObject:
    own = {"claim": start.id, "base_claim": start.text, "dataset": before["dataset"]}
    if before["source"]:
        own["source"] = before["source"]
    goal, claim = {}, Claim(life.text)
    if start.target is not None:
        goal = {"dimension": start.target.dimension, "target_value": start.target.value}
        if life.status == "success":
            claim = replace(claim, **{start.target.dimension: start.target.value})
    return {
        "synthetic": {
            "label": before["label_raw"] or "none given",
            "origin": {**origin, **own},
            "changes": [_change(hop) for hop in life.hops if hop.output != hop.input],
        },
        "status": life.status,
        "steps": len(life.hops),
        **goal,
        **claim.meta(),
    }


def _change(hop: Hop) -> JsonObject:
    fired = [o["name"] for o in hop.operators if o.get("fired", True)]
    return {
        "round": hop.round,
        "step": hop.step,
        "agent": hop.agent,
        **({"operators": fired} if fired else {}),
    }


def _says_what_it_is(meta: str | None) -> bool:
    note = json.loads(meta or "{}").get("synthetic", {})
    return bool(note.get("label")) and bool(note.get("origin")) and note.get("changes") is not None


def _traces(pairs: Sequence[tuple[Start, Life]]) -> pl.DataFrame:
    rows = [_row(start, life, hop) for start, life in pairs for hop in life.hops]
    return pl.DataFrame(rows, schema=SIDE_TABLES["traces"], orient="row")


def _row(start: Start, life: Life, hop: Hop) -> JsonObject:
    meta = {
        "claim": start.id,
        "status": life.status,
        "dimension": start.target.dimension if start.target else None,
        "target_value": start.target.value if start.target else None,
        "influencing_attributes": hop.attributes,
        "influencing_reason": hop.why,
        "operators": hop.operators or None,
        "votes": hop.votes or None,
        "diagnosis": hop.diagnosis,
        "hub": hop.hub,
        "parent": hop.parent,
        "depth": hop.depth,
        "seed": hop.seed,
        "failure": hop.failure,
        "cost": hop.cost or None,
    }
    return {
        "record_id": life.key,
        "trace_id": life.key,
        "round": hop.round,
        "step": hop.step,
        "agent": hop.agent,
        "role": hop.role,
        "input": hop.input,
        "output": hop.output,
        "passed": hop.passed,
        "reason": hop.reason,
        "meta": meta_json(meta),
    }


def _society(stage: Stage, lives: Sequence[Life]) -> dict[str, pl.DataFrame]:
    """The agents and their ties, so that a trace can be read without the files it was made with."""
    people, network = stage.population, stage.network
    if people.size <= _WHOLE:
        chosen = list(range(people.size))
    else:
        names = {hop.agent for life in lives for hop in life.hops} | {
            h.hub for x in lives for h in x.hops if h.hub
        }
        chosen = sorted(int(i) for i in people.positions(sorted(names)))
    inside = set(chosen)
    hubs = {int(h) for h in network.hubs}
    agents = people.agents[chosen].with_columns(
        pl.Series("hub", [i in hubs for i in chosen], dtype=pl.Boolean)
    )
    ties = [
        (stage.name(i), stage.name(int(j)))
        for i in chosen
        for j in network.neighbours(i)
        if i < j and int(j) in inside
    ]
    edges = pl.DataFrame(ties, schema={"source": pl.String, "target": pl.String}, orient="row")
    return {
        "agents": agents.with_columns(pl.selectors.by_dtype(pl.Enum).cast(pl.String)),
        "edges": edges,
    }
