"""The dataset of all samples: records, the table `chains`, and the table `traces`.

A sample whose chain stopped keeps the texts it had, with its status; of altered text only where the
changes were logged, because altered text is not written without its log. Every chain is a row of
the table `chains`, whatever became of it, and every role's word is in `traces`, with the same
label, origin and log as the records.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import polars as pl

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.record import meta_json
from claimlab.core.types import JsonObject
from claimlab.text.changes import changes
from claimlab_simulate.generate.chain import CHANGES
from claimlab_simulate.generate.filling import ChainOutcome
from claimlab_simulate.generate.plan import Job
from claimlab_simulate.generate.sample import SAMPLE_FIELDS, GeneratedSample, original, rows

CHAINS_SCHEMA = {
    **dict.fromkeys(("sample", "seed", "chain", "technique", "degree", "direction"), pl.String),
    **dict.fromkeys(("model", "status", "stopped", "detail"), pl.String),
    **dict.fromkeys(("texts", "asked_again", "calls"), pl.Int32),
    "tokens": pl.Int64,
    "cost": pl.Float64,
}


def sample_of(job: Job, outcome: ChainOutcome) -> GeneratedSample:
    """A job and what came of it as a sample: label, origin and change log follow from the
    configuration.
    """
    chosen, chain = job.configuration, job.configuration.chain
    degree = chain.degrees[chosen.degree][0] or None
    texts = {field: text for field in SAMPLE_FIELDS if (text := chain.find(outcome.filled, field))}
    how = {"kind": " + ".join(chosen.techniques), **({"degree": degree} if degree else {})}
    log = chain.find(outcome.filled, CHANGES)
    if chain.veracity == "real" and "article" in texts:  # what changed, whatever was asked for
        log = changes(job.seed["text"], texts["article"])
    entries = [how, *(log or ())] if chain.veracity != "altered" or log else None
    sides = {"": chosen.source, "-translation": chosen.target}
    return GeneratedSample(
        id=job.id,
        seed=job.seed,
        veracity=chain.veracity,
        degree=degree,
        texts=texts,
        languages={
            f"{form}{suffix}": language
            for form in ("article", "post")
            for suffix, language in sides.items()
        },
        origin={
            "made_by": f"claimlab generate, chain {chain.name} {chain.version}",
            "model": chosen.model,
        },
        changes=entries,
        meta={
            **chosen.facts(),
            "chain_status": outcome.status_in_words(),
            "asked_again": outcome.asked_again or None,
        },
    )


def dataset_of(
    seeds: Dataset,
    jobs: Sequence[Job],
    results: Sequence[ChainOutcome],
    described: JsonObject,
    seed: int,
    originals: bool,
) -> Dataset:
    records: list[JsonObject] = []
    chains, traces = [], []
    for job, outcome in zip(jobs, results, strict=True):
        sample = sample_of(job, outcome)
        text_rows = rows(sample) if sample.changes is not None else []
        records += [original(job.seed), *text_rows] if originals and text_rows else text_rows
        chains.append(_chain_row(job, outcome, len(text_rows)))
        traces += _trace_rows(job, outcome, sample, text_rows)
    frame = pl.DataFrame(records, infer_schema_length=None) if records else seeds.records.clear()
    tables = {"chains": pl.DataFrame(chains, schema=CHAINS_SCHEMA)}
    if traces:
        tables["traces"] = pl.DataFrame(traces, infer_schema_length=None)
    step = Lineage(
        step="generate",
        parameters=json.loads(json.dumps(described, default=str)),
        seed=seed,
        inputs={seeds.name: seeds.digest()},
        counts=counts(results, records),
    )
    return Dataset.build(
        f"{seeds.name}-generated",
        frame,
        tables,
        card=seeds.card,
        licence=seeds.licence,
        synthetic=True,
        notes=[*seeds.notes],
        lineage=[*seeds.lineage, step],
    )


def counts(results: Sequence[ChainOutcome], records: Sequence[JsonObject]) -> dict[str, int]:
    """What became of the chains: complete, refused, malformed; and of the texts, by authorship."""
    out = Counter({"samples": len(results)})
    out.update(f"chains: {outcome.status}" for outcome in results)
    out.update({"answers asked for again": sum(outcome.asked_again for outcome in results)})
    out.update(f"texts: {row['authorship']}" for row in records)
    return dict(sorted(out.items()))


def _chain_row(job: Job, outcome: ChainOutcome, texts: int) -> JsonObject:
    return {
        "sample": job.id,
        "seed": job.seed["id"],
        **job.configuration.facts(),
        **{name: value for name, value in outcome.to_json().items() if name in CHAINS_SCHEMA},
        "texts": texts,
    }


def _trace_rows(
    job: Job, outcome: ChainOutcome, sample: GeneratedSample, text_rows: Sequence[JsonObject]
) -> list[JsonObject]:
    """What each role wrote. The words of a chain that stopped before its changes were logged are
    marked as such.
    """
    unfinished = [{"kind": "unfinished: the changes were not logged"}]
    note = {
        "label": sample.veracity,
        "origin": {**sample.origin, "seed": job.seed["id"]},
        "changes": unfinished if sample.changes is None else list(sample.changes),
    }
    shared = {
        "record_id": text_rows[0]["id"] if text_rows else None,
        "trace_id": job.id,
        "round": 1,
        "agent": job.configuration.model,
        "reason": None,
        "meta": meta_json({"synthetic": note}),
    }
    written = [
        {
            **shared,
            "step": step,
            "role": role,
            "output": json.dumps(slots, ensure_ascii=False, sort_keys=True),
        }
        for step, (role, slots) in enumerate(outcome.filled.items(), 1)
    ]
    if outcome.stopped is not None:
        end = {"role": outcome.stopped, "output": None, "reason": outcome.status}
        written.append({**shared, "step": len(written) + 1, **end})
    return written
