"""A package of somebody else, built from docs/extending.md and installed, adds to claimlab what the
page says.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from parts.planted import clean_twin

from claimlab.core.dataset import Dataset

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
CSV = "number,statement,rating\n1,The river flows uphill.,wrong\n2,The bridge opened.,right\n"
STUDY = """
[datasets.claims]
folder = "data"
[grid]
shorten = [2, 4]
split = ["random"]
detector = ["floods"]
"""
INSTALL = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `site`, where the package is installed, and `data`, a dataset."""
    # Looked for, not imported: setuptools refuses to be where something has imported distutils.
    if not (importlib.util.find_spec("pip") and importlib.util.find_spec("setuptools")):
        pytest.skip("needs pip and setuptools")
    folder = tmp_path_factory.mktemp("stranger")
    for code in re.findall(r"^```(?:toml|py)\n(.*?)^```", PAGE.read_text("utf-8"), re.S | re.M):
        head = re.match(r"# file: (\S+)\n", code)
        assert head is not None, code
        file = folder / "river-lab" / head[1]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code, encoding="utf-8")
    (folder / "river-lab" / "src" / "river_lab" / "__init__.py").touch()
    words = [sys.executable, *INSTALL, str(folder / "site"), str(folder / "river-lab")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    clean_twin(size=150).write(folder / "data")
    (folder / "river-claims.csv").write_text(CSV, encoding="utf-8")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    return folder


def python(place: Path, *words: str) -> str:
    """What Python prints where the package is installed."""
    paths = os.pathsep.join([str(place / "site"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, *words],
        cwd=place,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def claimlab(place: Path, *words: str) -> str:
    return python(place, "-m", "claimlab", *words)


@pytest.mark.slow
def test_a_command(place: Path) -> None:
    assert "shorten   Cut every text to its first words." in claimlab(place, "--help")
    assert "--output" in claimlab(place, "shorten", "--help")
    told = json.loads(claimlab(place, "shorten", "data", "--words", "3", "-o", "short", "--json"))
    assert told["output"] == "short"
    claimlab(place, "rerun", "short", "--inputs", ".")


@pytest.mark.slow
def test_a_name_in_python(place: Path) -> None:
    code = (
        "import claimlab as cl; assert 'shorten' in cl.__all__; data = cl.shorten('data', 2); "
        "print(data.records['text'].str.split(' ').list.len().max())"
    )
    assert python(place, "-c", code) == "2\n"


@pytest.mark.slow
def test_a_check(place: Path) -> None:
    claimlab(place, "audit", "data", "--check", "river", "-o", "audit")
    assert "Naming a river alone" in (place / "audit" / "report.md").read_text("utf-8")


@pytest.mark.slow
def test_a_dataset(place: Path) -> None:
    assert "River Claims" in claimlab(place, "catalog", "show", "river-claims")
    claimlab(place, "load", "river-claims", "river-claims.csv", "-o", "river")
    assert Dataset.open(place / "river").records["veracity"].to_list() == ["false", "true"]


@pytest.mark.slow
def test_a_detector(place: Path) -> None:
    claimlab(place, "split", "data", "-o", "split", "--by", "random")
    claimlab(place, "detect", "split", "-o", "run", "--detector", "floods")
    assert Dataset.open(place / "run").lineage[-1].parameters["detector"] == "floods"


@pytest.mark.slow
def test_a_step_of_a_study(place: Path) -> None:
    claimlab(place, "study", "run", "study.toml", "-o", "study")
    cells = json.loads((place / "study" / "cells.json").read_text("utf-8"))
    assert "shorten" in json.dumps(cells)
