"""Reviews to test with: a task and numbered texts, without a dataset."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.record import to_side_table
from claimlab.review import project
from claimlab.review.review import Review
from claimlab.review.task import AnswerChoice, ReviewTask

YES_NO = (
    AnswerChoice(value="yes", label="Yes", key="1"),
    AnswerChoice(value="no", label="No", key="2"),
)


def task(kind: str = "binary", **more: Any) -> ReviewTask:
    choices = YES_NO if kind in ("binary", "choice", "label", "pair", "span") else ()
    given = {
        "name": "checked",
        "kind": kind,
        "question": "Is it?",
        "writes": "checked",
        "choices": choices,
        **more,
    }
    return ReviewTask.model_validate(given)


def review(
    folder: Path,
    asked: ReviewTask | None = None,
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
    place = store if store == project.STORE else project.DATABASE
    made = project.Project(task=asked or task(), seed=seed, origin=origin, store=place)
    project.write(folder, made, pl.DataFrame(rows, schema=project.COLUMNS))
    opened = Review.open(folder, store=None if store == project.STORE else store)
    if people:
        opened.add_people(people)
    return opened


def key() -> str:
    return str(uuid.uuid4())


def dataset(size: int = 60, **tables: pl.DataFrame) -> Dataset:
    """Numbered records, true and false by turns; number 3 nearly repeats number 0 under the other
    label.
    """
    rng = random.Random(1)
    words = [
        "bridge",
        "vaccine",
        "mayor",
        "river",
        "budget",
        "school",
        "doctor",
        "train",
        "market",
        "storm",
    ]
    texts = [f"Claim {n}: " + " ".join(rng.choices(words, k=14)) for n in range(size)]
    texts[3] = texts[0] + " indeed"
    records = pl.DataFrame(
        {
            "id": [f"r{n:03d}" for n in range(size)], "text": texts, "kind": ["claim"] * size,
            "veracity": ["true" if n % 2 == 0 else "false" for n in range(size)],
            "topic": ["health" if n % 5 == 0 else "politics" for n in range(size)],
        }
    )  # fmt: skip
    return Dataset.build(
        "made", records, {name: to_side_table(name, table) for name, table in tables.items()}
    )


def predictions(
    made: Dataset, said: dict[str, str] | None = None, sure: dict[str, float] | None = None
) -> pl.DataFrame:
    """A run that says "true" of everything, less and less surely; or what it says of each record,
    and how surely.
    """
    ids = made.records["id"].to_list()
    labels = said or dict.fromkeys(ids, "true")
    scores = sure or {record: 1 - k / (2 * len(ids)) for k, record in enumerate(ids)}
    other = {"true": "false", "false": "true"}
    shares = [(labels[i], scores[i]) for i in ids]
    return pl.DataFrame(
        {
            "record_id": ids,
            "run": ["x"] * len(ids),
            "label": [label for label, _ in shares],
            "scores": [json.dumps({label: p, other[label]: 1 - p}) for label, p in shares],
            "rationale": ["It is so."] * len(ids),
        }
    )
