"""What `claimlab new` writes passes the contract of its kind at once, in a copy of the checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import claimlab
from claimlab.cli.app import run
from claimlab.cli.verbs.new import KINDS

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
    for file in ("pyproject.toml", "tests/conftest.py"):
        shutil.copy(ROOT / file, folder / file)
    (folder / "bench").symlink_to(ROOT / "bench")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_passes_its_contract_within_a_minute(
    kind: str, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"new-{kind}"
    assert run(["new", kind, name, "--into", str(checkout), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert all(Path(file).is_file() for file in written["files"])
    assert name in Path(written["files"][-1]).read_text(encoding="utf-8")
    python = {"PYTHONPATH": os.pathsep.join(str(checkout / part) for part in ("src", "bench"))}
    chosen = ["-q", "-p", "no:cacheprovider", "-m", "not slow", "-k", f"{name} or new_{kind}"]
    began = os.times().children_user
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *chosen, *written["contract"]],
        cwd=checkout,
        env={**os.environ, **python},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr  # 5 where no test was chosen
    assert os.times().children_user - began < 60
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
