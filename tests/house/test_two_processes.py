"""Two processes, one output, one cap: one of them wins, the other is told who holds the output, and
the endpoint never sees more calls than the cap allows, not even when the winner is killed and
started again."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from parts.packages import leaf_marked
from parts.planted import planted
from parts.standin import StandIn

from claimlab.core.dataset import Dataset

from .conftest import Searches, explained, outcome, start

CAP = 12
SLOW = 30.0  # seconds for an answer: the first process is still waiting when the second one starts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Forty records that are all different, in `data`, and a run on them: more than the cap allows
    to ask for.
    """
    texts = [
        f"The mill number {i} of Garrow sold {i + 3} looms to the council of Velmore."
        for i in range(40)
    ]
    records = pl.DataFrame(
        {"id": [f"m{i}" for i in range(40)], "text": texts, "veracity": ["true", "false"] * 20}
    )
    mills = Dataset.build("mills", records)
    mills.write(tmp_path / "data")
    explained(mills, 40).write(tmp_path / "run")
    return tmp_path


def wait_for(ready: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    ends = time.monotonic() + 60
    while not ready():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < ends, "the first process never came that far"
        time.sleep(0.02)


SPENDING = {
    "enrich": f"enrich data -o out --provider searxng --extract none --set max_calls={CAP} --set concurrency=2",
    "detect": f"detect data -o out --detector llm-zero-shot --profile model.toml --set max_calls={CAP}",
    "judge": f"judge run -o out --profile model.toml --set max_calls={CAP}",
    "evolve": f"evolve run data -o out --rewriter model --profile model.toml --steps 2 --set max_calls={CAP}",
    "audit": f"audit data -o out --check feasibility --judge model.toml --set judge_sample=30 --set max_calls={CAP}",
}


@pytest.mark.slow
@pytest.mark.parametrize("verb", leaf_marked(SPENDING))
def test_one_cap_holds_for_two_processes_and_over_a_kill(
    verb: str, folder: Path, searches: Searches, model: StandIn
) -> None:
    def calls() -> int:
        return searches.requests + model.requests

    searches.latency = model.latency = SLOW
    first = start(folder, SPENDING[verb])
    wait_for(lambda: calls() >= 2, first)
    code, message = outcome(start(folder, SPENDING[verb]))
    assert code == 1
    assert f"is being written by claimlab {verb}, process {first.pid}" in message
    first.send_signal(signal.SIGKILL)
    first.wait(10)
    searches.latency = model.latency = 0.0
    spent = calls()
    assert spent <= CAP

    code, message = outcome(start(folder, SPENDING[verb]))
    assert (code, "The budget is spent" in message) == (1, True), message
    assert spent <= calls() <= CAP
    at_the_cap = calls()
    code, message = outcome(start(folder, SPENDING[verb]))
    assert (code, "The budget is spent" in message) == (1, True), message
    assert calls() == at_the_cap == CAP


STUDY = """
references = false
[datasets.data]
folder = "data"
[grid]
detector = ["model"]
[detector.model]
detector = "llm-zero-shot"
profile = "model.toml"
"""


@pytest.mark.slow
def test_a_study_is_run_by_one_process_and_its_cap_holds_over_a_kill(
    folder: Path, model: StandIn
) -> None:
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    assert outcome(start(folder, "trust study.toml --yes"))[0] == 0
    command = f"study run study.toml -o out --set max_calls={CAP}"
    model.latency = SLOW / 5  # the server stays busy with what was asked before for as long as that
    first = start(folder, command)
    wait_for(lambda: model.requests >= 2, first)
    code, message = outcome(start(folder, command))
    assert (code, f"is being written by claimlab study, process {first.pid}" in message) == (
        1,
        True,
    ), message
    first.send_signal(signal.SIGKILL)
    first.wait(10)
    model.latency = 0.0
    for _ in range(2):
        code, message = outcome(start(folder, command))
        assert code == 1, message
        assert "The budget is spent" in (folder / "out" / "cells.json").read_text(encoding="utf-8")
        assert model.requests == CAP
    code, message = outcome(start(folder, "study run study.toml -o out --set max_calls=1000"))
    assert (code, "Failed" in message) == (0, False), message


@pytest.mark.slow
def test_of_two_cleanings_into_one_output_one_wins(tmp_path: Path) -> None:
    planted(size=4000)[0].write(tmp_path / "data")
    both = [
        start(tmp_path, "clean data -o out"),
        start(tmp_path, "clean data -o out"),
    ]  # they reach the lock together
    ends = [outcome(process) for process in both]
    winner, loser = (0, 1) if ends[0][0] == 0 else (1, 0)
    assert [ends[winner][0], ends[loser][0]] == [0, 1], ends
    assert f"is being written by claimlab clean, process {both[winner].pid}" in ends[loser][1]
    assert Dataset.open(tmp_path / "out").lineage[-1].step == "clean"
    assert not [p.name for p in tmp_path.iterdir() if p.name.startswith(".")]
