"""The tables of a study (the grid over any two axes, each figure with its interval and a link to
its runs), its page, and everything beside it: HTML, Markdown, LaTeX, CSV and JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.arguments import in_storage
from claimlab.core.choice import one_of
from claimlab.core.errors import UsageError
from claimlab.core.remote import is_remote
from claimlab.core.stats.chance import LEVEL, STAR
from claimlab.core.toml_file import as_toml
from claimlab.core.trust import allow, named_in
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.files.cells import escape_cells
from claimlab.pages.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    Items,
    Report,
    Section,
    Table,
    Text,
    cell,
    decimal,
    percent,
    probability,
    span,
)
from claimlab.pages.charts import to_svg
from claimlab.pages.dots import Dot, dots
from claimlab.pages.folder import Contents, write_report
from claimlab.study.entry import TRIVIAL, Entry, Row, beside, published_rows, published_table
from claimlab.study.exhibit import exhibit_tables
from claimlab.study.file import Published, StudyFile, View, read_study_file
from claimlab.study.plan import PART, parts_of, view_of
from claimlab.study.run import Grid
from claimlab.study.score import MAJORITY, entries
from claimlab.study.step import FILE, NONE, REFERENCES, STEPS_FOLDER, Node

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


_UNTESTED = Cell("–", sort=float("inf"))  # last where p-values are sorted


def against(scored: Sequence[Entry]) -> Table:
    columns: list[Column[Entry]] = [
        Column("setting", lambda e: words(e.axes)),
        Column("against"),
        Column("difference in macro-F1", lambda e: linked(percent(e.difference), e)),
        Column("95% interval", "difference_interval", span),
        Column("corrected p", "p_holm", probability, _UNTESTED),
    ]
    return Table.of(columns, [e for e in scored if e.against])


def trivial(scored: Sequence[Entry]) -> Table:
    """Each score beside the baselines that do not read the text; why, where it could not be
    tested.
    """
    columns: list[Column[Entry]] = [
        Column("setting", lambda e: words(e.axes)),
        Column("macro-F1", lambda e: linked(percent(e.macro_f1), e)),
        Column("majority", "chance.majority", percent),
        Column("random guess", "chance.stratified", percent),
        Column("permuted labels", "chance.permuted", percent),
        Column("above the best of these", "chance.difference", percent),
        Column("95% interval", "chance.interval", span),
        Column("corrected p", lambda e: e.chance.why or _p(e.chance.p_holm)),
    ]
    return Table.of(columns, [e for e in scored if e.macro_f1 is not None])


def _p(value: float | None) -> Cell:
    return _UNTESTED if value is None else probability(value)


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


KIND, REPORT, DATA, ANSWERS = "study report", "report", "study.json", "report.toml"
AXIS, NAMES = 240, 190  # pixels: together they fit a phone
LINES = 40  # more would not fit a screen; the table has them all
_METHOD = (
    "Each figure is a mean over seeds. Its 95% interval covers two sources of variance: which"
    " records are tested (whole groups are resampled, the same for all runs) and the seed. With one"
    " seed it covers the records only."
)
_TRIVIAL = (
    "What comes without reading the text: always the most frequent class, a guess in the"
    " proportions of the labels, and the same answers against permuted labels (groups of records"
    " kept together). A score is above the best of these (*) where few permutations reach it and"
    " few resamples fall to that baseline: p is the larger of the two shares, corrected by Holm's"
    " method for the number of figures in this study, and * marks p below 0.05."
)
_COMPARED = (
    "A difference is measured within each resample, on the same records and seeds. p is two-sided"
    " and corrected by Holm's method for the number of comparisons in this study."
)


def write_tables(grid: Grid) -> list[Entry]:
    """Score the grid and write DIR/report: the page, Markdown, LaTeX, CSV and JSON."""
    scored = entries(grid)
    grid.tables = exhibit_tables(grid)
    write_report(contents(grid, scored), grid.output / REPORT, force=True)
    _write_answers(grid)
    return scored


@in_storage()
def study_table(
    folder: str | Path,
    *,
    rows: str | None = None,
    columns: str | None = None,
    cells: str | None = None,
) -> list[Table]:
    """The results of a study over two of its axes: one table for each choice on the others. Without
    any of these, also the tables of single steps and the published figures, as on the page."""
    study, scored = saved_study(folder)
    tables = tables_of(study, scored, rows=rows, columns=columns, cells=cells)
    if rows or columns or cells:
        return tables
    content = json.loads((Path(folder) / REPORT / DATA).read_text(encoding="utf-8"))
    saved = [Table(t["columns"], t["rows"], caption=t["caption"]) for t in content.get("shown", ())]
    return [*tables, *more_tables(study, scored, saved)]


@in_storage()
def study_failures(folder: str | Path) -> list[str]:
    """What has no result in a study that was run, with the reasons."""
    saved_study(folder)
    lines: list[str] = json.loads((Path(folder) / REPORT / DATA).read_text(encoding="utf-8")).get(
        "failures", []
    )
    return lines


def more_tables(study: StudyFile, scored: Sequence[Entry], shown: Sequence[Table]) -> list[Table]:
    """What the page has beside the grid: tables of single steps, and published figures."""
    figures = published_table(study, scored)
    return [*shown, *([] if figures is None else [figures])]


def saved_study(folder: str | Path) -> tuple[StudyFile, list[Entry]]:
    """A study that was run: its file and its figures, without the data or the runs."""
    folder = Path(folder)
    saved = folder / REPORT / DATA
    if not saved.is_file():
        raise UsageError(
            f"'{folder}' is not the folder of a finished study.", "Run the study first."
        )
    content = json.loads(saved.read_text(encoding="utf-8"))
    return read_study_file(folder / FILE), [Entry.of(entry) for entry in content["entries"]]


def tables_of(
    study: StudyFile,
    scored: Sequence[Entry],
    *,
    rows: str | None = None,
    columns: str | None = None,
    cells: str | None = None,
    link: bool = False,
) -> list[Table]:
    """The same of figures at hand; with `link`, each leads to its run."""
    figures = beside(study, scored)
    return [
        crossed(
            mine,
            view.rows,
            view.columns,
            view.cells,
            where,
            published=figures,
            gap=view.gap,
            link=link,
        )
        for view, mine, where in views(study, scored, rows=rows, columns=columns, cells=cells)
    ]


def views(
    study: StudyFile, scored: Sequence[Entry], **axes: str | None
) -> Iterator[tuple[View, list[Entry], JsonObject]]:
    """Each table to show: its view, the figures of its part of the study, and the choice on the
    axes it leaves out.
    """
    for name, part in parts_of(study).items():
        mine = [entry for entry in scored if entry.axes.get(PART, "") == name]
        view = view_of(part).model_copy(
            update={axis: value for axis, value in axes.items() if value}
        )
        for where in others(mine, view.rows, view.columns) if mine else ():
            yield view, mine, where


def contents(grid: Grid, scored: Sequence[Entry]) -> Contents:
    first = tables_of(grid.study, scored)
    shown = [
        {"title": title, "caption": t.caption, "columns": t.columns, "rows": _texts(t)}
        for title, t in grid.tables
    ]
    return Contents(
        KIND,
        [page(grid, scored)],
        data={
            DATA: {
                "name": grid.study.name,
                "conclusion": conclusion(grid, scored),
                "entries": [entry.to_json() for entry in scored],
                "shown": shown,
                "failures": failures(grid, scored),
            }
        },
        more_pages={"costs.html": [costs(grid, scored)]},
        papers={
            "table.tex": Report(grid.study.name, "", [*first, *(table for _, table in grid.tables)])
        },
        files={"scores.csv": flat(scored).write_csv()},
    )


def page(grid: Grid, scored: Sequence[Entry]) -> Report:
    blocks: list[Block] = [Text(conclusion(grid, scored), "conclusion")]
    figures = beside(grid.study, scored)
    for view, mine, where in views(grid.study, scored):
        title = words(where) or f"{view.rows} by {view.columns}"
        table = crossed(
            mine,
            view.rows,
            view.columns,
            view.cells,
            where,
            published=figures,
            gap=view.gap,
            link=True,
        )
        blocks.append(Section(title, [table, *_picture(mine, where, view.rows, view.columns)]))
    blocks += [Section(title, [table]) for title, table in grid.tables]
    if (compared := published_table(grid.study, scored)) is not None:
        blocks.append(Section("Published figures", [compared]))
    if dropped := drops(scored):
        text = "How much of a score depends on test records that resemble training records."
        blocks.append(Section("From a random split to a fair one", [Text(text), dropped]))
    blocks.append(Section("Against trivial baselines", [Text(_TRIVIAL), trivial(scored)]))
    if grid.study.table.baseline:
        blocks.append(Section("Against the baseline", [Text(_COMPARED), against(scored)]))
    blocks += reasons(failures(grid, scored))
    blocks.append(
        Section(
            "How to read this",
            [Text(_METHOD), Text("Time and cost", links=[("of every cell", "costs.html")])],
        )
    )
    return Report(
        grid.study.name,
        f"{several(len(grid.cells), 'cell')}, {several(len(grid.study.seeds), 'seed')}",
        blocks,
    )


def failures(grid: Grid, scored: Sequence[Entry]) -> list[str]:
    """Every setting and every shown step without a result, with the reason."""
    lines = {f"{words(e.axes)}: {e.failed}": None for e in scored if e.failed}
    lines |= {f"{words(e.axes)}: {why}": None for e in grid.shown if (why := grid.why(e.node))}
    return list(lines)


def reasons(lines: Sequence[str]) -> list[Block]:
    """The same as a section; nothing where everything has a result."""
    return [Section("Cells without a result", [Items(list(lines))])] if lines else []


def conclusion(grid: Grid, scored: Sequence[Entry]) -> str:
    """The sentence on top: how many detectors are above every baseline that does not read the
    text.
    """
    models = [e for e in scored if e.macro_f1 is not None and e.axes["detector"] not in REFERENCES]
    failed = len(grid.cells) - len(grid.done)
    if not models:
        return f"No detector has a score: {several(failed, 'cell')} failed."
    clear = sum(e.p_reading is not None and e.p_reading < LEVEL for e in models)
    untested = sum(e.p_reading is None for e in models)
    others = [
        name
        for name in REFERENCES
        if name != MAJORITY and any(e.axes["detector"] == name for e in scored)
    ]
    names = ", ".join([MAJORITY, "random guess", "permuted labels", *others])
    return (
        f"{clear} of {several(len(models), 'detector setting')} {verb(clear, 'scores', 'score')}"
        f" significantly above every baseline that does not read the text ({names}; corrected for"
        " all of them)."
        + (f" {several(untested, 'setting')} could not be tested." if untested else "")
        + (f" {several(failed, 'cell')} failed." if failed else "")
    )


def _picture(
    scored: Sequence[Entry], where: Mapping[str, Any], rows: str, columns: str
) -> list[Block]:
    mine = [
        e
        for e in scored
        if all(e.axes[a] == v for a, v in where.items()) and e.macro_f1 is not None
    ]
    several_columns = len({e.axes[columns] for e in mine}) > 1
    names = [
        f"{e.axes[rows]}, {e.axes[columns]}" if several_columns else str(e.axes[rows]) for e in mine
    ]
    lines = [
        Dot(n, e.macro_f1 or 0.0, e.interval, "plain") for n, e in zip(names, mine, strict=True)
    ]
    if not lines:
        return []
    caption = "Macro-F1 with its 95% interval."
    return [
        Figure(
            to_svg(dots(lines[:LINES], title="macro-F1 (%)", width=AXIS, names=NAMES)),
            caption,
            f"{caption} {words(where)}",
        )
    ]


def costs(grid: Grid, scored: Sequence[Entry]) -> Report:
    rows: list[Row] = [[words(e.axes), decimal(e.seconds, 2), decimal(e.cost, 4)] for e in scored]
    shared = sum(t.get("seconds", 0.0) for t in grid.timings.values()) - sum(
        e.seconds for e in scored
    )
    text = (
        f"Steps that cells share (loading, cleaning, splitting) took {max(0.0, shared):.1f} seconds"
        " together."
    )
    table = Table(["setting", "seconds", "US dollars"], rows)
    return Report("Time and cost", grid.study.name, [Text(text), table])


def _write_answers(grid: Grid) -> None:
    """What `claimlab report` needs: the author's answers, the datasets and the runs."""
    words = dict(grid.study.report)
    if not words:
        return
    title, shifts = words.pop("title", grid.study.name), words.pop("shifts", None)
    answers = words.pop("formulation", words)
    datasets = dict.fromkeys(_place(grid, cell.node.before[0]) for cell in grid.done)
    lines = [f"title = {as_toml(title)}", "", "[formulation]"]
    lines += [f"{name} = {as_toml(answer)}" for name, answer in answers.items()]
    if shifts is not None:
        lines += ["", "[shifts]", *(f"{name} = {as_toml(scope)}" for name, scope in shifts.items())]
    lines += ["", "[data]", f"datasets = {as_toml(list(datasets))}"]
    runs = {f"{STEPS_FOLDER}/{cell.node.name}": cell.title for cell in grid.done}
    for folder, name in runs.items():
        lines += ["", "[[runs]]", f"name = {as_toml(name)}", f"path = {as_toml(folder)}"]
    file = grid.output / ANSWERS
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    allow(file, named_in({"datasets": list(datasets)}, grid.output, base=grid.output))


def _texts(table: Table) -> list[list[str]]:
    return [[cell(value).text for value in row] for row in table.rows]


def _place(grid: Grid, node: Node) -> str:
    """Paths in the file are read from where it is."""
    if node.folder and is_remote(node.folder):
        return node.folder
    return (
        os.path.relpath(node.folder, grid.output) if node.folder else f"{STEPS_FOLDER}/{node.name}"
    )
