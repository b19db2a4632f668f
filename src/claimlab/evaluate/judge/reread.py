"""What the judges of a run said, read back from its annotations: for the reports that show a run
with its judges.
"""

from __future__ import annotations

import json
from collections import Counter

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.types import JsonObject
from claimlab.evaluate.judge.articles import Articles
from claimlab.evaluate.judge.cases import read_cases
from claimlab.evaluate.judge.people import QUESTION, consensus, people_in, rates
from claimlab.tasks import Task


def judged_in(run: Dataset, task: Task) -> tuple[JsonObject, ...]:
    """One entry for each judge: its standing as it was written, its verdicts, and the rates by it
    and by people.
    """
    table = run.tables.get("annotations")
    if table is None or "predictions" not in run.tables:
        return ()
    mine = table.filter((pl.col("question") == QUESTION) & (pl.col("annotator_kind") == "model"))
    if not mine.height:
        return ()
    correct = {
        c.record_id: c.correct for c in read_cases(run, task, Articles()) if c.correct is not None
    }
    settled = consensus(people_in(run))
    entries = []
    for (judge,), rows in mine.group_by("annotator", maintain_order=True):
        verdicts = {r: v for r, v in rows.select("record_id", "value").iter_rows() if v is not None}
        meta: JsonObject = next((json.loads(m) for m in rows["meta"].drop_nulls().to_list()), {})
        entries.append(
            {
                "judge": str(judge),
                "standing": meta.get("standing"),
                "verdicts": dict(sorted(Counter(verdicts.values()).items())),
                "no_answer": rows.height - len(verdicts),
                "by_judge": rates(verdicts, correct),
                "by_people": rates(settled, correct) if settled else None,
            }
        )
    return tuple(entries)
