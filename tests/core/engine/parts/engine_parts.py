"""What the tests let workers do: each shard says what it wants to happen to it."""

from __future__ import annotations

import errno
import os
import signal
import time
from pathlib import Path
from typing import Any


def square(shard: dict[str, Any], output: Path) -> None:
    """Write the square of a number; `log` counts how often each shard was started."""
    number = shard["number"]
    if "log" in shard:
        with (Path(shard["log"]) / f"{number}").open("a") as file:
            file.write(f"{os.getpid()}\n")
    trouble(shard)
    if shard.get("folder"):
        output.mkdir()
        output = output / "square.txt"
    output.write_text(f"{number * number}\n")


def trouble(shard: dict[str, Any]) -> None:
    """`until` is a file: trouble lasts until it is there, and `once` makes it on the first try."""
    kind, until = shard.get("trouble"), Path(shard.get("until", "/"))
    if kind is None or (until.name and until.exists()):
        return
    if shard.get("once"):
        until.touch()
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "disk":
        raise OSError(errno.ENOSPC, "No space left on device")
    if kind == "error":
        raise ValueError(f"shard {shard['number']} is bad")
    if kind == "wait":  # a slow worker; given up long after any test
        deadline = time.monotonic() + 300
        while not until.exists() and time.monotonic() < deadline:
            time.sleep(0.02)


def lengths(rows: list[str], plus: int = 0) -> list[int]:
    return [len(row) + plus for row in rows]


def refuse(shard: Any, output: Path) -> None:
    from claimlab.core.errors import BudgetSpent

    raise BudgetSpent("The cap of 3 calls is reached.", "Raise `max_calls`.")


def big(shard: dict[str, Any], output: Path) -> None:
    """As many bytes as the shard says."""
    output.write_bytes(bytes(shard["bytes"]))
