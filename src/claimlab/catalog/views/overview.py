"""Many cards at once: the list that a terminal shows, and the page with table, charts and a section
per dataset.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

from claimlab.catalog.card import Card
from claimlab.catalog.entry import MARKS, Entry, LoaderState, loader_state
from claimlab.catalog.query import phrases, span_of, unnamed_languages
from claimlab.catalog.views.card import card_blocks, heading, mark_cell, years
from claimlab.pages.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    Fold,
    Report,
    Section,
    Table,
    Text,
    Tiles,
    Tone,
    cell,
)
from claimlab.pages.terminal import grid, shorten

TITLE = "The catalogue"
# columns; at least this wide, there is room for two spaces between columns and for long names
ROOMY = 100
LONG_NAME = 24
CAN_GIVE = {
    "Title": 16,
    "Kind": 6,
    "Lang.": 5,
    "Topic": 6,
}  # what is left of these, before they are left out in turn
SIGNS = {"pass": "✓", "fail": "✗", "not assessed": "·"}
LEGEND = (
    (
        "K, T, F: published verdicts on keywords, time and feasibility (✓ pass, ✗ fail, · not"
        " assessed)."
    ),
    "Loader: 'tested' on the published files, 'not yet' tested on them, or 'none'.",
)
SIZES = {
    "up to 1,000": 1_000,
    "to 10,000": 10_000,
    "to 100,000": 100_000,
    "to 1 million": 1_000_000,
}
OVER = "over 1 million"
MOST_BARS = 24
CHART = 460  # narrow enough to be read on a phone


def listing(entries: Sequence[Entry], *, width: int, colour: bool = False) -> list[str]:
    """One line per dataset, in `width` columns; the name is never cut, since other commands ask for
    it.

    In a narrow terminal the few long names take a line of their own, so that they do not squeeze
    every other column.
    """
    gap, long = (2, width) if width >= ROOMY else (1, LONG_NAME)
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
    return (
        ", ".join(card.languages)
        if 0 < count <= 2 and card.languages
        else str(count)
        if count
        else "–"
    )


def report(entries: Sequence[Entry], *, criteria: str = "") -> Report:
    """One page: headline figures, a sortable table, charts, and a section per card."""
    states = Counter(loader_state(e) for e in entries)
    tiles: list[tuple[str, str, Tone]] = [
        ("datasets", str(len(entries)), "plain"),
        ("with a loader", str(len(entries) - states["none"]), "plain"),
        (
            "loader tested on the published files",
            str(states["tested on the published files"]),
            "plain",
        ),
        ("with evidence", str(sum(e.card.has_evidence for e in entries)), "plain"),
    ]
    cards = [
        Fold(heading(e), [Section(heading(e), card_blocks(e), anchor=anchor(e))]) for e in entries
    ]
    note = [Text(f"Only those that match: {criteria}", kind="note")] if criteria else []
    blocks: list[Block] = [
        Tiles(tiles),
        *note,
        Section("All datasets", [Text(NOTE), Table.of(PAGE, entries)], anchor="all-datasets"),
        Section("In figures", pictures(entries), anchor="in-figures"),
        Section("Cards", cards, anchor="cards"),
    ]
    return Report(TITLE, "What exists, what it is worth, how to get it.", blocks)


def anchor(entry: Entry) -> str:
    return f"dataset-{entry.card.name}"


NOTE = f"Sizes are as published. {LEGEND[0]} Click a column header to sort."


KIND = Column[Entry]("Kind", "card.modality", ", ".join)
TOPIC = Column[Entry]("Topic", "card.topic")
SIGNED = tuple(Column[Entry](mark[0].upper(), partial(_sign, mark)) for mark in MARKS)
LOADERS: dict[LoaderState, Cell] = {
    "tested on the published files": Cell("tested"),
    "not yet tested": Cell("not yet", tone="warn"),
    "none": Cell("none", tone="not-measured"),
}
LISTED: tuple[Column[Entry], ...] = (
    Column("Title", "card.title"),
    Column("Size", lambda e: Cell(rounded(e.card.size), sort=float(e.card.size or 0))),
    KIND,
    TOPIC,
    Column("Lang.", "card", languages),
    Column("Years", "card", years),
    *SIGNED,
    Column("Loader", loader_state, LOADERS.get),
)
PAGE: tuple[Column[Entry], ...] = (
    Column(
        "Dataset",
        lambda e: Cell(e.card.title, sort=e.card.title.casefold(), title=e.card.summary),
        link=lambda e: f"#{anchor(e)}",
    ),
    Column("Size", "card.size"),
    KIND,
    TOPIC,
    Column(
        "Languages",
        lambda e: Cell(languages(e.card), title=", ".join(e.card.languages) or None),
    ),
    # a word joiner: years stay on one line
    Column("Years", lambda e: years(e.card).replace("–", "–\u2060")),
    *SIGNED,
    Column(
        "Licence",
        lambda e: Cell(shorten(e.card.licence or "none stated", 18), title=e.card.licence),
    ),
    Column(
        "Loader",
        lambda e: Cell(loader_state(e), title=e.no_loader),
        tone=lambda e: "warn" if loader_state(e) == "not yet tested" else "plain",
    ),
)


def pictures(entries: Sequence[Entry]) -> list[Block]:
    """Kinds, topics, languages, sizes and the time that the data span. A dataset counts once in
    every bar it is in.
    """
    from claimlab.core.languages import describe
    from claimlab.pages.charts import spans, to_svg

    names = {
        code: lang.name for e in entries for code in e.card.languages if (lang := describe(code))
    }
    blocks: list[Block] = [
        *tally("Kinds", (m for e in entries for m in e.card.modality)),
        *tally("Topics", (topic for e in entries for topic in phrases(e.card.topic))),
        *tally(
            "Languages",
            (names.get(c, c) for e in entries for c in e.card.languages),
            _not_named(entries),
        ),
        *tally(
            "Sizes", (size_class(e.card.size) for e in entries), order=[*SIZES, OVER, "not known"]
        ),
    ]
    known = [(e.card.title, *span) for e in entries if (span := span_of(e))]
    if known:
        caption = (
            f"The time that the data span, where published: {len(known)} of {len(entries)}"
            " datasets."
        )
        blocks.append(
            Figure(
                to_svg(spans(sorted(known, key=lambda s: (s[1], s[2], s[0])), width=CHART)),
                caption,
                caption,
            )
        )
    return blocks


def tally(
    what: str, values: Iterable[str], more: str = "", order: Sequence[str] = ()
) -> list[Figure]:
    """Datasets per value as bars, the longest first unless an order is given; the tail is counted
    in the caption.
    """
    from claimlab.pages.charts import bars, to_svg

    counts = Counter(values)
    if not counts:
        return []
    ranked = [v for v in order if v in counts] or sorted(
        counts, key=lambda v: (-counts[v], v.casefold())
    )
    shown, rest = ranked[:MOST_BARS], ranked[MOST_BARS:]
    tail = f" {len(rest)} more are in no more datasets than the last." if rest else ""
    chart = bars(
        [{what: v, "datasets": counts[v]} for v in shown],
        category=what,
        value="datasets",
        width=CHART,
    )
    words = ", ".join(f"{v} {counts[v]}" for v in shown)
    return [
        Figure(to_svg(chart), f"{what}, by number of datasets.{tail}{more}", f"{what}: {words}")
    ]


def size_class(size: int | None) -> str:
    if size is None:
        return "not known"
    return next((name for name, most in SIZES.items() if size <= most), OVER)


def _not_named(entries: Sequence[Entry]) -> str:
    n = unnamed_languages(entries)
    return f" Not counted: {n} that give only the number of their languages." if n else ""
