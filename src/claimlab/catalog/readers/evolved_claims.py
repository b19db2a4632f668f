"""Evolved claims: claims that language-model agents rewrote while passing them on, with the trace
of each hop.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import polars as pl

from claimlab.catalog import kit
from claimlab.core.types import JsonObject

DIMENSIONS = (
    "causal_structure",
    "expression_type",
    "language_style",
    "message_granularity",
    "stance_polarity",
)
SEED_MODEL = (  # as the paper says of seeds and non-claims; the agents' model is named nowhere
    "gpt-4o"
)


def evolved(
    bundle: kit.Bundle, stems: tuple[str, ...] = DIMENSIONS, *, traced_only: bool = False
) -> kit.Loaded:
    """Claims after their walk, with the released traces beside them; `group` is the claim they
    started from.
    """
    rows, evidence = [], []
    traces: list[JsonObject] = []
    for stem in stems:
        walks = {walk["id"]: walk for walk in propagation(bundle, stem)}
        for item in json_lines(bundle, f"{stem}.jsonl"):
            walk = walks.get(item["id"])
            if traced_only and walk is None:
                continue
            record_id = f"evolved-claims-{stem.replace('_', '-')}-{item['id']}"
            change = {
                "dimension": item["dimension"],
                "value": item["value"],
                "steps": walk and len(walk["steps"]),
            }
            origin = {"base_claim": item["base_claim"], "context": item["refer_title"]}
            rows.append(
                record(
                    record_id,
                    item["claim"],
                    item["label"],
                    item["topic"],
                    item["base_claim"],
                    origin,
                    [change],
                )
            )
            evidence.append(context(record_id, item["refer_title"], item["refer_content"], None))
            traces += hops(record_id, walk) if walk else []
    loaded = table(rows, evidence)
    loaded.tables["traces"] = kit.side_rows("traces", traces)
    return loaded


def seeds(bundle: kit.Bundle, stem: str = "seed") -> kit.Loaded:
    """Claims that a model drew from news abstracts, before any walk."""
    abstracts = contents(bundle)
    rows, evidence = [], []
    for number, item in enumerate(json_lines(bundle, f"{stem}.jsonl"), 1):
        record_id = f"evolved-claims-{stem}-{number}"
        origin = {"model": SEED_MODEL, "context": item["title"], "content_id": item["content_id"]}
        rows.append(
            record(
                record_id,
                item["seed_claim"],
                item["label"],
                item["topic"],
                item["seed_claim"],
                origin,
                [],
            )
        )
        text = abstracts.get((item["title"], str(item["content_id"])))
        evidence.append(context(record_id, item["title"], text, item["content_url"]))
    return table(rows, evidence)


def non_claims(bundle: kit.Bundle) -> kit.Loaded:
    """Questions, personal statements, empty professional phrases and claims stripped of their
    context.
    """
    rows = []
    for number, item in enumerate(json_lines(bundle, "non-claim.jsonl"), 1):
        base = item.get("seed-claim") or item.get("personal") or item["non-claim"]
        origin = {"model": SEED_MODEL, "context": item["refer_title"]}
        changes = [{"type": item["type"], "from": base}] if base != item["non-claim"] else []
        record_id = f"evolved-claims-non-claim-{number}"
        rows.append(
            record(
                record_id,
                item["non-claim"],
                item["label"],
                item["topic"],
                base,
                origin,
                changes,
                item["type"],
            )
        )
    return table(rows, [])


def detection(bundle: kit.Bundle) -> kit.Loaded:
    """Seeds and non-claims together: the task of telling claims from non-claims."""
    both = [seeds(bundle), non_claims(bundle)]
    tables = {"evidence": both[0].tables["evidence"]}
    return kit.Loaded(pl.concat([part.records for part in both]), tables, synthetic=True)


def stages(bundle: kit.Bundle) -> kit.Loaded:
    """Seeds, claims halfway through their walk, evolved claims and non-claims; `meta.stage` says
    which a record is, and `meta.dimension` what an evolved claim was changed in."""
    ends = evolved(bundle)
    parts = {
        "seed": seeds(bundle),
        "middle": halfway(ends),
        "evolved": ends,
        "non-claim": non_claims(bundle),
    }
    records = [staged(part.records, stage) for stage, part in parts.items()]
    evidence = pl.concat(
        [part.tables["evidence"] for part in parts.values() if "evidence" in part.tables]
    )
    return kit.Loaded(pl.concat(records), {"evidence": evidence}, synthetic=True)


def halfway(ends: kit.Loaded) -> kit.Loaded:
    """The text in the middle of each walk, where it is neither the claim it started from nor the
    one it ended with.
    """
    outputs: dict[str, list[str]] = {}
    for trace_id, text in ends.tables["traces"].select("trace_id", "output").iter_rows():
        outputs.setdefault(trace_id, []).append(text)
    rows = []
    for row in ends.records.iter_rows(named=True):
        texts = outputs.get(row["id"], [])
        text = texts[(len(texts) - 1) // 2] if len(texts) > 1 else row["text"]
        base = json.loads(row["meta"])["synthetic"]["origin"]["base_claim"]
        if text not in (row["text"], base):
            rows.append({**row, "id": f"{row['id']}-middle", "text": text})
    return kit.Loaded(pl.DataFrame(rows, schema=ends.records.schema), {}, synthetic=True)


def staged(records: pl.DataFrame, stage: str) -> pl.DataFrame:
    """The records with their stage, and the dimension of their last change, in `meta`."""
    metas = []
    for text in records["meta"].to_list():
        meta = json.loads(text)
        changes = meta["synthetic"]["changes"]
        metas.append(
            kit.meta_json(
                {
                    **meta,
                    "stage": stage,
                    "dimension": changes[-1].get("dimension") if changes else None,
                }
            )
        )
    return records.with_columns(meta=pl.Series(metas, dtype=pl.String))


def record(
    record_id: str,
    text: str,
    label: object,
    topic: str,
    base: str,
    origin: JsonObject,
    changes: list[JsonObject],
    kind_of_non_claim: str | None = None,
) -> JsonObject:
    """One record; being synthetic, it carries its label, origin and change log."""
    named = "claim" if str(label) == "1" else "non-claim"
    synthetic = {"label": named, "origin": origin, "changes": changes}
    return {
        "id": record_id,
        "text": text,
        "label_raw": str(label),
        "language": "eng",
        "topic": topic,
        # The text itself is the key, so that a seed and what it became stay together across
        # variants.
        "group": "base-" + hashlib.sha256(base.encode()).hexdigest()[:12],
        "authorship": "MGT",
        "meta": kit.meta_json({"synthetic": synthetic, "type": kind_of_non_claim}),
    }


def context(record_id: str, title: str, text: str | None, url: str | None) -> JsonObject:
    """The abstract that a claim was drawn from."""
    return {
        "record_id": record_id,
        "evidence_id": f"{record_id}-context",
        "rank": 1,
        "title": title,
        "text": text,
        "url": url,
        "provider": "released abstract",
    }


def hops(record_id: str, walk: JsonObject) -> Iterator[JsonObject]:
    for step in walk["steps"]:
        why = {k: step[k] for k in ("influencing_attributes", "influencing_reason")}
        goal = {
            "dimension": walk["dimension"],
            "target_value": walk["target_value"],
            "status": walk["status"],
        }
        yield {
            "record_id": record_id,
            "trace_id": record_id,
            "round": step["round"],
            "step": step["step"],
            "agent": step["character_id"],
            "role": step["role"],
            "input": step["input_claim"],
            "output": step["output_claim"],
            "passed": step["audit_pass"],
            "reason": step["audit_reason"],
            "meta": kit.meta_json({**why, **goal}),
        }


def table(rows: list[JsonObject], evidence: list[JsonObject]) -> kit.Loaded:
    tables = {"evidence": kit.side_rows("evidence", evidence)} if evidence else {}
    return kit.Loaded(kit.record_rows(rows), tables, synthetic=True)


def json_lines(bundle: kit.Bundle, file: str) -> list[JsonObject]:
    return kit.read_objects(bundle, bundle.one(f"data/{file}", file))


def propagation(bundle: kit.Bundle, stem: str) -> list[JsonObject]:
    """The released walks of one dimension; expression_type has none."""
    names = bundle.match(f"{stem}_propagation.json")
    return kit.read_objects(bundle, names[0]) if names else []


def contents(bundle: kit.Bundle) -> dict[tuple[str, str], str]:
    """The abstracts by title and number, where the archive holds them."""
    names = bundle.match("abstract.json")
    topics = kit.read_json_as(bundle.text(names[0]), names[0], dict) if names else {}
    return {
        (entry["title"], key.removeprefix("content_")): value
        for entries in topics.values()
        for entry in entries
        for key, value in entry.items()
        if key.startswith("content_")
    }
