"""Numbers, months and names of the source in real text: what is new, swapped or lost."""

from __future__ import annotations

import re

from claimlab.generate.filter.metric import (
    DOES_NOT_APPLY,
    Metric,
    Reading,
    one_by_one,
    unmeasured,
    within,
)
from claimlab.generate.filter.texts import Batch, Text
from claimlab.text import details as d

_PLACE = re.compile(r"(?<!\S)(\S+)\s+(\d[\d.,]*)\s*(\S+)?")


def read(text: Text, batch: Batch) -> Reading:
    if text.veracity != "real" or text.text is None:
        return DOES_NOT_APPLY  # what may change in altered text is for the change log
    if text.source is None:
        return unmeasured("no source") if text.machine else DOES_NOT_APPLY
    fresh = new_numbers(text.source, text.source_language, text.text, text.language)
    if fresh is None:
        return unmeasured("numbers in units of ten thousand")
    if fresh:
        return Reading(
            "failed",
            None,
            f"a number that the source does not have: {', '.join(sorted(fresh)[:3])}",
            -1.0,
        )
    if not text.comparable:
        return Reading("passed")
    if swap := swapped(text.source, text.text):
        return Reading("failed", None, f"numbers have changed places: {' and '.join(swap)}", -1.0)
    months, before = d.months(text.text, text.language), d.months(text.source, text.source_language)
    if months and before is not None and months - before and before - months:
        return Reading("failed", None, "another month than in the source", -1.0)
    return _kept_names(text.source, text, batch)


def _kept_names(source: str, text: Text, batch: Batch) -> Reading:
    names = d.names(source, text.source_language)
    if names is None or len(names) < batch.table["details"]["fewest_names"]:
        return Reading("passed")  # of one or two names, losing one says little
    share = len(names & d.words(text.text or "")) / len(names)
    return within(
        share, batch.limit("details", "least_names", text), None, "the share of names kept is"
    )


def new_numbers(
    source: str, source_language: str | None, text: str, language: str | None
) -> set[str] | None:
    """Numbers of the text that are not in the source, as digits or as words; null where either
    cannot be read.
    """
    before, now = d.numbers(source), d.numbers(text)
    if before is None or now is None:
        return None
    return set(now) - set(before) - d.number_words(source, source_language or language)


def swapped(source: str, text: str) -> tuple[str, str] | None:
    """Two numbers that have exchanged the words around them."""
    before, now = _places(source), _places(text)
    for place, number in before.items():
        if (other := now.get(place)) is not None and other != number and other in before.values():
            for elsewhere, value in now.items():
                if value == number and before.get(elsewhere) == other:
                    return number, other
    return None


def _places(text: str) -> dict[tuple[str, str], str]:
    """Numbers by the words before and after them; a place that occurs with two numbers is none."""
    places: dict[tuple[str, str], str] = {}
    twice = set()
    for before, number, after in _PLACE.findall(text):
        place = (before.casefold(), after.casefold().strip(".,;:!?"))
        value = (d.numbers(number) or [""])[0]
        if places.setdefault(place, value) != value:
            twice.add(place)
    return {place: value for place, value in places.items() if place not in twice}


METRIC = Metric(
    "consistency",
    "numbers, dates and names of real text are the source's",
    "the source",
    one_by_one(read),
)
