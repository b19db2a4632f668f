"""The shared engine: this process waits while others work, which know of each other only through
the folder. Each of the others is an `engine_work` (work.py), started by a Slurm array, a Kubernetes
Indexed Job or by hand.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from claimlab.core.engine.names import patience
from claimlab.core.engine.stage import Failure, Result, Stage
from claimlab.core.errors import ShardsMissing
from claimlab.core.shortage import was_disk

WAIT_SECONDS = 86_400.0  # seconds without a shard that ends: queues are long


def attempt(stage: Stage, shards: Sequence[int], tries: int) -> Iterator[Result]:
    """Wait for other processes to do the shards, and yield what becomes of each."""
    pending, pause, wait = set(shards), Pause(), patience(WAIT_SECONDS)
    while pending:
        for number in sorted(pending):
            failure = stage.failure(number)
            if stage.is_done(number) or (failure is not None and is_final(failure, tries)):
                pending.remove(number)
                pause.news()
                yield number, None if stage.is_done(number) else failure
        if pause.quiet > wait:
            raise ShardsMissing(
                f"No shard of '{stage.name}' has ended for {wait:g} seconds, and {len(pending)} of "
                f"{len(stage.shards)} are missing.",
                "Start workers (`claimlab engine work`), then run the same again: what is done is"
                " kept.",
            )
        if pending and (full := _no_room(stage)):
            yield min(pending), full
        if pending:
            pause.sleep()


def _no_room(stage: Stage) -> Failure | None:
    """A worker with a full disk has no room to say so: this process tries to write as much as a
    note takes.
    """
    try:
        room = stage.folder / "building" / "room"
        room.write_bytes(bytes(4096))
        room.unlink(missing_ok=True)
    except OSError as error:
        return Failure.of(error) if was_disk(error) else None
    return None


def is_final(failure: Failure, tries: int) -> bool:
    return failure.attempts >= tries or failure.kind == "disk" or failure.error() is not None


class Pause:
    """Waits that grow with the silence: a shared folder is not asked more often than something
    happens in it.
    """

    def __init__(self) -> None:
        self._last = time.monotonic()

    @property
    def quiet(self) -> float:
        return time.monotonic() - self._last

    def news(self) -> None:
        self._last = time.monotonic()

    def sleep(self) -> None:
        time.sleep(min(0.05 + self.quiet / 20, 5.0))
