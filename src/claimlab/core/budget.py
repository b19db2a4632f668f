"""One hard cap over a whole run, in money, tokens and calls, shared by everything that spends:
models and search.

    budget = Budget(money=5.0, calls=10_000)
    # the most that this call can cost, and what it did cost
    with await budget.reserve(Amount(money=0.02, tokens=1500, calls=1)) as hold:
        hold.settle(Amount(money=0.004, tokens=310, calls=1))

The most a call can cost is set aside before it starts, so the cap holds however many calls run at
once. A call that does not fit beside the ones still running waits for them; one that cannot fit at
all raises BudgetSpent. What is unknown counts as spent: a call whose true cost never came back (a
timeout, a lost connection) keeps its reservation. With a ledger, what earlier starts of the same
run spent counts too.
"""

from __future__ import annotations

import math
import threading
from dataclasses import asdict, dataclass
from itertools import compress
from typing import TYPE_CHECKING

from claimlab.core.errors import BudgetSpent
from claimlab.core.ledger import Ledger, Units
from claimlab.core.types import JsonObject

if TYPE_CHECKING:
    import asyncio

_NANO = 1_000_000_000


@dataclass(frozen=True)
class Amount:
    """An amount of money (US dollars), tokens and calls."""

    money: float = 0.0
    tokens: int = 0
    calls: int = 0


@dataclass(frozen=True)
class Caps:
    """What a run may spend at most, over all its starts; null: no cap."""

    cost: float | None = None
    calls: int | None = None
    tokens: int | None = None

    def budget(self, ledger: Ledger | None = None) -> Budget:
        return Budget(money=self.cost, tokens=self.tokens, calls=self.calls, ledger=ledger)


class Budget:
    """Caps may be left out (null: not capped). Safe under threads and concurrent tasks."""

    def __init__(
        self,
        *,
        money: float | None = None,
        tokens: int | None = None,
        calls: int | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self.money, self.tokens, self.calls = money, tokens, calls
        caps = (None if money is None else math.floor(money * _NANO + 0.5), tokens, calls)
        self._caps: tuple[int | None, int | None, int | None] = caps
        self._spent = ledger.opening if ledger else Units()
        self._held = Units()
        self._assumed = ledger.assumed if ledger else Units()
        self.ledger = ledger
        self._lock = threading.Lock()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    @property
    def spent(self) -> Amount:
        return _amount(self._spent)

    @property
    def assumed(self) -> Amount:
        """The part of `spent` that was not reported: reservations of calls whose true cost is
        unknown.
        """
        return _amount(self._assumed)

    def try_reserve(self, most: Amount) -> Reservation | None:
        """Set `most` aside; null when it must wait for running calls to settle; BudgetSpent when it
        can never fit.
        """
        want = _units(most, up=True)
        with self._lock:
            after = self._spent.plus(want)
            if any(self._over(after)):
                raise self._refusal(most, after)
            if any(self._over(after.plus(self._held))):
                return None
            self._held = self._held.plus(want)
            number = self.ledger.hold(want) if self.ledger else 0
        return Reservation(self, want, number)

    def _over(self, total: Units) -> list[bool]:
        """Which of the caps `total` would break."""
        pairs = zip(self._caps, total, strict=True)
        return [cap is not None and amount > cap for cap, amount in pairs]

    async def reserve(self, most: Amount) -> Reservation:
        """Set `most` aside, waiting while running calls may still leave room for it."""
        import asyncio  # with network, logging and more: only what asks over the network needs it

        hold = self.try_reserve(most)
        loop = asyncio.get_running_loop()
        while hold is None:
            entry = (loop, loop.create_future())
            with self._lock:
                self._waiting.append(
                    entry
                )  # before the second look, so that a settling in between is not missed
            try:
                hold = self.try_reserve(most)
                if hold is None:
                    await entry[1]
            finally:
                with self._lock:
                    if entry in self._waiting:
                        self._waiting.remove(entry)
        return hold

    def correct(self, assumed: Amount, actual: Amount) -> None:
        """Calls that an earlier start sent off, at the most they could cost, are answered now and
        did cost `actual`.
        """
        before, after = _units(assumed, up=True), _units(actual, up=False)
        with self._lock:
            if self.ledger:
                self.ledger.correct(before, after)
            self._spent = self._spent.less(before).plus(after)
            self._assumed = self._assumed.less(before)

    def summary(self) -> JsonObject:
        """Spent, assumed and capped, JSON-safe: goes into the lineage and the report."""
        return {
            "spent": asdict(self.spent),
            "assumed": asdict(self.assumed),
            "caps": {"money": self.money, "tokens": self.tokens, "calls": self.calls},
        }

    def _settle(self, number: int, reserved: Units, actual: Units, assumed: bool) -> None:
        with self._lock:
            if self.ledger:
                self.ledger.settle(number, actual, assumed=assumed)
            self._held, self._spent = self._held.less(reserved), self._spent.plus(actual)
            if assumed:
                self._assumed = self._assumed.plus(actual)
            waiting, self._waiting = self._waiting, []
        for loop, future in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_wake, future)

    def _refusal(self, most: Amount, after: Units) -> BudgetSpent:
        spent = self.spent
        amounts = {
            "max_cost": (
                f"${spent.money:.4f} of ${self.money or 0:.4f} (the next call could cost"
                f" ${most.money:.4f})"
            ),
            "max_tokens": (
                f"{spent.tokens:,} of {self.tokens or 0:,} tokens (the next could take"
                f" {most.tokens:,})"
            ),
            "max_calls": f"{spent.calls:,} of {self.calls or 0:,} calls",
        }
        reached = dict(compress(amounts.items(), self._over(after)))
        return BudgetSpent(
            f"The budget is spent: {'; '.join(reached.values())}.",
            "What was done is kept; run the same again with a larger"
            f" {' and '.join(f'`{name}`' for name in reached)}.",
        )


class Reservation:
    """An amount set aside in a budget until it is settled; settling twice changes nothing."""

    def __init__(self, budget: Budget, reserved: Units, number: int) -> None:
        self._budget = budget
        self._number = number
        self._held: Units | None = reserved

    def __enter__(self) -> Reservation:
        return self

    def __exit__(self, *_: object) -> None:
        self.settle(None)  # left without reporting a cost: the endpoint may still charge for it

    def settle(self, actual: Amount | None) -> None:
        """Give back what was not used. Null: the cost is unknown, so the whole reservation counts
        as spent.
        """
        if self._held is None:
            return
        reserved, self._held = self._held, None
        true = reserved if actual is None else _units(actual, up=False)
        self._budget._settle(self._number, reserved, true, assumed=actual is None)


def _units(amount: Amount, *, up: bool) -> Units:
    money = amount.money * _NANO
    return Units(math.ceil(money - 1e-3) if up else round(money), amount.tokens, amount.calls)


def _amount(units: Units) -> Amount:
    return Amount(units.money / _NANO, units.tokens, units.calls)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
