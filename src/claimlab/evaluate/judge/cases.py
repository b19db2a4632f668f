"""What there is to judge: each prediction of a run beside the fact-checking article on its record,
if there is one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.types import JsonObject
from claimlab.evaluate.judge.articles import Articles
from claimlab.tasks import Task


@dataclass(frozen=True)
class Case:
    """One prediction. `left_out` says why it cannot be judged: failed, an abstention, no-rationale,
    no-article, or other-articles (fact-checks were found, but of other claims)."""

    record_id: str
    statement: str
    label: str | None
    truth: str | None
    rationale: str | None
    article: str | None
    left_out: str | None

    @property
    def correct(self) -> bool | None:
        """By the label alone; null where there is no label or no truth to compare."""
        return None if self.label is None or self.truth is None else self.label == self.truth


def read_cases(run: Dataset, task: Task, articles: Articles) -> list[Case]:
    """A case for every prediction of `run`, in its order."""
    table = run.tables.get("predictions")
    if table is None:
        raise DataError(
            f"'{run.name}' holds no predictions.", "Make a run first: claimlab detect DIR -o RUN"
        )
    truths = run.records.select("id", "text", truth=task.labels(run.records))
    joined = table.join(
        truths, left_on="record_id", right_on="id", how="left", maintain_order="left"
    )
    return [_case(row, articles) for row in joined.iter_rows(named=True)]


def _case(row: JsonObject, articles: Articles) -> Case:
    article = articles.texts.get(row["record_id"])
    notes = json.loads(row["meta"]) if row["meta"] else {}
    label, rationale = row["label"], row["rationale"]
    left_out = None
    if notes.get("abstained"):
        left_out = str(notes["abstained"])
    elif label is None:
        left_out = "failed"
    elif not (rationale or "").strip():
        left_out = "no-rationale"
    elif not (article or "").strip():
        left_out = "other-articles" if row["record_id"] in articles.unrelated else "no-article"
    return Case(
        row["record_id"], row["text"] or "", label, row["truth"], rationale, article, left_out
    )


def left_out(cases: Sequence[Case]) -> dict[str, int]:
    """How many cases cannot be judged, by reason."""
    return dict(sorted(Counter(c.left_out for c in cases if c.left_out).items()))
