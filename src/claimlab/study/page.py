"""The page of a study and every file beside it: HTML, Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from claimlab.core.stats.chance import ABOVE, LEVEL
from claimlab.core.stats.interval import ends_of
from claimlab.core.words import several, verb
from claimlab.files.cells import escape_cells
from claimlab.pages.blocks import Blocks, Figure, Items, Report, Section, Table, Text, cell
from claimlab.pages.charts import Dot, dots
from claimlab.pages.folder import Contents, write_report
from claimlab.study.answers import write_answers
from claimlab.study.entry import BoardEntry, Entries, beside, published_table
from claimlab.study.exhibit_tables import exhibit_tables
from claimlab.study.file import Axes, TableView
from claimlab.study.grid_tables import crossed, drops, tables_of, views, words
from claimlab.study.run import Grid
from claimlab.study.saved import DATA, REPORT
from claimlab.study.score import MAJORITY, entries
from claimlab.study.setting_tables import COSTS, SETTINGS
from claimlab.study.step import REFERENCES

KIND = "study report"
_FIGURES = (
    *("accuracy", "spread", "from_seeds", "from_records"),
    *("against", "difference", "p_holm"),
)
AXIS_WIDTH, NAMES_WIDTH = 240, 190  # pixels: together they fit a phone
MOST_SETTINGS_NAMED = 3  # settings with one reason; more are counted
LINES_DRAWN = 40  # more would not fit a screen; the table has them all
_DROPPED = "How much of a score depends on test records that resemble training records."
_METHOD = (
    "Each figure is a mean over seeds. Its 95% interval covers two sources of variance: which"
    " records are tested (whole groups are resampled, the same for all runs) and the seed. With one"
    " seed it covers the records only."
)


def flat(scored: Entries) -> pl.DataFrame:
    """Every figure as one table; no cell can start a formula."""
    rows = []
    for entry in scored:
        figures = {
            "seeds": entry.seeds,
            "records": entry.records,
            "macro_f1": entry.macro_f1,
            **ends_of(entry.interval, "low", "high"),
            **{name: getattr(entry, name) for name in _FIGURES},
            "best_baseline": entry.chance.best,
            "p_above_baseline": entry.chance.p_holm,
            **ends_of(entry.ranks, "best_rank", "worst_rank"),
            "failed": entry.failed,
        }
        named = {axis: str(value) for axis, value in entry.axes.items()}
        rows.append({**named, **figures})
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.with_columns(escape_cells(pl.col(pl.String)))


def write_tables(grid: Grid) -> list[BoardEntry]:
    """Score the grid and write DIR/report: the page, Markdown, LaTeX, CSV and JSON."""
    scored = entries(grid)
    grid.tables = exhibit_tables(grid)
    write_report(contents(grid, scored), grid.output / REPORT, force=True)
    write_answers(grid)
    return scored


def contents(grid: Grid, scored: Entries) -> Contents:
    exhibits = [
        {
            "title": title,
            "caption": table.caption,
            "columns": table.columns,
            "rows": [[cell(value).text for value in row] for row in table.rows],
        }
        for title, table in grid.tables
    ]
    data = {
        "name": grid.study.name,
        "conclusion": conclusion(grid, scored),
        "entries": [entry.to_json() for entry in scored],
        "shown": exhibits,
        "failures": failures(grid, scored),
    }
    tables = [*tables_of(grid.study, scored), *(table for _, table in grid.tables)]
    return Contents(
        KIND,
        [page(grid, scored)],
        data={DATA: data},
        more_pages={"costs.html": [costs(grid, scored)]},
        papers={"document.tex": Report(grid.study.name, "", tables)},
        paper_tables={"table.tex": tables},
        files={"scores.csv": flat(scored).write_csv()},
    )


def page(grid: Grid, scored: Entries) -> Report:
    blocks: Blocks = [Text(conclusion(grid, scored), "conclusion")]
    figures = beside(grid.study, scored)
    for view, entries_of_part, where in views(grid.study, scored):
        table = crossed(view, entries_of_part, where, published=figures, link=True)
        title = words(where) or f"{view.rows} by {view.columns}"
        blocks.append(Section(title, [table, *picture(view, entries_of_part, where)]))
    blocks += [Section(title, [table]) for title, table in grid.tables]
    if (compared := published_table(grid.study, scored)) is not None:
        blocks.append(Section("Published figures", [compared]))
    if dropped := drops(scored):
        blocks.append(Section("From a random split to a fair one", [Text(_DROPPED), dropped]))
    for title, about, columns, is_one in SETTINGS:
        if entries_shown := [entry for entry in scored if is_one(entry)]:
            blocks.append(Section(title, [Text(about), Table.of(columns, entries_shown)]))
    blocks += reasons(failures(grid, scored))
    more = Text("Time and cost", links=[("of every cell", "costs.html")])
    blocks.append(Section("How to read this", [Text(_METHOD), more]))
    size = f"{several(len(grid.cells), 'cell')}, {several(len(grid.study.seeds), 'seed')}"
    return Report(grid.study.name, size, blocks)


def failures(grid: Grid, scored: Entries) -> list[str]:
    """Every setting and every shown step without a result, with the reason, and the datasets that
    were left out. Many settings with one reason are named by what they share.
    """
    settings: dict[str, list[Axes]] = {}
    for axes, why in [
        *((entry.axes, entry.failed) for entry in scored),
        *((exhibit.axes, grid.why(exhibit.node)) for exhibit in grid.shown),
    ]:
        if why:
            settings.setdefault(why, []).append(axes)
    return [
        *grid.left_out,
        *(f"{name}: {why}" for why, many in settings.items() for name in _named(many)),
    ]


def _named(settings: Sequence[Axes]) -> list[str]:
    """The settings one by one; many as one, by the axes that have the same value in all."""
    if len(settings) <= MOST_SETTINGS_NAMED:
        return list(dict.fromkeys(map(words, settings)))
    first, *others = settings
    same = {a: v for a, v in first.items() if all(other.get(a) == v for other in others)}
    return [", ".join(filter(None, [several(len(settings), "setting"), words(same)]))]


def reasons(lines: Sequence[str]) -> Blocks:
    """The same as a section; nothing where everything has a result."""
    return [Section("Cells without a result", [Items(list(lines))])] if lines else []


def conclusion(grid: Grid, scored: Entries) -> str:
    """The sentence on top: how many detectors have a star, and how many of them are above the
    references that read something of the text, too.
    """
    models = [e for e in scored if e.macro_f1 is not None and e.axes["detector"] not in REFERENCES]
    failed = len(grid.cells) - len(grid.done)
    if not models:
        return f"No detector has a score: {several(failed, 'cell')} failed."
    clear = [e for e in models if e.chance.beaten]
    higher = sum(e.p_reading is not None and e.p_reading < LEVEL for e in clear)
    untested = sum(e.chance.p is None for e in models)
    others = " and ".join(
        f"'{name}'"
        for name in REFERENCES
        if name != MAJORITY and any(e.axes["detector"] == name for e in scored)
    )
    return (
        f"{len(clear)} of {several(len(models), 'detector setting')}"
        f" {verb(len(clear), 'scores', 'score')} significantly {ABOVE}, corrected for all of them"
        + (f"; {higher} of these also above {others}." if clear and others else ".")
        + (f" {several(untested, 'setting')} could not be tested." if untested else "")
        + (f" {several(failed, 'cell')} failed." if failed else "")
    )


def picture(view: TableView, scored: Entries, where: Axes) -> Blocks:
    measured = [entry for entry in scored if entry.has(where) and entry.macro_f1 is not None]
    several_columns = len({entry.axes[view.columns] for entry in measured}) > 1
    axes = [view.rows, view.columns] if several_columns else [view.rows]
    lines = [
        Dot(", ".join(str(e.axes[axis]) for axis in axes), e.macro_f1 or 0.0, e.interval, "plain")
        for e in measured
    ]
    if not lines:
        return []
    caption = "Macro-F1 with its 95% interval."
    drawn = dots(lines[:LINES_DRAWN], title="macro-F1 (%)", width=AXIS_WIDTH, names=NAMES_WIDTH)
    return [Figure(drawn, caption, f"{caption} {words(where)}")]


def costs(grid: Grid, scored: Entries) -> Report:
    whole = sum(t.get("seconds", 0.0) for t in grid.timings.values())
    shared = max(0.0, whole - sum(e.seconds for e in scored))
    text = (
        f"Steps that cells share (loading, cleaning, splitting) took {shared:.1f} seconds together."
    )
    return Report("Time and cost", grid.study.name, [Text(text), Table.of(COSTS, scored)])
