"""A million records are paged through about as fast as ten thousand."""

from __future__ import annotations

import os
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


QUERIES = {
    "first page": "?page=1",
    "last page": "?page=999999",
    "filtered": "?veracity=true&language=eng&page=7",
    "a common word": "?q=word7",
    "sorted": "?sort=-date",
}


def seconds(client: TestClient, path: str, file: Path | None = None, times: int = 7) -> float:
    """The median time of an answer. With `file`, each is a first look: whatever is kept belongs to an older file."""
    taken = []
    for _ in range(times):
        if file is not None:
            now = file.stat()
            os.utime(file, ns=(now.st_atime_ns, now.st_mtime_ns + 1_000_000))
        began = time.perf_counter()
        assert client.get(path).status_code == 200
        taken.append(time.perf_counter() - began)
    return median(taken)


@pytest.mark.alone
def test_a_page_over_a_million_rows_takes_at_most_three_times_one_over_ten_thousand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for n in (SMALL, LARGE):
        written(tmp_path, n)
    client = TestClient(create_app(tmp_path), base_url="http://127.0.0.1:8765")
    client.get("/")
    lines = []
    ratios = {}
    for what, query in QUERIES.items():
        files = {n: tmp_path / f"n{n}" / "records.parquet" for n in (SMALL, LARGE)}
        first = {n: 1000 * seconds(client, f"/datasets/n{n}{query}", file) for n, file in files.items()}
        counts = {n: 1000 * seconds(client, f"/datasets/n{n}/counts{query}", times=1) for n in files}
        again = {n: 1000 * seconds(client, f"/datasets/n{n}{query}") for n in files}
        ratios[what] = first[LARGE] / first[SMALL], again[LARGE] / again[SMALL]
        lines.append(
            f"{what}: first look {first[SMALL]:.0f} and {first[LARGE]:.0f} ms ({ratios[what][0]:.1f} times), later "
            f"{again[SMALL]:.0f} and {again[LARGE]:.0f} ms ({ratios[what][1]:.1f} times); counts, which are fetched "
            f"after the page, {counts[SMALL]:.0f} and {counts[LARGE]:.0f} ms"
        )
    with capsys.disabled():
        print(f"\nover {SMALL:,} and {LARGE:,} rows", *lines, sep="\n")  # noqa: T201 (figures to read)
    for what in QUERIES:
        if what != "sorted":  # the first look at an order sorts a million values
            assert max(ratios[what]) <= 3, what
