"""Many at once: bounded memory, order of completion, one failure alone, clean stops."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from parts.standin import StandIn

from claimlab.core import sync
from claimlab.llm.asking import ask_sync, gather, gather_sync
from claimlab.llm.layers import Validated
from claimlab.llm.messages import Request
from claimlab.llm.providers.scripted import Scripted


def scripted(answers: Any) -> Validated:
    return Validated(Scripted(answers=answers))


@pytest.mark.slow
def test_requests_are_never_all_in_memory() -> None:
    ahead = drawn = 0

    def requests() -> Iterator[Request[Any]]:
        nonlocal drawn
        for i in range(6_000):
            drawn += 1
            yield Request.of("x" * 1000 + str(i))

    async def everything() -> int:
        nonlocal ahead
        done = 0
        provider = Validated(Forgetful(answers=lambda _: "ok"))
        async for _ in gather(provider, requests(), concurrency=32):
            done += 1
            ahead = max(ahead, drawn - done)
        return done

    tracemalloc.start()
    assert asyncio.run(everything()) == 6_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ahead <= 3 * 32, "requests are drawn as they are needed"
    assert peak < 2 << 20, "6,000 requests of 1 kB would be 6 MB"


class Forgetful(Scripted):
    """The scripted model keeps what it was asked, which is the thing not to do here."""

    async def ask(self, request: Request[Any]) -> Any:
        answer = await super().ask(request)
        self.asked.clear()
        return answer


def test_answers_come_as_they_are_ready_with_their_index() -> None:
    async def answer(request: Request[Any]) -> str:
        wait = float(request.messages[0].content)
        await asyncio.sleep(wait)
        return str(wait)

    async def order() -> list[int]:
        prompts = ["0.2", "0.0", "0.1"]
        return [i async for i, _ in gather(scripted(answer), [Request.of(p) for p in prompts])]

    assert asyncio.run(order()) == [1, 2, 0]


def test_a_crash_in_a_provider_is_that_records_failure_alone() -> None:
    def answer(request: Request[Any]) -> str:
        return str(1 // int(request.messages[0].content))

    done = dict(gather_sync(scripted(answer), [Request.of(str(n)) for n in (1, 0, 2)]))
    assert [done[i].failure for i in range(3)] == [None, "crash", None]
    assert "ZeroDivisionError" in (done[1].detail or "")


def test_an_error_in_the_callers_iterator_comes_out_after_the_answers() -> None:
    def requests() -> Iterator[Request[Any]]:
        yield Request.of("one")
        yield Request.of("two")
        raise LookupError("the file ended early")

    seen = []
    with pytest.raises(LookupError, match="ended early"):
        for index, _ in gather_sync(scripted(lambda _: "ok"), requests()):
            seen.append(index)
    assert sorted(seen) == [0, 1]


def test_leaving_early_stops_the_asking(lab: Any) -> None:
    with StandIn(latency=0.02) as server:

        async def some() -> int:
            provider, count = lab.open(server), 0
            answers = gather(provider, lab.questions(500), concurrency=8)
            async for _ in answers:
                count += 1
                if count == 20:
                    break
            await answers.aclose()
            await provider.close()
            return count

        assert asyncio.run(some()) == 20
        asked = server.requests
        assert asked <= 20 + 3 * 8
    kept = lab.ask_until(lab.open(server, mode="replay"), lab.questions(500)[:5])[0]
    assert all(a.ok for a in kept.values()), "what was answered is kept and readable"


def test_a_cancelled_run_leaves_the_cache_whole(lab: Any) -> None:
    with StandIn(latency=0.01) as server:
        got = []

        async def stopped() -> None:
            async for index, _ in gather(lab.open(server), lab.questions(500), concurrency=16):
                got.append(index)
                if len(got) == 50:
                    halfway.set()

        halfway = asyncio.Event()

        async def main() -> None:
            task = asyncio.create_task(stopped())
            await halfway.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())
        assert 50 <= len(got) < 500
        wanted = [lab.questions(500)[i] for i in got]
        assert len(lab.ask_all(lab.open(server, mode="replay"), wanted)) == len(got)


def test_progress_is_told(lab: Any) -> None:
    told: list[tuple[str, int, int | None]] = []
    list(
        gather_sync(
            scripted(lambda _: "ok"), [Request.of("a")] * 3, progress=lambda *a: told.append(a)
        )
    )
    assert told[-1][1:] == (3, 3)


def test_plain_code_may_ask_again_and_again_even_inside_a_running_loop(lab: Any) -> None:
    with StandIn() as server:
        provider = lab.open(server)
        answers = [ask_sync(provider, Request.of(f"q{i}", schema=lab.Word)) for i in range(3)]

        async def notebook() -> Any:
            return ask_sync(provider, Request.of("q9", schema=lab.Word))

        answers.append(asyncio.run(notebook()))
        sync.run(provider.close())
    assert all(a.ok for a in answers)
    assert server.requests == 4


def test_one_provider_survives_two_event_loops(lab: Any) -> None:
    with StandIn() as server:
        provider = lab.open(server, mode="live")
        for _ in range(2):
            assert asyncio.run(provider.ask(Request.of("q", schema=lab.Word))).ok


STOPPED = """
import sys
from pathlib import Path
from claimlab.llm.judge import gather_sync
from claimlab.llm.messages import Request
from claimlab.core.calls.calls import Calls
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import Profile

calls = Calls(cache=Path(sys.argv[2]))
provider = open_provider(Profile(name="p", base_url=sys.argv[1], model="m"), calls=calls)
requests = (Request.of(f"question {i}", max_tokens=9) for i in range(100_000))
try:
    for index, answer in gather_sync(provider, requests, concurrency=8):
        print(index, flush=True)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.slow
def test_ctrl_c_in_plain_code_stops_at_once_and_keeps_what_was_delivered(lab: Any) -> None:
    with StandIn(latency=0.02) as server:
        command = [sys.executable, "-c", STOPPED, server.url, str(lab.cache)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        delivered = {int(process.stdout.readline()) for _ in range(30)}
        process.send_signal(signal.SIGINT)
        delivered |= {int(line) for line in process.stdout.read().split()}
        assert process.wait(20) == 130
    wanted = [Request.of(f"question {i}", max_tokens=9) for i in sorted(delivered)]
    kept = lab.ask_all(lab.open(server, mode="replay"), wanted)
    assert all(a.ok for a in kept.values())
