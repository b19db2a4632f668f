"""The pace: Retry-After is honoured, too many calls halve the number at once, and it grows
again.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from parts.standin import StandIn

from claimlab.core.calls.pace import Gate
from claimlab.core.calls.retries import Retries
from claimlab.llm.layers import Patient


def test_retry_after_is_honoured(lab: Any) -> None:
    with StandIn(fault=lab.faulty("429", 1), retry_after="0.4") as server:
        started = time.monotonic()
        answer = lab.ask(lab.open(server))
    assert answer.ok
    assert time.monotonic() - started >= 0.4


def test_an_endpoint_that_says_come_back_in_an_hour_is_not_waited_for(lab: Any) -> None:
    with StandIn(fault=lab.faulty("429"), retry_after="3600") as server:
        started = time.monotonic()
        answer = lab.ask(lab.open(server))
    assert answer.failure == "http-429"
    assert (server.requests, time.monotonic() - started < 600) == (1, True)


def test_a_strict_endpoint_is_served_to_the_end(lab: Any) -> None:
    """An endpoint with 6 slots that turns the rest away: all are answered, and the caller comes
    down from 48.
    """
    with StandIn(slots=6, strict=True, latency=0.2, retry_after="0.05") as server:
        provider = lab.open(server, mode="live", concurrency=48)
        patient = provider.inner.inner
        assert isinstance(patient, Patient)
        done = lab.ask_all(provider, lab.questions(60), concurrency=48)
    assert all(a.ok for a in done.values())
    assert patient.gate.limit < 20, "started at 48"
    assert server.requests < 4 * 60, "calls are not wasted on being turned away"


def test_the_gate_halves_once_per_burst_and_grows_by_one_a_round() -> None:
    async def story() -> None:
        gate = Gate(64)
        entered = [await gate.enter() for _ in range(64)]
        await asyncio.sleep(0.001)
        for moment in entered:
            gate.too_many(moment, 0.0)
            gate.leave()
        assert gate.limit == 32, "one burst, one cut"
        for _ in range(33):
            gate.went_well()
        assert 32.9 < gate.limit < 33.1
        for _ in range(10):
            await asyncio.sleep(0.001)
            gate.too_many(await gate.enter(), 0.0)
            gate.leave()
        assert gate.limit == 1.0

    asyncio.run(story())


def test_a_waiter_that_is_cancelled_does_not_lose_the_place() -> None:
    async def story() -> None:
        gate = Gate(1)
        await gate.enter()
        waiting = [asyncio.create_task(gate.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        gate.leave()  # calls the first one in
        waiting[0].cancel()
        await asyncio.sleep(0)
        await asyncio.wait_for(waiting[1], 1)
        assert gate.inside == 1
        gate.leave()
        await asyncio.wait_for(waiting[2], 1)

    asyncio.run(story())


def test_waits_grow_are_jittered_and_never_shorter_than_told() -> None:
    retries = Retries()
    assert all(0.25 <= retries.wait(0, None) <= 0.5 for _ in range(50))
    assert all(15 <= retries.wait(20, None) <= 30 for _ in range(50))
    assert len({retries.wait(3, None) for _ in range(20)}) > 1
    assert all(5 <= retries.wait(0, 5.0) <= 5.6 for _ in range(50))
