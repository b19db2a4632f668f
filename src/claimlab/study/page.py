"""The tables of a study (the grid over any two axes, each figure with its interval and a link to
its runs), its page, and everything beside it: HTML, Markdown, LaTeX, CSV and JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import polars as pl

from claimlab.core.call import in_storage
from claimlab.core.errors import UsageError
from claimlab.core.options import Argument, Option, Place
from claimlab.core.remote import is_remote
from claimlab.core.settings import as_toml, one_of
from claimlab.core.stats.chance import ABOVE, LEVEL, STAR
from claimlab.core.stats.interval import Interval, ends_of
from claimlab.core.stats.ranks import rank_words
from claimlab.core.trust import allow, named_in
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.evaluate.tables import UNTESTED
from claimlab.files.cells import escape_cells
from claimlab.pages.blocks import (
    Blocks,
    Cell,
    Column,
    Columns,
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
from claimlab.pages.charts import Dot, dots
from claimlab.pages.folder import Contents, write_report
from claimlab.study.entry import (
    TRIVIAL,
    BoardEntry,
    Entries,
    Row,
    beside,
    published_rows,
    published_table,
    rank_mark,
    ranks_explained,
)
from claimlab.study.exhibit_tables import exhibit_tables
from claimlab.study.file import Axes, Published, StudyFile, Value, View, read_study_file
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


def crossed(
    view: View,
    scored: Entries,
    where: Axes,
    *,
    published: Sequence[Published] = (),
    link: bool = False,
) -> Table:
    """One axis down, one across, and a measure in each cell; a published figure is a row below
    ours, or the last.
    """
    one_of(list(MEASURES), view.cells, "cells")
    mine = [entry for entry in scored if entry.has(where)]
    at = {(entry.axes[view.rows], entry.axes[view.columns]): entry for entry in mine}
    down, across = (list(dict.fromkeys(places)) for places in zip(*at, strict=True))
    heads = [view.rows, *map(str, across), *_aside(view, dict.fromkeys(across))]
    theirs = published_rows(published, view, across, where, scored)
    body: list[Row] = []
    for row in down:
        cells = {column: at.get((row, column)) for column in across}
        shown = (_shown(entry, view.cells, link=link) for entry in cells.values())
        line: Row = [str(row), *shown, *_aside(view, cells).values()]
        body += [line, *(other for about, other in theirs if about == row)]
    body += [line for about, line in theirs if about not in down]
    padded = [[*line, *[Cell("")] * (len(heads) - len(line))] for line in body]
    return Table(heads, padded, caption=_caption(view, where, mine))


def _aside(view: View, cells: Mapping[Value, BoardEntry | None]) -> dict[str, Cell | int]:
    """What a row has behind its cells: the difference of two of them, and the test records."""
    more: dict[str, Cell | int] = {}
    if len(view.gap) == 2 and set(view.gap) <= set(cells):
        first, second = (cells[column] for column in view.gap)
        more[f"{view.gap[0]} less {view.gap[1]}"] = _gap(first, second, view.cells)
    if view.records:
        more[MEASURES["records"]] = max((e.records for e in cells.values() if e), default=0)
    return more


def _caption(view: View, where: Axes, mine: Entries) -> str:
    """What the table shows, of which setting, and what its stars say."""
    rows, columns = (PLURAL.get(axis, axis) for axis in (view.rows, view.columns))
    named = next((entry.against for entry in mine if entry.against), TRIVIAL)
    shown = f"difference to {named}" if view.cells == "difference" else MEASURES[view.cells]
    caption = f"{shown}; rows: {rows}, columns: {columns}."
    if words(where):
        caption += f" {words(where)}."
    if any(starred(entry, view.cells) for entry in mine):
        caption += f" {_star(view.cells, named)}"
    if view.cells == "macro_f1":
        caption += ranks_explained(mine)
    return caption


def _star(measure: str, named: str) -> str:
    above = STAR.format("figures of this study")
    if measure != "difference" or named == TRIVIAL:
        return above
    clear = (
        "* clear of zero: p below 0.05, corrected by Holm's method for all figures of this study"
    )
    return f"{clear}; where it is above zero, also {above[2:]}"


def starred(entry: BoardEntry, measure: str) -> bool:
    """Whether a figure has a star: the score is above chance, or its difference is clear of it. No
    other figure is tested."""
    return {"macro_f1": entry.chance.beaten, "difference": entry.differs}.get(measure, False)


def _gap(first: BoardEntry | None, second: BoardEntry | None, measure: str) -> Cell:
    above, below = getattr(first, measure, None), getattr(second, measure, None)
    return percent(None if above is None or below is None else above - below)


def _absent(entry: BoardEntry, measure: str) -> Cell:
    if entry.failed:
        return Cell("failed", tone="not-measured", title=entry.failed)
    if measure == "difference" and entry.against is None:
        return Cell("baseline")
    return Cell("not measured", tone="not-measured", title=entry.failed)


def _shown(entry: BoardEntry | None, measure: str, *, link: bool) -> Cell:
    if entry is None:
        return Cell("", sort=float("-inf"))
    value = getattr(entry, measure)
    if value is None:
        return _absent(entry, measure)
    if measure == "records":
        return Cell(f"{value:,}", sort=float(value))
    ends = {"macro_f1": entry.interval, "difference": entry.difference_interval}.get(measure)
    star = "*" if starred(entry, measure) else ""
    text = f"{percent(value).text}{star}{in_brackets(ends)}"
    if measure == "macro_f1":
        text += rank_mark(entry)
    shown = Cell(text, sort=value)
    return linked(shown, entry) if link else shown


def in_brackets(interval: Interval | None) -> str:
    return "" if interval is None else f" ({span(interval).text})"


def linked(cell: Cell, entry: BoardEntry) -> Cell:
    """The cell as a link to the run of the first seed, from the page in the folder beside the
    steps.
    """
    if entry.failed or not entry.runs:
        return cell
    return replace(cell, link=f"../{STEPS_FOLDER}/{entry.runs[0]}")


def drops(scored: Entries) -> Table | None:
    """The same setting under a random split and under each other one."""
    if "split" not in scored[0].axes:
        return None
    at = {tuple(entry.axes.values()): entry for entry in scored}
    rows: list[Row] = []
    for entry in scored:
        random = at.get(tuple({**entry.axes, "split": RANDOM}.values()))
        if random is None or random is entry or random.macro_f1 is None or entry.macro_f1 is None:
            continue
        figures = [linked(percent(one.macro_f1), one) for one in (random, entry)]
        drop = percent(round(random.macro_f1 - entry.macro_f1, 3) + 0.0)
        rows.append([*map(str, entry.axes.values()), *figures, drop])
    return Table([*scored[0].axes, "random", "this split", "drop"], rows) if rows else None


_SETTING: Column[BoardEntry] = Column("setting", lambda e: words(e.axes))
AGAINST: Columns[BoardEntry] = (
    _SETTING,
    Column("against"),
    Column("difference in macro-F1", lambda e: linked(percent(e.difference), e)),
    Column("95% interval", "difference_interval", span),
    Column("corrected p", "p_holm", probability, UNTESTED),
)
# Each score beside the baselines that do not read the text; why, where it could not be tested.
BESIDE_TRIVIAL: Columns[BoardEntry] = (
    _SETTING,
    Column("macro-F1", lambda e: linked(percent(e.macro_f1), e)),
    Column("majority", "chance.majority", percent),
    Column("random guess", "chance.stratified", percent),
    Column("permuted labels", "chance.permuted", percent),
    Column("above the best of these", "chance.difference", percent),
    Column("95% interval", "chance.interval", span),
    Column(
        "corrected p",
        lambda e: e.chance.why or e.chance.p_holm,
        lambda p: p if isinstance(p, str) else probability(p),
        UNTESTED,
    ),
)
COSTS: Columns[BoardEntry] = (
    _SETTING,
    Column("seconds", "seconds", lambda seconds: decimal(seconds, 2)),
    Column("US dollars", "cost", lambda cost: decimal(cost, 4)),
)


# The detectors of each setting against each other.
RANKS: Columns[BoardEntry] = (
    _SETTING,
    Column("rank", lambda e: rank_words(e.ranks)),
    Column("macro-F1", lambda e: linked(percent(e.macro_f1), e)),
    Column("95% interval", "interval", span),
    Column("may be the best", lambda e: "yes" if e.tied else "no"),
    Column("smallest difference seen", "detectable", percent),
)
SEEDS: Columns[BoardEntry] = (
    _SETTING,
    Column("seeds"),
    Column("error from seeds", "from_seeds", percent),
    Column("from records", "from_records", percent),
    Column("more would help", "advice", missing="–"),
)


_FIGURES = (
    *("accuracy", "spread", "from_seeds", "from_records"),
    *("against", "difference", "p_holm"),
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


def words(axes: Axes) -> str:
    return ", ".join(
        str(v) if axis == "part" else f"{axis} {v}" for axis, v in axes.items() if v != NONE
    )


KIND, REPORT, DATA, ANSWERS = "study report", "report", "study.json", "report.toml"
AXIS, NAMES = 240, 190  # pixels: together they fit a phone
MANY = 3  # settings with one reason; more are counted
LINES = 40  # more would not fit a screen; the table has them all
_DROPPED = "How much of a score depends on test records that resemble training records."
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
_RANKS = (
    "Ranks that the data allow among the detectors of one setting: every pair is tested at once, on"
    " the same resamples of records and seeds, and the chance of even one wrong rank in a setting"
    " is about 5%. Those that may be the best cannot be told apart. A true difference below the"
    " smallest one seen would be missed in more than 20 of 100 test sets like this one."
)
_SEEDS = (
    "The standard error of each mean, taken apart: from having so few seeds, and from having so few"
    " test records. The larger one says what would make the figure more certain."
)
_COMPARED = (
    "A difference is measured within each resample, on the same records and seeds. p is two-sided"
    " and corrected by Holm's method for the number of comparisons in this study."
)


# The sections on single settings: title, what it means, columns, and which settings.
SETTINGS: tuple[tuple[str, str, Columns[BoardEntry], Callable[[BoardEntry], object]], ...] = (
    ("Detector against detector", _RANKS, RANKS, lambda entry: entry.ranks),
    ("Seeds and records", _SEEDS, SEEDS, lambda entry: entry.advice),
    (
        "Against trivial baselines",
        _TRIVIAL,
        BESIDE_TRIVIAL,
        lambda entry: entry.macro_f1 is not None,
    ),
    (
        "Against the baseline",
        _COMPARED,
        AGAINST,
        lambda entry: entry.against not in (None, TRIVIAL),
    ),
)


def write_tables(grid: Grid) -> list[BoardEntry]:
    """Score the grid and write DIR/report: the page, Markdown, LaTeX, CSV and JSON."""
    scored = entries(grid)
    grid.tables = exhibit_tables(grid)
    write_report(contents(grid, scored), grid.output / REPORT, force=True)
    _write_answers(grid)
    return scored


@in_storage()
def study_table(
    folder: Annotated[Place, Argument("The folder that `claimlab study run` wrote.")],
    *,
    rows: Annotated[str | None, Option("The axis down the side.")] = None,
    columns: Annotated[str | None, Option("The axis across the top.")] = None,
    cells: Annotated[str | None, Option("macro_f1, accuracy, difference or records.")] = None,
) -> list[Table]:
    """Print the results over any two axes of the grid.

    There is one table for each choice on the others. Without any of these options, also the tables
    of single steps and the published figures, as on the page.
    """
    study, scored, content = saved_study(folder)
    tables = tables_of(study, scored, rows=rows, columns=columns, cells=cells)
    if rows or columns or cells:
        return tables
    saved = [Table(t["columns"], t["rows"], caption=t["caption"]) for t in content.get("shown", ())]
    return [*tables, *more_tables(study, scored, saved)]


def more_tables(study: StudyFile, scored: Entries, shown: Sequence[Table]) -> list[Table]:
    """What the page has beside the grid: tables of single steps, and published figures."""
    figures = published_table(study, scored)
    return [*shown, *([] if figures is None else [figures])]


@in_storage()
def saved_study(folder: str | Path) -> tuple[StudyFile, list[BoardEntry], JsonObject]:
    """A study that was run, without the data or the runs: its file, its figures, and all that its
    page says."""
    saved = Path(folder) / REPORT / DATA
    if not saved.is_file():
        raise UsageError(
            f"'{folder}' is not the folder of a finished study.", "Run the study first."
        )
    content: JsonObject = json.loads(saved.read_text("utf-8"))
    scored = [BoardEntry.of(entry) for entry in content["entries"]]
    return read_study_file(Path(folder) / FILE), scored, content


def tables_of(
    study: StudyFile, scored: Entries, *, link: bool = False, **axes: str | None
) -> list[Table]:
    """The same of figures at hand, by `rows`, `columns` and `cells`; with `link`, each leads to its
    run.
    """
    figures = beside(study, scored)
    return [
        crossed(view, mine, where, published=figures, link=link)
        for view, mine, where in views(study, scored, **axes)
    ]


def views(
    study: StudyFile, scored: Entries, **axes: str | None
) -> Iterator[tuple[View, list[BoardEntry], JsonObject]]:
    """Each table to show: its view, the figures of its part of the study, and the choice on the
    axes it leaves out.
    """
    for name, part in parts_of(study).items():
        mine = [entry for entry in scored if entry.axes.get(PART, "") == name]
        view = view_of(part).model_copy(
            update={axis: value for axis, value in axes.items() if value}
        )
        if not mine:
            continue
        shown = [
            one_of(list(mine[0].axes), getattr(view, name), name) for name in ("rows", "columns")
        ]
        rest = [axis for axis in mine[0].axes if axis not in shown]
        for values in dict.fromkeys(tuple(entry.axes[axis] for axis in rest) for entry in mine):
            yield view, mine, dict(zip(rest, values, strict=True))


def contents(grid: Grid, scored: Entries) -> Contents:
    shown = [
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
        "shown": shown,
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
    for view, mine, where in views(grid.study, scored):
        table = crossed(view, mine, where, published=figures, link=True)
        title = words(where) or f"{view.rows} by {view.columns}"
        blocks.append(Section(title, [table, *_picture(view, mine, where)]))
    blocks += [Section(title, [table]) for title, table in grid.tables]
    if (compared := published_table(grid.study, scored)) is not None:
        blocks.append(Section("Published figures", [compared]))
    if dropped := drops(scored):
        blocks.append(Section("From a random split to a fair one", [Text(_DROPPED), dropped]))
    for title, about, columns, is_one in SETTINGS:
        if mine := [entry for entry in scored if is_one(entry)]:
            blocks.append(Section(title, [Text(about), Table.of(columns, mine)]))
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
        *((shown.axes, grid.why(shown.node)) for shown in grid.shown),
    ]:
        if why:
            settings.setdefault(why, []).append(axes)
    return [
        *grid.left_out,
        *(f"{name}: {why}" for why, many in settings.items() for name in _named(many)),
    ]


def _named(settings: Sequence[Axes]) -> list[str]:
    """The settings one by one; many as one, by the axes that have the same value in all."""
    if len(settings) <= MANY:
        return list(dict.fromkeys(map(words, settings)))
    first, *others = settings
    same = {a: v for a, v in first.items() if all(one.get(a) == v for one in others)}
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


def _picture(view: View, scored: Entries, where: Axes) -> Blocks:
    mine = [entry for entry in scored if entry.has(where) and entry.macro_f1 is not None]
    several_columns = len({entry.axes[view.columns] for entry in mine}) > 1
    axes = [view.rows, view.columns] if several_columns else [view.rows]
    lines = [
        Dot(", ".join(str(e.axes[axis]) for axis in axes), e.macro_f1 or 0.0, e.interval, "plain")
        for e in mine
    ]
    if not lines:
        return []
    caption = "Macro-F1 with its 95% interval."
    drawn = dots(lines[:LINES], title="macro-F1 (%)", width=AXIS, names=NAMES)
    return [Figure(drawn, caption, f"{caption} {words(where)}")]


def costs(grid: Grid, scored: Entries) -> Report:
    whole = sum(t.get("seconds", 0.0) for t in grid.timings.values())
    shared = max(0.0, whole - sum(e.seconds for e in scored))
    text = (
        f"Steps that cells share (loading, cleaning, splitting) took {shared:.1f} seconds together."
    )
    return Report("Time and cost", grid.study.name, [Text(text), Table.of(COSTS, scored)])


def _write_answers(grid: Grid) -> None:
    """What `claimlab report` needs: the author's answers, the datasets and the runs."""
    words = dict(grid.study.report)
    if not words:
        return
    title, shifts = words.pop("title", grid.study.name), words.pop("shifts", None)
    answers = words.pop("formulation", words)
    nodes = [cell.node.before[0] for cell in grid.done]

    def place(node: Node) -> str:
        """Paths in the file are read from where it is."""
        if not node.folder:
            return f"{STEPS_FOLDER}/{node.name}"
        return node.folder if is_remote(node.folder) else os.path.relpath(node.folder, grid.output)

    datasets = dict.fromkeys(map(place, nodes))
    lines = [f"title = {as_toml(title)}", "", "[formulation]"]
    lines += [f"{name} = {as_toml(answer)}" for name, answer in answers.items()]
    if shifts is not None:
        lines += ["", "[shifts]", *(f"{name} = {as_toml(scope)}" for name, scope in shifts.items())]
    lines += ["", "[data]", f"datasets = {as_toml(list(datasets))}"]
    runs = {f"{STEPS_FOLDER}/{cell.node.name}": cell.title for cell in grid.done}
    for folder, name in runs.items():
        lines += ["", "[[runs]]", f"name = {as_toml(name)}", f"path = {as_toml(folder)}"]
    file = grid.output / ANSWERS
    file.write_text("\n".join(lines) + "\n", "utf-8")
    allow(file, named_in({"datasets": list(datasets)}, grid.output, base=grid.output))
