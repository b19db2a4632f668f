"""Dates that a dataset cannot have: after it was published, outside the time its card gives, or
decades too early.

Such dates are often those of a page as it was fetched, or of a wrong century. They are counted and
named, not removed.
"""

from __future__ import annotations

import re
from datetime import date

import polars as pl

from claimlab.catalog.card import Card
from claimlab.core.words import several, verb

DECADES = 5  # before the middle one of all dates: earlier ones are odd
FEWEST = 20  # dates that have a middle worth the name
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")


def odd_dates(times: pl.Series, card: Card) -> list[str]:
    """What to say of the dates of a loaded dataset."""
    days = times.dt.date().drop_nulls()
    late, why = _end(card)
    start = card.time_start and card.time_start[:4]
    early = date(int(start), 1, 1) if start else earliest(days)
    after = days.filter(days > late).sort() if late else days.clear()
    before = days.filter(days < early).sort() if early else days.clear()
    notes = []
    if late and (n := after.len()):
        notes.append(
            f"{several(n, 'record')} {verb(n)} dated after {late.year} (up to {after[-1]}), {why}."
        )
    if early and (n := before.len()):
        since = f"the card gives {card.time_start} as the start" if start else EARLY
        notes.append(
            f"{several(n, 'record')} {verb(n)} dated before {early.year} (from {before[0]}):"
            f" {since}."
        )
    return notes


EARLY = f"more than {DECADES} decades before half of the dates"


def earliest(days: pl.Series) -> date | None:
    """The first day of the year that is `DECADES` before the middle one of `days`; null where they
    are few.
    """
    known = days.drop_nulls().sort()
    middle = known[known.len() // 2] if known.len() >= FEWEST else None
    return date(middle.year - 10 * DECADES, 1, 1) if isinstance(middle, date) else None


def _end(card: Card) -> tuple[date | None, str]:
    """The last day that its records can be of, and why: the end its card gives, or the year of its
    paper.
    """
    years = [int(year) for year in _YEAR.findall(card.citation)]
    if card.time_end:
        return (
            date(int(card.time_end[:4]), 12, 31),
            f"though the card gives {card.time_end} as the end",
        )
    if years:
        return date(max(years), 12, 31), f"though {card.title} was published in {max(years)}"
    return None, ""
