"""A smaller run of bench/fuzz_import.py: damaged and hostile files end in records or in one
sentence.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz_import import Outcome, judge
from parts.fuzz_files import delimited, json_files, mutants, workbooks


@pytest.mark.slow
@pytest.mark.needs("pandas")
def test_hostile_files_end_in_records_or_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process, without a fork: for the figures of time and memory run the bench."""
    from claimlab.cli.app import run

    cases = [*mutants(7, 2), *json_files(), *workbooks(), *delimited()]
    cases = [case for case in cases if len(case.data) < 500_000]
    wrong = []
    for number, case in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / case.name).write_bytes(case.data)
        code = run(["import", str(folder / case.name), "-o", str(folder / "out")])
        words = "".join(capsys.readouterr())
        outcome = Outcome(case, len(case.data), code, 0.0, 0.0, words)
        judge(outcome, folder, folder / "out")
        wrong += [f"{case.name}: {outcome.wrong} {words[-300:]}"] if outcome.wrong else []
    assert wrong == []
    assert len(cases) > 80
