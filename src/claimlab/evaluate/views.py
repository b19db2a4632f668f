"""The pages of an evaluation, and everything beside them: `evaluation.json` holds everything, all
else is a view of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from claimlab.core.plain import slug
from claimlab.core.words import several, verb
from claimlab.evaluate import tables
from claimlab.evaluate.abstentions import Withheld
from claimlab.evaluate.board import Board
from claimlab.evaluate.measures import Scores
from claimlab.evaluate.metric import board_metrics
from claimlab.evaluate.result import Evaluation, RunResult
from claimlab.evaluate.slices import SliceEstimate, Slices
from claimlab.evaluate.sufficiency import LEAST_OF_A_CLASS, LEAST_RECORDS, ONE_CLASS
from claimlab.evaluate.traits import title
from claimlab.files.cells import escape_cells
from claimlab.pages.blocks import (
    Blocks,
    Column,
    Figure,
    Fold,
    Items,
    Report,
    Section,
    Table,
    Text,
    Tiles,
    excerpt,
    percent,
    span,
)
from claimlab.pages.charts import Dot, dots, lines, reliability
from claimlab.pages.folder import Contents

FILE, KIND = "evaluation.json", "evaluation"
LINES_DRAWN = 40  # more would not fit a screen; the table has them all
_SMALLER = (
    "To keep this page small, charts are left out; they are in plots/, and every figure in"
    " evaluation.json."
)
_OTHER_RECORDS = (
    "These runs were not scored on the same records: compare them by the records they share, below."
)
_COMPARED = (
    "On the test records that the two runs share. A run is called better where p for all pairs is"
    " below 0.05, as on the leaderboard; where runs are not ranked, where the interval is clear of"
    " zero and p for units is below 0.05."
)
_DROPPED = "How much of the score depends on test records resembling training records."
_METHOD = (
    "Macro-F1 is the mean over the classes that the truth holds. A failed prediction, and an answer"
    " that is none of the classes, count as wrong.",
    "Intervals are 95%, from {draws:,} resamples of whole units (for AUROC at most 1,000; seed"
    " {seed}): records of one publisher, author or event are not independent evidence. The unit is"
    " what the split held out, or else the column 'group'; fewer than 6 effective units have no"
    " interval, fewer than 20 are called few.",
    f"A cell with fewer than {LEAST_RECORDS} records, or with a class of fewer than"
    f" {LEAST_OF_A_CLASS}, is"
    " suppressed and counted. A cell that lacks a class, or a run on one class, has no macro-F1.",
    "A pair of ranked runs has the verdict of the ranks (p, all pairs). Otherwise the interval must"
    " be clear of zero, and sign-flips of whole units (p, units; corrected by Holm's method) must"
    " agree."
    " McNemar's test is exact and takes records as independent.",
    "Ranks are those that the data allow: from 1 + the number of runs that are better to the number"
    " of runs less those that are worse, with every pair tested at once on the records that all"
    " runs share (step-down max-T): the chance of even one wrong rank is about 5%. Runs that"
    " cannot be told apart from the best are the model"
    " confidence set (Hansen, Lunde and Nason 2011).",
    "A difference that is often missed would be found in fewer than 80 of 100 test sets like this"
    " one.",
    "The baselines are computed from the labels of the records that were scored. A score is above"
    " them (*) where fewer than 5 in 100 permutations of the labels, moved as they were given"
    " (of whole publishers, where each has one label), reach"
    " it, and fewer than 5 in 100 resamples fall to the best baseline; p-values are corrected by"
    " Holm's method.",
)
_LEFT_OUT = {
    "strangers": ("prediction", "for records that are not in the dataset"),
    "unlabelled": ("record", "without a label in this task"),
    "repeated": (
        "prediction",
        "repeated or without a record id; the first for each record was used",
    ),
    "untouched": (
        "labelled record",
        "without a prediction; left out, because no split was given",
    ),
}


@dataclass(frozen=True)
class PageSize:
    """How much a page carries; evaluation.json always has it all."""

    figures: bool = True
    slices: bool = True


SIZES = (PageSize(), PageSize(figures=False), PageSize(figures=False, slices=False))


def contents(evaluation: Evaluation) -> Contents:
    """The report folder: JSON, a table, HTML, Markdown, LaTeX and figures."""
    title = f"{several(len(evaluation.runs), 'run')}, each next to trivial baselines."
    boards_alone = [
        Report(
            "Leaderboard",
            title,
            [*together(evaluation, size, linked=False), method(evaluation)],
        )
        for size in SIZES[:2]
    ]
    own = [tables.leaderboard(runs, {}, board) for runs, board in boards(evaluation)]
    others = [tables.standings(board) for board in of_others(evaluation)]
    frame = pl.DataFrame(tables.flat(evaluation), infer_schema_length=None)
    # values come from data, and no cell of them can start a formula
    plain = frame.with_columns(escape_cells(pl.col(pl.String)))
    return Contents(
        KIND,
        (page(evaluation, size) for size in SIZES),
        data={FILE: evaluation.to_json()},
        more_pages={"leaderboard.html": boards_alone},
        papers={"leaderboard-document.tex": boards_alone[0]},
        paper_tables={"leaderboard.tex": own + others},
        files={"scores.csv": plain.write_csv()},
    )


def headline(run: RunResult) -> str:
    scores, ends = run.scores, run.intervals["macro_f1"]
    interval = f" ({span(ends).text})" if ends else ""
    f1 = scores.why if scores.macro_f1 is None else f"{100 * scores.macro_f1:.1f}{interval}"
    share = "" if scores.accuracy is None else f", accuracy {100 * scores.accuracy:.1f}"
    return (
        f"{run.name}: macro-F1 {f1}{share} on {several(scores.n, 'record')} of '{run.dataset}',"
        f" task {run.task}{answered(scores)}{f'; {run.spent}' if run.spent else ''}."
    )


def answered(scores: Scores) -> str:
    """How many records have an answer, where some do not, and how many of these answers are right:
    what a detector that chooses its records shows of itself."""
    if not scores.failed:
        return ""
    right = scores.answered_accuracy
    share = "" if right is None else f" ({100 * right:.1f}% of these right)"
    return f"; answered {scores.answered:,} of {scores.n:,}{share}"


def page(evaluation: Evaluation, size: PageSize = SIZES[0]) -> Report:
    """The leaderboards, then every run."""
    runs = evaluation.runs
    blocks: Blocks = [] if size.figures else [Text(_SMALLER, "note")]
    blocks += [
        Text(words, "conclusion")
        for words in (
            *conclusions(evaluation),
            *(board.headline() for board in of_others(evaluation)),
        )
    ]
    blocks += together(evaluation, size)
    for number, run in enumerate(runs, 1):
        inside = run_blocks(run, f"{number:02d}-{slug(run.name)}", size)
        name = f"Run: {excerpt(run.name, 80)}"
        blocks.append(Section(name, [Text(headline(run)), *inside], anchor=f"run-{number}"))
    blocks.append(method(evaluation))
    if not runs:
        systems = sum(len(board.standings) for board in evaluation.boards)
        name = several(systems, "system")
        subtitle = ", ".join(board.dataset for board in evaluation.boards)
    elif len(runs) == 1:
        name, subtitle = runs[0].name, headline(runs[0])
    else:
        name, subtitle = f"{len(runs)} runs", ", ".join(dict.fromkeys(r.dataset for r in runs))
    return Report(f"Evaluation of {excerpt(name, 80)}", excerpt(subtitle, 300), blocks)


def conclusion(runs: Sequence[RunResult], board: Board | None = None) -> str:
    """The best run, or those that cannot be told apart at the top of a board, beside the best
    trivial baseline.
    """
    measured = {run.name: run for run in runs if run.scores.macro_f1 is not None}
    where = f"'{excerpt(runs[0].dataset, 60)}'"
    if not measured:
        return f"Macro-F1 on {where}: {runs[0].scores.why}."
    best = max(measured.values(), key=lambda run: (_f1(run), run.scores.accuracy or 0.0))
    ends = best.intervals["macro_f1"]
    interval = f" (95% interval {span(ends).text})" if ends else ""
    score = f"{excerpt(best.name, 120)}: macro-F1 {100 * _f1(best):.1f}{interval} on {where}"
    first = "" if board is None else f"{excerpt(board.headline(), 300)} "
    return f"{first}{score}{beside(best)}."


def _f1(run: RunResult) -> float:
    return run.scores.macro_f1 or 0.0


def beside(run: RunResult) -> str:
    """How far a run is from the best trivial baseline, and whether that can be chance."""
    if run.chance.difference is None:
        return ""
    away = 100 * run.chance.difference
    side = "above" if away >= 0 else "below"
    words = f", {abs(away):.1f} points {side} the best trivial baseline"
    if away < 0 or run.chance.beaten:
        return words
    return f"{words} (not tested)" if run.chance.p_holm is None else f"{words}, which can be chance"


def boards(evaluation: Evaluation) -> list[tuple[list[RunResult], Board | None]]:
    """Runs that can be compared in one table (same task, same dataset), with their ranks."""
    groups: dict[tuple[str, str], list[RunResult]] = {}
    for run in evaluation.runs:
        groups.setdefault((run.task, run.dataset), []).append(run)
    return [(runs, evaluation.board(*about)) for about, runs in groups.items()]


def conclusions(evaluation: Evaluation) -> list[str]:
    """What came out, a sentence for each board of runs."""
    return [conclusion(runs, board) for runs, board in boards(evaluation)]


def of_others(evaluation: Evaluation) -> list[Board]:
    """Boards of results that others published, of which there are no runs."""
    measured = {(run.task, run.dataset) for run in evaluation.runs}
    return [board for board in evaluation.boards if (board.task, board.dataset) not in measured]


def other_records(runs: Sequence[RunResult]) -> list[str]:
    """A warning where the lines of one board are not about the same records."""
    return [] if len({r.records for r in runs}) == 1 else [_OTHER_RECORDS]


def together(evaluation: Evaluation, size: PageSize, *, linked: bool = True) -> Blocks:
    """Several runs together: leaderboards, comparisons, seeds, drops."""
    links = {run.name: f"#run-{i}" for i, run in enumerate(evaluation.runs, 1)} if linked else {}
    out: Blocks = [
        _board(evaluation, *board, links, size, name=f"{number:02d}")
        for number, board in enumerate(boards(evaluation), 1)
    ]
    out += [
        Section(
            f"Leaderboard: {board.title} of {excerpt(board.dataset, 60)}",
            [tables.standings(board), Text(board.limits())],
        )
        for board in of_others(evaluation)
    ]
    more = (
        ("Run against run", _COMPARED, tables.comparisons(evaluation.comparisons), ""),
        ("How much a shortcut explains", "", tables.explained(evaluation.explained), "explained"),
        ("Several seeds", "", tables.seeds(evaluation.seeds), ""),
        ("From a random split to a held-out one", _DROPPED, tables.drops(evaluation.drops), ""),
    )
    return out + [
        Section(name, [*([Text(words)] if words else []), table], anchor=anchor)
        for name, words, table, anchor in more
        if table.rows
    ]


def _board(
    evaluation: Evaluation,
    runs: list[RunResult],
    ranked: Board | None,
    links: dict[str, str],
    size: PageSize,
    *,
    name: str,
) -> Section:
    remarks = [*other_records(runs), *(f"{run.name}: {c}" for run in runs for c in run.cautions)]
    blocks: Blocks = [Text(remark, "warning") for remark in remarks]
    blocks.append(tables.leaderboard(runs, links, ranked))
    if ranked is not None:
        others = [
            b for b in evaluation.boards if (b.task, b.dataset) == (ranked.task, ranked.dataset)
        ]
        blocks += [Text(ranked.limits()), Fold("Ranks by every metric", [tables.ranks(others)])]
    if runs[0].ceiling is not None:
        blocks.append(Text(runs[0].ceiling.sentence()))
    measured = [run for run in runs if run.scores.macro_f1 is not None]
    if size.figures and measured:
        blocks.append(board(measured, name))
    title = f"Leaderboard: {runs[0].task} on {excerpt(runs[0].dataset, 60)}"
    return Section(title, blocks, anchor=f"leaderboard-{int(name)}")


def run_blocks(run: RunResult, name: str, size: PageSize = SIZES[0]) -> Blocks:
    """All measurements of one run, also for the quality assurance report."""
    blocks: Blocks = [tiles(run), *(Text(c, "warning") for c in run.cautions)]
    if run.contamination is not None:
        blocks.append(Text(run.contamination.sentence(), "note"))
    blocks += [tables.measures(run), tables.classes(run)]
    if len(run.considered) > 1:
        blocks.append(Fold("Which records vary independently", [tables.considered(run)]))
    if size.figures:
        blocks += calibration(run, name)
    blocks += [*_abstained(run, name, size), *tables.judged(run)]
    if items := left_out(run):
        blocks.append(Items(items))
    if size.slices:
        blocks += [by_trait(subgroups, run, name, size) for subgroups in run.slices]
    return blocks


def tiles(run: RunResult) -> Tiles:
    scores = run.scores
    first, *others = board_metrics()
    why = scores.why or ONE_CLASS
    f1 = why if scores.macro_f1 is None else percent(scores.macro_f1).text
    return Tiles(
        [
            (first.short, f1, "plain" if run.chance.beaten else "warn"),
            *((m.short, percent(scores.metrics[m.key].value).text, "plain") for m in others),
            ("records", f"{scores.n:,}", "plain"),
            ("failed", f"{scores.failed:,}", "warn" if scores.failed else "plain"),
        ]
    )


def by_trait(subgroups: Slices, run: RunResult, name: str, size: PageSize) -> Section:
    """One kind of subgroup: the means, the chart, and the table, folded if it is long."""
    sentences = _sentences(subgroups, run)
    drawn = forest(subgroups, run, name) if size.figures else []
    blocks: Blocks = [*([Items(sentences)] if sentences else []), *drawn]
    if subgroups.cells:
        table = tables.cells(subgroups)
        words = f"The {several(len(subgroups.cells), 'subgroup')} as a table"
        blocks.append(Fold(words, [table]) if drawn else table)
    return Section(f"By {title(subgroups.by)}", blocks, anchor=f"{name}-by-{slug(subgroups.by)}")


def method(evaluation: Evaluation) -> Section:
    how = [line.format(draws=evaluation.draws, seed=evaluation.seed) for line in _METHOD]
    return Section("How these figures were made", [Items(how)], anchor="method")


def _sentences(subgroups: Slices, run: RunResult) -> list[str]:
    sentences, gap = [], subgroups.gap
    if subgroups.mean is not None and run.scores.macro_f1 is not None:
        fit = sum(c.macro_f1 is not None for c in subgroups.cells)
        sentences.append(
            f"Pooled over all records: {100 * run.scores.macro_f1:.1f}. Mean of the {fit} values"
            f" with a macro-F1: {_estimate(subgroups.mean)}."
        )
    if gap is not None:
        sentences.append(f"Head less tail languages, pooled: {_estimate(gap.pooled)} points.")
    if gap is not None and gap.mean_of_languages is not None:
        means = _estimate(gap.mean_of_languages)
        sentences.append(f"Head less tail, as means of languages: {means} points.")
    if subgroups.suppressed:
        sentences.append(
            f"Too rare to show: {several(subgroups.suppressed, 'value')}"
            f" ({several(subgroups.suppressed_records, 'record')}) with fewer than {LEAST_RECORDS}"
            f" records, or {LEAST_OF_A_CLASS} of a class."
        )
    if subgroups.without:
        sentences.append(
            f"{several(subgroups.without, 'record')} {verb(subgroups.without, 'has', 'have')} no"
            f" {title(subgroups.by)}."
        )
    return sentences


def _estimate(estimate: SliceEstimate) -> str:
    interval = f" ({span(estimate.interval).text})" if estimate.interval is not None else ""
    return f"{100 * estimate.value:.1f}{interval}"


def _abstained(run: RunResult, name: str, size: PageSize) -> Blocks:
    abstentions = run.abstentions
    if abstentions is None:
        return []
    text = (
        f"A verdict was given for {percent(abstentions.coverage).text}% of the records"
        f" ({span(abstentions.coverage_interval).text}); of those, accuracy is"
        f" {percent(abstentions.accuracy).text} and macro-F1 {percent(abstentions.macro_f1).text}."
        " In all scores above, giving no verdict counts as wrong. Most shared tasks count a missing"
        " answer as one of no class: macro-F1 is then"
        f" {percent(abstentions.forgiving_macro_f1).text}."
    )
    blocks: Blocks = [Text(text)]
    if abstentions.kinds:
        columns: list[Column[Withheld]] = [
            Column("Answer", lambda w: w.kind.replace("-", " ")),
            Column("n"),
            Column("Share (%)", "share", percent),
            *(
                Column(f"true class {excerpt(kind, 24)}", partial(tables.count_of, name=kind))
                for kind in abstentions.kinds[0].classes
            ),
        ]
        blocks.append(Table.of(columns, abstentions.kinds, sortable=False))
    if size.figures and len(abstentions.curve) > 1:
        blocks.append(_risk_figure(run, abstentions.curve, name))
    return [Section("No verdict given", blocks)]


def _risk_figure(run: RunResult, curve: Sequence[tuple[float, float]], name: str) -> Figure:
    """Risk by coverage, with its area in the caption."""
    area, ends = run.scores.metrics["aurc"].value, run.intervals.get("aurc")
    between = "" if ends is None else f" ({span(ends).text})"
    return Figure(
        lines(
            {"wrong": [(100 * coverage, 100 * risk) for coverage, risk in curve]},
            across="answered, the surest first (%)",
            up="wrong (%)",
        ),
        "Risk and coverage: of the surest answers, how many are wrong. The curve ends where the"
        f" run stops answering, at {100 * curve[-1][0]:.1f}%. Mean risk below the curve:"
        f" {percent(area).text}%{between}.",
        "Share of wrong answers by share of records answered",
        f"{name}-risk-coverage",
    )


def left_out(run: RunResult) -> list[str]:
    """What was not scored, or counts as wrong without being a wrong verdict."""
    items = [
        f"{several(n, _LEFT_OUT[name][0])} {_LEFT_OUT[name][1]}."
        for name, n in run.left_out.items()
        if n
    ]
    if run.in_use is not None:
        items.append(run.in_use.sentence())
    if 0 < run.scores.failed < run.scores.n:
        items.append(
            f"{run.scores.failed:,} without an answer: in every score that is ranked, a record"
            " without an answer costs at least as much as a wrong one."
        )
    area = run.scores.metrics["aurc"].value if "aurc" in run.scores.metrics else None
    if run.abstentions is not None and area is not None:
        items.append(
            f"Of the answers that it gave, the surest first, {100 * area:.1f}% are wrong on"
            " average (area under risk and coverage, up to"
            f" {percent(run.abstentions.coverage).text}% of the records)."
        )
    if run.scores.other:
        kinds = run.abstentions.kinds if run.abstentions is not None else []
        withheld = "".join(f" {w.n:,} of them say: {w.kind.replace('-', ' ')}." for w in kinds)
        others = several(run.scores.other, "answer")
        items.append(f"{others} outside the classes, counted like no answer.{withheld}")
    return items


def board(runs: Sequence[RunResult], name: str) -> Figure:
    """Macro-F1 of every run with its interval, against the two baselines."""
    marks = {b.name: b.macro_f1 for b in runs[0].baselines if b.macro_f1 is not None}
    rows = [
        Dot(excerpt(run.name, 40), _f1(run), run.intervals["macro_f1"], "plain", marks)
        for run in sorted(runs, key=lambda run: -_f1(run))[:LINES_DRAWN]
    ]
    return Figure(
        dots(rows, title="macro-F1 (%)"),
        "Macro-F1 of each run with its 95% interval; the grey marks are trivial baselines.",
        "Macro-F1 of each run with its interval against the majority and stratified baselines",
        f"{name}-leaderboard",
    )


def forest(subgroups: Slices, run: RunResult, name: str) -> list[Figure]:
    """The cells of a trait with their intervals, against the score over all records; accuracy where
    no cell has F1.
    """
    what, whole = "macro-F1", run.scores.macro_f1
    figures = [(c, c.macro_f1, c.macro_f1_interval) for c in subgroups.cells]
    if all(value is None for _, value, _ in figures):
        what, whole = "accuracy", run.scores.accuracy
        figures = [(c, c.accuracy, c.accuracy_interval) for c in subgroups.cells]
    rows = [
        Dot(f"{excerpt(c.value, 32)} ({c.n:,})", value, ends, "plain")
        for c, value, ends in figures
        if value is not None
    ]
    if len(rows) < 2:
        return []
    more = f" {len(rows) - LINES_DRAWN} more are in the table." if len(rows) > LINES_DRAWN else ""
    return [
        Figure(
            dots(rows[:LINES_DRAWN], title=f"{what} (%)", threshold=whole),
            f"{what[:1].upper()}{what[1:]} by {title(subgroups.by)} with 95% intervals; in brackets"
            f" the records; dashed: over all records.{more}",
            f"{what} of each {title(subgroups.by)} with its interval",
            f"{name}-by-{subgroups.by.replace('.', '-')}",
        )
    ]


def calibration(run: RunResult, name: str) -> list[Figure]:
    curve = run.scores.calibration.curve
    if not curve:
        return []
    return [
        Figure(
            reliability([(b.n, b.confidence, b.accuracy) for b in curve]),
            "How often answers are right against how sure the run was of them, in ten bins; larger"
            " dots hold more records. Below the dashed line it is too sure, above it not sure"
            " enough.",
            "Reliability curve",
            f"{name}-calibration",
        )
    ]
