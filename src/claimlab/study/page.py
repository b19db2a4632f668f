"""The page of a study, and everything beside it: HTML, Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from claimlab.core.arguments import in_storage
from claimlab.core.errors import UsageError
from claimlab.core.remote import is_remote
from claimlab.core.settings import as_toml
from claimlab.core.stats.chance import LEVEL
from claimlab.core.trust import allow, named_in
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.pages.blocks import Block, Figure, Items, Report, Section, Table, Text, cell, decimal
from claimlab.pages.charts import Dot, dots, to_svg
from claimlab.pages.folder import Contents, write_report
from claimlab.study.entry import Entry
from claimlab.study.exhibit_tables import exhibit_tables
from claimlab.study.file import StudyFile, View, read_study_file
from claimlab.study.plan import PART, parts_of, view_of
from claimlab.study.published import Row, beside, published_table
from claimlab.study.run import FILE, STEPS_FOLDER, Grid
from claimlab.study.score import MAJORITY, entries
from claimlab.study.step import REFERENCES, Node
from claimlab.study.tables import against, crossed, drops, flat, others, trivial, words

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
