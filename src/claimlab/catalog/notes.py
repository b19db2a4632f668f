"""What to say of a loaded dataset: data of one class, ids without text, dates that it cannot have,
and other numbers of rows than published. Dates after it was published, outside the time its card
gives, or decades too early are often those of a page as it was fetched, or of a wrong century: they
are counted and named, not removed. And a part of a dataset must not pass for the whole.
"""

from __future__ import annotations

import re
from datetime import date

import polars as pl

from claimlab.catalog.columns import EARLY, earliest
from claimlab.catalog.entry import Card, Entry
from claimlab.core.record import VERACITIES
from claimlab.core.words import several, verb
from claimlab.tasks import TASKS, TRUTH, Task, not_verdicts

ROUNDING_POINTS = 0.015  # of percent: the guide rounds to two decimals
# copies lose a row or two to deduplication and deleted posts; more than one in fifty is another
# thing
ROWS_TOLERATED = 0.02
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")


def warnings(entry: Entry, records: pl.DataFrame) -> list[str]:
    """What a user must know at once: data of one class, ids without text."""
    notes = []
    classes = (
        set(records["veracity"].drop_nulls()) - {"unknown"}
        if "veracity" in records.columns
        else set()
    )
    if len(classes) == 1:
        notes.append(
            f"Only one class ('{next(iter(classes))}') is in these files: {entry.card.title} as"
            " given cannot train or test a detector."
        )
    task = question_of(entry.card)
    if task != TRUTH:
        notes.append(not_verdicts(task))
    if records["text"].null_count() == records.height:
        notes.append(
            "These files hold ids without text: checks of text are not possible until the texts are"
            " fetched."
        )
    return notes


def question_of(card: Card) -> str:
    """The task that the labels of a dataset answer, where it is a choice between classes."""
    task = TASKS.get(card.task) if card.task in TASKS.names() else None
    return TRUTH if task is None or task.metric != Task.metric else task.name


def published_rows(entry: Entry, variant: str) -> int | None:
    """The rows `variant` should have: as its entry states, or the card's size for a default that is
    not yet tested. Null if the entry says that no count is published."""
    if variant in entry.published_rows:
        return entry.published_rows[variant]
    default = next(iter(entry.variants), None)
    return entry.card.size if variant == default and not entry.tested else None


def rows_note(entry: Entry, variant: str, count: int) -> list[str]:
    """A sentence when there are other numbers of rows than published, by more than the tolerance,
    or fewer than were counted in the published files.
    """
    expected, counted = published_rows(entry, variant), entry.real_rows.get(variant, 0)
    where, missing = "Published", 0 if expected is None else abs(count - expected)
    if expected is None:
        where, expected, missing = "Counted in the published files", counted, counted - count
    if missing <= ROWS_TOLERATED * expected:
        return []
    return [
        f"{where}: {expected:,} rows, found: {count:,}. These files may be a part or another"
        f" version of {entry.card.title}, with other label shares."
    ]


def differences(entry: Entry) -> list[str]:
    """Where the published files that the loader was tested on differ from the card: rows, and
    shares of labels.
    """
    if not entry.tested:
        return []
    default = next(iter(entry.variants))
    stated, counted = entry.published_rows.get(default, entry.card.size), entry.real_rows[default]
    where = f"in the files that were tested (variant '{default}')"
    out = []
    if stated not in (None, counted):
        out.append(f"Rows: {stated:,} published, {counted:,} {where}.")
    verdicts = entry.maps.get("cdl")
    if entry.card.shares is None or verdicts is None or not entry.real_labels:
        return out
    tally = dict.fromkeys(VERACITIES, 0)
    for raw, n in entry.real_labels.items():
        tally[verdicts.verdict(raw) or "unknown"] += n
    tally["unknown"] += counted - sum(entry.real_labels.values())
    shares = {
        v: (share or 0, 100 * tally[v] / counted)
        for v, share in entry.card.shares.model_dump().items()
    }
    apart = [
        f"{v} {p:.2f}% and {f:.2f}%"
        for v, (p, f) in shares.items()
        if abs(f - p) >= ROUNDING_POINTS
    ]
    return [*out, f"Shares of labels, published and {where}: {'; '.join(apart)}."] if apart else out


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


def _end(card: Card) -> tuple[date | None, str]:
    """The last day that its records can be of, and why: the end its card gives, or the year of its
    paper.
    """
    year, why = card.time_end, f"though the card gives {card.time_end} as the end"
    if not year:
        year = max(_YEAR.findall(card.citation), default=None)
        why = f"though {card.title} was published in {year}"
    return (date(int(year[:4]), 12, 31) if year else None), why
