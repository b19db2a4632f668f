"""The plugin that orders tests by what they took: whole files, the longest first; those that must be
alone are; a quick test that is not quick is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from parts.times import Turns, in_order, store, stored

CONFTEST = """
from parts.times import Times
def pytest_addoption(parser):
    parser.addoption("--store-durations", action="store_true")
def pytest_configure(config):
    config.addinivalue_line("markers", "slow")
    config.addinivalue_line("markers", "alone")
    config.pluginmanager.register(Times(config))
"""
TESTS = """
import os, time, pytest
def note(what): open("log", "a").write(f"{what}\\n")
@pytest.mark.parametrize("n", range(6))
def test_beside(n):
    note("begin"); time.sleep(0.05); note("end")
"""
ALONE = """
import time, pytest
from test_a import note
@pytest.mark.alone
@pytest.mark.parametrize("n", range(3))
def test_alone(n):
    note("ALONE"); time.sleep(0.1); note("over")
"""
LONG = """
import time, pytest
def burn():
    began = time.process_time()
    while time.process_time() < began + 2.1: pass
def test_that_is_not_quick(): burn()
@pytest.mark.slow
def test_that_is_marked(): burn()
"""


def item(nodeid: str, *marks: str) -> Any:
    return SimpleNamespace(nodeid=nodeid, get_closest_marker=lambda name: name in marks or None)


def test_the_longest_file_is_first_and_what_must_be_alone_is_last() -> None:
    items = [
        item("a.py::1"), item("b.py::1"), item("lone.py::1"), item("lone.py::2", "alone"),
        item("b.py::2"), item("new.py::1"), item("c.py::1"),
    ]  # fmt: skip
    seconds = {"a.py": 1.0, "b.py": 9.0, "c.py": 4.0, "lone.py": 99.0}
    ordered = [each.nodeid for each in in_order(items, seconds)]
    assert ordered == [
        "b.py::1", "b.py::2", "new.py::1", "c.py::1", "a.py::1", "lone.py::1", "lone.py::2",
    ]  # fmt: skip


def test_files_that_were_run_are_renewed_and_those_that_are_gone_are_dropped(
    tmp_path: Path,
) -> None:
    place = tmp_path / "durations.json"
    place.write_text(json.dumps({"tests/gone.py": 9.0, "tests/house/test_words.py": 3.0}))
    store({"tests/house/test_times.py": 1.234, "tests/conftest.py": 0.1}, place)
    assert stored(place) == {"tests/house/test_times.py": 1.2, "tests/house/test_words.py": 3.0}
    assert stored(tmp_path / "none") == {}


def test_who_must_be_alone_waits_for_one_test_only(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    one, two = Turns(tmp_path), Turns(tmp_path)
    for _ in range(2):  # side by side
        one.take(alone=False)
        two.take(alone=False)
        one.leave()
        two.leave()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_a.py").write_text(TESTS)
    (tmp_path / "test_b.py").write_text(TESTS)
    (tmp_path / "test_alone.py").write_text(ALONE)
    (tmp_path / "test_long.py").write_text(LONG)
    return tmp_path


def run(folder: Path, *words: str) -> str:
    bench = Path(__file__).parents[2] / "bench"
    env = {**os.environ, "PYTHONPATH": f"{bench}{os.pathsep}{folder}"}
    for name in [name for name in env if name.startswith("PYTEST_")]:
        del env[name]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=folder, env=env, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_nothing_runs_beside_a_test_that_must_be_alone(folder: Path) -> None:
    pytest.importorskip("fcntl")
    run(folder, "-n", "2", "--dist", "worksteal", "test_alone.py", "test_a.py", "test_b.py")
    log = (folder / "log").read_text().split()
    assert (log.count("begin"), log.count("ALONE")) == (12, 3)
    under_way = 0
    for before, line in zip(["", *log], log, strict=False):
        assert (before == "ALONE") == (line == "over")
        assert line != "ALONE" or under_way == 0
        under_way += {"begin": 1, "end": -1}.get(line, 0)


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_quick_test_that_is_not_quick_is_named(folder: Path, workers: str) -> None:
    printed = run(folder, "-n", workers, "test_long.py", "test_a.py")
    assert "test_long.py::test_that_is_not_quick is not marked slow" in printed
    assert "test_that_is_marked" not in printed
    assert "test_beside" not in printed
