"""How long a page of the workspace takes over a million records, beside ten thousand and beside a
plain Polars scan.

    python bench/web_paging.py [--rows 1000000]

Every query is asked several times; a "first look" is one at a file that nobody has looked at. The
peer is the least that any page must do without an index: scan the file with Polars, filter, and
take fifty rows.
"""

from __future__ import annotations

import os
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from harness import Row, begin, compare, parser, profiled, record

SMALL, TIMES = 10_000, 5
QUERIES = {
    "first page": "?page=1",
    "last page": "?page=999999",
    "filtered": "?veracity=true&language=eng&page=7",
    "a common word": "?q=word7",
    "sorted": "?sort=-date",
}
VERDICT, LANGUAGE = pl.col("veracity") == "true", pl.col("language") == "eng"


def written(folder: Path, n: int) -> None:
    """A dataset of `n` records at `folder`/nN."""
    from claimlab.core.dataset import Dataset

    random = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(5_000)])
    texts = [
        " ".join(row)
        for row in words[np.minimum((random.pareto(1.0, (n, 18)) * 20).astype(int), 4_999)]
    ]
    start = datetime(2015, 1, 1)
    frame = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(n)],
            "text": texts,
            "kind": ["claim"] * n,
            "veracity": random.choice(["true", "false", "mixed"], n),
            "language": random.choice(["eng", "por"], n),
            "split": random.choice(["train", "dev", "test"], n),
            "source": [f"s{i}" for i in random.integers(0, 300, n)],
            "date": [start + timedelta(hours=int(h)) for h in random.integers(0, 90_000, n)],
        }
    )
    Dataset.build("large", frame).write(folder / f"n{n}")


def opened(folder: Path) -> Any:
    """A client of the workspace that has shown the token."""
    from starlette.testclient import TestClient

    from claimlab.web.app import create_app
    from claimlab.web.settings import ServerSettings

    settings = ServerSettings()
    app = create_app(folder, settings=settings)
    token = {settings.cookie: settings.token}
    client = TestClient(app, base_url="http://127.0.0.1:8765", cookies=token)
    client.get("/")
    return client


def by_polars(file: Path, what: str) -> pl.DataFrame:
    scan = pl.scan_parquet(file)
    if what == "filtered":
        return scan.filter(VERDICT, LANGUAGE).slice(300, 50).collect()
    if what == "a common word":
        return scan.filter(pl.col("text").str.contains("word7", literal=True)).head(50).collect()
    if what == "sorted":
        return scan.sort("date", descending=True).head(50).collect()
    return (scan.tail(50) if what == "last page" else scan.head(50)).collect()


def first_look(client: Any, path: str, file: Path) -> None:
    """Whatever was kept of the file is of an older one."""
    now = file.stat()
    os.utime(file, ns=(now.st_atime_ns, now.st_mtime_ns + 1_000_000))
    assert client.get(path).status_code == 200


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--rows", type=int, default=1_000_000)
    options = begin(made)
    with tempfile.TemporaryDirectory() as place:
        folder, n = Path(place), options.rows
        for size in (SMALL, n):
            written(folder, size)
        client = opened(folder)
        files = {size: folder / f"n{size}" / "records.parquet" for size in (SMALL, n)}
        for what, query in QUERIES.items():
            paths = {size: f"/datasets/n{size}{query}" for size in files}
            jobs = {
                "first": lambda paths=paths: first_look(client, paths[n], files[n]),
                "small": lambda paths=paths: first_look(client, paths[SMALL], files[SMALL]),
                "again": lambda paths=paths: client.get(paths[n]),
                "Polars": lambda what=what: by_polars(files[n], what),
            }
            costs = compare(jobs, TIMES)
            ms = {name: 1000 * cost.cpu for name, cost in costs.items()}
            why = profiled(jobs["again"]) if ms["again"] > ms["Polars"] else ""
            unit, peer = "processor ms", "a Polars scan"
            record(
                Row(
                    "web",
                    f"{what}, first look at {n:,}",
                    f"the same over {SMALL:,}",
                    ms["first"],
                    ms["small"],
                    unit,
                ),
                Row(
                    "web",
                    f"{what}, again, {n:,} records",
                    peer,
                    ms["again"],
                    ms["Polars"],
                    unit,
                    why=why,
                ),
            )


if __name__ == "__main__":
    main()
