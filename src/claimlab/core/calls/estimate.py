"""What a run would cost, before it costs anything: the parts that make calls, and their sum. For `--estimate`.

A part is what one model or one search provider would be asked (claimlab.llm.estimate, claimlab.search.terms). Nothing
is sent anywhere, and no key is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class Priced(Protocol):
    """A dataclass. Money is in US dollars, and null where the price is not known."""

    @property
    def money_least(self) -> float | None: ...

    @property
    def money_most(self) -> float | None: ...

    def sentence(self) -> str: ...


def estimated(parts: Mapping[str, Priced], *, facts: Mapping[str, int] | None = None) -> dict[str, Any]:
    """The whole, JSON-safe: the parts by name, the least and the most money, and `sentences` for the
    user. `facts` are counts of the input."""
    least, most = (_sum([part.money_least for part in parts.values()]), _sum([p.money_most for p in parts.values()]))
    lines = [f"{number:,} {name}." for name, number in (facts or {}).items()]
    lines += [f"{name}: {part.sentence()}" for name, part in parts.items()]
    return {
        **(facts or {}),
        "parts": {name: _plain(part) for name, part in parts.items()},
        "money_least": least,
        "money_most": most,
        "sentences": [*lines, _total(parts, least, most)],
    }


def _plain(part: Priced) -> dict[str, Any]:
    return {**vars(part), "money_least": part.money_least, "money_most": part.money_most}


def _sum(amounts: Sequence[float | None]) -> float | None:
    """Null as soon as one amount is not known."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None


def _total(parts: Mapping[str, Priced], least: float | None, most: float | None) -> str:
    if not parts:
        return "Nothing is asked that costs money."
    if least is None or most is None:
        return "In all: cost unknown."
    return f"In all: ${least:.4f} to ${most:.4f}."
