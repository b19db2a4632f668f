"""What `claimlab new` writes passes the contract of its kind at once, in a copy of the checkout."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import claimlab
from claimlab.cli.app import run
from claimlab.cli.verbs.new import HOUSE_TESTS, KINDS, PLUGIN

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("audit", "catalog", "detect", "evaluate", "exchange", "house")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source, the tests of the rooms and the pages; nothing else."""
    folder = tmp_path_factory.mktemp("checkout")
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(claimlab.__file__).parent, folder / "src" / "claimlab", ignore=skipped)
    for room in NEEDED:
        shutil.copytree(ROOT / "tests" / room, folder / "tests" / room, ignore=skipped)
    (folder / "docs").mkdir()
    for page in (ROOT / "docs").glob("*.md"):
        shutil.copy(page, folder / "docs")
    for file in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / file, folder / file)
    (folder / "bench").symlink_to(ROOT / "bench")
    return folder


@dataclass(frozen=True)
class Tried:
    """What was written for each kind, and how the tests of all contracts that name it ended."""

    written: dict[str, dict[str, Any]]
    ended: dict[str, bool]  # by test: whether it passed
    printed: str
    seconds: float  # of the processor

    def of(self, kind: str) -> dict[str, bool]:
        names = (f"new-{kind}", f"new_{kind}")
        return {test: ok for test, ok in self.ended.items() if any(n in test for n in names)}


@pytest.fixture(scope="module")
def tried(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """One of each kind is written, and all are tested together: pytest starts once."""
    written: dict[str, dict[str, Any]] = {}
    for kind in KINDS:
        with redirect_stdout(io.StringIO()) as printed:
            assert run(["new", kind, f"new-{kind}", "--into", str(checkout), "--json"]) == 0
        written[kind] = json.loads(printed.getvalue())
    python = {"PYTHONPATH": os.pathsep.join(str(checkout / part) for part in ("src", "bench"))}
    names = " or ".join(f"new-{kind} or new_{kind}" for kind in KINDS)
    outcomes = tmp_path_factory.mktemp("outcomes") / "tests.xml"
    chosen = ["-q", "-p", "no:cacheprovider", "-m", "not slow", "-k", names]
    contracts = dict.fromkeys(test for each in written.values() for test in each["contract"])
    began = os.times().children_user
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *chosen, f"--junitxml={outcomes}", *contracts],
        cwd=checkout,
        env={**os.environ, **python},
        capture_output=True,
        text=True,
    )
    seconds = os.times().children_user - began
    cases = ElementTree.parse(outcomes).getroot().iter("testcase")
    passed = {f"{case.get('classname')}::{case.get('name')}": not len(case) for case in cases}
    return Tried(written, passed, ended.stdout + ended.stderr, seconds)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_passes_its_contract_within_a_minute(
    kind: str, checkout: Path, tried: Tried
) -> None:
    written = tried.written[kind]
    assert all(Path(file).is_file() for file in written["files"])
    assert f"new-{kind}" in Path(written["files"][-1]).read_text(encoding="utf-8")
    tests = tried.of(kind)
    assert tests, tried.printed  # its contract, or its own test, names it
    assert all(tests.values()), tried.printed
    assert tried.seconds < 60
    code = [file for file in written["files"] if file.endswith(".py")]
    style = [sys.executable, "-m", "ruff", "check", "-q", "src/claimlab/__init__.py", *code]
    assert subprocess.run(style, cwd=checkout, capture_output=True).returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("check Weekday .", 2, "Write: weekday"),
        ("chek weekday .", 2, "check"),
        ("check weekday none", 2, "is not a checkout of claimlab"),
        ("check length .", 1, "There is a check 'length' already"),
        ("format csv .", 1, "There is a format 'csv' already"),
    ],
)
def test_what_cannot_be_written_is_a_sentence(
    words: str,
    code: int,
    message: str,
    checkout: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind, name, folder = words.split()
    monkeypatch.chdir(checkout)
    assert run(["new", kind, name, "--into", folder]) == code
    assert message in capsys.readouterr().err


def test_a_row_is_put_where_the_others_are(checkout: Path) -> None:
    assert run(["new", "check", "balance-of-power", "--into", str(checkout)]) == 0
    page = (checkout / "docs" / "audit.md").read_text(encoding="utf-8").splitlines()
    at = page.index("| `balance-of-power` | Does balance of power give the label away? |")
    assert page[at - 1].startswith("| `balance` |")
    assert page[at + 1].startswith("| `cascade` |")


@pytest.mark.slow
def test_a_plugin_is_installed_and_found(tmp_path: Path) -> None:
    assert run(["new", "plugin", "river-score", "--into", str(tmp_path)]) == 0
    site = tmp_path / "site"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--no-build-isolation",
        "--no-deps",
        "--no-index",
    ]
    words = [*pip, "--target", str(site), str(tmp_path / "river-score")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    paths = os.pathsep.join([str(site), str(Path(claimlab.__file__).parents[1])])
    test = [sys.executable, "-m", "pytest", "-q", str(tmp_path / "river-score" / "tests")]
    done = subprocess.run(test, env={**os.environ, "PYTHONPATH": paths}, capture_output=True)
    assert done.returncode == 0, done.stdout


LONG_NAME = "share-of-rather-long-words"  # a name may not make a line too long, either
# Of `make test`, what a new file can break: the rest does not read it.
OF_PAGES = (
    "tests/docs/test_links.py",
    "tests/docs/test_docs.py",
    "tests/docs/test_project_files.py",
)


@pytest.mark.slow
def test_a_checkout_with_one_of_each_kind_is_green(tmp_path: Path) -> None:
    """What `make test` runs on what was written: linter, formatter, types, contracts, house, pages."""
    folder = whole_checkout(tmp_path / "claimlab")
    paths = os.pathsep.join(str(folder / part) for part in ("src", "bench"))
    contracts: dict[str, None] = {}
    for kind in (*KINDS, PLUGIN):
        command = ["claimlab", "new", kind, f"{LONG_NAME}-{kind}", "--json"]
        written = json.loads(python_in(folder, paths, *command))
        contracts |= dict.fromkeys(written["contract"] if kind != PLUGIN else ())
    python_in(folder, paths, "ruff", "check", "--no-cache", ".")
    python_in(folder, paths, "ruff", "format", "--no-cache", "--check", ".")
    cache = ROOT / ".mypy_cache"  # of the whole project, where the types were checked before
    python_in(folder, "", "mypy", "--cache-dir", str(cache))
    tests = [*contracts, *HOUSE_TESTS, *OF_PAGES]
    chosen = f"{LONG_NAME} or {LONG_NAME.replace('-', '_')} or house or docs"
    quick = ["-m", "not (slow or needs or realdata)", "-p", "no:cacheprovider", "-k", chosen]
    python_in(folder, paths, "pytest", "-q", *quick, *tests)


def whole_checkout(folder: Path) -> Path:
    """A copy of this one, without what was built or installed in it."""
    skipped = shutil.ignore_patterns("__pycache__", "*.egg-info")
    folder.mkdir()
    for place in ROOT.iterdir():
        if place.name in ("build", "dist", ".git", ".venv") or place.name.endswith("_cache"):
            continue
        if place.is_dir():
            shutil.copytree(place, folder / place.name, ignore=skipped, symlinks=True)
        else:
            shutil.copy2(place, folder / place.name)
    return folder


def python_in(folder: Path, paths: str, *module: str) -> str:
    """What a module prints when it is run in a folder; it must end well."""
    done = subprocess.run(
        [sys.executable, "-m", *module],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
