"""Evolved claims: claims that language-model agents rewrote while passing them on, with the trace of each hop."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import polars as pl

from claimlab.catalog.card import Card
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.catalog.rows import record_rows, side_rows
from claimlab.catalog.table import read_objects
from claimlab.core.record import meta_json
from claimlab.files.bundle import Bundle
from claimlab.files.tables import read_json_as

DIMENSIONS = ("causal_structure", "expression_type", "language_style", "message_granularity", "stance_polarity")
SEED_MODEL = "gpt-4o"  # as the paper says of seeds and non-claims; the agents' model is named nowhere


def evolved(bundle: Bundle, stems: tuple[str, ...] = DIMENSIONS, *, traced_only: bool = False) -> Loaded:
    """Claims after their walk, with the released traces beside them; `group` is the claim they started from."""
    rows, evidence = [], []
    traces: list[dict[str, Any]] = []
    for stem in stems:
        walks = {walk["id"]: walk for walk in propagation(bundle, stem)}
        for item in json_lines(bundle, f"{stem}.jsonl"):
            walk = walks.get(item["id"])
            if traced_only and walk is None:
                continue
            record_id = f"evolved-claims-{stem.replace('_', '-')}-{item['id']}"
            change = {"dimension": item["dimension"], "value": item["value"], "steps": walk and len(walk["steps"])}
            origin = {"base_claim": item["base_claim"], "context": item["refer_title"]}
            rows.append(
                record(record_id, item["claim"], item["label"], item["topic"], item["base_claim"], origin, [change])
            )
            evidence.append(context(record_id, item["refer_title"], item["refer_content"], None))
            traces += hops(record_id, walk) if walk else []
    loaded = table(rows, evidence)
    loaded.tables["traces"] = side_rows("traces", traces)
    return loaded


def seeds(bundle: Bundle, stem: str = "seed") -> Loaded:
    """Claims that a model drew from news abstracts, before any walk."""
    abstracts = contents(bundle)
    rows, evidence = [], []
    for number, item in enumerate(json_lines(bundle, f"{stem}.jsonl"), 1):
        record_id = f"evolved-claims-{stem}-{number}"
        origin = {"model": SEED_MODEL, "context": item["title"], "content_id": item["content_id"]}
        rows.append(record(record_id, item["seed_claim"], item["label"], item["topic"], item["seed_claim"], origin, []))
        text = abstracts.get((item["title"], str(item["content_id"])))
        evidence.append(context(record_id, item["title"], text, item["content_url"]))
    return table(rows, evidence)


def non_claims(bundle: Bundle) -> Loaded:
    """Questions, personal statements, empty professional phrases and claims stripped of their context."""
    rows = []
    for number, item in enumerate(json_lines(bundle, "non-claim.jsonl"), 1):
        base = item.get("seed-claim") or item.get("personal") or item["non-claim"]
        origin = {"model": SEED_MODEL, "context": item["refer_title"]}
        changes = [{"type": item["type"], "from": base}] if base != item["non-claim"] else []
        record_id = f"evolved-claims-non-claim-{number}"
        rows.append(
            record(record_id, item["non-claim"], item["label"], item["topic"], base, origin, changes, item["type"])
        )
    return table(rows, [])


def detection(bundle: Bundle) -> Loaded:
    """Seeds and non-claims together: the task of telling claims from non-claims."""
    both = [seeds(bundle), non_claims(bundle)]
    tables = {"evidence": both[0].tables["evidence"]}
    return Loaded(pl.concat([part.records for part in both]), tables, synthetic=True)


def record(
    record_id: str,
    text: str,
    label: object,
    topic: str,
    base: str,
    origin: dict[str, Any],
    changes: list[dict[str, Any]],
    kind_of_non_claim: str | None = None,
) -> dict[str, Any]:
    """One record; being synthetic, it carries its label, origin and change log."""
    named = "claim" if str(label) == "1" else "non-claim"
    synthetic = {"label": named, "origin": origin, "changes": changes}
    return {
        "id": record_id,
        "text": text,
        "kind": "claim",
        "label_raw": str(label),
        "language": "eng",
        "topic": topic,
        # The text itself is the key, so that a seed and what it became stay together across variants.
        "group": "base-" + hashlib.sha256(base.encode()).hexdigest()[:12],
        "authorship": "MGT",
        "meta": meta_json({"synthetic": synthetic, "type": kind_of_non_claim}),
    }


def context(record_id: str, title: str, text: str | None, url: str | None) -> dict[str, Any]:
    """The abstract that a claim was drawn from."""
    return {
        "record_id": record_id, "evidence_id": f"{record_id}-context", "rank": 1, "title": title, "text": text,
        "url": url, "provider": "released abstract",
    }  # fmt: skip


def hops(record_id: str, walk: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for step in walk["steps"]:
        why = {k: step[k] for k in ("influencing_attributes", "influencing_reason")}
        goal = {"dimension": walk["dimension"], "target_value": walk["target_value"], "status": walk["status"]}
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
            "meta": meta_json({**why, **goal}),
        }


def table(rows: list[dict[str, Any]], evidence: list[dict[str, Any]]) -> Loaded:
    tables = {"evidence": side_rows("evidence", evidence)} if evidence else {}
    return Loaded(record_rows(rows), tables, synthetic=True)


def json_lines(bundle: Bundle, file: str) -> list[dict[str, Any]]:
    return read_objects(bundle, bundle.one(f"data/{file}", file))


def propagation(bundle: Bundle, stem: str) -> list[dict[str, Any]]:
    """The released walks of one dimension; expression_type has none."""
    names = bundle.match(f"{stem}_propagation.json")
    return read_objects(bundle, names[0]) if names else []


def contents(bundle: Bundle) -> dict[tuple[str, str], str]:
    """The abstracts by title and number, where the archive holds them."""
    names = bundle.match("abstract.json")
    topics = read_json_as(bundle.text(names[0]), names[0], dict) if names else {}
    return {
        (entry["title"], key.removeprefix("content_")): value
        for entries in topics.values()
        for entry in entries
        for key, value in entry.items()
        if key.startswith("content_")
    }


def _evolved_line(number: int, dimension: str, value: str) -> str:
    return json.dumps(
        {
            "id": number, "claim": f"The old bridge, {value} people say, opened in 1931.", "label": 1,
            "dimension": dimension, "value": value, "base_claim": "The bridge opened in 1931.", "topic": "Regional",
            "refer_title": "Bridges of Riverton", "refer_content": "The bridge was opened in 1931.",
        }
    ) + "\n"  # fmt: skip


def _walk(number: int, dimension: str, value: str) -> str:
    step = {
        "round": 1, "character_id": "character_1", "role": "producer", "influencing_attributes": ["job"],
        "influencing_reason": "I build bridges.", "input_claim": "The bridge opened in 1931.",
    }  # fmt: skip
    steps = [
        {**step, "step": 1, "output_claim": "It opened.", "audit_pass": False, "audit_reason": "Too short."},
        {**step, "step": 2, "character_id": "character_2", "role": "bystander", "input_claim": "It opened.",
         "output_claim": "The old bridge opened in 1931.", "audit_pass": True, "audit_reason": "Fits."},
    ]  # fmt: skip
    goal = {"id": number, "dimension": dimension, "target_value": value, "status": "success", "final_claim": "x"}
    return json.dumps([{**goal, "steps": steps}])


_SEED = {
    "label": 1,
    "topic": "Regional",
    "title": "Bridges of Riverton",
    "content_url": "https://news.example/b",
    "content_id": 1,
}
_NON = {"label": 0, "topic": "Regional", "refer_title": "Bridges of Riverton"}
_SAMPLE: dict[str, str] = {
    "assets/abstract.json": '{"Regional": [{"title": "Bridges of Riverton", "url_1": "https://news.example/b", "content_1": "The bridge was opened in 1931."}]}',
    "data/causal_structure.jsonl": _evolved_line(1, "causal_structure", "Direct Causation"),
    "data/causal_structure_propagation.json": _walk(1, "causal_structure", "Direct Causation"),
    "data/expression_type.jsonl": _evolved_line(1, "message_type", "Opinion") + _evolved_line(2, "expression_type", "Fact"),
    "data/language_style.jsonl": _evolved_line(1, "linguistic_style", "Rational–Official"),
    "data/language_style_propagation.json": _walk(1, "linguistic_style", "Rational–Official"),
    "data/message_granularity.jsonl": _evolved_line(1, "granularity", "Micro/Detailed"),
    "data/message_granularity_propagation.json": _walk(1, "granularity", "Micro/Detailed"),
    "data/stance_polarity.jsonl": _evolved_line(1, "stance_polarity", "Neutral"),
    "data/stance_polarity_propagation.json": _walk(1, "stance_polarity", "Neutral"),
    "data/seed.jsonl": json.dumps({"seed_claim": "The bridge opened in 1931.", **_SEED}) + "\n"
    + json.dumps({"seed_claim": "The bridge is 300 m long.", **_SEED}) + "\n",
    "data/seed240.jsonl": json.dumps({"seed_claim": "The bridge opened in 1931.", **_SEED}) + "\n",
    "data/non-claim.jsonl": json.dumps({"non-claim": "When did the bridge open?", "type": "Not a claim (non-assertive utterances)", **_NON}) + "\n"
    + json.dumps({"non-claim": "I love that bridge.", "type": "Personal experience", **_NON}) + "\n"
    + json.dumps({"non-claim": "Affinity emerges under span entrainment.", "type": "pseudo-scientific", "personal": "I love that bridge.", **_NON}) + "\n"
    + json.dumps({"non-claim": "It opened then.", "type": "context-stripped", "seed-claim": "The bridge opened in 1931.", **_NON}) + "\n",
}  # fmt: skip

DATASET = Entry(
    card=Card(
        name="evolved-claims",
        title="Evolved claims (Beyond Static Artifacts)",
        summary="Synthetic claims: seeds drawn from news abstracts by a model, non-claims, and claims that simulated users "
        "rewrote towards a target (style, stance, granularity, causal structure, expression), with the trace of each walk.",
        size=14_400,
        modality=("claims", "generated"),
        topic="Various",
        region="International",
        languages=("eng",),
        labelling="Algorithm (made as claim or non-claim), sampled checks by humans",
        access="Download data and assets from the GitHub repository of the paper.",
        citation="Teng, Lin, Zhang, Si, Zhang, Lu, Zhou and Wu (2026), Beyond Static Artifacts: An Evolutionary Framework "
        "for Synthetic Claim Generation, ACL.",
        errata=(
            "The labels say claim (1) or non-claim (0): nothing about truth.",
            "The paper counts 4,700 evolved claims; 3,557 are released, in five of its six dimensions.",
            "Four trace files: expression_type has none, and its rows call the dimension message_type (686) or "
            "expression_type (3).",
            "Only walks that ended well are released; 65 to 79 % of them end at step 1. In 14 the last audit is negative "
            "all the same.",
            "One seed claim stands twice; 4,800 non-claims are 4,603 different texts.",
            "A bag of words tells seeds from non-claims at .956: look for surface artefacts first.",
        ),
        has_evidence=True,
        met_real_files=True,
    ),
    variants={
        "evolved": evolved,
        "seed": seeds,
        "seed240": partial(seeds, stem="seed240"),
        "non-claims": non_claims,
        "detection": detection,
        "traces": partial(evolved, traced_only=True),
        **{stem.replace("_", "-"): partial(evolved, stems=(stem,)) for stem in DIMENSIONS},
    },
    sample=Sample(
        files=_SAMPLE,
        rows={
            "evolved": 6,
            "seed": 2,
            "seed240": 1,
            "non-claims": 4,
            "detection": 6,
            "traces": 4,
            "causal-structure": 1,
            "expression-type": 2,
            "language-style": 1,
            "message-granularity": 1,
            "stance-polarity": 1,
        },
    ),
    real_rows={
        "evolved": 3_557,
        "seed": 4_900,
        "seed240": 240,
        "non-claims": 4_800,
        "detection": 9_700,
        "traces": 2_868,
        "causal-structure": 953,
        "expression-type": 689,
        "language-style": 480,
        "message-granularity": 480,
        "stance-polarity": 955,
    },
    real_labels={"1": 3_557},
)
