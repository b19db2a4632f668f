"""Make the samples of a plan: many chains at once, what is finished kept in the journal, and the
dataset of it all.

A sample whose chain stopped keeps the texts it had, with its status; of altered text only where the
changes were logged, because altered text is not written without its log. Every chain is a row of
the table `chains`, whatever became of it, and every role's word is in `traces`, with the same
label, origin and log as the records.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

import polars as pl

from claimlab.core.calls.pool import each
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.journal import Journal
from claimlab.core.progress import Progress
from claimlab.core.record import meta_json
from claimlab.core.types import JsonObject
from claimlab.generate.chain import Outcome, Style, make
from claimlab.generate.plan import CHANGES, Job
from claimlab.generate.records import FIELDS, Sample, original, rows
from claimlab.generate.translate import translate
from claimlab.llm.prompts import Prompts
from claimlab.llm.provider import Provider

LABEL = "Samples"
CHAINS = {
    **dict.fromkeys(("sample", "seed", "chain", "technique", "degree", "direction"), pl.String),
    **dict.fromkeys(("model", "status", "stopped", "detail"), pl.String),
    **dict.fromkeys(("texts", "asked_again", "calls"), pl.Int32),
    "tokens": pl.Int64,
    "cost": pl.Float64,
}


async def make_all(
    jobs: Sequence[Job],
    providers: Mapping[str, Provider],
    prompts: Prompts,
    style: Style,
    seed: int,
    journal: Journal,
    concurrency: int,
    progress: Progress,
) -> list[Outcome]:
    """What became of every job, in their order."""
    results = [Outcome(**saved) if (saved := journal.read(_shard(job))) else None for job in jobs]
    left = [job for job, outcome in zip(jobs, results, strict=True) if outcome is None]
    before = len(jobs) - len(left)
    progress(LABEL, before, len(jobs))

    async def one(job: Job) -> Outcome:
        chain = job.configuration.chain
        if chain.prompt is None:
            text = translate(job.seed["text"], job.configuration.source, job.configuration.target)
            return Outcome({"engine": {"translation": text}})
        return await make(
            job, providers[job.configuration.model], prompts[chain.prompt], style, seed
        )

    at = {job.number: i for i, job in enumerate(jobs)}
    pool = each(
        left,
        one,
        concurrency=concurrency,
        progress=progress,
        label=LABEL,
        total=len(jobs),
        before=before,
    )
    async for index, outcome in pool:
        results[at[left[index].number]] = outcome
        journal.write(_shard(left[index]), outcome.to_json())
    return [outcome for outcome in results if outcome is not None]


def _shard(job: Job) -> str:
    return f"samples/{job.number:08d}"


def sample_of(job: Job, outcome: Outcome) -> Sample:
    """A job and what came of it as a sample: label, origin and change log follow from the
    configuration.
    """
    chosen, chain = job.configuration, job.configuration.chain
    degree = chain.degrees[chosen.degree][0] or None
    texts = {field: text for field in FIELDS if (text := chain.find(outcome.filled, field))}
    how = {"kind": " + ".join(chosen.techniques), **({"degree": degree} if degree else {})}
    log = chain.find(outcome.filled, CHANGES)
    changes = [how] if chain.veracity != "altered" else None if not log else [how, *log]
    sides = {"": chosen.source, "-translation": chosen.target}
    return Sample(
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
        changes=changes,
        meta={
            **chosen.facts(),
            "chain_status": outcome.status_in_words(),
            "asked_again": outcome.asked_again or None,
        },
    )


def dataset_of(
    seeds: Dataset,
    jobs: Sequence[Job],
    results: Sequence[Outcome],
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
    tables = {"chains": pl.DataFrame(chains, schema=CHAINS)}
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


def counts(results: Sequence[Outcome], records: Sequence[JsonObject]) -> dict[str, int]:
    """What became of the chains: complete, refused, malformed; and of the texts, by authorship."""
    out = Counter({"samples": len(results)})
    out.update(f"chains: {outcome.status}" for outcome in results)
    out.update({"answers asked for again": sum(outcome.asked_again for outcome in results)})
    out.update(f"texts: {row['authorship']}" for row in records)
    return dict(sorted(out.items()))


def _chain_row(job: Job, outcome: Outcome, texts: int) -> JsonObject:
    return {
        "sample": job.id,
        "seed": job.seed["id"],
        **job.configuration.facts(),
        **{name: value for name, value in outcome.to_json().items() if name in CHAINS},
        "texts": texts,
    }


def _trace_rows(
    job: Job, outcome: Outcome, sample: Sample, text_rows: Sequence[JsonObject]
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
