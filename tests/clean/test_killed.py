"""Killed at any moment, a second run of the same command ends with the bytes of an undisturbed
one.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from parts.forked import Popen
from parts.planted import planted

import claimlab
from claimlab.clean.front import clean
from claimlab.core.progress import reporting
from claimlab.core.run import Run

CHILD = """
import sys
import claimlab as cl
from claimlab.text.langid import identify
identify(["The bridge is closed until further notice."])  # models are read before the clock starts
print("ready", flush=True)
cl.clean(sys.argv[1], output=sys.argv[2])
"""
KILLS = 10


def start(source: Path, output: Path) -> subprocess.Popen[bytes]:
    env = {**os.environ, "PYTHONPATH": str(Path(claimlab.__file__).parents[1])}
    child = Popen(
        [sys.executable, "-c", CHILD, str(source), str(output)], env=env, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    return child


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


@pytest.mark.slow
def test_killed_at_ten_random_points(tmp_path: Path) -> None:
    planted(size=600)[0].write(tmp_path / "in")
    began = time.monotonic()
    whole = start(tmp_path / "in", tmp_path / "undisturbed")
    assert whole.wait(timeout=120) == 0
    took = time.monotonic() - began  # with the start of Python: an upper bound for the work itself
    rng = random.Random(7)
    killed = 0
    for number in range(KILLS):
        output = tmp_path / f"out-{number}"
        child = start(tmp_path / "in", output)
        time.sleep(rng.uniform(0, 0.6 * took))
        child.send_signal(signal.SIGKILL)
        killed += child.wait(timeout=60) == -signal.SIGKILL
        if (
            not (output / "dataset.json").is_file()
            or (tmp_path / f".{output.name}.work" / "done.json").exists()
        ):
            clean(tmp_path / "in", output=output)
        assert folder_bytes(output) == folder_bytes(tmp_path / "undisturbed"), number
    assert killed >= 3, "the kills came too late to test anything"
    assert [
        p.name for p in tmp_path.iterdir() if p.name.startswith(".") and "building" not in p.name
    ] == []


@pytest.mark.parametrize("stages", [1, 4, 9])
def test_a_stopped_run_goes_on_from_its_last_stage(tmp_path: Path, stages: int) -> None:
    """The stages that were finished are not run again: the checkpoint, marked, is seen in the
    result.
    """
    planted(size=240)[0].write(tmp_path / "in")

    class Stop(Exception):
        pass

    def stop(label: str, done: int, total: int | None) -> None:
        if done == stages and label.startswith("clean"):
            raise Stop

    with pytest.raises(Stop), reporting(stop):
        clean(tmp_path / "in", output=tmp_path / "out")
    seen: list[int] = []
    with reporting(lambda label, done, _: seen.append(done) if label.startswith("clean") else None):
        clean(tmp_path / "in", output=tmp_path / "out")
    assert seen[0] == stages
    clean(tmp_path / "in", output=tmp_path / "whole")
    assert folder_bytes(tmp_path / "out") == folder_bytes(tmp_path / "whole")


def test_a_run_killed_after_its_last_act_is_seen_as_done(tmp_path: Path) -> None:
    planted(size=240)[0].write(tmp_path / "in")
    clear = Run.clear
    Run.clear = lambda *_: None  # type: ignore[method-assign]
    try:
        clean(tmp_path / "in", output=tmp_path / "out")
    finally:
        Run.clear = clear  # type: ignore[method-assign]
    before = folder_bytes(tmp_path / "out")
    clean(tmp_path / "in", output=tmp_path / "out")
    assert folder_bytes(tmp_path / "out") == before
    assert not (tmp_path / ".out.work").exists()


def test_another_seed_takes_up_no_stages_of_a_stopped_run(tmp_path: Path) -> None:
    planted(size=240)[0].write(tmp_path / "in")

    class Stop(Exception):
        pass

    def stop(label: str, done: int, total: int | None) -> None:
        if done == 4:
            raise Stop

    with pytest.raises(Stop), reporting(stop):
        clean(tmp_path / "in", output=tmp_path / "out", seed=1)
    stages: list[int] = []
    with reporting(lambda *stage: stages.append(stage[1])):
        clean(tmp_path / "in", output=tmp_path / "out", seed=2)
    assert stages[0] == 0, "every stage is done again"
    clean(tmp_path / "in", output=tmp_path / "fresh", seed=2)
    assert folder_bytes(tmp_path / "out") == folder_bytes(tmp_path / "fresh")
