"""Ctrl-C ends every verb within two seconds, with exit 130 and nothing half-written."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest
from parts.packages import leaf_marked
from parts.planted import planted
from parts.standin import StandIn

import claimlab as cl
from claimlab.cli.app import run as command_line
from claimlab.core.dataset import Dataset
from claimlab.core.run import Run

from .conftest import Searches, explained, outcome, start

LONG = [
    "import large.csv -o {out}",
    "clean large -o {out}",
    "split large -o {out} --by near-duplicates",
    "enrich large -o {out} --provider local:large --set mode=live",
    "enrich large -o {out} --provider local:large.txt --set mode=live",
    "audit large -o {out}",
    "detect large -o {out} --detector tfidf",
    "evaluate --predictions large.csv --data large --split test -o {out} --draws 200000",
    "evaluate --predictions large.csv --predictions large.txt --data large --split test -o {out} --draws 200000",
    "evolve run large -o {out} --steps 30",
    "diff large large -o {out}",
    "overlap large -o {out} --corpus large.txt --corpus large",
    "export large --to claimreview -o {out}",
    "export large --to hf -o {out}",
]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough records that every verb is at work for longer than the test waits."""
    folder = tmp_path_factory.mktemp("large")
    few = cl.split(planted(size=2000)[0]).dataset
    copies = [
        few.records.with_columns(
            pl.col("id") + f"-{i}", pl.col("text") + f" It was day {i} in Velmore.", group=None
        )
        for i in range(20)
    ]
    dataset = Dataset.build("large", pl.concat(copies))
    dataset.write(folder / "large")
    rows = dataset.records.select("id", "text", pl.col("veracity").alias("label"))
    rows.write_csv(folder / "large.csv")
    (folder / "large.txt").write_text(
        (folder / "large.csv").read_text(encoding="utf-8"), encoding="utf-8"
    )
    return folder


ASKING = [
    "enrich large -o {out} --provider searxng",
    "detect large -o {out} --detector llm-zero-shot --profile model.toml",
    "judge run -o {out} --profile model.toml",
    "audit large -o {out} --check feasibility --judge model.toml",
    "overlap large -o {out} --profile model.toml --set probes=5000",
    "evolve run large -o {out} --rewriter model --profile model.toml",
]


def stop(command: str, folder: Path, place: Path, after: float) -> tuple[int, str, float]:
    """Press Ctrl-C `after` seconds into the work: exit code, message, and how long it then took."""
    place.mkdir()
    child = start(folder, command.format(out=place / "out"))
    ends = time.monotonic() + 60
    while not (place / ".out.work" / "lock").exists() and child.poll() is None:
        assert time.monotonic() < ends
        time.sleep(0.01)
    time.sleep(after)
    return interrupt(child)


def interrupt(child: subprocess.Popen[str]) -> tuple[int, str, float]:
    began = time.monotonic()
    child.send_signal(signal.SIGINT)
    message = child.communicate(timeout=60)[1]
    return child.returncode, message, time.monotonic() - began


def assert_stopped(code: int, message: str, seconds: float, place: Path) -> None:
    assert (code, "Stopped." in message) == (130, True), message
    assert seconds < 2
    assert not (place / "out").exists()
    assert not list(place.glob(".out.building-*"))


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("command", leaf_marked(LONG))
def test_ctrl_c_ends_a_verb_within_two_seconds(command: str, large: Path, tmp_path: Path) -> None:
    for after in (0.4, 0.1, 0.0):  # sooner where the run was over too soon
        place = tmp_path / f"after-{after}"
        code, message, seconds = stop(command, large, place, after)
        if code != 0:
            break
    assert_stopped(code, message, seconds, place)


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("command", leaf_marked(ASKING))
def test_ctrl_c_is_heard_while_a_model_or_a_search_is_slow_to_answer(
    command: str, model: StandIn, searches: Searches, tmp_path: Path
) -> None:
    dataset = cl.split(planted(size=200)[0], output=tmp_path / "large").dataset
    explained(dataset, 40).write(tmp_path / "run")
    model.latency = searches.latency = 30.0
    place = tmp_path / "stopped"
    place.mkdir()
    child = start(tmp_path, command.format(out=place / "out"))
    ends = time.monotonic() + 60
    while model.requests + searches.requests < 2:
        assert child.poll() is None, outcome(child)
        assert time.monotonic() < ends
        time.sleep(0.02)
    assert_stopped(*interrupt(child), place)


STUDY = """
[datasets.data]
folder = "large"
[grid]
{grid}
[detector.model]
detector = "llm-zero-shot"
profile = "model.toml"
limit = 6
"""


@pytest.mark.slow
@pytest.mark.alone
def test_ctrl_c_ends_a_study_that_is_at_work(large: Path, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        STUDY.format(grid='split = ["near-duplicates"]\ndetector = ["tfidf"]')
    )
    assert outcome(start(large, f"trust {tmp_path / 'study.toml'} --yes"))[0] == 0
    child = start(large, f"study run {tmp_path / 'study.toml'} -o {tmp_path / 'out'}")
    ends = time.monotonic() + 60
    while not list(tmp_path.glob("out/steps/.split-*.work/lock")):
        assert child.poll() is None, outcome(child)
        assert time.monotonic() < ends
        time.sleep(0.01)
    code, message, seconds = interrupt(child)
    assert (code, "Stopped." in message) == (130, True), message
    assert seconds < 2
    assert not list(tmp_path.glob("out/steps/*/dataset.json"))


@pytest.mark.slow
@pytest.mark.alone
def test_a_study_that_was_stopped_goes_on_and_asks_nothing_twice(
    model: StandIn, tmp_path: Path
) -> None:
    cl.split(planted(size=200)[0], output=tmp_path / "large")
    (tmp_path / "study.toml").write_text(STUDY.format(grid='detector = ["model"]'))
    model.latency = 2.0  # the server is busy with what was asked before for as long as that
    assert outcome(start(tmp_path, "trust study.toml --yes"))[0] == 0
    child = start(tmp_path, "study run study.toml -o out")
    ends = time.monotonic() + 60
    while model.requests < 2:
        assert child.poll() is None, outcome(child)
        assert time.monotonic() < ends
        time.sleep(0.02)
    code, message, seconds = interrupt(child)
    assert (code, "Stopped." in message) == (130, True), message
    assert seconds < 2
    model.latency, model.requests = 0.0, 0
    code, message = outcome(start(tmp_path, "study run study.toml -o out"))
    assert (code, "Failed" in message) == (0, False), message
    assert model.requests == 6
    assert not list(tmp_path.glob("out/steps/.*"))


def test_ctrl_c_after_the_output_is_in_place_says_that_it_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(size=120)[0].write(tmp_path / "data")

    def interrupted(run: Run) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "clear", interrupted)  # what comes after the output is put in place
    assert command_line(["clean", str(tmp_path / "data"), "-o", str(tmp_path / "out")]) == 130
    assert (
        f"'{tmp_path / 'out'}' had been written by then and is complete." in capsys.readouterr().err
    )
    assert len(Dataset.open(tmp_path / "out")) > 0
