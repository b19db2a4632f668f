"""The tables of a study: the grid over any two axes, each figure with its interval and a link to
its runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import polars as pl

from claimlab.core.settings import one_of
from claimlab.core.stats.chance import STAR
from claimlab.core.types import JsonObject
from claimlab.evaluate.views.tables import chance
from claimlab.files.cells import escape_cells
from claimlab.pages.blocks import Cell, Table, percent, span
from claimlab.study.entry import TRIVIAL, Entry
from claimlab.study.file import Published
from claimlab.study.published import Row, published_rows
from claimlab.study.run import STEPS_FOLDER
from claimlab.study.step import NONE

MEASURES = {
    "macro_f1": "macro-F1",
    "accuracy": "accuracy",
    "difference": "difference to the baseline",
    "records": "test records",
}
RANDOM = "random"
PLURAL = {axis: f"{axis}s" for axis in ("part", "dataset", "split", "detector", "task")}


def others(scored: Sequence[Entry], rows: str, columns: str) -> list[JsonObject]:
    """The combinations of all axes that the table does not show: one table each."""
    axes = list(scored[0].axes)
    one_of(axes, rows, "rows")
    one_of(axes, columns, "columns")
    rest = [axis for axis in axes if axis not in (rows, columns)]
    cells = {tuple(entry.axes[axis] for axis in rest): None for entry in scored}
    return [dict(zip(rest, values, strict=True)) for values in cells]


def crossed(
    scored: Sequence[Entry],
    rows: str,
    columns: str,
    measure: str,
    where: Mapping[str, Any],
    *,
    published: Sequence[Published] = (),
    gap: Sequence[Any] = (),
    link: bool = False,
) -> Table:
    """One axis down, one across, and a measure in each cell; a published figure is a row below
    ours, or the last.
    """
    one_of(list(MEASURES), measure, "cells")
    mine = [e for e in scored if all(e.axes[axis] == value for axis, value in where.items())]
    down = list(dict.fromkeys(e.axes[rows] for e in mine))
    across = list(dict.fromkeys(e.axes[columns] for e in mine))
    at = {(e.axes[rows], e.axes[columns]): e for e in mine}
    body: list[Row] = [
        [str(d), *(_shown(at.get((d, a)), measure, link=link) for a in across)] for d in down
    ]
    known = {axis: {e.axes[axis] for e in scored} for axis in where}
    heads = [rows, *map(str, across)]
    if len(gap) == 2 and set(gap) <= set(across):
        heads.append(f"{gap[0]} less {gap[1]}")
        body = [
            [*line, _gap(at.get((d, gap[0])), at.get((d, gap[1])), measure)]
            for d, line in zip(down, body, strict=True)
        ]
    theirs = published_rows(published, rows, across, columns, measure, where, known)
    padded = [(about, [*line, *(Cell("") for _ in heads[len(line) :])]) for about, line in theirs]
    ours = [
        [line, *(each for about, each in padded if about == d)]
        for d, line in zip(down, body, strict=True)
    ]
    body = [*chain.from_iterable(ours), *(each for about, each in padded if about not in down)]
    return Table(heads, body, caption=_caption(measure, rows, columns, where, mine))


def _caption(
    measure: str, rows: str, columns: str, where: Mapping[str, Any], mine: Sequence[Entry]
) -> str:
    """What the table shows, of which setting, and what its stars say."""
    sides = f"rows: {PLURAL.get(rows, rows)}, columns: {PLURAL.get(columns, columns)}"
    named = next((e.against for e in mine if e.against), TRIVIAL)
    shown = f"difference to {named}" if measure == "difference" else MEASURES[measure]
    parts = [f"{shown}; {sides}.", f"{words(where)}." if words(where) else ""]
    if any(starred(entry, measure) for entry in mine):
        parts.append(_star(measure, named))
    return " ".join(filter(None, parts))


def _star(measure: str, named: str) -> str:
    above = STAR.format("figures of this study")
    if measure != "difference" or named == TRIVIAL:
        return above
    clear = (
        "* clear of zero: p below 0.05, corrected by Holm's method for all figures of this study"
    )
    return f"{clear}; where it is above zero, also {above[2:]}"


def starred(entry: Entry, measure: str) -> bool:
    """Whether a figure has a star: the score is above chance, or its difference is clear of it. No
    other figure is tested."""
    return {"macro_f1": entry.chance.beaten, "difference": entry.differs}.get(measure, False)


def _gap(first: Entry | None, second: Entry | None, measure: str) -> Cell:
    above, below = getattr(first, measure, None), getattr(second, measure, None)
    return percent(None if above is None or below is None else above - below)


def _shown(entry: Entry | None, measure: str, *, link: bool) -> Cell:
    if entry is None:
        return Cell("", sort=float("-inf"))
    value = getattr(entry, measure)
    if value is None and measure == "difference" and entry.against is None and not entry.failed:
        return Cell("baseline")
    if value is None:
        return Cell(
            "failed" if entry.failed else "not measured", tone="not-measured", title=entry.failed
        )
    if measure == "records":
        return Cell(f"{value:,}", sort=float(value))
    ends = {"macro_f1": entry.interval, "difference": entry.difference_interval}.get(measure)
    star = "*" if starred(entry, measure) else ""
    text = f"{percent(value).text}{star}" + (
        f" ({100 * ends[0]:.1f} to {100 * ends[1]:.1f})" if ends else ""
    )
    shown = Cell(text, sort=value)
    return linked(shown, entry) if link else shown


def linked(cell: Cell, entry: Entry) -> Cell:
    """The cell as a link to the run of the first seed, from the page in the folder beside the
    steps.
    """
    return (
        cell
        if entry.failed or not entry.runs
        else replace(cell, link=f"../{STEPS_FOLDER}/{entry.runs[0]}")
    )


def drops(scored: Sequence[Entry]) -> Table | None:
    """The same setting under a random split and under each other one."""
    if "split" not in scored[0].axes:
        return None
    at = {tuple(e.axes.values()): e for e in scored}
    rows: list[Row] = []
    for entry in scored:
        random = at.get(
            tuple(RANDOM if axis == "split" else value for axis, value in entry.axes.items())
        )
        if (
            entry.axes["split"] == RANDOM
            or random is None
            or random.macro_f1 is None
            or entry.macro_f1 is None
        ):
            continue
        names = [str(v) for axis, v in entry.axes.items()]
        rows.append(
            [
                *names,
                linked(percent(random.macro_f1), random),
                linked(percent(entry.macro_f1), entry),
                percent(round(random.macro_f1 - entry.macro_f1, 3) + 0.0),
            ]
        )
    return Table([*scored[0].axes, "random", "this split", "drop"], rows) if rows else None


def against(scored: Sequence[Entry]) -> Table:
    rows: list[Row] = [
        [
            words(e.axes),
            e.against,
            linked(percent(e.difference), e),
            span(e.difference_interval),
            chance(e.p_holm),
        ]
        for e in scored
        if e.against
    ]
    return Table(
        ["setting", "against", "difference in macro-F1", "95% interval", "corrected p"], rows
    )


def trivial(scored: Sequence[Entry]) -> Table:
    """Each score beside the baselines that do not read the text; why, where it could not be
    tested.
    """
    rows: list[Row] = [
        [
            words(e.axes),
            linked(percent(e.macro_f1), e),
            *(
                percent(floor)
                for floor in (e.chance.majority, e.chance.stratified, e.chance.permuted)
            ),
            percent(e.chance.difference),
            span(e.chance.interval),
            e.chance.why or chance(e.chance.p_holm),
        ]
        for e in scored
        if e.macro_f1 is not None
    ]
    floors = ["majority", "random guess", "permuted labels"]
    return Table(
        ["setting", "macro-F1", *floors, "above the best of these", "95% interval", "corrected p"],
        rows,
    )


def flat(scored: Sequence[Entry]) -> pl.DataFrame:
    """Every figure as one table; no cell can start a formula."""
    rows = []
    for e in scored:
        low, high = e.interval or (None, None)
        figures = {
            "seeds": e.seeds,
            "records": e.records,
            "macro_f1": e.macro_f1,
            "low": low,
            "high": high,
        }
        more = {
            "accuracy": e.accuracy,
            "spread": e.spread,
            "against": e.against,
            "difference": e.difference,
        }
        tested = {
            "p_holm": e.p_holm,
            "best_baseline": e.chance.best,
            "p_above_baseline": e.chance.p_holm,
        }
        rows.append(
            {
                **{a: str(v) for a, v in e.axes.items()},
                **figures,
                **more,
                **tested,
                "failed": e.failed,
            }
        )
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.with_columns(
        escape_cells(pl.col(c)) for c, t in frame.schema.items() if t == pl.String
    )


def words(axes: Mapping[str, Any]) -> str:
    return ", ".join(
        str(v) if axis == "part" else f"{axis} {v}" for axis, v in axes.items() if v != NONE
    )
