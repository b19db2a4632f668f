"""The GitHub Action, its steps run here on a sample repository, and the hooks of pre-commit."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml
from parts.forked import put_programs, run
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
    return repository(tmp_path, lambda origin: clean_twin(size=300).write(origin / "data"))


def repository(tmp_path: Path, fill: Callable[[Path], object]) -> Path:
    """A clone of a repository whose main branch has what `fill` writes, with programs beside it:
    `claimlab` as an installation has it, without the start of Python where it can be forked.
    """
    origin, programs = tmp_path / "origin", tmp_path / "bin"
    git(tmp_path, "init", "-q", "-b", "main", str(origin))
    fill(origin)
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "data")
    git(tmp_path, "clone", "-q", str(origin), "clone")
    programs.mkdir()
    for name, code in (("claimlab", CLAIMLAB), ("gh", GH)):
        put_program(programs / name, code)
    put_programs(programs)
    return tmp_path / "clone"


def put_program(file: Path, code: str) -> None:
    file.write_text(f"{code}\n")
    file.chmod(0o755)


def hostile(clone: Path) -> Path:
    """Give the pull request modules that Python and pip import; the file that they would write.
    Nothing is forked: what a new start of Python imports is what is tested.
    """
    ran, programs = clone.parent / "ran", clone.parent / "bin"
    (programs / "python").unlink(missing_ok=True)
    put_program(programs / "claimlab", CLAIMLAB)
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
    declared = {name: entry.get("default", "") for name, entry in action["inputs"].items()}
    values = {f"inputs.{name}": value for name, value in (declared | inputs).items()}
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
    assert "No amount is too much" in comment
    planted()[0].write(clone / "other")
    status, printed, _ = run_action(clone, **ASKED | {"data": "other", "token": ""})
    assert status == 0, printed


def rows_of_a_table() -> pl.DataFrame:
    """1,300 train, 200 dev and 400 test rows, no two texts alike; ten test texts are in train."""
    letters = np.random.default_rng(11).choice(list("abcdefghijklmnopqrstuvwxyz"), (1_900, 9, 6))
    return pl.DataFrame(
        {
            "id": [f"r{row}" for row in range(1_900)],
            "text": [" ".join("".join(word) for word in text) for text in letters],
            "verdict": ["true", "false"] * 950,
            "split": ["train"] * 1_300 + ["dev"] * 200 + ["test"] * 400,
        }
    )


def leaking(rows: pl.DataFrame, n: int) -> pl.DataFrame:
    copies = rows.head(n).with_columns(
        text=rows["text"].slice(1_500, n), verdict=rows["verdict"].slice(1_500, n)
    )
    return pl.concat([copies, rows.slice(n)])


def flipped(rows: pl.DataFrame, n: int) -> pl.DataFrame:
    other = pl.when(pl.col("verdict") == "true").then(pl.lit("false")).otherwise(pl.lit("true"))
    return pl.concat([rows.head(n).with_columns(verdict=other), rows.slice(n)])


def renamed(rows: pl.DataFrame, n: int) -> pl.DataFrame:
    return pl.concat([rows.head(n).with_columns(verdict=pl.lit("fishy")), rows.slice(n)])


def write(rows: pl.DataFrame, folder: Path) -> None:
    rows.rename({"verdict": "veracity"}).write_csv(folder / "data.csv")


ROWS = rows_of_a_table()
PULLS: dict[str, tuple[pl.DataFrame, pl.DataFrame | bytes | None, dict[str, str], int, str]] = {
    "150 leaked and a fifth flipped": (
        ROWS, flipped(leaking(ROWS, 150), 380), {}, 3, "37.5% of 400 records, 0.0% before",
    ),
    "10 leaked": (ROWS, leaking(ROWS, 10), {}, 3, "2.5% of 400 records, 0.0% before"),
    "2 leaked": (ROWS, leaking(ROWS, 2), {}, 0, "No amount is too much"),
    "2.5% leaked to 37.5%": (
        leaking(ROWS, 10), leaking(ROWS, 150), {}, 3, "37.5% of 400 records, 2.5% before (+35.0 points)",
    ),
    "a fifth flipped": (ROWS, flipped(ROWS, 380), {}, 3, "labels that changed: 20.0%, 380 of 1,900"),
    "a tenth flipped": (ROWS, flipped(ROWS, 190), {}, 3, "labels that changed: 10.0%, 190 of 1,900"),
    "no split": (ROWS, ROWS.drop("split"), {}, 3, "records of test: the part is lost (400 records"),
    "test 400 to 40": (
        ROWS, ROWS.head(1_540), {}, 3, "records of test: 40 records, 400 before (-90.0%)",
    ),
    "a new word without a map": (ROWS, renamed(ROWS, 900), {}, 1, "fishy"),
    "a new word with a map": (
        ROWS, renamed(ROWS, 900), {"map": "fishy=false,true=true,false=false"}, 3, "labels that changed: 23.7%, 450 of 1,900",
    ),
    "labels changed as announced": (
        ROWS, flipped(ROWS, 190), {"max-label-changes": "10"}, 0, "No amount is too much",
    ),
    "a leak allowed up to its amount": (
        ROWS, leaking(ROWS, 150), {"allow": "near-duplicates=2.5, labels"}, 3, "allowed is 2.5",
    ),
    "test records moved to train": (
        ROWS, ROWS.with_columns(split=pl.when(pl.col("id") < "r16").then("split").otherwise(pl.lit("train"))),
        {}, 3, "test to train",
    ),
    "a class is gone": (
        ROWS, ROWS.with_columns(verdict=pl.lit("true")), {}, 3, "records of class false: no record has it",
    ),
    "not a table": (ROWS, b"\x00\x01\x02", {}, 1, "could not be audited"),
    "the file is gone": (ROWS, None, {}, 1, "could not be audited"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", PULLS)
def test_a_pull_request_of_a_table_fails_by_its_amounts(tmp_path: Path, name: str) -> None:
    before, after, inputs, expected, words = PULLS[name]
    clone = repository(tmp_path, lambda origin: write(before, origin))
    (clone / "data.csv").unlink()
    if isinstance(after, pl.DataFrame):
        write(after, clone)
    elif after is not None:
        (clone / "data.csv").write_bytes(after)
    asked = {"data": "data.csv", "checks": "near-duplicates identical-texts", "base": "main"}
    status, printed, comment = run_action(clone, **asked, token="t", **inputs)
    assert status == expected, printed
    assert words in comment, comment
    assert ("::error file=data.csv" in printed) == (expected != 0)
    if "flipped" in name or ("leaked" in name and expected):
        assert re.search(r"^::error file=data\.csv,line=\d+::", printed, re.MULTILINE), printed


@pytest.mark.slow
def test_a_broken_dataset_fails_with_its_sentence(clone: Path) -> None:
    (clone / "data" / "records.parquet").write_bytes(b"no table")
    status, printed, comment = run_action(clone, **ASKED)
    assert status == 1
    assert "records.parquet" in printed
    assert "could not be audited" in comment
    assert "records.parquet" in comment


@pytest.mark.slow
def test_the_hooks_of_pre_commit_run(tmp_path: Path) -> None:
    clean_twin(size=60).write(tmp_path / "data")
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    entry = {hook["id"]: hook["entry"] for hook in hooks}["claimlab-verify"]
    words = [sys.executable, "-c", CLAIMLAB, *shlex.split(entry)[1:], str(tmp_path / "data")]
    assert run(words, capture_output=True).returncode == 0
    (tmp_path / "data" / "records.parquet").write_bytes(b"no table")
    assert run(words, capture_output=True).returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize(("n", "status"), [(0, 0), (380, 3)])
def test_the_hook_that_compares_with_the_last_commit(tmp_path: Path, n: int, status: int) -> None:
    clone = repository(tmp_path, lambda origin: write(ROWS, origin))
    write(flipped(ROWS, n), clone)
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    entry = {hook["id"]: hook["entry"] for hook in hooks}["claimlab-diff"]
    words = [*shlex.split(entry), "data.csv", "--check", "near-duplicates"]
    path = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(words, cwd=clone, env=os.environ | path, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    assert ("labels that changed: 20.0%" in done.stderr) == bool(status)
