"""Workers that know of a run only through its folder: a Slurm array, an Indexed Job, or a few
terminals.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from claimlab.core.engine.run import run_stage
from claimlab.core.engine.secret import own_secret, seal, stage_key
from claimlab.core.engine.stage import Stage
from claimlab.core.engine.work import engine_status, engine_work
from claimlab.core.errors import NotFound, ShardsMissing, UsageError

from .test_dask import in_thread
from .test_local import shards, squares, starts, wait_for


def run_of(folder: Path) -> Path:
    """The output of a run whose stages are in its work folder, as `core/run` has it."""
    return folder / "out"


def work_folder(folder: Path) -> Path:
    return folder / ".out.work" / "key"


def test_workers_share_the_shards_of_every_stage_and_end_with_the_run(tmp_path: Path) -> None:
    from engine_parts import square

    out, place = run_of(tmp_path), work_folder(tmp_path)

    def run() -> list[list[Path]]:
        first = run_stage(
            square, shards(5, tmp_path / "log"), folder=place, engine="shared", name="first"
        )
        second = run_stage(
            square, shards(2, tmp_path / "log2"), folder=place, engine="shared", name="second"
        )
        sums = [squares(first), squares(second)]
        (tmp_path / ".out.work").rename(tmp_path / "gone")  # as a run that puts its output in place
        out.mkdir()
        return sums

    with (
        in_thread(lambda: engine_work(out, shard=0, of=2)) as one,
        in_thread(lambda: engine_work(out, shard=1, of=2)) as two,
    ):
        assert run() == [[0, 1, 4, 9, 16], [0, 1]]
    assert (one[0].done, two[0].done) == (4, 3)
    assert starts(tmp_path / "log") == dict.fromkeys(range(5), 1)


def test_one_shard_at_a_time_as_an_array_does_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine_parts import square

    out = run_of(tmp_path)
    with in_thread(
        lambda: run_stage(
            square,
            shards(3, tmp_path / "log"),
            folder=work_folder(tmp_path),
            engine="shared",
            name="squares",
        )
    ) as result:
        wait_for(lambda: any((tmp_path / ".out.work").rglob("stage.json")))
        monkeypatch.setenv("JOB_COMPLETION_INDEX", "0")
        assert engine_work(out).done == 1
        assert engine_status(out).stages == [
            {"stage": "squares", "shards": 3, "done": 1, "failed": 0, "error": None}
        ]
        monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "1")
        assert engine_work(out).done == 1
        assert engine_work(out).done == 0  # a task that is started again does nothing twice
        assert engine_work(out, shard=2).done == 1
        assert engine_work(out, shard=7).done == 0  # more tasks than shards
    assert squares(result[0]) == [0, 1, 4]
    assert starts(tmp_path / "log") == {0: 1, 1: 1, 2: 1}
    assert "3 of 3 shards done" in repr(engine_status(out))


def test_a_shard_that_always_fails_stops_the_run_and_the_next_start_resumes(tmp_path: Path) -> None:
    from engine_parts import square

    out, fixed = run_of(tmp_path), tmp_path / "fixed"
    todo = shards(3, tmp_path / "log", {1: {"trouble": "error", "until": str(fixed)}})

    def run() -> list[int] | str:
        try:
            return squares(
                run_stage(
                    square, todo, folder=work_folder(tmp_path), engine="shared", name="squares"
                )
            )
        except ShardsMissing as error:
            return str(error)

    def work() -> dict[str, str]:
        wait_for(lambda: any((tmp_path / ".out.work").rglob("stage.json")))
        return {
            name: error
            for n in range(3)
            for name, error in engine_work(out, shard=n).failures.items()
        }

    with in_thread(run) as result:
        assert work() == {"squares 1": "ValueError: shard 1 is bad"}
    assert (
        "1 of 3 shards of 'squares' failed at every try: 1. The last error: ValueError: shard 1 is bad."
        in result[0]
    )
    assert starts(tmp_path / "log") == {0: 1, 1: 3, 2: 1}
    status = engine_status(out).stages[0]
    assert (status["done"], status["failed"], status["error"]) == (
        2,
        1,
        "ValueError: shard 1 is bad",
    )
    fixed.touch()
    with in_thread(run) as result:
        wait_for(
            lambda: engine_status(out).stages[0]["failed"] == 0
        )  # the new start has forgotten the failure
        assert work() == {}
    assert result[0] == [0, 1, 4]
    assert starts(tmp_path / "log") == {0: 1, 1: 4, 2: 1}


def test_a_worker_of_an_earlier_start_changes_nothing_of_a_later_one(tmp_path: Path) -> None:
    """A run cannot end the workers of other machines. One that is at a shard while the run begins
    anew with other shards writes neither its output nor its error into the new stage."""
    from engine_parts import square

    place, log, go = work_folder(tmp_path), tmp_path / "log", tmp_path / "go"
    slow = shards(2, log, {1: {"trouble": "wait", "until": str(go)}})
    old = Stage.open(place / "squares", square, slow)
    with in_thread(lambda: engine_work(run_of(tmp_path), shard=1)) as worked:
        wait_for((log / "1").exists)
        assert (old.folder / "building").is_dir()
        new = [{"number": n, "log": str(log)} for n in (10, 11)]
        stage = Stage.open(place / "squares", square, new)
        assert not old.is_current()
        go.touch()
    assert (worked[0].done, worked[0].failures) == (0, {})
    assert stage.missing() == [0, 1]
    assert stage.failure(1) is None
    assert not stage.output(1).exists()
    assert squares(run_stage(square, new, folder=place, engine="local:1", name="squares")) == [
        100,
        121,
    ]


def test_two_workers_at_the_same_shard_do_no_harm(tmp_path: Path) -> None:
    from engine_parts import square

    log, go = tmp_path / "log", tmp_path / "go"
    todo = shards(1, log, {0: {"trouble": "wait", "until": str(go), "folder": True}})
    stage = Stage.open(work_folder(tmp_path) / "squares", square, todo)
    with in_thread(lambda: stage.do(0)) as one, in_thread(lambda: stage.do(0)) as two:
        wait_for(lambda: (log / "0").exists() and starts(log) == {0: 2})
        go.touch()
    assert (one[0] is None) or (two[0] is None)
    assert stage.missing() == []
    assert (stage.output(0) / "square.txt").read_text() == "0\n"


def test_neither_side_waits_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine_parts import square

    monkeypatch.setenv("CLAIMLAB_ENGINE_WAIT", "0.2")
    with pytest.raises(
        ShardsMissing,
        match=r"No shard of 'squares' has ended for 0.2 seconds, and 2 of 2 are missing",
    ):
        run_stage(
            square,
            [{"number": 1}, {"number": 2}],
            folder=work_folder(tmp_path),
            engine="shared",
            name="squares",
        )
    with pytest.raises(NotFound, match="has had no work for 0.2 seconds"):
        engine_work(tmp_path / "other", shard=0, of=2)
    monkeypatch.setenv("CLAIMLAB_ENGINE_WAIT", "soon")
    with pytest.raises(UsageError, match="CLAIMLAB_ENGINE_WAIT is 'soon'"):
        engine_work(tmp_path / "other", shard=0, of=2)


def test_a_worker_runs_nothing_but_claimlab_and_no_other_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine_parts import square

    monkeypatch.setenv("CLAIMLAB_ENGINE_WAIT", "0")
    out = run_of(tmp_path)
    with pytest.raises(ShardsMissing):
        run_stage(
            square,
            shards(2, tmp_path / "log"),
            folder=work_folder(tmp_path),
            engine="shared",
            name="squares",
        )
    file = work_folder(tmp_path) / "squares" / "stage.json"
    stage = json.loads(file.read_text())
    stage.pop("seal")

    def written(**changes: str) -> None:
        """As a run with the secret would have written it."""
        content = {**stage, **changes}
        mark = seal(stage_key(own_secret(), stage["salt"]), "stage", "squares", content)
        file.write_text(json.dumps({**content, "seal": mark}))

    written(work="shutil:rmtree")
    assert (
        "A worker does not run 'shutil:rmtree'" in engine_work(out, shard=0).failures["squares 0"]
    )
    written(tool="0.0.1")
    assert "started with claimlab 0.0.1" in engine_work(out, shard=1).failures["squares 1"]


def test_a_position_is_given_or_known_from_the_array(tmp_path: Path) -> None:
    for wrong in ({}, {"shard": -1}, {"shard": 2, "of": 2}):
        with pytest.raises(UsageError):
            engine_work(tmp_path, **wrong)
    with pytest.raises(NotFound, match="has no stage to work on"):
        engine_work(tmp_path / "none", shard=0)
    with pytest.raises(NotFound, match="is not a run with stages"):
        engine_status(tmp_path / "none")
