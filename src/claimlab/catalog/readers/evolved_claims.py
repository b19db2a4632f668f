"""Evolved claims: claims that language-model agents rewrote while passing them on, with the trace
of each hop.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence

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
SEED_MODEL = "gpt-4o"  # of seeds and non-claims, as the paper says; the agents' is named nowhere


def evolved(
    bundle: kit.Bundle, stems: tuple[str, ...] = DIMENSIONS, *, traced_only: bool = False
) -> kit.Loaded:
    """Claims after their walk, with the released traces beside them; `group` is the claim they
    started from.
    """
    rows, evidence, traces = [], [], list[JsonObject]()
    for stem in stems:
        released = bundle.match(f"{stem}_propagation.json")[:1]  # expression_type has none
        walks = {w["id"]: w for name in released for w in kit.read_objects(bundle, name)}
        for item in items(bundle, stem):
            walk = walks.get(item["id"])
            if traced_only and walk is None:
                continue
            record_id = f"evolved-claims-{stem.replace('_', '-')}-{item['id']}"
            change = {
                "dimension": item["dimension"],
                "value": item["value"],
                "steps": walk and len(walk["steps"]),
            }
            base = item["base_claim"]
            origin = {"base_claim": base, "context": item["refer_title"]}
            rows.append(record(record_id, item, item["claim"], base, origin, [change]))
            evidence.append(context(record_id, item["refer_title"], item["refer_content"]))
            traces += hops(record_id, walk) if walk else []
    return loaded(rows, evidence=evidence, traces=traces)


def seeds(bundle: kit.Bundle, stem: str = "seed") -> kit.Loaded:
    """Claims that a model drew from news abstracts, before any walk."""
    abstracts = contents(bundle)
    rows, evidence = [], []
    for number, item in enumerate(items(bundle, stem), 1):
        record_id, claim = f"evolved-claims-{stem}-{number}", item["seed_claim"]
        origin = {"model": SEED_MODEL, "context": item["title"], "content_id": item["content_id"]}
        rows.append(record(record_id, item, claim, claim, origin, []))
        text = abstracts.get((item["title"], str(item["content_id"])))
        evidence.append(context(record_id, item["title"], text, item["content_url"]))
    return loaded(rows, evidence=evidence)


def non_claims(bundle: kit.Bundle) -> kit.Loaded:
    """Questions, personal statements, empty professional phrases and claims stripped of their
    context.
    """
    rows = []
    for number, item in enumerate(items(bundle, "non-claim"), 1):
        text, kind = item["non-claim"], item["type"]
        base = item.get("seed-claim") or item.get("personal") or text
        origin = {"model": SEED_MODEL, "context": item["refer_title"]}
        changes = [{"type": kind, "from": base}] if base != text else []
        record_id = f"evolved-claims-non-claim-{number}"
        rows.append(record(record_id, item, text, base, origin, changes, type=kind))
    return loaded(rows)


def detection(bundle: kit.Bundle) -> kit.Loaded:
    """Seeds and non-claims together: the task of telling claims from non-claims."""
    return together([seeds(bundle), non_claims(bundle)])


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
    for stage, part in parts.items():
        metas = [json.loads(text) for text in part.records["meta"]]
        last = [meta["synthetic"]["changes"][-1:] or [{}] for meta in metas]
        staged = [
            kit.meta_json({**meta, "stage": stage, "dimension": change.get("dimension")})
            for meta, [change] in zip(metas, last, strict=True)
        ]
        part.records = part.records.with_columns(meta=kit.as_text(staged))
    return together(list(parts.values()))


def together(parts: Sequence[kit.Loaded]) -> kit.Loaded:
    evidence = [part.tables["evidence"] for part in parts if "evidence" in part.tables]
    records = pl.concat([part.records for part in parts])
    return kit.Loaded(records, {"evidence": pl.concat(evidence)}, synthetic=True)


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
    return kit.Loaded(pl.DataFrame(rows, schema=ends.records.schema))


def record(
    record_id: str,
    item: JsonObject,
    text: str,
    base: str,
    origin: JsonObject,
    changes: list[JsonObject],
    **more: str,
) -> JsonObject:
    """One record; being synthetic, it carries its label, origin and change log."""
    label = str(item["label"])
    named = "claim" if label == "1" else "non-claim"
    synthetic = {"label": named, "origin": origin, "changes": changes}
    return {
        "id": record_id,
        "text": text,
        "label_raw": label,
        "language": "eng",
        "topic": item["topic"],
        # The text itself is the key, so that a seed and what it became stay together across
        # variants.
        "group": "base-" + hashlib.sha256(base.encode()).hexdigest()[:12],
        "authorship": "MGT",
        "meta": kit.meta_json({"synthetic": synthetic, **more}),
    }


def context(record_id: str, title: str, text: str | None, url: str | None = None) -> JsonObject:
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
    goal = {key: walk[key] for key in ("dimension", "target_value", "status")}
    for step in walk["steps"]:
        why = {key: step[key] for key in ("influencing_attributes", "influencing_reason")}
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
            "meta": kit.meta_json(why | goal),
        }


def loaded(rows: list[JsonObject], **tables: list[JsonObject]) -> kit.Loaded:
    side = {name: kit.side_rows(name, table) for name, table in tables.items()}
    return kit.Loaded(kit.record_rows(rows), side, synthetic=True)


def items(bundle: kit.Bundle, stem: str) -> list[JsonObject]:
    return kit.read_objects(bundle, bundle.one(f"data/{stem}.jsonl", f"{stem}.jsonl"))


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
