"""A smaller run of bench/fuzz_import.py: damaged and hostile files end in records or in one sentence."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench" / "fuzz_import.py"


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz_import", BENCH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_import"] = module
    spec.loader.exec_module(module)
    return module


def test_hostile_files_end_in_records_or_one_sentence(
    fuzz: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process, without a fork: for the figures of time and memory run the bench."""
    from claimlab.cli.app import run

    cases = [*fuzz.mutants(7, 2), *fuzz.json_files(), *fuzz.workbooks(), *fuzz.delimited()]
    cases = [case for case in cases if len(case.data) < 500_000]
    wrong = []
    for number, case in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / case.name).write_bytes(case.data)
        code = run(["import", str(folder / case.name), "-o", str(folder / "out")])
        words = "".join(capsys.readouterr())
        outcome = fuzz.Outcome(case, len(case.data), code, 0.0, 0.0, words)
        fuzz.judge(outcome, folder, folder / "out")
        wrong += [f"{case.name}: {outcome.wrong} {words[-300:]}"] if outcome.wrong else []
    assert wrong == []
    assert len(cases) > 80
