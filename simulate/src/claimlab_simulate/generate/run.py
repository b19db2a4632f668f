"""Make the samples of a plan: many chains at once, and what is finished kept in the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from claimlab.core.calls.pool import each
from claimlab.core.journal import Journal
from claimlab.core.progress import progress
from claimlab.llm.prompts import Prompts
from claimlab.llm.provider import Provider
from claimlab_simulate.generate.filling import ChainOutcome, make
from claimlab_simulate.generate.plan import Job
from claimlab_simulate.generate.requests import Style
from claimlab_simulate.generate.translate import translate

PROGRESS_LABEL = "Samples"


async def make_all(
    jobs: Sequence[Job],
    providers: Mapping[str, Provider],
    prompts: Prompts,
    style: Style,
    seed: int,
    journal: Journal,
    concurrency: int,
) -> list[ChainOutcome]:
    """What became of every job, in their order."""
    results = [
        ChainOutcome(**saved) if (saved := journal.read(_shard(job))) else None for job in jobs
    ]
    left = [job for job, outcome in zip(jobs, results, strict=True) if outcome is None]
    before = len(jobs) - len(left)
    progress(PROGRESS_LABEL, before, len(jobs))

    async def run_job(job: Job) -> ChainOutcome:
        chain = job.configuration.chain
        if chain.prompt is None:
            text = translate(job.seed["text"], job.configuration.source, job.configuration.target)
            return ChainOutcome({"engine": {"translation": text}})
        return await make(
            job, providers[job.configuration.model], prompts[chain.prompt], style, seed
        )

    at = {job.number: i for i, job in enumerate(jobs)}
    pool = each(
        left,
        run_job,
        concurrency=concurrency,
        label=PROGRESS_LABEL,
        total=len(jobs),
        before=before,
    )
    async for index, outcome in pool:
        results[at[left[index].number]] = outcome
        journal.write(_shard(left[index]), outcome.to_json())
    return [outcome for outcome in results if outcome is not None]


def _shard(job: Job) -> str:
    return f"samples/{job.number:08d}"
