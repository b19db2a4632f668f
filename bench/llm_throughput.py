"""How much of an endpoint's ideal rate is reached, and whether memory stays flat.

    python bench/llm_throughput.py                 5,000 requests, 200 ms each, 64 slots: ideal 320
                                                   requests/s

The endpoint is the stand-in, in a process of its own, on loopback; the whole door is in the way
(SDK, retries, budget, cache on disk, validation). A few more calls than the endpoint has slots are
kept under way, so that a slot never waits for us. Beside it, the same requests in a plain loop of
the openai package (asyncio, a semaphore): no budget, no recording, no validation. Prints one JSON
object.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness import Row, begin, parser, profiled, record
from pydantic import BaseModel

from claimlab.core.budget import Budget
from claimlab.core.calls.calls import Calls
from claimlab.llm.asking import gather
from claimlab.llm.messages import Request
from claimlab.llm.open import open_provider
from claimlab.llm.prices import Price
from claimlab.llm.profiles import Profile


class Word(BaseModel):
    answer: str


def requests(n: int) -> Iterator[Request[Word]]:
    for i in range(n):
        yield Request.of(
            f"Claim {i}: " + "a made-up claim of ordinary length " * 8, schema=Word, max_tokens=50
        )


def resident() -> float:
    """Resident memory in MB, now where the system says so, else the highest so far."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


async def ours(url: str, n: int, concurrency: int, cache: Path) -> dict[str, float]:
    """What `n` requests take through the whole door, once connections are open and modules are
    loaded.
    """
    profile = Profile(name="bench", base_url=url, model="m", prices={"m": Price(input=1, output=1)})
    calls = Calls(cache=cache, budget=Budget(money=1e6), concurrency=concurrency)
    provider = open_provider(profile, calls=calls)
    async for _ in gather(provider, requests(concurrency), concurrency=concurrency):
        pass
    fresh = (request for i, request in enumerate(requests(n + concurrency)) if i >= concurrency)
    used, started = time.process_time(), time.perf_counter()
    answered = failed = 0
    early = 0.0
    async for _, answer in gather(provider, fresh, concurrency=concurrency):
        answered += 1
        failed += not answer.ok
        if answered == n // 5:
            early = resident()
    seconds, used = time.perf_counter() - started, time.process_time() - used
    await provider.close()
    return {"requests": answered, "failed": failed, "seconds": seconds, "cpu": used, "early": early}


async def plain(url: str, n: int, concurrency: int) -> dict[str, float]:
    """The same requests as a researcher would send them: openai, asyncio, a semaphore."""
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=2) as client:
        gate = asyncio.Semaphore(concurrency)

        async def ask(request: Request[Word]) -> str:
            async with gate:
                answer = await client.chat.completions.create(
                    model="m",
                    max_tokens=50,
                    messages=[{"role": m.role, "content": m.content} for m in request.messages],
                )
            return Word.model_validate_json(answer.choices[0].message.content or "").answer

        await asyncio.gather(*(ask(request) for request in requests(concurrency)))
        used, started = time.process_time(), time.perf_counter()
        await asyncio.gather(
            *(
                ask(request)
                for i, request in enumerate(requests(n + concurrency))
                if i >= concurrency
            )
        )
        return {"seconds": time.perf_counter() - started, "cpu": time.process_time() - used}


@contextmanager
def standing_in(latency: float, slots: int, answer: str | None = None) -> Iterator[str]:
    """The address of the stand-in, in a process of its own; `answer` is what it says to
    everything.
    """
    command = [
        sys.executable,
        str(Path(__file__).parent / "parts" / "standin.py"),
        "--latency",
        str(latency),
        "--slots",
        str(slots),
    ]
    command += [] if answer is None else ["--answer", answer]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def bench(n: int, latency: float, slots: int, concurrency: int) -> dict[str, Any]:
    with standing_in(latency, slots) as url, tempfile.TemporaryDirectory() as folder:
        took = asyncio.run(ours(url, n, concurrency, Path(folder) / "cache"))
        peer = asyncio.run(plain(url, n, concurrency))
    ideal, answered = slots / latency, int(took["requests"])
    return {
        "requests": answered,
        "failed": took["failed"],
        "seconds": round(took["seconds"], 2),
        "rate": round(answered / took["seconds"], 1),
        "ideal_rate": ideal,
        "ratio": round(answered / took["seconds"] / ideal, 3),
        "plain_ratio": round(n / peer["seconds"] / ideal, 3),
        "cpu_ms_per_request": round(1000 * took["cpu"] / answered, 2),
        "plain_cpu_ms_per_request": round(1000 * peer["cpu"] / n, 2),
        "memory_mb_after_a_fifth": round(took["early"], 1),
        "memory_mb_at_the_end": round(resident(), 1),
    }


def why(n: int, concurrency: int) -> str:
    with standing_in(0.0, 64) as url, tempfile.TemporaryDirectory() as folder:
        return profiled(lambda: asyncio.run(ours(url, n, concurrency, Path(folder) / "cache")))


def main() -> None:
    made = parser(__doc__)
    made.add_argument("-n", type=int, default=5000)
    made.add_argument("--latency", type=float, default=0.2)
    made.add_argument("--slots", type=int, default=64)
    made.add_argument("--concurrency", type=int, default=80)
    options = begin(made)
    found = bench(options.n, options.latency, options.slots, options.concurrency)
    print(json.dumps(found, indent=2))
    peer, each = (
        "plain openai loop",
        (found["cpu_ms_per_request"], found["plain_cpu_ms_per_request"]),
    )
    profile = why(500, options.concurrency) if each[0] > each[1] else ""
    record(
        Row(
            "models",
            "share of the endpoint's ideal rate",
            peer,
            found["ratio"],
            found["plain_ratio"],
            "",
            more=True,
        ),
        Row(
            "models",
            "cost of a call",
            peer,
            *each,
            unit="processor ms",
            why=profile,
            note="ours records, meters and validates every call",
        ),
    )


if __name__ == "__main__":
    main()
