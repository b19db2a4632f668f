"""Many cards at once, as the list that a terminal shows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from claimlab.catalog.entry import MARKS, Card, Entry, LoaderState, loader_state
from claimlab.catalog.sources import sources_of
from claimlab.catalog.views import mark_cell, years
from claimlab.pages.blocks import (
    Cell,
    Column,
    Table,
    cell,
)
from claimlab.pages.terminal import grid

# columns; at least this wide, there is room for two spaces between columns and for long names
ROOMY_COLUMNS = 100
LONG_NAME_COLUMNS = 24
# what is left of these, before they are left out in turn
CAN_GIVE = {"Title": 16, "Kind": 6, "Lang.": 5, "Topic": 6}
SIGNS = {"pass": "✓", "fail": "✗", "not assessed": "·"}
LEGEND = (
    "K, T, F: published verdicts on keywords, time and feasibility (✓ pass, ✗ fail, · not"
    " assessed).",
    "Load: 'by name' (claimlab load NAME downloads it), from 'files' that you get, or 'no' loader.",
)
LOADERS: dict[LoaderState, Cell] = {
    "tested on the published files": Cell("files"),
    "not yet tested": Cell("files", tone="warn", title="not yet tested on the published files"),
    "none": Cell("no", tone="not-measured"),
}


def listing(entries: Sequence[Entry], *, width: int, colour: bool = False) -> list[str]:
    """One line per dataset, in `width` columns; the name is never cut, since other commands ask for
    it.

    In a narrow terminal the few long names take a line of their own, so that they do not squeeze
    every other column.
    """
    gap, long = (2, width) if width >= ROOMY_COLUMNS else (1, LONG_NAME_COLUMNS)
    name = Column[Entry]("Name", lambda e: e.card.name if len(e.card.name) <= long else "")
    columns = [name, *LISTED]
    for head in [*CAN_GIVE, "Years"]:
        if _least(Table.of(columns, entries)) + gap * (len(columns) - 1) <= width:
            break
        columns = [column for column in columns if column.head != head]
    table = Table.of(columns, entries)
    whole = [head for head in table.columns if head not in CAN_GIVE]
    first, *lines = grid(table, width=width, colour=colour, whole=whole, cut=True, gap=gap)
    out = [first]
    for entry, line in zip(entries, lines, strict=True):
        out += [line] if name.of(entry) else [entry.card.name, line]
    return out


def _least(table: Table) -> int:
    """The columns that a table needs when all that can give have given."""
    natural = [
        max(len(cell(value).text) for value in [head, *(row[i] for row in table.rows)])
        for i, head in enumerate(table.columns)
    ]
    return sum(CAN_GIVE.get(head, wide) for head, wide in zip(table.columns, natural, strict=True))


def _sign(mark: str, entry: Entry) -> Cell:
    grade = mark_cell(entry.card, mark)
    return Cell(SIGNS[grade.text], sort=grade.text, tone=grade.tone, title=grade.text)


def rounded(size: int | None) -> str:
    """A size in few columns: exact below ten thousand, else to three figures."""
    if size is None:
        return "–"
    if size < 10_000:
        return f"{size:,}"
    unit, letter = (1_000_000, "M") if size >= 999_500 else (1_000, "k")
    return f"{size / unit:.{0 if size >= 100 * unit else 1}f}{letter}"


def languages(card: Card) -> str:
    """Codes of one or two languages, else how many there are."""
    count = max(len(card.languages), card.language_count or 0)
    if card.languages and count <= 2:
        return ", ".join(card.languages)
    return str(count or "–")


def how_to_load(entry: Entry) -> Cell:
    """By its name, from files that the user gets, or not at all."""
    if sources_of(entry.card.name) is not None:
        return Cell("by name")
    return LOADERS[loader_state(entry)]


SIGNED = tuple(Column[Entry](mark[0].upper(), partial(_sign, mark)) for mark in MARKS)
LISTED: tuple[Column[Entry], ...] = (
    Column("Title", "card.title"),
    Column("Size", lambda e: Cell(rounded(e.card.size), sort=float(e.card.size or 0))),
    Column("Kind", "card.modality", ", ".join),
    Column("Topic", "card.topic"),
    Column("Lang.", "card", languages),
    Column("Years", "card", years),
    *SIGNED,
    Column("Load", how_to_load),
)
