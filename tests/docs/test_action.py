"""The GitHub Action, its steps run here on a sample repository, and the hooks of pre-commit."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from parts.planted import clean_twin, planted

ROOT = Path(__file__).parents[2]
SOURCE = repr(str(ROOT / "src"))
CLAIMLAB = f"""#!{sys.executable}
import sys

sys.path.insert(0, {SOURCE})  # what an installation would find; beside it, as there, no module
from claimlab.cli.app import main

main()
"""
GH = (
    "#!/usr/bin/env bash\n"
    'echo "$@" >> "$CALLS"; while [ "$1" != --body-file ]; do shift; done; cat "$2" >> "$CALLS"'
)


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of a repository whose main branch has a clean dataset, with programs beside it."""
    origin, programs = tmp_path / "origin", tmp_path / "bin"
    git(tmp_path, "init", "-q", "-b", "main", str(origin))
    clean_twin(size=300).write(origin / "data")
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "data")
    git(tmp_path, "clone", "-q", str(origin), "clone")
    programs.mkdir()
    for name, code in (("claimlab", CLAIMLAB), ("gh", GH)):
        (programs / name).write_text(f"{code}\n")
        (programs / name).chmod(0o755)
    return tmp_path / "clone"


def hostile(clone: Path) -> Path:
    """Give the pull request modules that Python and pip import; the file that they would write."""
    ran = clone.parent / "ran"
    for name in ("json", "re", "claimlab", "pip", "setuptools", "sitecustomize", "usercustomize"):
        text = f"open({str(ran)!r}, 'a').write({name!r})\n"
        (clone / f"{name}.py").write_text(text, encoding="utf-8")
    (clone / "pip.conf").write_text("[global]\nindex-url = https://evil.example\n")
    return ran


def run_action(clone: Path, **inputs: str) -> tuple[int, str, str]:
    """Run the steps but the installation; the status, what was printed, and the comment. As in
    many workflows, PYTHONPATH names the checked-out folder.
    """
    place, calls = clone.parent, clone.parent / "calls"
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    values = {f"inputs.{name}": value for name, value in {"checks": "", **inputs}.items()}
    values |= {"runner.temp": str(place), "github.event.pull_request.number": "7"}
    shell = os.environ | {"PATH": f"{place / 'bin'}:{os.environ['PATH']}", "CALLS": str(calls)}
    shell |= {"GITHUB_STEP_SUMMARY": str(place / "summary"), "PYTHONPATH": f".:{clone}"}
    printed = ""
    for step in action["runs"]["steps"][1:]:
        if "inputs.token" in step.get("if", "") and not inputs["token"]:
            continue
        env = {
            name: re.sub(r"\$\{\{ (\S+) \}\}", lambda match: values[match[1]], text)
            for name, text in step["env"].items()
        }
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(words, cwd=clone, env=shell | env, capture_output=True, text=True)
        printed += done.stdout + done.stderr
        if done.returncode:
            break
    comment = calls.read_text(encoding="utf-8") if calls.exists() else ""
    return done.returncode, printed, comment


ASKED = {"data": "data", "checks": "length keywords", "base": "main", "token": "t"}


def test_installing_runs_nothing_of_the_pull_request(clone: Path) -> None:
    ran, action = hostile(clone), clone.parent / "action"
    action.mkdir()
    step = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"][0]
    place = step.get("working-directory", str(clone)).replace(
        "${{ github.action_path }}", str(action)
    )
    env = os.environ | {"PYTHONPATH": f".:{clone}"} | step["env"] | {"ACTION": str(action / "no")}
    done = subprocess.run(
        ["bash", "-c", step["run"]], cwd=place, env=env, capture_output=True, text=True
    )
    assert "evil.example" not in done.stderr
    assert not ran.exists()


@pytest.mark.slow
@pytest.mark.parametrize("data", ["data", "new"])
def test_auditing_runs_nothing_of_the_pull_request(clone: Path, data: str) -> None:
    ran = hostile(clone)
    shutil.copytree(clone / "data", clone / "new")
    status, printed, _ = run_action(clone, **ASKED | {"data": data})
    assert status == 0, printed
    assert not ran.exists(), ran.read_text()


@pytest.mark.slow
def test_a_new_fail_is_commented_and_fails(clone: Path) -> None:
    (clone / "data").rename(clone.parent / "old")
    planted()[0].write(clone / "data")
    status, printed, comment = run_action(clone, **ASKED)
    assert status == 3, printed
    assert comment.startswith("pr comment 7 --body-file")
    assert re.search(r"\| length \|.*\*\*fail\*\*", comment)
    assert "What changed" in (clone.parent / "summary").read_text(encoding="utf-8")


@pytest.mark.slow
def test_what_failed_before_or_is_new_does_not_fail(clone: Path) -> None:
    status, printed, comment = run_action(clone, **ASKED)
    assert status == 0, printed
    assert "No finding changed" in comment
    planted()[0].write(clone / "other")
    status, printed, _ = run_action(clone, **ASKED | {"data": "other", "token": ""})
    assert status == 0, printed


@pytest.mark.slow
def test_a_broken_dataset_fails_with_its_sentence(clone: Path) -> None:
    (clone / "data" / "records.parquet").write_bytes(b"no table")
    status, printed, comment = run_action(clone, **ASKED)
    assert (status, comment) == (1, "")
    assert "records.parquet" in printed


@pytest.mark.slow
def test_the_hooks_of_pre_commit_run(tmp_path: Path) -> None:
    clean_twin(size=60).write(tmp_path / "data")
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    entry = {hook["id"]: hook["entry"] for hook in hooks}["claimlab-verify"]
    words = [sys.executable, "-c", CLAIMLAB, *shlex.split(entry)[1:], str(tmp_path / "data")]
    assert subprocess.run(words, capture_output=True).returncode == 0
    (tmp_path / "data" / "records.parquet").write_bytes(b"no table")
    assert subprocess.run(words, capture_output=True).returncode == 1
