"""The Dask engine: the same outputs as the local one, and faults that cost nothing but time."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claimlab.core.engine.cluster import check_engine, connect, disconnect
from claimlab.core.engine.names import parse_engine
from claimlab.core.engine.run import over_rows, run_stage
from claimlab.core.errors import ShardsMissing, UsageError

from .conftest import FUNCTIONS
from .test_local import alive, shards, squares, starts, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.needs("distributed")]
PARTS = str(Path(__file__).parent / "parts")


class Cluster:
    """A scheduler and workers of its own, which a test may kill; everything on 127.0.0.1."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, 0
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_scheduler(self) -> None:
        file = self.folder / "scheduler.json"
        file.unlink(missing_ok=True)
        self.scheduler = self._start(
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            str(self.port),
            "--no-dashboard",
            "--scheduler-file",
            str(file),
        )
        wait_for(lambda: file.exists() and file.read_text().endswith("}"))
        self.port = int(json.loads(file.read_text())["address"].rsplit(":", 1)[1])

    def start_worker(self) -> None:
        more = (
            "--no-nanny",
            "--nthreads",
            "1",
            "--no-dashboard",
            "--local-directory",
            str(self.folder),
        )
        self.workers.append(self._start("worker", f"tcp://127.0.0.1:{self.port}", *more))

    def _start(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([PARTS, *filter(None, sys.path)])
        return subprocess.Popen(
            [sys.executable, "-m", "dask", kind, *arguments],
            env={**os.environ, "PYTHONPATH": path, "CLAIMLAB_ENGINE_FUNCTIONS": FUNCTIONS},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @property
    def engine(self) -> str:
        return f"dask://127.0.0.1:{self.port}"

    def end(self) -> None:
        disconnect(parse_engine(self.engine))
        for process in [*self.workers, self.scheduler]:
            if process is not None:
                process.kill()
                process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    (tmp_path / "cluster").mkdir()
    one = Cluster(tmp_path / "cluster")
    try:
        one.start_scheduler()
        one.start_worker()
        one.start_worker()
        yield one
    finally:
        one.end()


def test_a_local_cluster_gives_the_same_outputs(tmp_path: Path) -> None:
    from engine_parts import lengths, square

    try:
        outputs = run_stage(
            square, shards(6, tmp_path / "log"), folder=tmp_path / "run", engine="dask"
        )
        assert squares(outputs) == [n * n for n in range(6)]
        assert starts(tmp_path / "log") == dict.fromkeys(range(6), 1)
        assert over_rows(lengths, ["x" * n for n in range(30)], engine="dask", least=10) == list(
            range(30)
        )
        special = {2: {"trouble": "error"}}
        with pytest.raises(
            ShardsMissing, match=r"1 of 4 shards of 'bad' failed at every try: 2\. .*shard 2 is bad"
        ):
            run_stage(
                square,
                shards(4, tmp_path / "log2", special),
                folder=tmp_path / "run",
                engine="dask",
                name="bad",
            )
        assert starts(tmp_path / "log2") == {0: 1, 1: 1, 2: 3, 3: 1}
    finally:
        disconnect(parse_engine("dask"))


def test_killed_workers_and_a_restarted_scheduler_change_nothing(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Two workers wait in a shard; one is killed, then the scheduler is, and both come back."""
    from engine_parts import square

    log, go = tmp_path / "log", tmp_path / "go"
    todo = shards(6, log, {n: {"trouble": "wait", "until": str(go)} for n in (0, 1)})
    with in_thread(
        lambda: run_stage(square, todo, folder=tmp_path / "run", engine=cluster.engine)
    ) as result:
        wait_for(lambda: {0, 1} <= set(starts(log)))
        victim = int((log / "0").read_text().split()[0])
        os.kill(victim, signal.SIGKILL)
        wait_for(lambda: not alive(victim))
        assert cluster.scheduler is not None
        cluster.scheduler.kill()
        cluster.scheduler.wait()
        cluster.start_scheduler()  # at the same address; what it knew is lost
        go.touch()
        cluster.start_worker()
        cluster.start_worker()
    assert squares(result[0]) == [n * n for n in range(6)]
    done = tmp_path / "run" / "shards" / "done"
    assert sorted(file.name for file in done.iterdir()) == [f"{n:05}" for n in range(6)]


def test_a_cluster_without_workers_is_not_waited_for(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine_parts import square

    connect(parse_engine(cluster.engine))
    for worker in cluster.workers:
        worker.kill()
        worker.wait()
    monkeypatch.setenv("CLAIMLAB_ENGINE_WAIT", "1")
    todo = shards(3, tmp_path / "log")
    with pytest.raises(
        ShardsMissing, match=r"no workers for 1 seconds, and 3 of 3 shards .* run the same again"
    ):
        run_stage(square, todo, folder=tmp_path / "run", engine=cluster.engine)
    monkeypatch.delenv("CLAIMLAB_ENGINE_WAIT")
    cluster.start_worker()
    assert squares(run_stage(square, todo, folder=tmp_path / "run", engine=cluster.engine)) == [
        0,
        1,
        4,
    ]


def test_a_wrong_address_is_an_error_before_any_work() -> None:
    with pytest.raises(UsageError, match="No Dask scheduler answers at tcp://127.0.0.1:1"):
        check_engine("dask://127.0.0.1:1")


@contextlib.contextmanager
def in_thread(work: Any) -> Iterator[list[Any]]:
    """Run `work` while the block runs; its result, or what it raised, when the block ends."""
    from concurrent.futures import ThreadPoolExecutor

    result: list[Any] = []
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        yield result
        result.append(future.result(timeout=180))
        time.sleep(0)
