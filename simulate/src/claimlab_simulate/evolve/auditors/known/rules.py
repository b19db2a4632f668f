"""Rule auditors: three views on lists of markers. Offline, English, and as shallow as they look."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from claimlab.core import packaged
from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.auditor import Auditor, Question, Vote
from claimlab_simulate.evolve.claims.model import Target
from claimlab_simulate.evolve.contracts import ActorSettings

Counts = dict[str, int]


class ValueMarks:
    """How often each value of a dimension is marked in a text, and which value a text has when none
    is.
    """

    def __init__(self, tables: dict[str, JsonObject]) -> None:
        self.patterns = {value: _pattern(entry["markers"]) for value, entry in tables.items()}
        self.absent = next(value for value, entry in tables.items() if entry.get("absent"))

    def count(self, text: str) -> Counts:
        low = text.lower()
        return {value: len(p.findall(low)) if p else 0 for value, p in self.patterns.items()}


def _some(counts: Counts, value: str, absent: str) -> bool:
    """There is a mark of the value; for the value of absence, there is none of the others."""
    if value == absent:
        return not any(n for other, n in counts.items() if other != absent)
    return counts[value] > 0


def _most(counts: Counts, value: str, absent: str) -> bool:
    """No other value is marked as often."""
    others = (
        max(n for other, n in counts.items() if other not in (value, absent))
        if len(counts) > 2
        else 0
    )
    if value == absent:
        return counts[absent] >= max(n for other, n in counts.items() if other != absent)
    return counts[value] > max(others, counts[absent])


def _clear(counts: Counts, value: str, absent: str) -> bool:
    """At least half of all marks are of the value; for the value of absence, at most one is of
    another.
    """
    marked = sum(n for other, n in counts.items() if other != absent)
    return marked <= 1 if value == absent else counts[value] * 2 >= marked > 0


VIEWS: tuple[tuple[str, Callable[[Counts, str, str], bool]], ...] = (
    ("rules-some", _some),
    ("rules-most", _most),
    ("rules-clear", _clear),
)


class Rules(Auditor):
    def __init__(self, name: str, view: Callable[[Counts, str, str], bool]) -> None:
        self.name, self._view = name, view
        self._marks = all_marks()

    @classmethod
    def of(cls, name: str) -> Rules:
        return cls(name, dict(VIEWS)[name])

    async def judge(self, question: Question) -> Vote:
        return self.vote(question.text, question.target)

    def vote(self, text: str, target: Target) -> Vote:
        marks = self._marks[target.dimension]
        counts = marks.count(text)
        passed = self._view(counts, target.value, marks.absent)
        tally = ", ".join(f"{value} {n}" for value, n in counts.items())
        missing = None if passed else f"The text does not read as {target}."
        return Vote(self.name, passed, f"Marks found: {tally}.", missing)

    def describe(self) -> JsonObject:
        return {"auditor": self.name}


def rule_auditors(settings: ActorSettings, count: int) -> Sequence[Rules]:  # noqa: ARG001
    """Up to three rule auditors; more would only repeat a view."""
    return [Rules(*VIEWS[i % len(VIEWS)]) for i in range(count)]


@cache
def all_marks() -> dict[str, ValueMarks]:
    markers = packaged.toml("claimlab_simulate.evolve.auditors", "markers.toml")
    return {dimension: ValueMarks(values) for dimension, values in markers.items()}


def _pattern(markers: list[str]) -> re.Pattern[str] | None:
    words = [m if m == "!" else rf"\b(?:{m})(?!\w)" for m in markers]
    return re.compile("|".join(words)) if words else None


AUDITOR = rule_auditors
