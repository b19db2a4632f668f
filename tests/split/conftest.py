"""Datasets whose groups, copies, dates and languages are known, because they were made here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest

from claimlab.core.dataset import Dataset

Make = Callable[..., Dataset]
SYLLABLES = (
    "ba",
    "do",
    "fe",
    "gu",
    "ki",
    "lo",
    "mi",
    "nu",
    "pa",
    "re",
    "si",
    "to",
    "vu",
    "wa",
    "zo",
)


def sentence(number: int) -> str:
    """A text that is nowhere near that of another number."""
    rng = np.random.default_rng(number)
    return " ".join("".join(rng.choice(SYLLABLES, 3)) for _ in range(12)) + "."


def rows(n: int, languages: tuple[str, ...] = ("eng", "por", "deu")) -> list[dict[str, Any]]:
    """`n` rows: labels in turn, languages in turn, a source of 20, an event of 30, a day of 50; no
    copies.
    """
    rng = np.random.default_rng(n)
    return [
        {
            "id": f"r{i:04d}",
            "text": sentence(i),
            "kind": "claim",
            "veracity": "true" if rng.random() < 0.5 else "false",
            "language": languages[i % len(languages)],
            "date": datetime(2020, 1, 1, i % 24) + timedelta(days=int(rng.integers(0, 50))),
            "date_source": "made up",
            "source": f"source-{int(rng.integers(0, 20)):02d}",
            "url": f"https://www.site{int(rng.integers(0, 15))}.org/{i}",
            "topic": f"topic-{i % 5}",
            "group": f"event-{int(rng.integers(0, 30)):02d}",
        }
        for i in range(n)
    ]


@pytest.fixture
def make() -> Make:
    """Build a dataset of made-up rows; `change` may alter them first."""

    def build(
        n: int = 300,
        *,
        languages: tuple[str, ...] = ("eng", "por", "deu"),
        change: Callable[[list[dict[str, Any]]], None] | None = None,
        tables: dict[str, pl.DataFrame] | None = None,
        name: str = "made-up",
    ) -> Dataset:
        made = rows(n, languages)
        if change is not None:
            change(made)
        return Dataset.build(name, pl.DataFrame(made, infer_schema_length=None), tables)

    return build
