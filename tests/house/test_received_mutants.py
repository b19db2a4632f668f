"""A small draw of what a job of CI does with 5,000: mutated files of every kind that is received end
in a result or in a sentence (bench/received_mutants.py)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import received_mutants

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and /proc")


@pytest.mark.slow
def test_mutated_files_end_in_a_result_or_in_a_sentence() -> None:
    """In a process of its own: it forks, which one that has used Polars must not."""
    words = [received_mutants.__file__, "--count", "190", "--seed", "3"]
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout
    counts = (
        re.search(r"'result': (\d+)", done.stdout),
        re.search(r"'sentence': (\d+)", done.stdout),
    )
    assert all(count is not None and int(count[1]) > 0 for count in counts), done.stdout
    assert len(received_mutants.TEXTS) >= 14


def test_a_reader_that_fails_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("", encoding="utf-8")

    def broken(_: Path) -> None:
        raise ZeroDivisionError("planted")

    assert received_mutants.tried(broken, file) == "raw ZeroDivisionError: planted"
