"""A million records are paged through about as fast as ten thousand."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

import pytest
from starlette.testclient import TestClient
from web_paging import QUERIES, SMALL, first_look, opened, written

pytestmark = [pytest.mark.slow, pytest.mark.alone]
LARGE = 1_000_000


def seconds(client: TestClient, path: str, file: Path | None = None, times: int = 7) -> float:
    """The median time of an answer. With `file`, each is a first look: whatever is kept belongs to
    an older file.
    """
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        if file is None:
            assert client.get(path).status_code == 200
        else:
            first_look(client, path, file)
        taken.append(time.perf_counter() - began)
    return median(taken)


@pytest.mark.alone
def test_a_page_over_a_million_rows_takes_at_most_three_times_one_over_ten_thousand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for n in (SMALL, LARGE):
        written(tmp_path, n)
    client = opened(tmp_path)
    lines = []
    ratios = {}
    for what, query in QUERIES.items():
        files = {n: tmp_path / f"n{n}" / "records.parquet" for n in (SMALL, LARGE)}
        first = {
            n: 1000 * seconds(client, f"/datasets/n{n}{query}", file) for n, file in files.items()
        }
        counts = {
            n: 1000 * seconds(client, f"/datasets/n{n}/counts{query}", times=1) for n in files
        }
        again = {n: 1000 * seconds(client, f"/datasets/n{n}{query}") for n in files}
        ratios[what] = first[LARGE] / first[SMALL], again[LARGE] / again[SMALL]
        lines.append(
            f"{what}: first look {first[SMALL]:.0f} and {first[LARGE]:.0f} ms ({ratios[what][0]:.1f} times), later "
            f"{again[SMALL]:.0f} and {again[LARGE]:.0f} ms ({ratios[what][1]:.1f} times); counts, which are fetched "
            f"after the page, {counts[SMALL]:.0f} and {counts[LARGE]:.0f} ms"
        )
    with capsys.disabled():
        print(f"\nover {SMALL:,} and {LARGE:,} rows", *lines, sep="\n")  # noqa: T201 (figures to read)
    for what in QUERIES:  # the first look at an order reads rows from all over the file
        assert (ratios[what][1] if what == "sorted" else max(ratios[what])) <= 3, what
