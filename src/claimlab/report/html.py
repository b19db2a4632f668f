"""The HTML view: one self-contained page, no network, readable on a phone, light and dark, usable by keyboard."""

from __future__ import annotations

from functools import cache
from typing import Any

from claimlab import __version__
from claimlab.report.blocks import Block, Fold, Report, Section, cell


def to_html(report: Report) -> str:
    """`report` as one page. Everything that comes from data is escaped; only our own SVG is let through."""
    template = _environment().get_template("page.html.jinja")
    html: str = template.render(report=report, sections=outline(report.blocks), version=__version__)
    return html


def outline(blocks: Any) -> list[Section]:
    """The sections that the table of contents lists."""
    return [b for b in blocks if isinstance(b, Section)]


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    env = Environment(
        loader=PackageLoader("claimlab.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters["cell"] = cell
    env.filters["svg"] = lambda text: Markup(text)
    env.tests["of_kind"] = lambda block, kind: type(block).__name__ == kind
    env.globals["anchor"] = anchor
    return env


def anchor(section: Section) -> str:
    raw = section.anchor or section.title
    return "".join(c if c.isalnum() else "-" for c in raw.lower()).strip("-")


def walk(blocks: Any) -> list[Block]:
    """Every block, those inside sections and folds included."""
    out: list[Block] = []
    for block in blocks:
        out.append(block)
        if isinstance(block, Section | Fold):
            out.extend(walk(block.blocks))
    return out
