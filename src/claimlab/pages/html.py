"""The HTML view: one self-contained page, no network, readable on a phone, light and dark, usable
by keyboard.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import groupby
from typing import Any

from claimlab.core.errors import ClaimlabError
from claimlab.core.plain import plain
from claimlab.core.version import __version__
from claimlab.pages.blocks import (
    Beside,
    Block,
    Card,
    Cell,
    Grid,
    Report,
    Section,
    Text,
    Tiles,
    anchor,
    cell,
)

_CODE = re.compile(r"`([^`]+)`")
PARTS = (Section, Card, Beside, Grid, Tiles)  # what has a frame of its own on a page
MAX_BYTES = 2_000_000  # a page that opens at once, even on a phone


_RTL = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_QUOTED_RTL = re.compile(rf"(&#39;)([^&<>{{}}]*?[{_RTL}][^&<>]*?)(&#39;)")


def to_html(report: Report) -> str:
    """`report` as one page. Everything that comes from data is escaped; only our own SVG is let
    through.
    """
    template = environment().get_template("page.html.jinja")
    contents = outline(report.blocks)
    blocks = _framed(report.blocks)
    html: str = template.render(
        report=report, blocks=blocks, contents=contents, version=__version__
    )
    return html


def _framed(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, with those between the parts of the page in cards of their own; links and notes
    alone need none.
    """
    framed: list[Block] = []
    for apart, group in groupby(blocks, lambda block: isinstance(block, PARTS)):
        members = list(group)
        framed += members if apart or all(map(_aside, members)) else [Card("", members)]
    return framed


def _aside(block: Block) -> bool:
    return isinstance(block, Text) and (not block.text or block.kind in ("action", "note"))


def to_html_within(
    versions: Iterable[Report], limit: int = MAX_BYTES, aim: int | None = None
) -> str:
    """The first of `versions`, fullest first, whose page has at most `aim` bytes; where none has,
    the shortest, if it is within `limit`."""
    html, size = "", limit + 1
    for report in versions:
        html = to_html(report)
        size = len(html.encode("utf-8"))
        if size <= (limit if aim is None else aim):
            return html
    if size <= limit:
        return html
    raise ClaimlabError(
        f"Even the shortest page has more than {limit:,} bytes.",
        "Report on fewer datasets at a time; nothing is lost.",
    )


def outline(blocks: Sequence[Block]) -> list[Section]:
    """The sections that the table of contents lists."""
    return [b for b in blocks if isinstance(b, Section)]


def _isolated(escaped: str) -> str:
    """Words in quotation marks that are read from the right, each by itself: in a list of them the
    commas would change sides.
    """
    return _QUOTED_RTL.sub(r"\1<bdi>\2</bdi>\3", escaped)


@cache
def environment(*packages: str) -> Any:
    """Our templates, and before them those in the folder `templates` of other packages: what
    escapes is the same.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    env = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in (*packages, "claimlab.pages")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters["cell"] = cell
    env.filters["svg"] = lambda text: Markup(text)
    env.filters["sort_key"] = sort_key
    env.filters["isolated"] = lambda text: Markup(_isolated(str(escape(plain(text)))))
    env.filters["with_code"] = lambda text: Markup(
        _CODE.sub(r"<code>\1</code>", _isolated(str(escape(plain(text)))))
    )
    env.filters["pretty"] = lambda value: json.dumps(
        value, ensure_ascii=False, indent=1, default=str
    )
    env.tests["of_kind"] = lambda block, kind: type(block).__name__ == kind
    env.globals["anchor"] = anchor
    return env


def _harmless(value: Any) -> Any:
    """What the page prints: text of ours that is markup already stays, all other text loses what
    steers.
    """
    return plain(value) if type(value) is str else value


def sort_key(value: Cell) -> float | str | None:
    """What the page sorts a cell by, as JavaScript reads it."""
    if isinstance(value.sort, float) and math.isinf(value.sort):
        return "-Infinity" if value.sort < 0 else "Infinity"
    return value.sort
