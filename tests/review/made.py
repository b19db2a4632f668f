"""Reviews to test with: a task and numbered texts, without a dataset."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.review import project
from claimlab.review.review import Review
from claimlab.review.task import Choice, Task

YES_NO = (Choice(value="yes", label="Yes", key="1"), Choice(value="no", label="No", key="2"))


def task(kind: str = "binary", **more: Any) -> Task:
    choices = YES_NO if kind in ("binary", "choice", "label", "pair", "span") else ()
    given = {"name": "checked", "kind": kind, "question": "Is it?", "writes": "checked", "choices": choices, **more}
    return Task.model_validate(given)


def review(
    folder: Path,
    asked: Task | None = None,
    items: int = 6,
    *,
    people: Sequence[str] = ("ana", "ben"),
    gold: dict[int, Any] | None = None,
    attention: dict[int, Any] | None = None,
    store: str = project.STORE,
    seed: int = 0,
) -> Review:
    """Items 1 to `items`; `gold` and `attention` are the answers of those that have a known one."""
    known = {**(gold or {}), **(attention or {})}
    rows = [
        {
            "id": str(n), "position": float(n), "record_id": f"fake/{n}", "other_id": None,
            "payload": json.dumps({"text": f"Text number {n}.", "label": "false", "model": {"label": "true"}}),
            "gold": json.dumps(known[n]) if n in known else None, "attention": n in (attention or {}),
            "uncertainty": None, "batch": None,
        }
        for n in range(1, items + 1)
    ]  # fmt: skip
    folder.mkdir()
    origin = project.Origin(dataset="made", fingerprint="0", records=items)
    made = project.Project(task=asked or task(), seed=seed, origin=origin, store=store)
    project.write(folder, made, pl.DataFrame(rows, schema=project.COLUMNS))
    opened = Review.open(folder)
    for name in people:
        opened.add_person(name)
    return opened


def key() -> str:
    return str(uuid.uuid4())
