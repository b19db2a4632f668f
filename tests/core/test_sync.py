"""Plain code that waits for async work hears Ctrl-C at once, and the work is cancelled."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from claimlab.core import sync

WAITS = """
import asyncio, os, signal, threading
from claimlab.core import sync

ended = []

async def work():
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        ended.append("cancelled")
        raise

{first}
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    sync.run(work())
except KeyboardInterrupt:
    print("stopped", *ended)
"""


# Polars puts in a signal handler of its own with its first query, and an endless wait is then never
# interrupted.
POLARS = 'import polars as pl; pl.DataFrame({"a": [1]}).lazy().select(pl.col("a").sum()).collect()'


@pytest.mark.parametrize("first", ["", POLARS], ids=["alone", "after-polars"])
def test_ctrl_c_is_heard_while_waiting_and_cancels_the_work(first: str) -> None:
    code = WAITS.replace("{first}", first)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    assert done.stdout == "stopped cancelled\n", done.stderr


DEAF = """
import asyncio, os, signal, threading, time
from claimlab.core import sync

async def busy():
    time.sleep(60)  # keeps the loop from hearing anything

async def stubborn():
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass

def stop():
    global began
    began = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(0.5, stop).start()
try:
    sync.run({work}())
except KeyboardInterrupt:
    print("stopped", time.monotonic() - began < 2)
"""


@pytest.mark.parametrize("work", ["busy", "stubborn"])
def test_ctrl_c_does_not_wait_for_work_that_will_not_stop(work: str) -> None:
    code = DEAF.replace("{work}", work)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    assert done.stdout == "stopped True\n", done.stderr


def test_a_timeout_of_the_work_itself_is_its_own() -> None:
    async def late() -> None:
        raise TimeoutError("the work's own")

    with pytest.raises(TimeoutError, match="the work's own"):
        sync.run(late())


FORKED = """
import os
from claimlab.core import sync

async def work():
    return 7

assert sync.run(work()) == 7
child = os.fork()
if child == 0:
    os._exit(0 if sync.run(work()) == 7 else 2)
raise SystemExit(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing can be forked here")
def test_a_forked_child_has_a_loop_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], timeout=60, check=False)
    assert done.returncode == 0
