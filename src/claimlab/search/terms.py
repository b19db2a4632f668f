"""What a provider charges and how fast it may be asked: facts in data/terms.toml, with the day they
were read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from claimlab.core import packaged
from claimlab.core.calls.pace import TokenBucket

CAUTIOUS_RATE = 2.0  # calls a second, for a provider of which nothing is known


@dataclass(frozen=True)
class ProviderTerms:
    """`price` is US dollars a call (null: not known). `rate` is calls a second that this client
    allows itself.
    """

    price: float | None = None
    rate: float = CAUTIOUS_RATE


@cache
def terms(name: str) -> ProviderTerms:
    raw = packaged.toml("claimlab.search", "terms.toml").get(name, {})
    return ProviderTerms(raw.get("price"), raw.get("rate", CAUTIOUS_RATE))


@dataclass(frozen=True)
class Searches:
    """What a run would ask of a provider, for an estimate."""

    provider: str
    calls_least: int
    calls_most: int

    @property
    def money_least(self) -> float | None:
        return self._money(self.calls_least)

    @property
    def money_most(self) -> float | None:
        return self._money(self.calls_most)

    def sentence(self) -> str:
        is_priced = self.money_most is not None
        cost = (
            f"${self.money_least:.4f} to ${self.money_most:.4f}" if is_priced else "price unknown"
        )
        return f"{self.calls_least:,} to {self.calls_most:,} searches, {cost}."

    def _money(self, calls: int) -> float | None:
        price = terms(self.provider).price
        return None if price is None else price * calls


_buckets: dict[str, TokenBucket] = {}


def bucket_of(name: str) -> TokenBucket:
    """The one bucket of a provider in this process: two chains that use it share its limit."""
    if name not in _buckets:
        rate = terms(name).rate
        _buckets[name] = TokenBucket(rate, burst=max(1, int(rate)))
    return _buckets[name]
