"""A small draw of what a job of CI does with 5,000: mutated files of every kind that is received end
in a result or in a sentence (bench/received_mutants.py)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import received_mutants

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and /proc")


@pytest.mark.slow
def test_mutated_files_end_in_a_result_or_in_a_sentence(tmp_path: Path) -> None:
    counts, bad = received_mutants.faults(190, 3, tmp_path)
    assert [(kind, end) for kind, _, end in bad] == []
    assert min(counts["result"], counts["sentence"]) > 0
    assert len(received_mutants.TEXTS) >= 14


def test_a_reader_that_fails_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("", encoding="utf-8")

    def broken(_: Path) -> None:
        raise ZeroDivisionError("planted")

    assert received_mutants.tried(broken, file) == "raw ZeroDivisionError: planted"
