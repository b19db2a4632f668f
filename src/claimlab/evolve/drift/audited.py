"""An auditor that took no part in a run judges where its claims ended: the independent word on attainment."""

from __future__ import annotations

import asyncio

import polars as pl

from claimlab.core import sync
from claimlab.core.progress import Progress, silent
from claimlab.evolve.auditors.auditor import Auditor, Question, Vote
from claimlab.evolve.drift.attainment import Ends, last_hops
from claimlab.evolve.target import Target

AT_ONCE = 64


def judge_ends(hops: pl.DataFrame, auditor: Auditor, *, progress: Progress = silent) -> Ends:
    """The auditor's word on the last text of each trace; null where it could not be had."""
    return sync.run(_judge(hops, auditor, progress))


async def _judge(hops: pl.DataFrame, auditor: Auditor, progress: Progress) -> Ends:
    last = last_hops(hops).drop_nulls(["output", "base", "dimension"])
    rows = list(last.select("run", "trace_id", "output", "base", "dimension", "target").iter_rows())
    turns = asyncio.Semaphore(AT_ONCE)
    done = 0

    async def one(text: str, base: str, target: Target) -> Vote:
        nonlocal done
        async with turns:
            vote = await auditor.judge(Question(text, target, seed=0, origin=base))
        done += 1
        progress("Judging where claims ended", done, len(rows))
        return vote

    try:
        votes = await asyncio.gather(*(one(text, base, Target.of(d, v)) for _, _, text, base, d, v in rows))
    finally:
        await auditor.close()
    return {(row[0], row[1]): vote.passed for row, vote in zip(rows, votes, strict=True)}
