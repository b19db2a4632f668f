"""Too little memory is a sentence about memory, whatever package runs into it, and what was there
before is whole."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from parts.planted import planted

from claimlab.core.dataset import Dataset
from claimlab.core.shortage import was_memory

from .conftest import start

# The limit is set when everything is loaded, a little above what that takes: the same on a machine
# with more cores. Polars may wait for ever for a thread of its own that found no memory (nothing of
# ours runs then): such a start is given up, and the next has a little more.
HEADROOM = (24, 40, 64, 96)  # MB
PATIENCE = 60  # seconds; a start takes 3
LIMITED = """
import resource, sys
import polars as pl, numpy, sklearn.linear_model, claimlab.clean.run, claimlab.split.run, claimlab.exchange.importer
from claimlab.cli.app import main
pl.DataFrame({"a": [1, 2]}).lazy().group_by("a").len().collect()
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (HEADROOM << 20),) * 2)
main()
"""


def limited(folder: Path, command: str) -> tuple[int, str]:
    for headroom in HEADROOM:
        process = start(folder, command, LIMITED.replace("HEADROOM", str(headroom)), fork=False)
        try:
            message = process.communicate(timeout=PATIENCE)[1]
            return process.returncode, message
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
    raise AssertionError("no start came to an end")


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux keeps to a limit of address space"
)
@pytest.mark.parametrize(
    "verb", ["import rows.csv", "clean data", "split data --by near-duplicates"]
)
def test_short_memory_is_a_sentence_and_the_old_output_is_whole(verb: str, tmp_path: Path) -> None:
    few = planted(size=2000)[0].records
    copies = [
        few.with_columns(pl.col("id") + f"-{i}", pl.col("text") + f" Day {i}.", group=None)
        for i in range(30)
    ]
    dataset = Dataset.build("large", pl.concat(copies))
    dataset.write(tmp_path / "data")
    dataset.records.select("text", verdict="label_raw").write_csv(tmp_path / "rows.csv")
    Dataset.build("old", few).write(tmp_path / "out")
    before = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}

    code, message = limited(tmp_path, f"{verb} -o out --force")
    assert code == 1, message
    assert "not enough memory" in message, message
    assert "did not expect" not in message
    assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()} == before
    assert Dataset.open(tmp_path / "out").name == "old"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), True),
        (pl.exceptions.ComputeError("memory allocation of 8388608 bytes failed"), True),
        (RuntimeError("can't start new thread"), True),
        (ImportError("libopenblas.so: failed to map segment from shared object"), True),
        (OSError(errno.ENOSPC, "No space left on device"), False),
        (ValueError("a claim about human memory"), False),
    ],
)
def test_an_error_about_memory_is_known(error: Exception, expected: bool) -> None:
    assert was_memory(error) is expected


def test_the_error_of_an_array_that_is_too_large_is_known() -> None:
    with pytest.raises(MemoryError) as caught:
        np.zeros(1 << 60, dtype=np.uint8)
    assert was_memory(caught.value)
