"""What a report is made of, without saying how it looks: HTML, Markdown and LaTeX are views of the
same blocks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, Generic, Literal, TypeVar

from claimlab.core.graphemes import beginning
from claimlab.core.plain import one_line

_CODE = re.compile(r"`([^`]+)`")
NARROW_PIXELS = 480  # pixels of a figure that a phone can show whole
Tone = Literal["fail", "warn", "inconclusive", "pass", "not-measured", "not-applicable", "plain"]
Row = TypeVar("Row")


@dataclass(frozen=True)
class Cell:
    """A table cell: what to show, what to sort by, how it is toned, where it leads."""

    text: str
    sort: float | str | None = None
    tone: Tone = "plain"
    link: str | None = None
    title: str | None = None  # shown on hover, read by screen readers
    anchor: str = ""  # a name that links can lead to


Value = Cell | str | int | float | None  # what a table takes; see `cell`


@dataclass(frozen=True)
class Column(Generic[Row]):
    """One column of a table: its head, what it shows of a row, and how that is written.

    `value` is a function of the row, the position in it, or the name of an attribute or key, dotted
    for one inside another ("scores.accuracy"); by default the name is made of the head ("Right
    answers": right_answers). `format` writes the value, unless it is null: then `missing` is shown.
    """

    head: str
    value: str | int | Callable[[Row], object] | None = None
    format: Callable[[Any], Value] | None = None
    missing: Value = None
    link: Callable[[Row], str | None] | None = None
    tone: Callable[[Row], Tone] | None = None
    optional: bool = False  # left out where it says nothing of any row

    def of(self, row: Row) -> Value:
        """What the column shows of `row`."""
        value = self._value_of(row)
        content = self.missing if value is None else self.format(value) if self.format else value
        if self.link is not None:
            content = replace(cell(content), link=self.link(row))
        return content if self.tone is None else replace(cell(content), tone=self.tone(row))

    def _value_of(self, row: Any) -> Any:
        if callable(self.value):
            return self.value(row)
        if isinstance(self.value, int):
            return row[self.value]
        for name in (self.value or self.head.lower().replace(" ", "_")).split("."):
            if row is None:
                return None
            row = row[name] if isinstance(row, Mapping) else getattr(row, name)
        return row


Columns = tuple[Column[Row], ...]


@dataclass(frozen=True)
class Text:
    """A paragraph, and links (words, where they lead) behind it. `kind` lets a view set asides
    apart; the links of an action are buttons.
    """

    text: str
    kind: Literal["plain", "note", "warning", "conclusion", "action"] = "plain"
    links: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Items:
    """A list of short sentences; what is between backticks is code."""

    items: Sequence[str]
    steps: bool = False  # each ends in commands, which get lines of their own


@dataclass(frozen=True)
class Tiles:
    """A row of headline figures: (label, value, tone)."""

    tiles: Sequence[tuple[str, str, Tone]]


@dataclass(frozen=True)
class Table:
    """Rows of cells; plain strings and numbers are taken as they are. Numeric columns are aligned
    right.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    caption: str = ""
    sortable: bool = True
    upright: bool = False  # many narrow columns: vertical headers, and a sticky first column

    @classmethod
    def of(
        cls,
        columns: Iterable[Column[Row]],
        rows: Iterable[Row],
        caption: str = "",
        *,
        sortable: bool = True,
    ) -> Table:
        """The table that `columns` make of `rows`."""
        listed = list(rows)
        heads, contents = [], []
        for column in columns:
            values = [column.of(row) for row in listed]
            if not column.optional or any(value not in (None, "") for value in values):
                heads.append(column.head)
                contents.append(values)
        return cls(heads, list(zip(*contents, strict=True)), caption, sortable)

    def _repr_html_(self) -> str:
        """For notebooks: the table as it is."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        rows = (
            "".join(f"<td>{escape(cell(value).text)}</td>" for value in row) for row in self.rows
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


@dataclass(frozen=True)
class Figure:
    """A figure as SVG text, with a text alternative; `name` is its file name without the suffix."""

    svg: str
    caption: str
    alt: str
    name: str = ""

    @property
    def narrow(self) -> bool:
        """Whether it is readable on a phone without scrolling, because it is not much wider than
        one.
        """
        width = re.search(r'<svg[^>]* width="(\d+)', self.svg)
        return width is not None and int(width[1]) <= NARROW_PIXELS


@dataclass(frozen=True)
class Quote:
    """Text from a dataset or a model: untrusted, shown as it is and escaped."""

    text: str
    caption: str = ""


@dataclass(frozen=True)
class Fold:
    """Blocks behind a line that opens."""

    summary: str
    blocks: Sequence[Block]
    open: bool = False


@dataclass(frozen=True)
class Section:
    title: str
    blocks: Sequence[Block]
    anchor: str = ""
    tone: Tone = "plain"
    badge: str = ""  # a word beside the title, such as a verdict
    # behind its title, which opens; then `says` is a line beside the title
    folded: bool = False
    says: str = ""


@dataclass(frozen=True)
class Results:
    """How many results there are of each tone, as one mark for each, and in words."""

    counts: Mapping[Tone, int]

    @property
    def words(self) -> str:
        return " · ".join(f"{n:,} {tone.replace('-', ' ')}" for tone, n in self.counts.items() if n)


@dataclass(frozen=True)
class Badge:
    """A verdict in a few words."""

    words: str
    tone: Tone


@dataclass(frozen=True)
class Shares:
    """How many records there are of each class, as one bar."""

    counts: Mapping[str, int]

    @property
    def words(self) -> str:
        return ", ".join(f"{n:,} {name}" for name, n in self.counts.items())

    @property
    def parts(self) -> list[tuple[str, float, float]]:
        """The class, where its part begins and how long it is, in percent of the bar."""
        parts, start, total = [], 0.0, sum(self.counts.values()) or 1
        for name, n in self.counts.items():
            share = 100 * n / total
            known = name if name in ("true", "false", "mixed") else "other"
            parts.append((known, round(start, 2), round(share, 2)))
            start += share
        return parts


@dataclass(frozen=True)
class Score:
    """A line of a `Forest`; scores are shares of 1."""

    name: str
    score: float
    interval: tuple[float, float] | None = None
    chance: float | None = None
    tone: Tone = "plain"
    link: str | None = None

    @property
    def words(self) -> str:
        within = "" if self.interval is None else f" ({span(self.interval).text})"
        beside = "" if self.chance is None else f", chance {100 * self.chance:.1f}"
        tone = "" if self.tone == "plain" else f": {self.tone.replace('-', ' ')}"
        return f"{self.name} {100 * self.score:.1f}{within}{beside}{tone}"


@dataclass(frozen=True)
class Forest:
    """Scores below each other, each a dot with its interval, against chance."""

    rows: Sequence[Score]
    about: str

    @property
    def ticks(self) -> list[int]:
        """Tens of percent, from below the lowest mark to 100."""
        marks = [
            value
            for row in self.rows
            for value in (row.score, row.chance, *(row.interval or ()))
            if value is not None
        ]
        return list(range(10 * math.floor(10 * min(marks, default=0.4)), 101, 10))

    @property
    def chance(self) -> float | None:
        """That of most rows."""
        values = [row.chance for row in self.rows if row.chance is not None]
        return max(values, key=values.count, default=None)

    def at(self, share: float) -> float:
        """Where a share is along the axis, in percent of its length."""
        low = self.ticks[0] - 2
        return round(100 * (100 * share - low) / (102 - low), 2)


@dataclass(frozen=True)
class Steps:
    """What to do, in order: each step in a few words, and why in a sentence."""

    steps: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Command:
    """A command to copy, and what it does."""

    command: str
    does: str = ""


@dataclass(frozen=True)
class Card:
    """Blocks that belong together, in a frame."""

    title: str
    blocks: Sequence[Block]
    note: str = ""  # beside the title
    anchor: str = ""
    link: str = ""  # where the title leads


@dataclass(frozen=True)
class Beside:
    """Columns of blocks, beside each other where there is room; the first is the widest."""

    columns: Sequence[Sequence[Block]]


@dataclass(frozen=True)
class Grid:
    """Cards of one size, as many beside each other as there is room for; chips show only those
    that have a word."""

    cards: Sequence[Card]
    chips: Sequence[str] = ()


Marks = Results | Badge | Shares  # what is shown as marks, and has words
Plain = Text | Items | Tiles | Figure | Quote | Marks | Forest | Steps | Command
Inline = Plain | Table
Outer = Fold | Section | Card | Beside | Grid  # blocks that hold others
Block = Inline | Outer
Blocks = list[Block]


@dataclass(frozen=True)
class Report:
    title: str
    subtitle: str = ""
    blocks: Sequence[Block] = field(default_factory=list)
    footer: str = ""
    badge: str = ""  # beside the title, such as a verdict
    tone: Tone = "plain"


def cell(value: Value) -> Cell:
    """Any value as a cell: numbers keep their order, null is a dash."""
    if isinstance(value, Cell):
        return value
    if value is None:
        return Cell("–", sort=float("-inf"))
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    if isinstance(value, int):
        return Cell(f"{value:,}", sort=float(value))
    if isinstance(value, float):
        return Cell(f"{value:,.3g}", sort=value)
    return Cell(value)


def decimal(value: float | None, digits: int = 1) -> Cell:
    """A figure with this many decimal places."""
    return cell(None) if value is None else Cell(f"{value:.{digits}f}", sort=value)


def percent(value: float | None, digits: int = 1, sign: str = "") -> Cell:
    """A share of 1, in percent."""
    return cell(None) if value is None else Cell(f"{100 * value:{sign}.{digits}f}", sort=value)


def span(interval: tuple[float, float] | None, sign: str = "") -> Cell:
    """An interval of shares of 1, in percent."""
    low, high = (percent(end, sign=sign) for end in interval or (None, None))
    return low if interval is None else replace(low, text=f"{low.text} to {high.text}")


def points(value: float | None) -> Cell:
    """A difference of two shares of 1, in percentage points, its sign shown."""
    return percent(value, sign="+")


def points_span(interval: tuple[float, float] | None) -> Cell:
    """An interval of such differences."""
    return span(interval, "+")


def probability(p: float | None) -> Cell:
    """A p-value; the smallest are only bounded."""
    return cell(None) if p is None else Cell("< 0.001" if p < 0.001 else f"{p:.3f}", sort=p)


def excerpt(text: str, limit: int = 300) -> str:
    """Text from a dataset, which is untrusted, made fit to be shown: at most `limit` characters on
    one line; what is cut ends in an ellipsis. Views escape what they print; this bounds it.
    """
    head = text[: 4 * limit + 16]  # a megabyte need not be searched to show its first line
    line = one_line(head)
    if len(line) <= limit and len(head) == len(text):
        return line
    return beginning(line, limit - 1).rstrip() + "…"


def short(limit: int) -> Callable[[object], str]:
    """How a column writes text from data: on one line, in at most `limit` characters."""
    return lambda text: excerpt(str(text), limit)


def with_code(text: str, code: Callable[[str], str], plain: Callable[[str], str]) -> str:
    """`text` with `code` made of what is between two backticks, and `plain` of the rest; spaces
    around code stay.
    """
    parts = _CODE.split(text)
    for number, part in enumerate(parts):
        rest = (
            f"{' ' * (part[:1] == ' ')}{plain(part)}{' ' * (part[-1:] == ' ')}"
            if part.strip()
            else part
        )
        parts[number] = code(part) if number % 2 else rest
    return "".join(parts).strip()


def walk(blocks: Sequence[Block]) -> Blocks:
    """Every block in reading order, those inside sections and folds included."""
    out: Blocks = []
    for block in blocks:
        out.append(block)
        if isinstance(block, Outer):
            out.extend(walk(inside(block)))
    return out


def inside(block: Outer) -> Sequence[Block]:
    """The blocks that a block holds, in reading order."""
    match block:
        case Beside():
            return [inner for column in block.columns for inner in column]
        case Grid():
            return block.cards
        case _:
            return block.blocks


def anchor(section: Section) -> str:
    """The name that links lead to: the section's own, or one made of its title."""
    raw = section.anchor or section.title
    return "".join(c if c.isalnum() else "-" for c in raw.lower()).strip("-")
