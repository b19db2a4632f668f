"""Every verb that writes, killed at chosen moments: the same command then ends with the bytes of an
undisturbed run, and leaves nothing beside its output.

The moments are acts on the file system: the child kills itself just before the n-th file or folder
that it opens for writing, makes, renames or removes beside its output. So the kills come where
something could be left half done, on a fast machine and on a slow one.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import time
from pathlib import Path

import polars as pl
import pytest
from parts.packages import leaf_marked
from parts.planted import planted
from parts.standin import StandIn

from claimlab.core.calls.calls import RECORDING_FILE
from claimlab.core.dataset import Dataset
from claimlab.core.edits import accept_edits

from .conftest import explained, outcome, start

CHILD = """
import os, signal, sys
place, at, done, placed = os.environ["PLACE"], int(os.environ["KILL_AT"]), 0, 0
def watch(event, args):
    global done, placed
    acts = event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree")
    if event == "open" and isinstance(args[0], (str, bytes)):
        acts = bool(args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
    if acts and args and isinstance(args[0], (str, os.PathLike)) and os.fspath(args[0]).startswith(place):
        done += 1
        if event == "os.rename" and os.fspath(args[1]) == os.path.join(place, "out"):
            placed = done
        if done == at:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
from claimlab.cli.app import run
code = run(sys.argv[1:])
print(f"acts: {done}, placed: {placed}", file=sys.stderr)
sys.exit(code)
"""
COMMANDS = [
    "load covid-fact sample -o {out}",
    "import rows.csv -o {out}",
    "clean data -o {out}",
    "overlap data evolved -o {out} --unseen-by all",
    "merge data evolved -o {out}",
    "split data -o {out} --by random",
    "split data -o {out} --by language --all",
    "enrich data -o {out} --provider local:rows.jsonl --set cache=calls --set mode=replay --limit 12",
    "audit data -o {out} --check length --check source",
    "prepare data -o {out} --audit audit --steps split",
    "detect data -o {out} --detector stratified --seed 4",
    "evaluate --predictions rows.csv --data data --split test -o {out} --draws 200",
    "defend run --data data -o {out} --set draws=200",
    "judge run -o {out} --offline",
    "overlap data -o {out} --corpus rows.jsonl --corpus people --set cutoff=2024-06",
    "evolve run data -o {out} --steps 3 --limit 12",
    "rerun evolved -o {out}",
    "generate run people -o {out} --chain translation --size 4",
    "generate filter generated -o {out} --metric language --metric details --metric structure",
    "report study.toml -o {out}",
    "publish bundle run -o {out}",
    "publish board results -o {out}",
    "publish site audit results-board -o {out}",
    "export data --to hf -o {out}",
]


class Runner:
    """Runs one command in the workspace as a process of its own, its output in a folder where
    nothing else is.
    """

    def __init__(self, command: str, workspace: Path, place: Path) -> None:
        self.command, self.workspace, self.place = (
            command.format(out=place / "out"),
            workspace,
            place,
        )
        place.mkdir()

    def run(self, kill_at: int = 0) -> tuple[int, str]:
        return outcome(
            start(self.workspace, self.command, CHILD, PLACE=str(self.place), KILL_AT=str(kill_at))
        )

    def acts(self) -> tuple[int, int]:
        """Run it undisturbed: how many acts it took, and which of them put the output in place."""
        code, message = self.run()
        assert code == 0, message
        acts, placed = re.findall(r"acts: (\d+), placed: (\d+)", message)[0]
        return int(acts), int(placed)

    def bytes(self) -> dict[str, bytes]:
        return {
            p.relative_to(self.place).as_posix(): p.read_bytes()
            for p in self.place.rglob("*")
            if p.is_file()
        }


@pytest.mark.slow
@pytest.mark.parametrize("command", leaf_marked(COMMANDS))
def test_a_killed_run_ends_with_the_same_bytes(
    command: str, workspace: Path, tmp_path: Path
) -> None:
    whole = Runner(command, workspace, tmp_path / "whole")
    (acts, placed), expected = whole.acts(), whole.bytes()
    assert 2 <= placed <= acts, "too few acts to kill at"
    assert not [name for name in expected if name.startswith(".")]

    chain = Runner(command, workspace, tmp_path / "chain")
    for moment in (max(placed // 2, 2), 2):
        code, message = chain.run(moment)
        assert code == -signal.SIGKILL, message
    code, message = chain.run()
    assert code == 0, message
    assert chain.bytes() == expected

    for moment in {placed, max(acts - 1, 2)}:  # all but in place, and in place but not cleared up
        late = Runner(command, workspace, tmp_path / f"late-{moment}")
        assert late.run(moment)[0] == -signal.SIGKILL
        in_place = (late.place / "out").exists()
        assert in_place == (moment > placed)
        code, message = late.run()
        assert code == 0 or (in_place and "already exists" in message), message
        assert late.bytes() == expected


KILLS = int(os.environ.get("CLAIMLAB_KILLS", "5"))  # 20 for the figures of SECURITY.md
KILLED_OFTEN = [
    "generate run people -o {out} --chain translation --size 4",
    "generate filter generated -o {out} --metric language --metric details --metric structure",
    "review apply review -o {out}",
]


@pytest.mark.slow
@pytest.mark.parametrize("command", leaf_marked(KILLED_OFTEN))
def test_many_kills_leave_nothing_or_the_whole(
    command: str, workspace: Path, tmp_path: Path
) -> None:
    """Killed at many moments from the first act to the last, each time in a place of its own:
    the output is not there or whole, and the next run gives the bytes of an undisturbed one.
    """
    whole = Runner(command, workspace, tmp_path / "whole")
    (acts, placed), expected = whole.acts(), whole.bytes()
    for number in range(KILLS):
        moment = 1 + number * (acts - 1) // (KILLS - 1)
        killed = Runner(command, workspace, tmp_path / f"killed-{number}")
        assert killed.run(moment)[0] == -signal.SIGKILL
        in_place = (killed.place / "out").exists()
        assert in_place == (moment > placed)
        code, message = killed.run()
        assert code == 0 or (in_place and "already exists" in message), message
        assert killed.bytes() == expected


REPLACED = [  # what is there, and what is put in its place
    ("publish bundle majority -o {out}", "publish bundle stratified -o {out} --force"),
    ("publish board {one} -o {out}", "publish board results -o {out} --force"),
    ("publish site audit -o {out}", "publish site audit results-board -o {out} --force"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("before", "after"), REPLACED)
def test_what_was_published_stays_whole_until_it_is_replaced(
    before: str, after: str, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "one").mkdir()
    shutil.copy(workspace / "results" / "majority.json", tmp_path / "one")
    before = before.replace("{one}", str(tmp_path / "one"))

    def published(name: str) -> tuple[Runner, dict[str, bytes]]:
        Runner(before, workspace, tmp_path / name).acts()
        (tmp_path / name).rename(tmp_path / f"{name}-before")
        replacing = Runner(after, workspace, tmp_path / name)
        (tmp_path / f"{name}-before" / "out").rename(replacing.place / "out")
        return replacing, replacing.bytes()

    whole, old = published("whole")
    acts, _ = whole.acts()
    new = whole.bytes()
    assert new != old
    left = []
    for moment in sorted({1, 2, acts // 2, acts - 1, acts}):
        killed, _ = published(f"killed-{moment}")
        assert killed.run(moment)[0] == -signal.SIGKILL
        seen = {name: data for name, data in killed.bytes().items() if name.startswith("out")}
        assert seen in (old, new)
        left.append(seen == old)
        if seen == old:
            killed.acts()
            assert killed.bytes() == new
    assert left[:2] == [True, True]
    assert left == sorted(left, reverse=True)  # once replaced, it stays


@pytest.mark.slow
def test_an_input_that_was_edited_after_the_kill_is_never_mixed_with_old_shards(
    tmp_path: Path,
) -> None:
    planted(size=240)[0].write(tmp_path / "data")
    runner = Runner("clean data -o {out}", tmp_path, tmp_path / "edited")
    assert runner.run(20)[0] == -signal.SIGKILL
    assert list(runner.place.glob(".out.work/*/*")), "nothing was kept by the killed run"
    records = pl.read_parquet(tmp_path / "data" / "records.parquet")
    records.with_columns(pl.lit("Velmore Gazette").alias("source")).write_parquet(
        tmp_path / "data" / "records.parquet"
    )
    code, message = runner.run()
    assert (code, "records.parquet" in message) == (1, True), message
    accept_edits(tmp_path / "data", "the source is known now")
    assert runner.run()[0] == 0
    assert set(Dataset.open(runner.place / "out").records["source"]) == {"Velmore Gazette"}
    fresh = Runner("clean data -o {out}", tmp_path, tmp_path / "fresh")
    assert fresh.run()[0] == 0
    assert runner.bytes() == fresh.bytes()


def tables(folder: Path) -> dict[str, pl.DataFrame]:
    """All that is in the dataset, but for the time of day of a search and the time that an answer
    took.
    """
    dataset = Dataset.open(folder)
    tables = {"records": dataset.records, **dataset.tables}
    return {
        name: table.drop("retrieved", "seconds", strict=False) for name, table in tables.items()
    }


def assert_same(folder: Path, expected: dict[str, pl.DataFrame]) -> None:
    result = tables(folder)
    assert result.keys() == expected.keys()
    for name, table in expected.items():
        assert result[name].equals(table), name


@pytest.mark.slow
def test_a_live_enrichment_that_was_killed_goes_on(workspace: Path, tmp_path: Path) -> None:
    command = "enrich data -o {out} --provider local:rows.jsonl --set mode=live --limit 40"
    whole = Runner(command, workspace, tmp_path / "whole")
    acts, _ = whole.acts()
    expected = tables(whole.place / "out")
    killed = Runner(command, workspace, tmp_path / "killed")
    assert killed.run(acts // 2)[0] == -signal.SIGKILL
    assert not (killed.place / "out").exists()
    assert list(killed.place.glob(".out.work/*/*.json")), "nothing was kept by the killed run"
    assert killed.acts()[0] < acts, "what was finished is not done again"
    assert_same(killed.place / "out", expected)
    assert [p.name for p in killed.place.iterdir()] == ["out"]


def written(runner: Runner) -> dict[str, bytes]:
    """What was written, without the recorded calls."""
    return {name: content for name, content in runner.bytes().items() if name.startswith("out/")}


def recorded(cache: Path) -> int:
    """How many answers are in the recording now."""
    try:
        with sqlite3.connect(f"file:{cache}?mode=ro", uri=True) as db:
            return int(db.execute("SELECT count(*) FROM calls").fetchone()[0])
    except sqlite3.OperationalError:
        return 0  # not there yet


ASKING = {
    "judge": "judge run -o {out} --profile model.toml",
    "overlap": "overlap data -o {out} --profile model.toml --set probes=40",
    "audit": "audit data -o {out} --check feasibility --judge model.toml --set judge_sample=40",
    "evolve": "evolve run data -o {out} --rewriter model --profile model.toml --steps 3 --limit 12",
    "detect": "detect data -o {out} --detector llm-zero-shot --profile model.toml --limit 30",
}


@pytest.mark.slow
@pytest.mark.parametrize("verb", leaf_marked(ASKING))
def test_a_run_that_was_killed_while_it_asked_a_model_pays_for_no_answer_twice(
    verb: str, model: StandIn, tmp_path: Path
) -> None:
    dataset = planted(size=240)[0]
    dataset.write(tmp_path / "data")
    explained(dataset, 40).write(tmp_path / "run")
    whole = Runner(ASKING[verb], tmp_path, tmp_path / "whole")
    code, message = whole.run()
    assert code == 0, message
    asked = model.requests
    assert asked >= 20

    killed = Runner(ASKING[verb], tmp_path, tmp_path / "killed")
    cache = killed.place / "out.cache" / RECORDING_FILE
    model.latency = 0.1
    process = start(tmp_path, killed.command)
    while recorded(cache) < asked // 3:
        assert process.poll() is None, outcome(process)
        time.sleep(0.02)
    process.kill()
    process.wait(10)
    assert not (killed.place / "out").exists()
    paid, model.requests, model.latency = recorded(cache), 0, 0.0
    assert asked // 3 <= paid < asked
    code, message = killed.run()
    assert code == 0, message
    assert model.requests == asked - paid
    if verb == "detect":  # the predictions say how long each answer took
        assert_same(killed.place / "out", tables(whole.place / "out"))
    else:
        assert written(killed) == written(whole)
