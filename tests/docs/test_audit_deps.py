"""How long `make audit-deps` accepts that no source of advisories answers."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import dependencies
import pytest


def test_not_measured_fails_after_two_weeks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "answered"
    for day, code in ((1, 0), (15, 0), (16, 1)):  # no date is kept on the first day
        with pytest.raises(SystemExit) as ended:
            dependencies.unanswered("silence", file, date(2026, 11, day))
        assert (ended.value.code or 0) == code, day
    assert "since 2026-11-01" in capsys.readouterr().out
    dependencies.note_answer(file, date(2026, 11, 16))
    with pytest.raises(SystemExit) as ended:
        dependencies.unanswered("silence", file, date(2026, 11, 30))
    assert not ended.value.code
