"""Plain code that waits for async code hears Ctrl-C, also after Polars has put its own signal handler in."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time

import pytest

from claimlab.core import sync

WAITS = """
import asyncio, polars as pl
from claimlab.core import sync
pl.DataFrame({"a": [1, 2]}).lazy().select(pl.col("a").sum()).collect()
async def endless():
    print("waiting", flush=True)
    try:
        while True:
            await asyncio.sleep(0)
    finally:
        print("cleaned up", flush=True)
try:
    sync.run(endless())
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def test_the_result_comes_back_and_so_does_the_error() -> None:
    async def doubled(n: int) -> int:
        await asyncio.sleep(0)
        return 2 * n if n else 1 // n

    assert sync.run(doubled(4)) == 8
    with pytest.raises(ZeroDivisionError):
        sync.run(doubled(0))


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_is_heard_and_cleans_up() -> None:
    with subprocess.Popen([sys.executable, "-c", WAITS], stdout=subprocess.PIPE, text=True) as waiting:
        assert waiting.stdout is not None
        assert waiting.stdout.readline() == "waiting\n"
        time.sleep(0.3)
        waiting.send_signal(signal.SIGINT)
        try:
            out, _ = waiting.communicate(timeout=20)
        finally:
            waiting.kill()
    assert out.split("\n")[:2] == ["cleaned up", "stopped"]
