"""The Dask engine: shards are sent to the workers of a cluster, which do them as any worker does,
in the same folder.

Dask decides only where a shard runs. What is done is known from the markers, so a cluster that is
lost with all that it knew costs the shards that it was doing."""

from __future__ import annotations

import atexit
import contextlib
import logging
import socket
import time
from collections.abc import Iterator, Sequence
from typing import Any

from claimlab.core.engine.names import Engine, parse_engine, patience
from claimlab.core.engine.secret import VARIABLE, known_secret, own_secret, secret_file
from claimlab.core.engine.stage import Failure, Result, Stage, do_shard
from claimlab.core.errors import MissingExtra, ShardsMissing, UsageError
from claimlab.core.grants import Grant, Wanted, grant
from claimlab.core.machine import fitting_workers

WAIT_SECONDS = 60.0  # seconds that a cluster may be without workers
_CONNECT_SECONDS = 15.0  # seconds to reach a scheduler
_GLANCE_SECONDS = 0.05
_leave: dict[Engine, Grant] = {}
_open: dict[Engine, tuple[Any, Any]] = {}  # client and own cluster: one for all stages of a process


def connect(engine: Engine, wait: float = 0.0) -> Any:
    """The client of the cluster; a local cluster is started where there is none. A scheduler that
    does not answer is asked for `wait` seconds: it may be on its way back."""
    client, _ = _open.get(engine, (None, None))
    if client is not None and client.status == "running":
        return client
    disconnect(engine)
    if engine.address is not None:
        address = engine.address.replace("tcp://", "dask://", 1)
        wanted = Wanted("host", address, "gets the records of each shard")
        # A lost connection is opened again, whatever received file is at work by then.
        _leave[engine] = _leave.get(engine) or grant(wanted)
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise MissingExtra("The engine 'dask'", "dask") from None
    logging.getLogger("distributed").setLevel(
        logging.CRITICAL
    )  # what happens to shards is told by the engine
    cluster = None
    if engine.address is None:
        cluster = LocalCluster(
            n_workers=fitting_workers(),
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            memory_limit=0,
        )
    try:
        if engine.address is not None:
            _reach(engine.address, wait)
        client = Client(
            cluster if engine.address is None else engine.address,
            timeout=_CONNECT_SECONDS,
            set_as_default=False,
        )
    except (OSError, ValueError):
        raise UsageError(
            f"No Dask scheduler answers at {engine.address}.",
            "Start it with: dask scheduler; or check `engine`.",
        ) from None
    _open[engine] = client, cluster
    return client


def _reach(address: str, wait: float) -> None:
    """Raise OSError where nothing listens; Dask itself would wait its whole time."""
    host, port = address.removeprefix("tcp://").rsplit(":", 1)
    end = time.monotonic() + wait
    while True:
        try:
            socket.create_connection(
                (host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS
            ).close()
            return
        except (OSError, OverflowError):
            if time.monotonic() >= end:
                raise OSError(f"nothing listens at {address}") from None
            time.sleep(_GLANCE_SECONDS)


def disconnect(engine: Engine) -> None:
    """Let go of a cluster; a local one ends with its workers."""
    for part in _open.pop(engine, ()):
        if part is not None:
            with contextlib.suppress(Exception):  # it may be gone already
                part.close(timeout=1)


@atexit.register
def _disconnect_all() -> None:
    for engine in list(_open):
        disconnect(engine)


def attempt(stage: Stage, shards: Sequence[int], engine: Engine) -> Iterator[Result]:
    """Do each of the shards once. Raises where the cluster has no workers for so long that none
    will come.
    """
    try:
        client = connect(engine, patience(WAIT_SECONDS))
    except UsageError as error:  # it was there when the run began
        yield from ((number, Failure("lost", error.problem)) for number in shards)
        return
    assert stage.key is not None
    key = stage.key.hex()
    pending = {
        client.submit(do_shard, str(stage.folder), number, key, pure=False): number
        for number in shards
    }
    finished = False
    try:
        last, wait = time.monotonic(), patience(WAIT_SECONDS)
        while pending:
            ended = [future for future in pending if future.done()]
            for future in ended:
                yield pending.pop(future), _outcome(future)
            if ended or _has_workers(client):
                last = time.monotonic()
            elif time.monotonic() - last > wait:
                raise ShardsMissing(
                    f"The Dask cluster has had no workers for {wait:g} seconds, and {len(pending)}"
                    f" of {len(stage.shards)} shards of '{stage.name}' are missing.",
                    "Start workers, then run the same again: what is done is kept.",
                )
            time.sleep(_GLANCE_SECONDS)
        finished = True
    finally:
        if not finished:  # nothing may go on working when the run has ended
            with contextlib.suppress(Exception):
                client.cancel(list(pending), force=True)
            disconnect(engine)


def _outcome(future: Any) -> Failure | None:
    if future.status != "finished":
        if future.status == "error":
            error = future.exception()
            return Failure("lost", f"{type(error).__name__}: {error}")
        return Failure("lost", "the Dask scheduler was lost")
    failure = future.result()
    return None if failure is None else Failure(**failure)


def _has_workers(client: Any) -> bool:
    """Asked only when nothing ended: an answer costs a call to the scheduler."""
    time.sleep(_GLANCE_SECONDS)
    try:
        return bool(client.nthreads())
    except (
        Exception
    ):  # whatever it is, there is no scheduler to ask; its futures are given up in a moment
        return False


def check_engine(engine: str | None) -> None:
    """Raise where the word is not a valid engine, or where no cluster answers."""
    spec = parse_engine(engine)
    patience(0)
    if spec.kind == "dask":
        connect(spec)
    if spec.kind == "shared":
        own_secret()
        if known_secret() is None:
            raise UsageError(
                f"Workers need a secret of the run, and '{secret_file()}' cannot be written.",
                f"Set {VARIABLE} for the run and for its workers, such as to: openssl rand"
                " -hex 32.",
            )
