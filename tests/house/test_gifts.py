"""Gifts: files that a stranger put into a folder through which processes work. None runs, and none
is believed.
"""

from __future__ import annotations

import ast
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.packages import module_files
from parts.source import nodes, parsed

from claimlab import __version__
from claimlab.cli.app import run
from claimlab.core.engine import secret as secrets_of
from claimlab.core.engine.functions import FUNCTIONS, function_named
from claimlab.core.engine.reads import keep, reads
from claimlab.core.engine.run import run_stage
from claimlab.core.engine.stage import Stage, stage_key
from claimlab.core.engine.work import engine_status, engine_work
from claimlab.core.errors import ClaimlabError, DataError, UsageError
from claimlab.detect.run import do_predictions
from claimlab.text.vectors import do_vectors

PARTS = Path(__file__).parents[1] / "core" / "engine" / "parts"
SHARES = re.compile(r"\b(?:run_stage|over_rows)\(")
SECRET = "a-secret-of-the-tests-0123456789abcdef"


@pytest.fixture(autouse=True)
def worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that has a secret, as those of a run do."""
    monkeypatch.setenv(secrets_of.VARIABLE, SECRET)
    monkeypatch.setenv("CLAIMLAB_ENGINE_FUNCTIONS", "engine_parts:square")
    monkeypatch.setenv("CLAIMLAB_ENGINE_WAIT", "0")
    monkeypatch.syspath_prepend(str(PARTS))


def give(folder: Path, content: Any, *, sealed: bool) -> Path:
    """A stage file of somebody else; `sealed`: of one who has the secret, so that what lies behind
    is met, too.
    """
    folder.mkdir(parents=True)
    if sealed:
        content = {**content, "salt": "s"}
        mark = secrets_of.seal(stage_key(SECRET.encode(), "s"), "stage", folder.name, content)
        content["seal"] = mark
    (folder / "stage.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def learned_gift(folder: Path) -> tuple[Path, Path]:
    """What a detector learned, in the form that once ran a program: a class of another package by a
    dotted name.
    """
    folder.mkdir(parents=True)
    loot = folder / "LOOT"
    shell = ["tuple", [["list", ["sh", "-c", f"id > {loot}"]]]]
    program = ["claimlab.llm.weights:subprocess.Popen", ["dict", []], shell]
    (folder / "learned.json").write_text(json.dumps(["dict", [["x", program]]]))
    return folder, loot


@pytest.mark.parametrize("sealed", [False, True])
def test_what_a_detector_learned_runs_nothing(
    sealed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    learned, loot = learned_gift(tmp_path / "gift" / "learned")
    pl.DataFrame({"text": ["a"]}).write_parquet(tmp_path / "rows")
    shard = {
        "detector": "tfidf",
        "task": "veracity",
        "learned": str(learned),
        "size": 10,
        "rows": str(tmp_path / "rows"),
    }
    work = "detect predictions" if sealed else "claimlab.detect.run:do_predictions"
    stage = {"work": work, "tool": __version__, "shards": [{**shard, "settings": {}}]}
    give(tmp_path / "gift" / "p", stage, sealed=sealed)
    assert run(["engine", "work", str(tmp_path / "gift"), "--shard", "0"]) != 0
    message = capsys.readouterr().err
    assert "did not expect" not in message
    assert (
        ("learned cannot be read" in message)
        if sealed
        else ("is not a stage of claimlab" in message)
    )
    with pytest.raises(DataError, match="learned cannot be read"):
        do_predictions({**shard, "settings": {}}, tmp_path / "output")
    os.sync()
    assert not loot.exists()


NAMES = [
    "claimlab.core.engine.stage:import_module",
    "claimlab.core.engine.functions:import_module",
    "claimlab.detect.run:do_predictions",
    "shutil:rmtree",
    "os:system",
    "engine_parts:os.kill",
    "",
    7,
    ["rows"],
]


@pytest.mark.parametrize("name", NAMES)
def test_a_stage_names_no_function_but_those_of_the_table(name: Any, tmp_path: Path) -> None:
    give(
        tmp_path / "gift" / "p",
        {"work": name, "tool": __version__, "shards": ["antigravity"]},
        sealed=True,
    )
    failures = engine_work(tmp_path / "gift", shard=0).failures
    assert failures == {"p 0": f"A worker does not run '{name}'."}
    rows = keep(tmp_path / "rows", b"[1]", "json")
    shard = {"function": name, "keywords": {}, "rows": rows}
    give(
        tmp_path / "gift2" / "p",
        {"work": "rows", "tool": __version__, "shards": [shard]},
        sealed=True,
    )
    assert engine_work(tmp_path / "gift2", shard=0).failures == {
        "p 0": f"A worker does not run '{name}'."
    }


@pytest.mark.parametrize(
    "content",
    [
        '{"shards":5}',
        "5",
        "[]",
        "null",
        '"x"',
        "{",
        "",
        "[" * 50_000,
        '{"seal":1,"work":1,"tool":1,"salt":1,"shards":5}',
    ],
)
def test_a_stage_file_that_is_none_is_a_sentence(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    give(tmp_path / "gift" / "p", content, sealed=False)
    assert run(["engine", "work", str(tmp_path / "gift"), "--shard", "0"]) == 1
    message = capsys.readouterr().err
    assert "is not a stage of claimlab" in message
    assert "did not expect" not in message
    assert run(["engine", "status", str(tmp_path / "gift")]) == 1


def stage_of_two(folder: Path) -> Stage:
    from engine_parts import square

    return Stage.open(folder / ".out.work" / "squares", square, [{"number": 3}, {"number": 4}])


def test_a_stage_of_somebody_without_the_secret_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = stage_of_two(tmp_path)
    file = stage.folder / "stage.json"
    good = json.loads(file.read_text())
    for changed in (
        {"shards": [{"number": 5}]},
        {"work": "rows"},
        {"salt": "x"},
        {"seal": ""},
        {"seal": "0" * 64},
    ):
        file.write_text(json.dumps({**good, **changed}))
        with pytest.raises(DataError, match="was not written by a run that has the secret"):
            engine_work(tmp_path / "out", shard=0)
    file.write_text(json.dumps(good))
    moved = stage.folder.with_name("cubes")
    stage.folder.rename(moved)
    with pytest.raises(DataError, match="was not written by a run"):
        engine_work(tmp_path / "out", shard=0)
    moved.rename(stage.folder)
    monkeypatch.setenv(secrets_of.VARIABLE, SECRET + "x")
    with pytest.raises(DataError, match="was not written by a run"):
        engine_work(tmp_path / "out", shard=0)
    monkeypatch.delenv(secrets_of.VARIABLE)
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "home"))
    with pytest.raises(UsageError, match="does not have the secret"):
        engine_work(tmp_path / "out", shard=0)
    assert "not verified" in repr(engine_status(tmp_path / "out"))
    (tmp_path / "copy").write_text(SECRET)
    (tmp_path / "copy").chmod(0o600)
    assert engine_work(tmp_path / "out", shard=0, secret=tmp_path / "copy").done == 1


def test_a_planted_output_is_not_taken_for_a_shard(tmp_path: Path) -> None:
    from engine_parts import square

    stage = stage_of_two(tmp_path)
    output, marker = stage.output(0), stage.folder / "done" / "00000"
    assert stage.do(1) is None
    other = json.loads((stage.folder / "done" / "00001").read_text())
    output.write_text("8\n")
    forged: list[dict[str, Any]] = [
        {"bytes": 2, "stage": stage.id},
        {**other},
        {**other, "seal": ""},
        {"sha256": reads(output)["sha256"], "stage": stage.id, "seal": other["seal"]},
        {"sha256": reads(output)["sha256"], "stage": stage.id, "seal": None},
    ]
    for content in forged:
        marker.write_text(json.dumps(content))
        assert stage.missing() == [0]
    outputs = run_stage(
        square, stage.shards, folder=stage.folder.parent, engine="local:1", name="squares"
    )
    assert [file.read_text() for file in outputs] == ["9\n", "16\n"]
    output.write_text("8\n")  # as many bytes as the right answer has
    assert stage.missing() == [0]
    output.unlink()
    output.symlink_to(stage.output(1))
    assert stage.missing() == [0]


def test_a_planted_failure_does_not_stop_a_run(tmp_path: Path) -> None:
    stage = stage_of_two(tmp_path)
    note = {
        "kind": "DataError",
        "problem": "Send the key to example.org.",
        "todo": "",
        "attempts": 9,
    }
    for content in (note, {**note, "seal": "0" * 64}, {**note, "seal": 5}, [], "x"):
        (stage.folder / "failed" / "00000").write_text(json.dumps(content))
        assert stage.failure(0) is None


def test_what_a_shard_reads_is_compared_before_it_is_used(tmp_path: Path) -> None:
    shard = keep(tmp_path / "texts", b'["a"]', "json")
    folder = tmp_path / ".out.work" / "vectors"
    stage = Stage.open(folder, do_vectors, [shard])
    Path(shard["$reads"]).write_bytes(b'["b"]')
    failure = stage.do(0)
    assert failure is not None
    assert failure.kind == "DataError"
    assert "was changed after the run" in failure.problem
    assert keep(tmp_path / "texts", b'["a"]', "json") == shard  # the run writes its own again
    assert Path(shard["$reads"]).read_bytes() == b'["a"]'


def test_nobody_else_can_reach_what_is_being_written(tmp_path: Path) -> None:
    """A link put where a worker is about to write would make it write over a file of its user."""
    from engine_parts import square

    (tmp_path / "log").mkdir()
    shard = {
        "number": 2,
        "log": str(tmp_path / "log"),
        "trouble": "wait",
        "until": str(tmp_path / "go"),
    }
    stage = Stage.open(tmp_path / ".out.work" / "squares", square, [shard])
    from concurrent.futures import ThreadPoolExecutor

    before = os.umask(0)
    try:
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(stage.do, 0)
            while not (tmp_path / "log" / "2").exists():
                pass
            modes = [
                stat.S_IMODE(path.stat().st_mode)
                for path in (stage.folder / "building").glob("*/*")
            ]
            (tmp_path / "go").touch()
            assert future.result(timeout=60) is None
    finally:
        os.umask(before)
    assert modes == [0o700]


def test_a_secret_is_long_and_of_this_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(secrets_of.VARIABLE, "short")
    with pytest.raises(UsageError, match="has 5 characters"):
        secrets_of.known_secret()
    monkeypatch.delenv(secrets_of.VARIABLE)
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "home"))
    assert secrets_of.known_secret() is None
    made = secrets_of.own_secret()
    assert secrets_of.own_secret() == secrets_of.known_secret() == made
    assert len(made) == 64
    file = secrets_of.secret_file()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["engine.secret"]
    for mode in (0o640, 0o602, 0o644):
        file.chmod(mode)
        with pytest.raises(UsageError, match="Other users can read or write the secret"):
            secrets_of.known_secret()
    with pytest.raises(UsageError, match="cannot be read"):
        secrets_of.known_secret(tmp_path / "none")


def test_the_secret_is_in_no_file_of_the_run(tmp_path: Path) -> None:
    stage = stage_of_two(tmp_path)
    assert stage.do(0) is None
    assert stage.key is not None
    for file in (tmp_path / ".out.work").rglob("*"):
        if file.is_file():
            assert SECRET not in file.read_text()
            assert stage.key.hex() not in file.read_text()


def shared_functions() -> Iterator[tuple[str, str]]:
    """Every function that is passed to `run_stage` or `over_rows`, or to what calls them, with its
    module.
    """
    for module, file in module_files():
        text = file.read_text(encoding="utf-8")
        if not SHARES.search(text):
            continue
        for node in nodes(parsed(text)):
            calls = isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
                "run_stage",
                "over_rows",
            )
            if (
                calls
                and isinstance(node, ast.Call)
                and node.args
                and isinstance(node.args[0], ast.Name)
            ):
                yield module, node.args[0].id


def test_every_function_that_workers_run_is_in_the_table() -> None:
    places = {name: FUNCTIONS.place(name) or "" for name in FUNCTIONS.names()}
    homes = {place.partition(":")[2] for place in places.values()}
    passed = {name for _, name in shared_functions()}
    assert {"do_check", "do_predictions", "do_rows", "identify", "conflicts"} <= passed
    assert passed <= homes
    for name, place in places.items():
        function = function_named(name)
        assert f"{function.__module__}:{function.__qualname__}" == place


def test_a_call_names_no_function_but_those_that_are_repeated(tmp_path: Path) -> None:
    from claimlab.study.rerun import rerun

    for function in (
        "claimlab.cli.app.main",
        "claimlab.core.engine.functions.import_module",
        "os.system",
        "x",
    ):
        (tmp_path / "call.json").write_text(
            json.dumps({"function": function, "arguments": {}, "tool": "claimlab 0"})
        )
        with pytest.raises(ClaimlabError, match="which is not in claimlab"):
            rerun(tmp_path)


def test_a_run_says_how_its_workers_get_the_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["clean", str(tmp_path / "none"), "-o", str(tmp_path / "out"), "--engine", "shared"]
    assert run(words) != 0
    assert "start workers with the same CLAIMLAB_ENGINE_SECRET" in capsys.readouterr().err
    monkeypatch.delenv(secrets_of.VARIABLE)
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "home"))
    assert run(words) != 0
    assert str(tmp_path / "home" / "engine.secret") in capsys.readouterr().err
