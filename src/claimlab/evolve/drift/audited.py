"""An auditor that took no part in a run judges where its claims ended: the independent word on attainment."""

from __future__ import annotations

from typing import Any

import polars as pl

from claimlab.core import sync
from claimlab.core.calls.pool import all_of
from claimlab.core.progress import Progress, silent
from claimlab.evolve.auditors.auditor import Auditor, Question, Vote
from claimlab.evolve.drift.attainment import Ends, last_hops
from claimlab.evolve.target import Target


def judge_ends(hops: pl.DataFrame, auditor: Auditor, *, progress: Progress = silent) -> Ends:
    """The auditor's word on the last text of each trace; null where it could not be had."""
    return sync.run(_judge(hops, auditor, progress))


async def _judge(hops: pl.DataFrame, auditor: Auditor, progress: Progress) -> Ends:
    last = last_hops(hops).drop_nulls(["output", "base", "dimension"])
    rows = list(last.select("run", "trace_id", "output", "base", "dimension", "target").iter_rows())

    async def judge(row: tuple[Any, ...]) -> Vote:
        _, _, text, base, dimension, value = row
        return await auditor.judge(Question(text, Target.of(dimension, value), seed=0, origin=base))

    try:
        votes = await all_of(rows, judge, progress=progress, label="Judging where claims ended")
    finally:
        await auditor.close()
    return {(row[0], row[1]): vote.passed for row, vote in zip(rows, votes, strict=True)}
