"""What there is to judge: each prediction of a run beside the fact-checking article on its record, if there is one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.files.read import user_table
from claimlab.tasks.task import Task

IDS = ("record_id", "id")
ARTICLES = ("article", "text", "article_text")


@dataclass(frozen=True)
class Case:
    """One prediction. `left_out` says why it cannot be judged: failed, an abstention, no-rationale, no-article."""

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


def read_cases(run: Dataset, task: Task, articles: Mapping[str, str]) -> list[Case]:
    """A case for every prediction of `run`, in its order."""
    table = run.tables.get("predictions")
    if table is None:
        raise DataError(f"'{run.name}' holds no predictions.", "Make a run first: claimlab detect DIR -o RUN")
    truths = run.records.select("id", "text", truth=task.labels(run.records))
    joined = table.join(truths, left_on="record_id", right_on="id", how="left", maintain_order="left")
    return [_case(row, articles.get(row["record_id"])) for row in joined.iter_rows(named=True)]


def _case(row: dict[str, Any], article: str | None) -> Case:
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
        left_out = "no-article"
    return Case(row["record_id"], row["text"] or "", label, row["truth"], rationale, article, left_out)


def left_out(cases: Sequence[Case]) -> dict[str, int]:
    """How many cases cannot be judged, by reason."""
    return dict(sorted(Counter(c.left_out for c in cases if c.left_out).items()))


def articles_in(run: Dataset) -> dict[str, str]:
    """The first fact-check in the evidence of each record: a piece with a rating, or one marked as a fact-check."""
    table = run.tables.get("evidence")
    if table is None:
        return {}
    checked = pl.col("rating").is_not_null() | pl.col("verdict").is_not_null()
    if "guard_factcheck" in table.columns:
        checked |= pl.col("guard_factcheck").fill_null(False)
    found: dict[str, str] = {}
    for row in table.filter(checked).sort("rank", maintain_order=True, nulls_last=True).iter_rows(named=True):
        words = [str(row[c]) for c in ("title", "text") if row[c]]
        rating = [f"The fact-check rates it: {row['rating']}."] if row["rating"] else []
        if words:
            found.setdefault(row["record_id"], "\n".join([*words, *rating]))
    return found


def read_articles(file: Path) -> dict[str, str]:
    """Articles from a table (CSV, JSON lines, Parquet, Excel) with the columns record_id and article."""
    frame = user_table(file, *IDS, *ARTICLES)
    ids, texts = column(frame, IDS, file), column(frame, ARTICLES, file)
    rows = frame.select(ids, texts).drop_nulls().unique(ids, keep="first", maintain_order=True)
    return dict(rows.iter_rows())


def column(frame: pl.DataFrame, names: Sequence[str], file: Path) -> str:
    """The first of `names` that the table has."""
    for name in names:
        if name in frame.columns:
            return name
    raise DataError(
        f"'{file.name}' has no column '{names[0]}' (it has: {', '.join(frame.columns)}).", "Name it so in the file."
    )
