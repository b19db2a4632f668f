"""A report on disk: JSON holds everything; the page, Markdown, LaTeX and figures beside it are
views of it.

A room says what its report holds; this is the one place that refuses a taken folder and writes the
files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.atomic import atomic_folder
from claimlab.core.digest import write_parquet
from claimlab.core.guard import refuse_taken, seal_folder
from claimlab.pages.blocks import Figure, Report, Table, walk
from claimlab.pages.charts import svg_to_png, table_to_svg
from claimlab.pages.html import to_html_within
from claimlab.pages.latex import to_latex, to_latex_tables
from claimlab.pages.markdown import PLOTS, to_markdown

PAGE, MARKDOWN = "index.html", "report.md"
MOST_DRAWN = 250  # rows of a table that are drawn as PNG


@dataclass(frozen=True)
class Contents:
    """What a report folder holds. `pages` are versions of one report, the fullest first: the first
    that is small enough becomes the page, and the fullest gives Markdown and figures, whatever
    became of the page.
    """

    kind: str  # "audit report": what `force` may replace
    pages: Iterable[Report]
    data: Mapping[str, Any] = field(default_factory=dict)  # file name -> anything that JSON can say
    more_pages: Mapping[str, Iterable[Report]] = field(
        default_factory=dict
    )  # further pages, by file name
    papers: Mapping[str, Report] = field(default_factory=dict)  # LaTeX documents, by file name
    # LaTeX tables alone, for a paper of one's own, by file name
    paper_tables: Mapping[str, Sequence[Table]] = field(default_factory=dict)
    files: Mapping[str, str | pl.DataFrame] = field(
        default_factory=dict
    )  # text, or a table to write as Parquet
    aim: int | None = None  # bytes that the page should have at most; a shorter one is written


def write_report(
    contents: Contents, folder: Path, *, force: bool = False, reads: Sequence[Path] = ()
) -> None:
    """Write the report folder in one atomic step; `force` replaces an older report of the same
    kind.
    """
    refuse_taken(folder, force=force, kind=contents.kind, reads=reads)
    with atomic_folder(folder) as building:
        fill(contents, building)


def fill(contents: Contents, folder: Path) -> None:
    """Write the files into `folder`: for a report that is a part of a larger folder."""
    folder.mkdir(exist_ok=True)
    for name, value in contents.data.items():
        _write(folder / name, json.dumps(value, ensure_ascii=False, indent=1) + "\n")
    versions = iter(contents.pages)
    fullest = next(versions)
    _write(folder / PAGE, to_html_within(chain([fullest], versions), aim=contents.aim))
    for name, pages in contents.more_pages.items():
        _write(folder / name, to_html_within(pages))
    _write(folder / MARKDOWN, to_markdown(fullest))
    for name, paper in contents.papers.items():
        _write(folder / name, to_latex(paper))
    for name, tables in contents.paper_tables.items():
        _write(folder / name, to_latex_tables(tables))
        if 0 < sum(len(table.rows) for table in tables) <= MOST_DRAWN:
            picture = svg_to_png(table_to_svg(tables))
            (folder / name).with_suffix(".png").write_bytes(picture)
    for name, content in contents.files.items():
        if isinstance(content, pl.DataFrame):
            write_parquet(content, folder / name)
        else:
            _write(folder / name, content)
    _write_figures(fullest, folder / PLOTS)
    seal_folder(folder, contents.kind)


def _write_figures(report: Report, folder: Path) -> None:
    """Every named figure as SVG and as PNG."""
    for figure in walk(report.blocks):
        if isinstance(figure, Figure) and figure.name:
            folder.mkdir(exist_ok=True)
            _write(folder / f"{figure.name}.svg", figure.svg + "\n")
            (folder / f"{figure.name}.png").write_bytes(svg_to_png(figure.svg))


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
