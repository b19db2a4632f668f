"""How much of an endpoint's ideal rate is reached, and whether memory stays flat.

    python bench/llm_throughput.py                 5,000 requests, 200 ms each, 64 slots: ideal 320 requests/s

The endpoint is the stand-in, in a process of its own, on loopback; the whole door is in the way (SDK, retries, budget,
cache on disk, validation). A few more calls than the endpoint has slots are kept under way, so that a slot never waits
for us. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from claimlab.core.budget import Budget
from claimlab.core.calls.calls import Calls
from claimlab.llm.gather import gather
from claimlab.llm.messages import Request
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import Price, Profile


class Word(BaseModel):
    answer: str


def requests(n: int) -> Iterator[Request[Word]]:
    for i in range(n):
        yield Request.of(f"Claim {i}: " + "a made-up claim of ordinary length " * 8, schema=Word, max_tokens=50)


def resident() -> float:
    """Resident memory in MB, now where the system says so, else the highest so far."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


async def measure(url: str, n: int, latency: float, slots: int, concurrency: int, cache: Path) -> dict[str, Any]:
    profile = Profile(name="bench", base_url=url, model="m", prices={"m": Price(input=1, output=1)})
    calls = Calls(cache=cache, budget=Budget(money=1e6), concurrency=concurrency)
    provider = open_provider(profile, calls=calls)
    async for _ in gather(provider, requests(concurrency), concurrency=concurrency):
        pass  # connections are opened and modules loaded before the clock starts
    fresh = (request for i, request in enumerate(requests(n + concurrency)) if i >= concurrency)
    used, started = time.process_time(), time.perf_counter()
    done = failed = 0
    early = 0.0
    async for _, answer in gather(provider, fresh, concurrency=concurrency):
        done += 1
        failed += not answer.ok
        if done == n // 5:
            early = resident()
    seconds, used = time.perf_counter() - started, time.process_time() - used
    await provider.close()
    ideal = slots / latency
    return {
        "requests": done,
        "failed": failed,
        "seconds": round(seconds, 2),
        "rate": round(done / seconds, 1),
        "ideal_rate": ideal,
        "ratio": round(done / seconds / ideal, 3),
        "cpu_ms_per_request": round(1000 * used / done, 2),
        "memory_mb_after_a_fifth": round(early, 1),
        "memory_mb_at_the_end": round(resident(), 1),
    }


def bench(n: int, latency: float, slots: int, concurrency: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "claimlab.llm.standin", "--latency", str(latency), "--slots", str(slots)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            with tempfile.TemporaryDirectory() as folder:
                cache = Path(folder) / "cache"
                return asyncio.run(measure(url, n, latency, slots, concurrency, cache))
        finally:
            server.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=5000)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--concurrency", type=int, default=80)
    chosen = parser.parse_args()
    print(json.dumps(bench(chosen.n, chosen.latency, chosen.slots, chosen.concurrency), indent=2))


if __name__ == "__main__":
    main()
