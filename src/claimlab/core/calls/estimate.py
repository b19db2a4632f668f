"""What a run would cost, before it costs anything: the parts that make calls, and their sum. For
`--estimate`.

    cost_of(detect, "data", "llm-zero-shot", profile="mine")

The verb itself is called, with its own arguments. Its `Run` is open for an estimate then: it reads,
writes nothing, and where the first question would be asked the verb ends at `run.estimated(parts)`.
A part is what one model or one search provider would be asked (claimlab.llm.estimate,
claimlab.search.terms). Nothing is sent anywhere, and no key is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, Protocol

from claimlab.core.errors import UsageError
from claimlab.core.types import JsonObject

P = ParamSpec("P")
_estimating: ContextVar[bool] = ContextVar("estimating", default=False)


class Estimated(BaseException):
    """The end of a verb that was only to be estimated; no handler of errors may stop it."""

    def __init__(self, estimate: JsonObject) -> None:
        self.estimate = estimate


def cost_of(verb: Callable[P, object], *args: P.args, **options: P.kwargs) -> JsonObject:
    """The least and the most that `verb` with these arguments can cost. Nothing is asked, and no
    key is needed.

    Parameters
    ----------
    verb : Callable
        The function of a verb that asks a model or a search, such as `cl.detect`.
    *args : object
        Its arguments by their place, as they would be passed to it.
    **options : object
        Its other arguments, by name.

    Returns
    -------
    dict
        Calls, tokens and US dollars: of each part, and together.
    """
    outer = _estimating.set(True)
    try:
        verb(*args, **options)
    except Estimated as end:
        return end.estimate
    finally:
        _estimating.reset(outer)
    raise costs_nothing()


def estimating() -> bool:
    """Whether the verb that runs now is to be estimated."""
    return _estimating.get()


@contextmanager
def really_working() -> Iterator[None]:
    """What is done inside is done, though the verb around it is only estimated."""
    outer = _estimating.set(False)
    try:
        yield
    finally:
        _estimating.reset(outer)


def costs_nothing() -> UsageError:
    return UsageError("No model is asked: it costs nothing.", "Leave out `estimate`.")


class Priced(Protocol):
    """A dataclass. Money is in US dollars, and null where the price is not known."""

    @property
    def money_least(self) -> float | None: ...

    @property
    def money_most(self) -> float | None: ...

    def sentence(self) -> str: ...


def estimated(parts: Mapping[str, Priced], *, facts: Mapping[str, int] | None = None) -> JsonObject:
    """The whole, JSON-safe: the parts by name, the least and the most money, and `sentences` for
    the user. `facts` are counts of the input."""
    least = _sum([part.money_least for part in parts.values()])
    most = _sum([part.money_most for part in parts.values()])
    expected = _sum([_expected(part) for part in parts.values()])
    lines = [f"{number:,} {name}." for name, number in (facts or {}).items()]
    lines += [f"{name}: {part.sentence()}" for name, part in parts.items()]
    total = f"In all: {in_words(least, most, expected)}."
    return {
        **(facts or {}),
        "parts": {name: _plain(part) for name, part in parts.items()},
        "money_least": least,
        "money_most": most,
        "money_expected": expected,
        "sentences": [*lines, total if parts else "Nothing is asked that costs money."],
    }


def _expected(part: Priced) -> float | None:
    """What the part will probably cost: known where recorded calls tell, or where the least is the
    most.
    """
    only = part.money_least if part.money_least == part.money_most else None
    expected: float | None = getattr(part, "money_expected", None)
    return only if expected is None else expected


def _plain(part: Priced) -> JsonObject:
    return {**vars(part), "money_least": part.money_least, "money_most": part.money_most}


def _sum(amounts: Sequence[float | None]) -> float | None:
    """Null as soon as one amount is not known."""
    stated = [amount for amount in amounts if amount is not None]
    return sum(stated) if len(stated) == len(amounts) else None


def in_words(least: float | None, most: float | None, expected: float | None) -> str:
    """An amount of money for a person."""
    if least is None or most is None:
        return "cost unknown"
    about = "" if expected is None else f", about ${expected:.4f}"
    return f"${least:.4f} to ${most:.4f}{about}"
