"""The Markdown view: for a repository, an issue or a paper's appendix. Figures are files in
`plots/`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from claimlab.core.plain import one_line
from claimlab.core.version import __version__
from claimlab.pages.blocks import (
    Badge,
    Beside,
    Block,
    Card,
    Cell,
    Command,
    Figure,
    Fold,
    Forest,
    Grid,
    Inline,
    Items,
    Outer,
    Quote,
    Report,
    Results,
    Section,
    Shares,
    Steps,
    Table,
    Text,
    Tiles,
    anchor,
    cell,
    excerpt,
    inside,
    with_code,
)

PLOTS = "plots"  # the folder of figures
_SPECIAL = re.compile(r"([\\`*_{}\[\]#|~])")


def to_markdown(report: Report) -> str:
    head = [f"# {escape(report.title)}", escape(report.subtitle)]
    head += [f"**{escape(report.badge.rstrip('.'))}.**"] if report.badge else []
    body = [part for block in report.blocks for part in _parts(block, 2)]
    foot = " · ".join(filter(None, [escape(report.footer), f"claimlab {__version__}"]))
    return "\n\n".join(part for part in [*head, *body, "---", foot] if part) + "\n"


def escape(text: str) -> str:
    """Text that Markdown and the HTML inside it leave as it is, on one line."""
    line = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", line)


def _parts(block: Block, level: int) -> list[str]:
    if not isinstance(block, Outer):
        return [_part(block)]
    deeper = min(level + 1, 6) if isinstance(block, Section | Card) else level
    inner = [part for b in inside(block) for part in _parts(b, deeper)]
    match block:
        case Fold():
            return [f"**{escape(block.summary)}**", *inner]
        case Beside() | Grid():
            return inner
        case Card():
            return [f"{'#' * level} {escape(block.title)}", *inner]
        case Section():
            name = f'<a id="{anchor(block)}"></a>'
            return [name, f"{'#' * level} {escape(_title(block))}", *inner]


def _part(block: Inline) -> str:
    match block:
        case Text():
            links = ", ".join(f"[{escape(words)}]({where})" for words, where in block.links)
            text = " ".join(filter(None, [escape(block.text), links]))
            return {"plain": text, "conclusion": f"**{text}**"}.get(block.kind, f"> {text}")
        case Items():
            return "\n".join(f"- {with_code(item, _code, escape)}" for item in block.items)
        case Forest():
            return "\n".join(f"- {escape(row.words)}" for row in block.rows)
        case Results() | Badge() | Shares():
            return escape(block.words)
        case Steps():
            return "\n".join(
                f"{number}. **{escape(step)}** {escape(why)}".rstrip()
                for number, (step, why) in enumerate(block.steps, 1)
            )
        case Command():
            return "\n\n".join(filter(None, [_code(block.command), escape(block.does)]))
        case Tiles():
            tiles = (f"{escape(label)} **{escape(value)}**" for label, value, _ in block.tiles)
            return " · ".join(tiles)
        case Figure():
            figure = f"![{escape(block.alt)}]({PLOTS}/{block.name}.svg)\n" if block.name else ""
            return f"{figure}*{escape(block.caption)}*"
        case Quote():
            quoted = filter(None, [excerpt(block.text, 2_000), block.caption])
            return f"> {escape(' — '.join(quoted))}"
        case Table():
            return _table(block)


def _code(text: str) -> str:
    return f"`{one_line(text)}`"


def _title(section: Section) -> str:
    return f"{section.title}: {section.badge}" if section.badge else section.title


def _table(table: Table) -> str:
    rows = [[cell(value) for value in row] for row in table.rows]
    right = [
        bool(rows) and all(isinstance(r[i].sort, float) for r in rows)
        for i in range(len(table.columns))
    ]
    lines = [
        _row([escape(name) for name in table.columns]),
        _row(["---:" if r else "---" for r in right]),
        *(_row([_cell(c) for c in row]) for row in rows),
    ]
    caption = f"\n\n*{escape(table.caption)}*" if table.caption else ""
    return "\n".join(lines) + caption


def _cell(value: Cell) -> str:
    text = escape(value.text)
    if value.tone == "fail":
        text = f"**{text}**"
    if value.link:
        text = f"[{text}]({value.link})"
    return f'<a id="{value.anchor}"></a>{text}' if value.anchor else text


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
