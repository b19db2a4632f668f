"""The figures on the page of a preset: between two comments, written from the folder of a finished
study.

`<!-- figures: Table 2: ... -->` is the table of the `[[show]]` with that title, `<!-- figures:
dataset=liar, train=seed -->` (on one line) the table of the grid with those values, and `<!--
figures: stamp -->` the line that says which code they are of. The block ends with `<!-- end -->`.
All else on the page is written by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from claimlab.pages.blocks import Table, cell
from claimlab.study.entry import with_cards
from claimlab.study.file import PublishedFigures, Show, StudyFile, TableView, paper_table
from claimlab.study.grid_tables import crossed, views
from claimlab.study.saved import DATA, REPORT, saved_study

BLOCK = re.compile(r"(?s)(<!-- figures: ([^\n]+?) -->\n).*?(<!-- end -->)")
CARDS = {  # fields of the catalogue's cards: table and column of the guide
    "offline_f1": ("Table 2", "F1 (Offline)"),
    "search_f1": ("Table 2", "F1 (Search)"),
    "keywords_tf": ("Table 6", "Keywords Predictivity T-F"),
    "keywords_tfm": ("Table 6", "Keywords Predictivity T-F-M"),
    "temporal": ("Table 8", "Temporal Predictivity (% F1)"),
}
STAMP = "stamp"


def written(page: str, folder: Path, stamp: str) -> str:
    """The page with the figures of the study in `folder`; an error where the study has no such
    table.
    """
    figures = figures_of(folder)
    return BLOCK.sub(
        lambda hit: f"{hit[1]}\n{stamp if hit[2] == STAMP else figures(hit[2])}\n\n{hit[3]}", page
    )


def figures_of(folder: Path) -> Callable[[str], str]:
    """What makes the block of a name: the table, and the line that says what of a paper is beside
    ours.
    """
    study, scored, _ = saved_study(folder)
    shown = json.loads((folder / REPORT / DATA).read_text(encoding="utf-8"))["shown"]
    grids = list(views(study, scored))

    def figures(name: str) -> str:
        if found := [table for table in shown if table["title"] == name]:
            show = next(show for show in study.show if show.title == name)
            return "\n\n".join(
                filter(None, [markdown(found[0]["columns"], found[0]["rows"]), _beside(show)])
            )
        asked = dict(pair.split("=", 1) for pair in re.split(r", (?=\w+=)", name))
        tables = [
            grid
            for grid in grids
            if all(str(grid[2].get(axis)) == value for axis, value in asked.items())
        ]
        if len(tables) != 1:
            raise SystemExit(
                f"'{name}' names {len(tables)} tables of {folder}; the choices are"
                f" {[g[2] for g in grids]}"
            )
        view, entries, where = tables[0]
        papers = with_cards(study)
        table = crossed(view, entries, where, published=papers)
        return "\n\n".join(
            filter(None, [markdown(table.columns, _texts(table)), _rows(study, view, table)])
        )

    return figures


def markdown(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(columns)
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, ["---"] * len(heads), *rows])


def _texts(table: Table) -> list[list[str]]:
    return [[cell(value).text for value in row] for row in table.rows]


def _beside(show: Show) -> str:
    """Where the figures in parentheses are printed."""
    if show.card:
        table, column = CARDS[show.card]
        return f"In parentheses: {table}, row of the dataset, column {column}."
    if not show.paper:
        return ""
    return f"In parentheses: {show.paper.split(', ')[1]}{_names(show.paper)}."


def _rows(study: StudyFile, view: TableView, table: Table) -> str:
    """Where the rows marked as published are printed."""
    if not any("published)" in cell(row[0]).text for row in table.rows):
        return ""
    parts = [part for part in study.published if any(_quotes(part, view, table))]
    lines = []
    for part in parts:
        if part.card:
            name, column = CARDS[part.card]
            lines.append(f"{name}, row of the dataset, column {column}")
        else:
            lines.append(
                f"{part.paper.split(', ')[1]}{_names(part.paper, {view.cells, *table.columns, *_first(table)})}"  # noqa: E501
            )
    return f"Published: {'; '.join(lines)}."


def _quotes(part: PublishedFigures, view: TableView, table: Table) -> Iterable[bool]:
    rows = {re.sub(r" \(.*published\)$", "", name) for name in _first(table)}
    for figure in part.figures:
        if part.card:
            yield str(figure.get(view.columns)) in table.columns
        else:
            here = (
                str(figure.get(view.rows)) in rows
                and str(figure.get(view.columns)) in table.columns
            )
            yield here and view.cells in figure


def _first(table: Table) -> list[str]:
    return [cell(row[0]).text for row in table.rows]


def _names(paper: str, only: set[str] | None = None) -> str:
    """The paper's words for ours, as rows and columns of its table."""
    names: dict[str, Any] = paper_table(paper).get("names", {})
    kept = [
        f"`{ours}` is “{theirs}”" for ours, theirs in names.items() if only is None or ours in only
    ]
    return f" ({', '.join(kept)})" if kept else ""
