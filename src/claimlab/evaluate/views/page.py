"""The pages of an evaluation: everything, and the leaderboard alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from claimlab.core.plain import slug
from claimlab.core.words import several, verb
from claimlab.evaluate.compare import Comparison, tied_with
from claimlab.evaluate.result import Evaluation, RunResult
from claimlab.evaluate.slices import Estimate, Slices
from claimlab.evaluate.small import ONE_CLASS, SMALLEST, SMALLEST_CLASS
from claimlab.evaluate.traits import title
from claimlab.evaluate.views import pictures, tables
from claimlab.pages.blocks import (
    Block,
    Fold,
    Items,
    Report,
    Section,
    Table,
    Text,
    Tiles,
    percent,
    span,
)
from claimlab.pages.excerpt import excerpt


@dataclass(frozen=True)
class Size:
    """How much a page carries; evaluation.json always has it all."""

    figures: bool = True
    slices: bool = True


SIZES = (Size(), Size(figures=False), Size(figures=False, slices=False))


def headline(run: RunResult) -> str:
    s = run.scores
    low_high = run.intervals["macro_f1"]
    interval = f" ({span(low_high).text})" if low_high else ""
    failed = f"; {s.failed:,} failed" if s.failed else ""
    records = "record" if s.n == 1 else "records"
    f1 = s.why if s.macro_f1 is None else f"{100 * s.macro_f1:.1f}{interval}"
    share = "" if s.accuracy is None else f", accuracy {100 * s.accuracy:.1f}"
    return (
        f"{run.name}: macro-F1 {f1}{share} on {s.n:,} {records} of '{run.dataset}', task"
        f" {run.task}{failed}."
    )


def page(evaluation: Evaluation, size: Size = SIZES[0]) -> Report:
    """The leaderboards, then every run."""
    runs = evaluation.runs
    note = (
        "To keep this page small, charts are left out; they are in plots/, and every figure in"
        " evaluation.json."
    )
    blocks: list[Block] = [] if size.figures else [Text(note, "note")]
    blocks += [
        Text(conclusion(runs, evaluation.comparisons), "conclusion") for runs in boards(evaluation)
    ]
    blocks += together(evaluation, size)
    blocks += [run_section(run, i, size) for i, run in enumerate(runs)]
    blocks.append(method(evaluation))
    name = runs[0].name if len(runs) == 1 else f"{len(runs)} runs"
    subtitle = (
        headline(runs[0]) if len(runs) == 1 else ", ".join(dict.fromkeys(r.dataset for r in runs))
    )
    return Report(f"Evaluation of {excerpt(name, 80)}", excerpt(subtitle, 300), blocks)


def conclusion(runs: Sequence[RunResult], comparisons: Sequence[Comparison] = ()) -> str:
    """The best run of a board, or those tied at its top, beside the best trivial baseline."""
    measured = [run for run in runs if run.scores.macro_f1 is not None]
    where = f"'{excerpt(runs[0].dataset, 60)}'"
    if not measured:
        return f"Macro-F1 on {where}: {runs[0].scores.why}."
    best = max(measured, key=lambda run: (run.scores.macro_f1 or 0.0, run.scores.accuracy or 0.0))
    ends = (
        f" (95% interval {span(best.intervals['macro_f1']).text})"
        if best.intervals["macro_f1"]
        else ""
    )
    score = f"macro-F1 {100 * (best.scores.macro_f1 or 0.0):.1f}{ends}"
    tied = [
        run
        for run in measured
        if run.name in tied_with(best.name, [r.name for r in measured], comparisons)
    ]
    if len(runs) == 1:
        first = f"{excerpt(best.name, 120)}: {score} on {where}"
    elif not tied:
        first = f"{excerpt(best.name, 120)} is the best of {len(runs)} runs: {score} on {where}"
    else:
        names = [
            f"{excerpt(run.name, 60)} ({100 * (run.scores.macro_f1 or 0.0):.1f})" for run in tied
        ]
        others = " and ".join([*names[:3], f"{len(names) - 3} more"] if len(names) > 4 else names)
        first = (
            f"No run is clearly the best of {len(runs)}: {excerpt(best.name, 60)} is tied with"
            f" {others}. {excerpt(best.name, 60)}: {score} on {where}"
        )
    return f"{first}{beside(best)}."


def beside(run: RunResult) -> str:
    """How far a run is from the best trivial baseline, and whether that can be chance."""
    if run.chance.difference is None:
        return ""
    points = 100 * run.chance.difference
    away = (
        f", {abs(points):.1f} points {'above' if points >= 0 else 'below'} the best trivial"
        " baseline"
    )
    if points < 0 or run.chance.beaten:
        return away
    return (
        f"{away}, which can be chance" if run.chance.p_holm is not None else f"{away} (not tested)"
    )


def leaderboard_page(evaluation: Evaluation, size: Size = SIZES[0]) -> Report:
    """Run against run, without what is inside each."""
    blocks = [*together(evaluation, size, linked=False), method(evaluation)]
    return Report(
        "Leaderboard",
        f"{several(len(evaluation.runs), 'run')}, each next to trivial baselines.",
        blocks,
    )


def boards(evaluation: Evaluation) -> list[list[RunResult]]:
    """Runs that can be compared in one table: same task, same dataset."""
    groups: dict[tuple[str, str], list[RunResult]] = {}
    for run in evaluation.runs:
        groups.setdefault((run.task, run.dataset), []).append(run)
    return list(groups.values())


def other_records(runs: Sequence[RunResult]) -> list[str]:
    """A warning where the lines of one board are not about the same records."""
    return [] if len({r.records for r in runs}) == 1 else [_OTHER_RECORDS]


def together(evaluation: Evaluation, size: Size, *, linked: bool = True) -> list[Block]:
    """Several runs together: leaderboards, comparisons, seeds, drops."""
    anchors = {run.name: f"#run-{i + 1}" for i, run in enumerate(evaluation.runs)} if linked else {}
    out: list[Block] = []
    for number, runs in enumerate(boards(evaluation)):
        name = f"Leaderboard: {runs[0].task} on {excerpt(runs[0].dataset, 60)}"
        measured = [run for run in runs if run.scores.macro_f1 is not None]
        drawn = [pictures.board(measured, f"{number + 1:02d}")] if size.figures and measured else []
        cautions: list[Block] = [Text(caution, "warning") for caution in other_records(runs)]
        cautions += [Text(f"{r.name}: {c}", "warning") for r in runs for c in r.cautions]
        table = tables.leaderboard(runs, anchors)
        out.append(Section(name, [*cautions, table, *drawn], anchor=f"leaderboard-{number + 1}"))
    if evaluation.comparisons:
        out.append(
            Section(
                "Run against run", [Text(_COMPARED), tables.comparisons(evaluation.comparisons)]
            )
        )
    if evaluation.seeds:
        out.append(Section("Several seeds", [tables.seeds(evaluation.seeds)]))
    if evaluation.drops:
        text = "How much of the score depends on test records resembling training records."
        out.append(
            Section(
                "From a random split to a held-out one",
                [Text(text), tables.drops(evaluation.drops)],
            )
        )
    return out


def run_section(run: RunResult, number: int, size: Size) -> Section:
    name = f"{number + 1:02d}-{slug(run.name)}"
    blocks = [Text(headline(run)), *run_blocks(run, name, size)]
    return Section(f"Run: {excerpt(run.name, 80)}", blocks, anchor=f"run-{number + 1}")


def run_blocks(run: RunResult, name: str, size: Size = SIZES[0]) -> list[Block]:
    """All measurements of one run, also for the quality assurance report."""
    blocks: list[Block] = [
        tiles(run),
        *(Text(c, "warning") for c in run.cautions),
        *([Text(run.contamination.sentence(), "note")] if run.contamination is not None else []),
        tables.measures(run),
        tables.classes(run),
    ]
    if size.figures:
        blocks += pictures.calibration(run, name)
    blocks += _abstained(run)
    blocks += tables.judged(run)
    blocks += [Items(left_out(run))] if left_out(run) else []
    if size.slices:
        blocks += [by_trait(subgroups, run, name, size) for subgroups in run.slices]
    return blocks


def tiles(run: RunResult) -> Tiles:
    s = run.scores
    f1 = s.why or ONE_CLASS if s.macro_f1 is None else f"{100 * s.macro_f1:.1f}"
    figures = [("accuracy", s.accuracy), ("AUROC", s.auroc), ("ECE", s.calibration.ece)]
    return Tiles(
        [
            ("macro-F1", f1, "plain" if run.chance.beaten else "warn"),
            *(
                (label, "–" if value is None else f"{100 * value:.1f}", "plain")
                for label, value in figures
            ),
            ("records", f"{s.n:,}", "plain"),
            ("failed", f"{s.failed:,}", "warn" if s.failed else "plain"),
        ]
    )


def by_trait(subgroups: Slices, run: RunResult, name: str, size: Size) -> Section:
    """One kind of subgroup: the means, the chart, and the table, folded if it is long."""
    blocks: list[Block] = [Items(_sentences(subgroups, run))] if _sentences(subgroups, run) else []
    if size.figures:
        blocks += pictures.forest(subgroups, run, name)
    if subgroups.cells:
        table = tables.cells(subgroups)
        drawn = any(not isinstance(b, Items) for b in blocks)
        blocks.append(
            Fold(f"The {several(len(subgroups.cells), 'subgroup')} as a table", [table])
            if drawn
            else table
        )
    return Section(f"By {title(subgroups.by)}", blocks, anchor=f"{name}-by-{slug(subgroups.by)}")


def method(evaluation: Evaluation) -> Section:
    return Section(
        "How these figures were made",
        [
            Items(
                [
                    (
                        "Macro-F1 is the mean over the classes that the truth holds. A failed"
                        " prediction, and an answer that is none of the classes, count as wrong."
                    ),
                    (
                        f"Intervals are 95%, from {evaluation.draws:,} resamples of whole groups"
                        f" (for AUROC at most 1,000; seed {evaluation.seed}): records of one group"
                        " are not independent evidence."
                    ),
                    (
                        f"A cell with fewer than {SMALLEST} records, or with a class of fewer than"
                        f" {SMALLEST_CLASS}, is suppressed and counted. A cell that lacks a class,"
                        " or a run on one class, has no macro-F1."
                    ),
                    (
                        "McNemar's test is exact and takes records as independent: where there are"
                        " groups, believe the interval. Its p-values are corrected by Holm's method"
                        " over all comparisons shown."
                    ),
                    (
                        "The baselines are computed from the labels of the records that were"
                        " scored. A score is above them (*) where fewer than 5 in 100 permutations"
                        " of the labels, groups kept together, reach it, and fewer than 5 in 100"
                        " resamples fall to the best baseline; p-values are corrected by Holm's"
                        " method."
                    ),
                ]
            )
        ],
        anchor="method",
    )


_OTHER_RECORDS = (
    "These runs were not scored on the same records: compare them by the records they share, below."
)
_COMPARED = (
    "On the test records that the two runs share. A run is called better only when the interval is"
    " clear of zero and the corrected p-value is below 0.05."
)


def _sentences(subgroups: Slices, run: RunResult) -> list[str]:
    sentences = []
    if subgroups.mean is not None and run.scores.macro_f1 is not None:
        fit = sum(c.macro_f1 is not None for c in subgroups.cells)
        sentences.append(
            f"Pooled over all records: {100 * run.scores.macro_f1:.1f}. Mean of the {fit} values"
            f" with a macro-F1: {_estimate(subgroups.mean)}."
        )
    if subgroups.gap is not None:
        sentences.append(
            f"Head less tail languages, pooled: {_estimate(subgroups.gap.pooled)} points."
        )
        if subgroups.gap.mean_of_languages is not None:
            sentences.append(
                "Head less tail, as means of languages:"
                f" {_estimate(subgroups.gap.mean_of_languages)} points."
            )
    if subgroups.suppressed:
        sentences.append(
            f"Too rare to show: {several(subgroups.suppressed, 'value')}"
            f" ({several(subgroups.suppressed_records, 'record')}) with fewer than {SMALLEST}"
            f" records, or {SMALLEST_CLASS} of a class."
        )
    if subgroups.without:
        sentences.append(
            f"{several(subgroups.without, 'record')} {verb(subgroups.without, 'has', 'have')} no"
            f" {title(subgroups.by)}."
        )
    return sentences


def _abstained(run: RunResult) -> list[Block]:
    abstentions = run.abstentions
    if abstentions is None:
        return []
    names = list(abstentions.kinds[0].classes)
    rows: list[list[Any]] = [
        [w.kind.replace("-", " "), w.n, percent(w.share), *(w.classes[n] for n in names)]
        for w in abstentions.kinds
    ]
    figures = (
        f"accuracy is {percent(abstentions.accuracy).text} and macro-F1"
        f" {percent(abstentions.macro_f1).text}"
    )
    text = (
        f"A verdict was given for {percent(abstentions.coverage).text}% of the records"
        f" ({span(abstentions.coverage_interval).text}); of those, {figures}. In all scores above,"
        " giving no verdict counts as wrong."
    )
    columns = ["Answer", "n", "Share (%)", *(f"true class {excerpt(n, 24)}" for n in names)]
    return [Section("No verdict given", [Text(text), Table(columns, rows, sortable=False)])]


def left_out(run: RunResult) -> list[str]:
    """What was not scored, or counts as wrong without being a wrong verdict."""
    words = {
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
    items = [
        f"{several(n, words[name][0])} {words[name][1]}." for name, n in run.left_out.items() if n
    ]
    if run.scores.other:
        kinds = run.abstentions.kinds if run.abstentions is not None else []
        withheld = "".join(f" {w.n:,} of them say: {w.kind.replace('-', ' ')}." for w in kinds)
        items.append(
            f"{several(run.scores.other, 'answer')} outside the classes, counted as"
            f" wrong.{withheld}"
        )
    return items


def _estimate(estimate: Estimate) -> str:
    interval = f" ({span(estimate.interval).text})" if estimate.interval is not None else ""
    return f"{100 * estimate.value:.1f}{interval}"
