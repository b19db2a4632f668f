"""Made-up runs with a known truth, for every test of evaluation."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from claimlab.core.dataset import Dataset, Lineage

LANGUAGES = ("eng", "deu", "tur", "swa", "afr")


def made_up_data(n: int = 600, *, per_group: int = 2, seed: int = 0) -> Dataset:
    """Claims in five languages, in groups; years, sources, authors and models to tell them apart
    by.
    """
    rng = np.random.default_rng(seed)
    rows = [
        {
            "id": f"r{i}", "text": f"Bridge {i} opened.", "veracity": str(rng.choice(["true", "false"])),
            "language": LANGUAGES[i % 5], "group": f"g{i // per_group}" if per_group > 1 else None,
            "source": "rare" if i < 7 else f"source {i % 3}", "authorship": ("HWT", "MGT")[i % 2],
            "date": f"20{20 + i % 4}-05-0{1 + i % 9}", "split": "test",
            "meta": json.dumps({"model": f"m{i % 3}", "party": "blue"}) if i % 2 else None,
        }
        for i in range(n)
    ]  # fmt: skip
    frame = pl.DataFrame(rows, infer_schema_length=None).with_columns(
        pl.col("date").str.to_datetime("%Y-%m-%d")
    )
    return Dataset.build("made-up", frame)


def made_up_run(
    data: Dataset,
    skill: float | Sequence[float],
    *,
    seed: int = 0,
    detector: str = "coin",
    divided_by: str | None = None,
    labels: Sequence[str | None] | None = None,
    meta: Sequence[dict[str, Any] | None] | None = None,
) -> Dataset:
    """A run as `claimlab detect` writes it, right with chance `skill` (one number, or one for each
    record).
    """
    rng = np.random.default_rng(seed + 77)
    truth = data.records["veracity"].to_list()
    other = {"true": "false", "false": "true"}
    right = rng.random(len(truth)) < np.asarray(skill)
    said = (
        list(labels)
        if labels is not None
        else [t if ok else other[t] for t, ok in zip(truth, right, strict=True)]
    )
    sure = rng.uniform(0.5, 1, len(truth)).round(4)
    scores = [
        None if s not in other else json.dumps({s: float(p), other[s]: round(1 - float(p), 4)})
        for s, p in zip(said, sure, strict=True)
    ]
    table = pl.DataFrame(
        {
            "record_id": data.records["id"], "run": [f"{detector}-{seed}"] * len(truth), "label": said, "scores": scores,
            "meta": [json.dumps(m) if m else None for m in meta] if meta else [None] * len(truth),
        },
        schema_overrides={"label": pl.String, "scores": pl.String, "meta": pl.String},
    )  # fmt: skip
    steps = [Lineage(step="split", parameters={"by": divided_by}, seed=0)] if divided_by else []
    told = {"detector": detector, "settings": {}, "task": "veracity"}
    return Dataset.build(
        data.name,
        data.records,
        {"predictions": table},
        lineage=[*steps, Lineage(step="detect", parameters=told, seed=seed)],
    )


@pytest.fixture
def data() -> Dataset:
    return made_up_data()


@pytest.fixture
def make_data() -> Callable[..., Dataset]:
    return made_up_data


@pytest.fixture
def make_run() -> Callable[..., Dataset]:
    return made_up_run
