"""Every verb that writes, killed at chosen moments: the same command then ends with the bytes of an undisturbed run,
and leaves nothing beside its output. Ctrl-C ends every verb at once.

The moments are acts on the file system: the child kills itself just before the n-th file or folder that it opens for
writing, makes, renames or removes beside its output. So the kills come where something could be left half done, on
a fast machine and on a slow one.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import claimlab as cl
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.edits import accept_edits
from claimlab.core.record import to_side_table
from claimlab.evaluate.eqa.study import QUESTIONS
from claimlab.generate.planted import planted

CHILD = """
import os, signal, sys
place, at, done = os.environ["PLACE"], int(os.environ["KILL_AT"]), 0
def watch(event, args):
    global done
    acts = event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree")
    if event == "open" and isinstance(args[0], (str, bytes)):
        acts = bool(args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
    if acts and args and isinstance(args[0], (str, os.PathLike)) and os.fspath(args[0]).startswith(place):
        done += 1
        if done == at:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
from claimlab.cli.app import run
code = run(sys.argv[1:])
print(f"acts: {done}", file=sys.stderr)
sys.exit(code)
"""
SAMPLE = Path(__file__).parents[1] / "catalog" / "samples" / "covid-fact" / "raw"
COMMANDS = [
    "load covid-fact sample -o {out}",
    "import rows.csv -o {out}",
    "clean data -o {out}",
    "labels conflicts data -o {out}",
    "split data -o {out} --by random",
    "split data -o {out} --by language --all",
    "enrich data -o {out} --provider local:rows.csv --cache calls --mode replay --limit 12",
    "audit data -o {out} --check length --check source",
    "audit data -o {out} --check length --fix",
    "detect data -o {out} --detector stratified --seed 4",
    "evaluate --predictions rows.csv --data data -o {out} --draws 200",
    "judge run -o {out} --offline",
    "evolve run data -o {out} --steps 3 --limit 12",
    "report study.toml -o {out}",
    "export data --to hf -o {out}",
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("killed")
    dataset = cl.split(planted(size=240)[0], output=folder / "data").dataset
    dataset.records.select("id", "text", pl.col("veracity").alias("label")).write_csv(folder / "rows.csv")
    shutil.copytree(SAMPLE, folder / "sample")
    _with_reasons(dataset).write(folder / "run")
    answers = "".join(f'{name} = "It is said here in a sentence, as asked."\n' for name in QUESTIONS)
    study = f'title = "Planted"\n[formulation]\n{answers}[data]\ndatasets = ["data"]\n'
    (folder / "study.toml").write_text(study, encoding="utf-8")
    cl.enrich(folder / "data", f"local:{folder / 'rows.csv'}", cache=folder / "calls", limit=12)  # to be replayed
    return folder


def _with_reasons(dataset: Dataset) -> Dataset:
    """A run whose predictions have rationales, with a fact-checking article for each."""
    records = dataset.records.head(6)
    ids = records["id"].to_list()
    reasons = {"record_id": ids, "label": ["true"] * 6, "rationale": ["The bridge was not opened in 1931."] * 6}
    articles = {"record_id": ids, "rank": [1] * 6, "evidence_id": ids, "rating": ["True"] * 6}
    tables = {
        "predictions": to_side_table("predictions", pl.DataFrame(reasons)),
        "evidence": to_side_table(
            "evidence", pl.DataFrame({**articles, "text": ["The bridge was opened in 1931."] * 6})
        ),
    }
    step = Lineage(step="detect", parameters={"detector": "x", "settings": {}, "task": "veracity"}, seed=0)
    return dataset.derive(records, step, tables)


class Runner:
    """Runs one command in the workspace as a process of its own, its output in a folder where nothing else is."""

    def __init__(self, command: str, workspace: Path, place: Path) -> None:
        self.words, self.workspace, self.place = command.format(out=place / "out").split(), workspace, place
        place.mkdir()

    def start(self, kill_at: int = 0, child: str = CHILD) -> subprocess.Popen[str]:
        source = str(Path(cl.__file__).parents[1])
        env = {**os.environ, "PYTHONPATH": source, "PLACE": str(self.place), "KILL_AT": str(kill_at)}
        command = [sys.executable, "-c", child, *self.words]
        return subprocess.Popen(command, cwd=self.workspace, env=env, stderr=subprocess.PIPE, text=True)

    def run(self, kill_at: int = 0) -> tuple[int, str]:
        child = self.start(kill_at)
        message = child.communicate(timeout=300)[1]
        return child.returncode, message

    def bytes(self) -> dict[str, bytes]:
        return {p.relative_to(self.place).as_posix(): p.read_bytes() for p in self.place.rglob("*") if p.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_killed_run_ends_with_the_same_bytes(command: str, workspace: Path, tmp_path: Path) -> None:
    whole = Runner(command, workspace, tmp_path / "whole")
    code, message = whole.run()
    assert code == 0, message
    acts = int(re.findall(r"acts: (\d+)", message)[0])
    assert acts >= 3, "too few acts to kill at"
    expected = whole.bytes()
    assert not [name for name in expected if name.startswith(".")]

    chain = Runner(command, workspace, tmp_path / "chain")
    for moment in (max(acts // 2, 3), 2):
        code, message = chain.run(moment)
        assert code == -signal.SIGKILL, message
    code, message = chain.run()
    assert code == 0, message
    assert chain.bytes() == expected

    late = Runner(command, workspace, tmp_path / "late")
    assert late.run(max(acts - 2, 3))[0] == -signal.SIGKILL
    code, message = late.run()
    assert code == 0 or "already exists" in message, message  # the output may have been in place before the kill
    assert late.bytes() == expected


@pytest.mark.slow
def test_an_input_that_was_edited_after_the_kill_is_never_mixed_with_old_shards(tmp_path: Path) -> None:
    planted(size=240)[0].write(tmp_path / "data")
    runner = Runner("clean data -o {out}", tmp_path, tmp_path / "edited")
    assert runner.run(20)[0] == -signal.SIGKILL
    assert list(runner.place.glob(".out.work/*/*")), "nothing was kept by the killed run"
    records = pl.read_parquet(tmp_path / "data" / "records.parquet")
    records.with_columns(pl.lit("Velmore Gazette").alias("source")).write_parquet(tmp_path / "data" / "records.parquet")
    code, message = runner.run()
    assert (code, "records.parquet" in message) == (1, True), message
    accept_edits(tmp_path / "data", "the source is known now")
    assert runner.run()[0] == 0
    assert set(Dataset.open(runner.place / "out").records["source"]) == {"Velmore Gazette"}
    fresh = Runner("clean data -o {out}", tmp_path, tmp_path / "fresh")
    assert fresh.run()[0] == 0
    assert runner.bytes() == fresh.bytes()


LONG = [
    "import large.csv -o {out}",
    "clean large -o {out}",
    "split large -o {out} --by near-duplicates",
    pytest.param(
        "enrich large -o {out} --provider local:large.csv --mode live",
        marks=pytest.mark.xfail(reason="it is slow to hear Ctrl-C while it makes a new local index of many records"),
    ),
    "audit large -o {out}",
    "detect large -o {out} --detector tfidf",
    "evaluate --predictions large.csv --data large -o {out} --draws 200000",
    "evolve run large -o {out} --steps 30",
    "export large --to claimreview -o {out}",
]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough records that every verb is at work for longer than the test waits."""
    folder = tmp_path_factory.mktemp("large")
    few = cl.split(planted(size=2000)[0]).dataset
    copies = [
        few.records.with_columns(pl.col("id") + f"-{i}", pl.col("text") + f" It was day {i} in Velmore.", group=None)
        for i in range(20)
    ]
    dataset = Dataset.build("large", pl.concat(copies))
    dataset.write(folder / "large")
    dataset.records.select("id", "text", pl.col("veracity").alias("label")).write_csv(folder / "large.csv")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("command", LONG)
def test_ctrl_c_ends_a_verb_within_two_seconds(command: str, large: Path, tmp_path: Path) -> None:
    runner = Runner(command, large, tmp_path / "stopped")
    child = runner.start(child="from claimlab.cli.app import main; main()")
    ends = time.monotonic() + 60
    while not (runner.place / ".out.work" / "lock").exists() and child.poll() is None:
        assert time.monotonic() < ends
        time.sleep(0.02)
    time.sleep(0.4)
    if child.poll() is not None:
        pytest.skip("the run ended before it could be stopped: this machine is too fast for it")
    child.send_signal(signal.SIGINT)
    began = time.monotonic()
    message = child.communicate(timeout=60)[1]
    if (runner.place / "out").exists() and time.monotonic() - began < 0.5:
        pytest.skip("the run was at its end when it was stopped")
    assert (child.returncode, "Stopped." in message) == (130, True), message
    assert time.monotonic() - began < 2
    assert not (runner.place / "out").exists()
