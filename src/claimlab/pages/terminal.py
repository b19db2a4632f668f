"""The terminal view: blocks as plain text that fits a width, with colour only where a caller asks
for it.

Text from data is escaped first: a control or direction character in a claim could repaint the
terminal.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Collection, Iterable, Sequence

from claimlab.core.graphemes import graphemes, line_parts
from claimlab.core.plain import plain
from claimlab.pages.blocks import (
    Badge,
    Block,
    Card,
    Cell,
    Command,
    Figure,
    Fold,
    Forest,
    Items,
    Outer,
    Plain,
    Quote,
    Results,
    Section,
    Shares,
    Steps,
    Table,
    Text,
    Tiles,
    cell,
    inside,
)

GAP_COLUMNS = 2
LEAST_COLUMNS = 5  # a column is not made narrower than this
STYLES = {
    "fail": "31",
    "warn": "33",
    "inconclusive": "35",
    "pass": "32",
    "not-measured": "2",
    "not-applicable": "2",
    "head": "1",
}


def to_text(blocks: Iterable[Block], *, width: int = 80, colour: bool = False) -> str:
    """`blocks` as lines of at most `width` columns."""
    return "\n".join(
        _squeeze(line for block in blocks for line in [*_lines(block, width, colour), ""])
    )


def grid(
    table: Table,
    *,
    width: int,
    colour: bool = False,
    whole: Collection[str] = (),
    cut: bool = False,
    gap: int = GAP_COLUMNS,
) -> list[str]:
    """A table as lines. When it is too wide, the widest columns are cut, but never those named in
    `whole`.

    Cells that do not fit are wrapped, or with `cut` end in an ellipsis, so that each row stays one
    line.
    """
    rows = [[cell(value) for value in row] for row in table.rows]
    heads = [Cell(name) for name in table.columns]
    natural = _natural(table)
    fixed = {i for i, name in enumerate(table.columns) if name in whole}
    widths = fit(natural, width - gap * (len(heads) - 1), fixed)
    right = [bool(rows) and all(_is_figure(r[i]) for r in rows) for i in range(len(heads))]
    lines = []
    if any(table.columns):
        lines += _row(heads, widths, right, gap, colour, cut=True, style="head")
    for row in rows:
        lines += _row(row, widths, right, gap, colour, cut=cut)
    return lines


def natural_width(table: Table) -> int:
    """How many columns of a terminal a table takes when nothing is cut or wrapped."""
    widths = _natural(table)
    return sum(widths) + GAP_COLUMNS * (len(widths) - 1)


def _natural(table: Table) -> list[int]:
    rows = [[cell(value).text for value in row] for row in table.rows]
    columns = zip(table.columns, *rows, strict=True)
    return [max(columns_of(clean(text)) for text in column) for column in columns]


def fit(natural: Sequence[int], room: int, fixed: Collection[int] = ()) -> list[int]:
    """Widths that sum to at most `room`, taken from the widest columns first, as far as they can
    give.
    """
    widths = list(natural)
    while sum(widths) > room:
        can_give = [i for i, w in enumerate(widths) if i not in fixed and w > LEAST_COLUMNS]
        if not can_give:
            break
        widths[max(can_give, key=lambda i: widths[i])] -= 1
    return widths


def clean(text: str) -> str:
    """`text` on one line, without characters that steer a terminal or turn the direction of
    writing.
    """
    return plain(re.sub(r"[\t\n\r]", " ", text))


def columns_of(text: str) -> int:
    """How many columns a terminal takes for `text`: two for wide characters, none for combining
    marks.
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` columns; what is cut ends in an ellipsis."""
    if columns_of(text) <= width:
        return text
    taken, used = "", 0
    for seen in graphemes(text[: 16 * width]):
        used += columns_of(seen)
        if used > width - 1:
            break
        taken += seen
    return taken.rstrip() + "…"


def bar(share: float, width: int) -> str:
    """A bar of `share` (0 to 1) of `width` columns, to an eighth of a column; anything above
    nothing is seen.
    """
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    if share > 0 and eighths == 0:
        eighths = 1
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def _lines(block: Block, width: int, colour: bool) -> list[str]:
    if isinstance(block, Section):
        return _section(block, width, colour)
    if isinstance(block, Table):
        return [*grid(block, width=width, colour=colour), *_wrapped(block.caption, width)]
    if isinstance(block, Card):
        return _section(Section(block.title, block.blocks), width, colour)
    if isinstance(block, Outer):
        inner = [line for b in inside(block) for line in _lines(b, width, colour)]
        return [*_wrapped(block.summary if isinstance(block, Fold) else "", width), *inner]
    lines = [
        line for words, first, rest in _words(block) for line in _wrapped(words, width, first, rest)
    ]
    warning = isinstance(block, Text) and block.kind == "warning"
    return [_styled(line, "warn", colour) for line in lines] if warning else lines


def _section(section: Section, width: int, colour: bool) -> list[str]:
    title = shorten(clean(": ".join(filter(None, [section.title, section.badge]))), width)
    inner = [line for b in section.blocks for line in [*_lines(b, width, colour), ""]]
    style = "head" if section.tone == "plain" else section.tone
    return [_styled(title, style, colour), "─" * columns_of(title), *inner]


def _words(block: Plain) -> list[tuple[str, str, str]]:
    """The paragraphs of a block: the words, and how the first line and the others are indented."""
    match block:
        case Text():
            return [(("Note: " if block.kind == "note" else "") + block.text, "", "")]
        case Items():
            return [(item, "- ", "  ") for item in block.items]
        case Quote():
            return [(words, "  ", "  ") for words in (block.text, block.caption)]
        case Tiles():
            return [(" · ".join(f"{value} {label}" for label, value, _ in block.tiles), "", "")]
        case Figure():
            return [(f"[{block.alt}]", "", "")]
        case Forest():
            return [(row.words, "- ", "  ") for row in block.rows]
        case Results() | Badge() | Shares():
            return [(block.words, "", "")]
        case Steps():
            return [
                (f"{step}. {why}", f"{number} ", "  ")
                for number, (step, why) in enumerate(block.steps, 1)
            ]
        case Command():
            return [(block.command, "    ", "      "), (block.does, "", "")]


def _row(
    cells: Sequence[Cell],
    widths: Sequence[int],
    right: Sequence[bool],
    gap: int,
    colour: bool,
    *,
    cut: bool,
    style: str | None = None,
) -> list[str]:
    columns = []
    for value, width in zip(cells, widths, strict=True):
        text = clean(value.text)
        columns.append([shorten(text, width)] if cut else _wrapped(text, width) or [""])
    lines = []
    for number in range(max(map(len, columns))):
        parts = []
        for column, value, width, to_right in zip(columns, cells, widths, right, strict=True):
            text = column[number] if number < len(column) else ""
            pad = " " * (width - columns_of(text))
            styled = _styled(text, style or value.tone, colour) if text else ""
            parts.append(pad + styled if to_right else styled + pad)
        lines.append((" " * gap).join(parts).rstrip())
    return lines


def _wrapped(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Lines of `text`, not broken at hyphens, since names and options have them."""
    room = max(width, LEAST_COLUMNS)
    words = clean(text)
    if columns_of(words) == len(words):
        return textwrap.wrap(
            words, room, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
        )
    return _by_columns(words, room, first, rest)


def _by_columns(text: str, width: int, first: str, rest: str) -> list[str]:
    """The same for text with wide characters or signs above and below others, which `textwrap`
    counts as one column each: lines end between words, also where a script writes no spaces, and a
    word that is longer than a line between two characters.
    """
    room = width - max(columns_of(first), columns_of(rest))
    lines = [""]
    for part in line_parts(" ".join(text.split())):
        fits = columns_of(part.rstrip()) <= room
        for piece in [part] if fits else graphemes(part):
            if columns_of((lines[-1] + piece).rstrip()) > room:
                lines.append("")
            lines[-1] += piece
    indents = [first, *[rest] * (len(lines) - 1)]
    whole = [indent + line.rstrip() for indent, line in zip(indents, lines, strict=True)]
    return [line for line in whole if line.strip()]


def _squeeze(lines: Iterable[str]) -> list[str]:
    """Lines without empty ones at the end or two in a row: nested blocks each end in one."""
    out: list[str] = []
    for line in lines:
        if line or (out and out[-1]):
            out.append(line)
    return out[:-1] if out and not out[-1] else out


def _is_figure(value: Cell) -> bool:
    return isinstance(value.sort, int | float) and not value.text[:1].isalpha()


def _styled(text: str, style: str, colour: bool) -> str:
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if colour and style in STYLES else text


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
