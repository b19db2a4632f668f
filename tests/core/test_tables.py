"""A Parquet file that someone sent does not fill the memory, whoever reads it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from parts.planted import planted

from claimlab.core.dataset import MANIFEST, RECORDS, Dataset, Manifest, seal
from claimlab.core.errors import SchemaError, UnreadableFile
from claimlab.core.tables import read_parquet, scan_parquet

MOST_BYTES = 500 << 20  # of memory for a folder that is a bomb
OPEN = """
import pathlib, re, resource, sys
import claimlab as cl
from claimlab.core.errors import ClaimlabError
try:
    cl.Dataset.open(sys.argv[1])
except ClaimlabError as error:
    print(error)
    # ru_maxrss is never less than what the process that started this one had taken
    status = pathlib.Path("/proc/self/status")
    own = re.search(r"VmHWM:\\s*(\\d+)", status.read_text()) if status.exists() else None
    peak = int(own[1]) if own else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(peak * 1024)
"""


@pytest.fixture(scope="module")
def bomb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of some MB whose records would take gigabytes; its hashes and counts are right."""
    folder = tmp_path_factory.mktemp("bomb") / "gift"
    planted(size=120)[0].write(folder)
    row = pl.read_parquet(folder / RECORDS).head(1)
    scan = pl.LazyFrame({"id": pl.Series("id", range(2_500_000))}).cast(pl.String)
    rest = [pl.lit(row[name][0], dtype=kind).alias(name) for name, kind in row.schema.items()]
    scan = scan.with_columns(rest[1:]).with_columns(text=pl.lit("x" * 400)).select(row.columns)
    scan.sink_parquet(folder / RECORDS, compression="zstd")
    manifest = Manifest.model_validate(json.loads((folder / MANIFEST).read_bytes()))
    (folder / MANIFEST).unlink()
    seal(folder, manifest)
    return folder


def test_a_folder_that_is_a_bomb_is_refused_in_little_memory(bomb: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", OPEN, str(bomb)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "POLARS_MAX_THREADS": "2"},
    )
    *words, peak = answer.stdout.splitlines()
    assert "would take" in words[0]
    assert "it looks like a bomb" in words[0] or "at most 4 GB" in words[0]
    assert int(peak) < MOST_BYTES


def test_scans_and_columns_are_refused_too(bomb: Path) -> None:
    for read in (read_parquet, scan_parquet):
        with pytest.raises(UnreadableFile, match="would take"):
            read(bomb / RECORDS)


def test_values_that_share_their_room_are_counted(tmp_path: Path) -> None:
    """A dictionary of one long text and few bytes a row declares little, and unpacks to much."""
    file = tmp_path / "t.parquet"
    pl.DataFrame({"text": ["x" * 100_000] * 4_000}).write_parquet(file)
    with pytest.raises(UnreadableFile, match="it looks like a bomb"):
        read_parquet(file)


def test_a_damaged_table_is_told_by_its_reader(tmp_path: Path) -> None:
    planted(size=120)[0].write(tmp_path / "d")
    (tmp_path / "d" / RECORDS).write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(SchemaError, match="cannot be read"):
        Dataset.open(tmp_path / "d", verify=False)
