"""A million records are paged through about as fast as ten thousand."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median

import numpy as np
import polars as pl
import pytest
from starlette.testclient import TestClient

from claimlab.core.dataset import Dataset
from claimlab.web.app import create_app

pytestmark = [pytest.mark.slow, pytest.mark.alone]
SMALL, LARGE = 10_000, 1_000_000


def written(folder: Path, n: int) -> None:
    random = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(5_000)])
    texts = [" ".join(row) for row in words[np.minimum((random.pareto(1.0, (n, 18)) * 20).astype(int), 4_999)]]
    start = datetime(2015, 1, 1)
    frame = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(n)], "text": texts, "kind": ["claim"] * n,
            "veracity": random.choice(["true", "false", "mixed"], n), "language": random.choice(["eng", "por"], n),
            "split": random.choice(["train", "dev", "test"], n), "source": [f"s{i}" for i in random.integers(0, 300, n)],
            "date": [start + timedelta(hours=int(h)) for h in random.integers(0, 90_000, n)],
        }
    )  # fmt: skip
    Dataset.build("large", frame).write(folder / f"n{n}")


def seconds(client: TestClient, path: str, times: int = 7) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        assert client.get(path).status_code == 200
        taken.append(time.perf_counter() - began)
    return median(taken)


def test_a_page_over_a_million_rows_takes_at_most_three_times_one_over_ten_thousand(tmp_path: Path) -> None:
    for n in (SMALL, LARGE):
        written(tmp_path, n)
    client = TestClient(create_app(tmp_path), base_url="http://127.0.0.1:8765")
    client.get("/")
    for what, query in {
        "first page": "?page=1", "last page": "?page=999999", "filtered": "?veracity=true&language=eng&page=7",
    }.items():  # fmt: skip
        cold = [seconds(client, f"/datasets/n{n}{query}", times=1) for n in (SMALL, LARGE)]
        small, large = (seconds(client, f"/datasets/n{n}{query}") for n in (SMALL, LARGE))
        print(  # noqa: T201 (a figure to read)
            f"\n{what}: {1000 * small:.0f} ms over {SMALL:,}, {1000 * large:.0f} ms over {LARGE:,} rows "
            f"({large / small:.2f} times); at first sight {1000 * cold[0]:.0f} and {1000 * cold[1]:.0f} ms"
        )
        assert large <= 3 * small
