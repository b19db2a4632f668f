"""The engine on one machine: the same outputs whatever the number of processes, nothing doubled,
nothing lost.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from claimlab.core.engine.names import Engine, parse_engine
from claimlab.core.engine.run import over_rows, run_stage
from claimlab.core.errors import BudgetSpent, ShardsMissing, UsageError
from claimlab.core.machine import environment

ENGINES = ["local:1", "local:3"]


def shards(
    count: int, log: Path, special: dict[int, dict[str, Any]] | None = None
) -> list[dict[str, Any]]:
    log.mkdir(exist_ok=True)
    return [{"number": n, "log": str(log), **(special or {}).get(n, {})} for n in range(count)]


def squares(outputs: list[Path]) -> list[int]:
    return [int(one.read_text()) for one in outputs]


def starts(log: Path) -> dict[int, int]:
    """How often each shard was started."""
    return {int(file.name): len(file.read_text().splitlines()) for file in log.iterdir()}


@pytest.mark.parametrize("engine", ENGINES)
def test_outputs_come_in_the_order_of_the_shards(engine: str, tmp_path: Path) -> None:
    from engine_parts import square

    steps: list[tuple[str, int, int | None]] = []
    outputs = run_stage(
        square, shards(7, tmp_path / "log"), folder=tmp_path / "run", engine=engine, name="squares",
        progress=lambda *step: steps.append(step),
    )  # fmt: skip
    assert squares(outputs) == [n * n for n in range(7)]
    assert starts(tmp_path / "log") == dict.fromkeys(range(7), 1)
    assert steps[-1] == ("squares", 7, 7)
    assert [done for _, done, _ in steps] == list(range(8))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_second_start_does_nothing_again_but_what_was_lost(engine: str, tmp_path: Path) -> None:
    from engine_parts import square

    todo = [{**one, "folder": True} for one in shards(4, tmp_path / "log")]
    first = run_stage(square, todo, folder=tmp_path / "run", engine=engine)
    (first[2] / "square.txt").write_text(
        ""
    )  # as a loss of power leaves it: the marker is there, the bytes are not
    again = run_stage(square, todo, folder=tmp_path / "run", engine=engine)
    assert [int((one / "square.txt").read_text()) for one in again] == [0, 1, 4, 9]
    assert starts(tmp_path / "log") == {0: 1, 1: 1, 2: 2, 3: 1}


def test_other_shards_do_not_meet_the_outputs_of_earlier_ones(tmp_path: Path) -> None:
    from engine_parts import square

    run_stage(square, shards(3, tmp_path / "log"), folder=tmp_path / "run", engine="local:1")
    outputs = run_stage(
        square, [{"number": 5}, {"number": 6}], folder=tmp_path / "run", engine="local:1"
    )
    assert squares(outputs) == [25, 36]


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_of_a_shard_costs_nothing_but_time(tmp_path: Path) -> None:
    from engine_parts import square

    special = {
        n: {"trouble": "kill", "until": str(tmp_path / f"killed-{n}"), "once": True} for n in (1, 4)
    }
    outputs = run_stage(
        square, shards(6, tmp_path / "log", special), folder=tmp_path / "run", engine="local:2"
    )
    assert squares(outputs) == [n * n for n in range(6)]
    assert starts(tmp_path / "log") == {0: 1, 1: 2, 2: 1, 3: 1, 4: 2, 5: 1}
    assert not list((tmp_path / "run" / "shards" / "building").glob("*/*"))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_shard_that_always_fails_stops_with_what_is_missing_and_resumes(
    engine: str, tmp_path: Path
) -> None:
    from engine_parts import square

    fixed = tmp_path / "fixed"
    todo = shards(5, tmp_path / "log", {3: {"trouble": "error", "until": str(fixed)}})
    with pytest.raises(ShardsMissing) as stop:
        run_stage(square, todo, folder=tmp_path / "run", engine=engine, name="squares")
    assert "1 of 5 shards of 'squares' failed at every try: 3." in str(stop.value)
    assert "ValueError: shard 3 is bad." in str(stop.value)
    assert "Run the same again" in str(stop.value)
    assert starts(tmp_path / "log") == {0: 1, 1: 1, 2: 1, 3: 3, 4: 1}
    fixed.touch()
    assert (
        squares(run_stage(square, todo, folder=tmp_path / "run", engine=engine, name="squares"))[3]
        == 9
    )
    assert starts(tmp_path / "log") == {0: 1, 1: 1, 2: 1, 3: 4, 4: 1}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_full_disk_is_a_sentence_and_is_not_tried_again(engine: str, tmp_path: Path) -> None:
    from engine_parts import square

    room = tmp_path / "room"
    todo = shards(3, tmp_path / "log", {0: {"trouble": "disk", "until": str(room)}})
    with pytest.raises(
        ShardsMissing,
        match=r"^The disk is full: a worker could not write to .* Free some space and",
    ):
        run_stage(square, todo, folder=tmp_path / "run", engine=engine)
    assert starts(tmp_path / "log")[0] == 1
    room.touch()
    assert squares(run_stage(square, todo, folder=tmp_path / "run", engine=engine)) == [0, 1, 4]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_error_that_claimlab_explains_is_the_same_as_without_shards(
    engine: str, tmp_path: Path
) -> None:
    from engine_parts import refuse

    with pytest.raises(BudgetSpent, match=r"^The cap of 3 calls is reached. Raise `max_calls`.$"):
        run_stage(refuse, [1, 2, 3], folder=tmp_path, engine=engine)


def test_a_slow_worker_holds_up_no_other_shard(tmp_path: Path) -> None:
    from engine_parts import square

    # Shard 0 waits for a file that the last of the others makes: with one worker for all, it would
    # never end well.
    special = {0: {"trouble": "wait", "until": str(tmp_path / "last")}}
    special[5] = {"trouble": "none", "until": str(tmp_path / "last"), "once": True}
    outputs = run_stage(
        square, shards(6, tmp_path / "log", special), folder=tmp_path / "run", engine="local:2"
    )
    assert squares(outputs) == [n * n for n in range(6)]
    assert starts(tmp_path / "log") == dict.fromkeys(range(6), 1)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["SIGINT", "SIGKILL"])
def test_workers_end_with_the_run_and_the_next_start_goes_on(ending: str, tmp_path: Path) -> None:
    import signal

    from engine_parts import square

    log = tmp_path / "log"
    special = {n: {"trouble": "wait", "until": str(tmp_path / "go")} for n in (2, 3)}
    todo = shards(4, log, special)
    program = textwrap.dedent(f"""
        import polars  # it has a handler of its own for Ctrl-C
        from pathlib import Path
        from engine_parts import square
        from claimlab.core.engine.run import run_stage
        run_stage(square, {todo!r}, folder=Path({str(tmp_path / "run")!r}), engine="local:2")
    """)
    path = os.pathsep.join([str(Path(__file__).parent / "parts"), os.environ.get("PYTHONPATH", "")])
    run = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: {2, 3} <= set(starts(log)) if log.is_dir() else False)
    workers = {int(pid) for n in (2, 3) for pid in (log / f"{n}").read_text().split()}
    assert len(workers) == 2
    run.send_signal(getattr(signal, ending))
    run.wait(60)
    wait_for(lambda: not any(alive(pid) for pid in workers))
    (tmp_path / "go").touch()
    assert squares(run_stage(square, todo, folder=tmp_path / "run", engine="local:2")) == [
        0,
        1,
        4,
        9,
    ]
    assert starts(log) == {0: 1, 1: 1, 2: 2, 3: 2}


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/status")
    return not (status.exists() and "State:\tZ" in status.read_text())


def wait_for(condition: Any, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come"
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("engine", [None, *ENGINES])
def test_rows_come_back_in_order_whatever_the_engine(engine: str | None, tmp_path: Path) -> None:
    from engine_parts import lengths

    rows = ["x" * (n % 7) for n in range(95)]
    assert over_rows(lengths, rows, engine=engine, least=10) == [n % 7 for n in range(95)]
    with_keyword = over_rows(
        partial(lengths, plus=2), rows, engine=engine, least=10, folder=tmp_path, name="lengths"
    )
    assert with_keyword == [n % 7 + 2 for n in range(95)]
    rows[50] = "changed!"  # another content under the same name: its slice is done again
    assert (
        over_rows(
            partial(lengths, plus=2), rows, engine=engine, least=10, folder=tmp_path, name="lengths"
        )[50]
        == 10
    )
    assert over_rows(lengths, [], engine=engine) == []


def test_engines_are_named_by_one_word() -> None:
    assert parse_engine(None) == parse_engine("local") == Engine()
    assert parse_engine("local:4") == Engine("local", workers=4)
    assert parse_engine("dask://10.0.0.1:8786") == Engine("dask", address="tcp://10.0.0.1:8786")
    assert parse_engine("dask://[::1]:8786").address == "tcp://[::1]:8786"
    assert [
        parse_engine(word).is_remote for word in ("local:2", "dask", "dask://a:1", "shared")
    ] == [
        False,
        False,
        True,
        True,
    ]
    for word in ("", "local:0", "local:two", "dask://bad", "dask://", "ray", "dask://a:b"):
        with pytest.raises(UsageError, match="is not a valid engine"):
            parse_engine(word)


def test_a_worker_imports_nothing_of_the_folder_that_it_is_started_in(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("open('ran', 'w')\n", encoding="utf-8")
    worker = [sys.executable, "-m", "claimlab.core.engine.worker", "no-stage"]
    subprocess.run(worker, cwd=tmp_path, env=environment(1), input=b"", capture_output=True)
    assert not (tmp_path / "ran").exists()
