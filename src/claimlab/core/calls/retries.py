"""One retry policy: what failed in passing is tried again, with growing, jittered waits."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from claimlab.core.calls.pace import Gate

R = TypeVar("R")


@dataclass(frozen=True)
class Retries:
    """How patient to be. "Too many requests" is the endpoint pacing us, not failing, and is given
    more tries.

    Waiting and chance are arguments, so that tests need neither time nor luck.
    """

    # tries after the first, for timeouts, lost connections, 5xx and garbled answers
    faults: int = 5
    too_many: int = 20  # tries after the first, for 429
    first: float = 0.5  # seconds; doubled for every further try
    longest: float = 30.0
    patience: float = 120.0  # an endpoint that says "come back later than this" is not waited for
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random

    def wait(self, nth: int, requested: float | None) -> float:
        """Seconds before retry `nth`: never sooner than the endpoint asked, never all callers at
        one instant.
        """
        if requested is not None:
            return requested * (1 + self.chance() / 10) + self.chance() / 20
        return min(self.longest, self.first * 2.0**nth) * (0.5 + self.chance() / 2)


@dataclass(frozen=True)
class Passing:
    """A failure that may pass. `wait`: how long the endpoint asked us to wait; `too_many`: it says
    "too many".
    """

    wait: float | None = None
    too_many: bool = False


async def patiently(
    attempt: Callable[[], Awaitable[R]],
    passing: Callable[[R], Passing | None],
    retries: Retries,
    gate: Gate | None = None,
) -> R:
    """The first result that is not `passing`, or the last one when patience runs out. `gate` sets
    the pace.
    """
    faults = refused = 0
    while True:
        result = await attempt() if gate is None else await _paced(attempt, passing, retries, gate)
        failure = passing(result)
        if failure is None:
            return result
        wait = retries.wait(faults + refused, failure.wait)
        refused += failure.too_many
        faults += not failure.too_many
        if faults > retries.faults or refused > retries.too_many or wait > retries.patience:
            return result
        await retries.sleep(wait)


async def _paced(
    attempt: Callable[[], Awaitable[R]],
    passing: Callable[[R], Passing | None],
    retries: Retries,
    gate: Gate,
) -> R:
    """One attempt inside the gate, which learns from what came of it."""
    entered = await gate.enter()
    try:
        result = await attempt()
        failure = passing(result)
        if failure is None:
            gate.went_well()
        elif failure.too_many:
            gate.too_many(entered, min(failure.wait or 0.0, retries.patience))
    finally:
        gate.leave()
    return result
