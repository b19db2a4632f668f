"""bench/: every script is listed, starts, and shares the harness; a ratio that falls by half fails, and a steady one does not."""

from __future__ import annotations

import ast
import json
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import quick
from harness.machine import banner
from harness.results import Row

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
SCRIPTS = sorted(file.name for file in BENCH.glob("*.py"))


def test_every_script_is_listed_with_its_command() -> None:
    rows = re.findall(
        r"^\| (\w+\.py) \| .+ \| `python bench/(\w+\.py)[^`]*` \|$", (BENCH / "README.md").read_text(), re.M
    )
    assert sorted(name for name, _ in rows) == SCRIPTS
    assert [pair for pair in rows if pair[0] != pair[1]] == []


def test_every_script_uses_the_harness() -> None:
    for name in SCRIPTS:
        tree = ast.parse((BENCH / name).read_text(encoding="utf-8"))
        shared = {
            a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module == "harness" for a in n.names
        }
        assert {"begin", "parser"} <= shared, name


HELP = """
import contextlib, io, runpy, sys
sys.path.insert(0, {bench!r})
for name in {names!r}:
    sys.argv = [name + ".py", "--help"]
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
        runpy.run_path({bench!r} + "/" + name + ".py", run_name="__main__")
    assert f"python bench/{{name}}.py" in said.getvalue(), name
"""


@pytest.mark.slow
def test_every_script_imports_and_explains_itself() -> None:
    """Without the peers: where one is missing, a script says so when it gets there."""
    code = HELP.format(bench=str(BENCH), names=[name.removesuffix(".py") for name in SCRIPTS])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_missing_kernel_is_said_loudly(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "near-duplicate kernel: " in banner()[0]
    monkeypatch.setenv("CLAIMLAB_NEARDUP", "numpy")
    assert "near-duplicate kernel: NumPy fallback" in banner()[0]
    assert "NOT COMPILED" in banner()[1]


def test_a_ratio_says_how_many_times_better_ours_is() -> None:
    assert Row("a", "m", "p", ours=2.0, theirs=6.0).ratio == 3
    assert Row("a", "m", "p", ours=6.0, theirs=2.0, more=True).ratio == 3
    assert Row("a", "m", "p", ours=None, theirs=2.0).ratio is None  # a peer that is missing is no pass


def work(times: int) -> int:
    return sum(i * i % 7 for _ in range(times) for i in range(60_000))


@contextmanager
def steady() -> Iterator[tuple[quick.Job, quick.Job]]:
    yield lambda: work(1), lambda: work(4)


@contextmanager
def slowed() -> Iterator[tuple[quick.Job, quick.Job]]:
    yield lambda: work(6), lambda: work(4)


def test_a_planted_slowdown_fails_and_a_steady_ratio_holds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {platform.machine(): {"planted": 4.0}}
    monkeypatch.setattr(quick, "MEASURES", {"planted": steady})
    assert quick.main([], known) == 0
    monkeypatch.setattr(quick, "MEASURES", {"planted": slowed})  # six times as slow
    assert quick.main([], known) == 1
    assert "FALLEN BY HALF, after 3 retries: planted" in capsys.readouterr().err


def test_another_processor_gets_more_room() -> None:
    recorded = {"one": {"m": 8.0}, "two": {"m": 4.0}}
    assert quick.limits(recorded, "m") == 1.0
    assert quick.limits({platform.machine(): {"m": 8.0}}, "m") == 4.0
    assert quick.limits(recorded, "new") is None


def test_every_quick_measure_is_on_record() -> None:
    recorded = json.loads(quick.RECORD.read_text(encoding="utf-8"))
    assert all(set(quick.MEASURES) <= set(ratios) for ratios in recorded.values())
    assert recorded
