"""Lives as tables: what the claims became, with label, origin and change log, and every hop beside
them.

Evolved text is machine-made. No record leaves this file without saying so, and none keeps a verdict
that was given to another text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.record import SIDE_TABLES, meta_json
from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.claims.model import Claim, Target
from claimlab_simulate.evolve.hop import COLUMNS, NOTED, Hop, Life, Start, evidence_texts
from claimlab_simulate.evolve.scene import Scene

_KEPT = ("label_raw", "veracity", "language", "topic", "source", "authorship", "split")
CONTEXTS = 3  # texts of the evidence table that an agent may see: the first is the context
AGENTS_KEPT = 5_000  # societies up to this size are kept whole; of larger ones, those who took part


def starts(claims: Dataset, targets: Sequence[Target]) -> list[Start]:
    """Every claim, once for each target; claims without a text cannot be told and are left out (and
    counted).
    """
    texts = evidence_texts(claims)
    wanted: Sequence[Target | None] = targets or (None,)
    beginnings = []
    for record_id, text, language in claims.records.select(
        "id", "text", _languages(claims.records)
    ).iter_rows():
        if text is not None:
            sources = texts.get(record_id, [])
            source = next(iter(sources), None), tuple(sources[1:CONTEXTS])
            beginnings += [Start(record_id, text, language, *source, target) for target in wanted]
    return beginnings


def _languages(records: pl.DataFrame) -> pl.Series:
    """The stated language of each claim, and where none is stated the measured one: words of
    another language must not get into a text. Null where it cannot be told either.
    """
    stated = records["language"]
    if not stated.null_count():
        return stated
    from claimlab.text.langid import identify

    unlabelled = records.select(pl.when(pl.col("language").is_null()).then("text")).to_series()
    measured = pl.Series("language", identify(unlabelled), dtype=pl.String)
    return stated.zip_with(stated.is_not_null(), measured)


def tables(
    claims: Dataset,
    beginnings: Sequence[Start],
    lives: Sequence[Life],
    origin: JsonObject,
    stage: Scene,
) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """The records and the side tables: traces, the claims' evidence under their new ids, agents and
    edges.
    """
    before = {row["id"]: row for row in claims.records.iter_rows(named=True)}
    pairs = list(zip(beginnings, lives, strict=True))
    records = [_record(before[start.id], start, life, origin) for start, life in pairs]
    hops = [_row(start, life, hop) for start, life in pairs for hop in life.hops]
    traces = pl.DataFrame(hops, schema=SIDE_TABLES["traces"], orient="row")
    side = {"traces": traces, **_society(stage, lives)}
    if (evidence := claims.tables.get("evidence")) is not None:
        ids = pl.DataFrame({"old": [s.id for s in beginnings], "new": [life.key for life in lives]})
        moved = ids.join(evidence, left_on="old", right_on="record_id", maintain_order="left")
        side["evidence"] = moved.rename({"new": "record_id"}).select(evidence.columns)
    return pl.DataFrame(records, infer_schema_length=None), side


def _record(before: JsonObject, start: Start, life: Life, origin: JsonObject) -> JsonObject:
    kept = {column: before[column] for column in _KEPT}
    if life.text != start.text:
        # A verdict is on a text, and this is another; nor did that outlet print it.
        kept |= {"veracity": None, "source": None}
        kept["authorship"] = "MGT" if before["authorship"] == "MGT" else "HAT"
    own = {"claim": start.id, "base_claim": start.text, "dataset": before["dataset"]}
    if before["source"]:
        own["source"] = before["source"]
    attained = {}
    if start.target is not None and life.status == "success":
        attained[start.target.dimension] = start.target.value
    meta = {
        "synthetic": {
            "label": before["label_raw"] or "none given",
            "origin": {**origin, **own},
            "changes": [_change(hop) for hop in life.hops if hop.output != hop.input],
        },
        "status": life.status,
        "steps": len(life.hops),
        **start.goal,
        **Claim(life.text, **attained).meta(),
    }
    return {
        "id": life.key,
        "text": life.text,
        "kind": before["kind"] or "claim",
        **kept,
        "group": before["group"] or start.id,
        "meta": meta_json(meta),
    }


def _change(hop: Hop) -> JsonObject:
    change: JsonObject = {"round": hop.round, "step": hop.step, "agent": hop.agent}
    if fired := [o["name"] for o in hop.operators if o.get("fired", True)]:
        change["operators"] = fired
    return change


def _row(start: Start, life: Life, hop: Hop) -> JsonObject:
    meta = {
        "claim": start.id,
        "status": life.status,
        **start.goal,
        "influencing_attributes": hop.attributes,
        "influencing_reason": hop.why,
        **{name: getattr(hop, name) for name in NOTED},
        "operators": hop.operators or None,
        "votes": hop.votes or None,
        "cost": hop.cost or None,
    }
    columns = {name: getattr(hop, name) for name in COLUMNS}
    return {"record_id": life.key, "trace_id": life.key, **columns, "meta": meta_json(meta)}


def _society(stage: Scene, lives: Sequence[Life]) -> dict[str, pl.DataFrame]:
    """The agents and their ties, so that a trace can be read without the files it was made with."""
    people, network = stage.population, stage.network
    chosen = np.arange(people.size)
    if people.size > AGENTS_KEPT:
        hops = [hop for life in lives for hop in life.hops]
        names = {name for hop in hops for name in (hop.agent, hop.hub) if name}
        chosen = np.sort(people.positions(names))
    inside = np.isin(network.owners, chosen) & np.isin(network.indices, chosen)
    once = inside & (network.owners < network.indices)  # a tie is in both rows
    ends = {"source": network.owners[once], "target": network.indices[once]}
    return {
        "agents": people.agents[chosen].with_columns(
            pl.selectors.by_dtype(pl.Enum).cast(pl.String), hub=np.isin(chosen, network.hubs)
        ),
        "edges": pl.DataFrame({end: people.ids.gather(rows) for end, rows in ends.items()}),
    }
