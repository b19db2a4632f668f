"""The tables of an evaluation: the leaderboard, a run's measures, its classes, its cells, and run
against run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from claimlab.core.stats.chance import STAR
from claimlab.core.stats.interval import Interval
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evaluate.compare import Comparison
from claimlab.evaluate.joined import Drop, Seeds
from claimlab.evaluate.judge.people import RATES, rate_in_words
from claimlab.evaluate.result import Evaluation, RunResult
from claimlab.evaluate.slices import Slices
from claimlab.evaluate.small import ONE_CLASS
from claimlab.evaluate.traits import title
from claimlab.pages.blocks import Block, Cell, Section, Table, Text, percent, span
from claimlab.pages.excerpt import excerpt

POINTS = "Differences are in percentage points of macro-F1."


def points(value: float | None) -> Cell:
    """A difference in points, its sign shown."""
    return (
        Cell("–", sort=float("-inf")) if value is None else Cell(f"{100 * value:+.1f}", sort=value)
    )


def chance(p: float | None) -> Cell:
    if p is None:
        return Cell("–", sort=float("inf"))
    return Cell("< 0.001" if p < 0.001 else f"{p:.3f}", sort=p)


def f1_cell(value: float | None, why: str | None = None, *, star: bool = False) -> Cell:
    """A macro-F1 in percent, with a star where it is above chance, or why there is none."""
    if value is None:
        return Cell(why or ONE_CLASS, sort=float("-inf"), tone="not-measured")
    return Cell(f"{percent(value).text}*", sort=value) if star else percent(value)


def leaderboard(runs: Sequence[RunResult], links: dict[str, str]) -> Table:
    """Runs of one task on one dataset, the best first, with what needs no detector among them."""
    rows: list[tuple[tuple[float, float], list[Any]]] = []
    for run in runs:
        s = run.scores
        line = [
            Cell(excerpt(run.name, 60), link=links.get(run.name)),
            f1_cell(s.macro_f1, s.why, star=run.chance.beaten),
            span(run.intervals["macro_f1"]),
            percent(s.accuracy),
            percent(s.auroc),
            percent(s.calibration.ece),
            s.n,
            run.groups,
            s.failed,
        ]
        rows.append(((s.macro_f1 or 0.0, s.accuracy or 0.0), line))
    for floor in runs[0].baselines:
        words = {"majority": "(majority class)", "stratified": "(random guess)"}[floor.name]
        line = [
            Cell(words, tone="not-measured"),
            f1_cell(floor.macro_f1),
            None,
            percent(floor.accuracy),
            None,
            None,
            runs[0].scores.n,
            None,
            None,
        ]
        rows.append(((floor.macro_f1 or 0.0, floor.accuracy), line))
    rows.sort(key=lambda row: row[0], reverse=True)
    columns = [
        "Run",
        "Macro-F1",
        "95% interval",
        "Accuracy",
        "AUROC",
        "ECE",
        "n",
        "Groups",
        "Failed",
    ]
    star = f" {STAR.format('runs evaluated')}" if any(run.chance.beaten for run in runs) else ""
    return Table(
        columns,
        [line for _, line in rows],
        f"Values in %. In parentheses: trivial baselines.{star}",
    )


def measures(run: RunResult) -> Table:
    """Every measure of a run with its interval, or the reason why there is none."""
    s, c = run.scores, run.scores.calibration
    rows: list[list[Any]] = [
        ["macro-F1", f1_cell(s.macro_f1, s.why), span(run.intervals["macro_f1"]), ""],
        ["accuracy", percent(s.accuracy), span(run.intervals["accuracy"]), ""],
        ["macro-F1, answered records only", percent(s.answered_macro_f1), None, _failures(run)],
        ["accuracy, answered records only", percent(s.answered_accuracy), None, _failures(run)],
        ["AUROC", percent(s.auroc), span(run.intervals["auroc"]), s.auroc_why or ""],
        *(
            [
                f"true-positive rate at {100 * r.fpr:g}% false positives",
                percent(r.tpr),
                None,
                r.why or "",
            ]
            for r in s.rates
        ),
        ["calibration error (ECE)", percent(c.ece), None, c.why or ""],
        ["Brier score", percent(c.brier), None, c.why or ""],
        *(
            [f"macro-F1 of the {b.name} baseline", f1_cell(b.macro_f1), None, ""]
            for b in run.baselines
        ),
        [
            "macro-F1 of its answers against permuted labels",
            percent(run.chance.permuted),
            None,
            _moved(run),
        ],
        [
            "macro-F1 less the best baseline",
            points(run.chance.difference),
            _points_span(run.chance.interval),
            _p(run),
        ],
    ]
    units = f"{several(s.n, 'record')} in {several(run.groups, 'group')}"
    caption = f"Values in %, over {units}. Intervals are 95%, by resampling groups."
    return Table(["Measure", "Value", "95% interval", "Note"], rows, caption, sortable=False)


def _moved(run: RunResult) -> str:
    return (
        ""
        if run.chance.moved is None
        else f"permutations moved {100 * run.chance.moved:.0f}% of the labels"
    )


def _p(run: RunResult) -> str:
    if run.chance.p_holm is None:
        return run.chance.why or ""
    return f"corrected p {chance(run.chance.p_holm).text}"


def classes(run: RunResult) -> Table:
    names = [c.name for c in run.scores.per_class]
    rows: list[list[Any]] = []
    for i, c in enumerate(run.scores.per_class):
        line = [excerpt(c.name, 40), c.n, percent(c.precision), percent(c.recall), percent(c.f1)]
        rows.append([*line, span(run.class_intervals[c.name]), *run.confusion[i]])
    heads = ["True class", "n", "Precision", "Recall", "F1", "95% interval of F1"]
    answer_columns = [f"predicted {excerpt(n, 24)}" for n in names]
    return Table(
        [*heads, *answer_columns, "predicted other", "failed"],
        rows,
        "Per class, and the confusion table.",
        sortable=False,
    )


def cells(subgroups: Slices) -> Table:
    """One row per subgroup."""
    names = list(subgroups.cells[0].classes) if subgroups.cells else []
    rows: list[list[Any]] = [
        [
            excerpt(c.value, 60),
            c.n,
            *(c.classes[n] for n in names),
            percent(c.macro_f1),
            span(c.macro_f1_interval),
            percent(c.accuracy),
            span(c.accuracy_interval),
            c.failed,
            c.why or "",
        ]
        for c in subgroups.cells
    ]
    heads = [
        title(subgroups.by).capitalize(),
        "n",
        *(excerpt(n, 24) for n in names),
        "Macro-F1",
        "95% interval",
    ]
    notes = any(c.why for c in subgroups.cells)
    columns = [*heads, "Accuracy", "95% interval", "Failed", *(["Note"] if notes else [])]
    return Table(columns, [row if notes else row[:-1] for row in rows])


def comparisons(pairs: Sequence[Comparison], *, short: bool = False) -> Table:
    """Run against run; `short` for a terminal, where counts would leave no room for names."""
    if short:
        brief: list[list[Any]] = [
            [
                c.first,
                c.second,
                c.shared,
                points(c.difference),
                _points_span(c.interval),
                chance(c.p_holm),
                _better(c),
            ]
            for c in pairs
        ]
        return Table(
            ["Run", "against", "Shared", "Difference", "95% interval", "p", "Better"], brief, POINTS
        )
    rows: list[list[Any]] = [
        [
            excerpt(c.first, 50),
            excerpt(c.second, 50),
            c.shared,
            points(c.difference),
            _points_span(c.interval),
            c.only_first,
            c.only_second,
            chance(c.p),
            chance(c.p_holm),
            _better(c),
        ]
        for c in pairs
    ]
    columns = [
        "Run",
        "against",
        "Shared records",
        "Difference",
        "95% interval",
        "Only first right",
        "Only second right",
        "McNemar p",
        "p, Holm",
        "Better",
    ]
    return Table(columns, rows, POINTS)


def seeds(families: Sequence[Seeds]) -> Table:
    rows: list[list[Any]] = [
        [
            excerpt(s.name, 40),
            s.dataset,
            s.task,
            s.divided_by,
            ", ".join(map(str, s.seeds)),
            percent(s.mean),
            Cell(f"± {100 * s.sd:.1f}", sort=s.sd) if s.sd is not None else None,
            span(s.interval),
        ]
        for s in families
    ]
    columns = [
        "Detector",
        "Dataset",
        "Task",
        "Split by",
        "Seeds",
        "Mean macro-F1",
        "sd",
        "95% interval",
    ]
    return Table(
        columns,
        rows,
        "The sd says how far the score moves with the seed; the interval, with the records.",
    )


def drops(measured: Sequence[Drop]) -> Table:
    rows: list[list[Any]] = [
        [
            excerpt(d.name, 40),
            d.dataset,
            d.task,
            percent(d.random),
            d.divided_by,
            percent(d.held_out),
            points(-d.drop),
            _points_span(None if d.interval is None else (-d.interval[1], -d.interval[0])),
        ]
        for d in measured
    ]
    columns = [
        "Detector",
        "Dataset",
        "Task",
        "Random split",
        "Held out by",
        "Held-out split",
        "Change",
        "95% interval",
    ]
    return Table(columns, rows, POINTS)


def flat(evaluation: Evaluation) -> list[JsonObject]:
    """Every figure of every run as one plain table (for a spreadsheet): the whole run first, then
    its cells.
    """
    out = []
    for run in evaluation.runs:
        whole: JsonObject = {
            "run": run.name,
            "dataset": run.dataset,
            "task": run.task,
            "by": None,
            "value": None,
            "n": run.scores.n,
            "groups": run.groups,
            "failed": run.scores.failed,
            "macro_f1": run.scores.macro_f1,
            **_ends("macro_f1", run.intervals["macro_f1"]),
            "accuracy": run.scores.accuracy,
            **_ends("accuracy", run.intervals["accuracy"]),
        }
        out.append(whole)
        for subgroups in run.slices:
            out += [
                {
                    **whole,
                    "by": subgroups.by,
                    "value": c.value,
                    "n": c.n,
                    "groups": c.groups,
                    "failed": c.failed,
                    "macro_f1": c.macro_f1,
                    **_ends("macro_f1", c.macro_f1_interval),
                    "accuracy": c.accuracy,
                    **_ends("accuracy", c.accuracy_interval),
                }
                for c in subgroups.cells
            ]
    return out


def _ends(name: str, interval: Interval | None) -> dict[str, float | None]:
    return {
        f"{name}_low": interval[0] if interval else None,
        f"{name}_high": interval[1] if interval else None,
    }


def _better(comparison: Comparison) -> str:
    return comparison.why or comparison.better or "no clear difference"


def _points_span(interval: Interval | None) -> Cell:
    if interval is None:
        return Cell("–", sort=float("-inf"))
    return Cell(f"{100 * interval[0]:+.1f} to {100 * interval[1]:+.1f}", sort=interval[0])


def _failures(run: RunResult) -> str:
    return f"{run.scores.failed:,} failed" if run.scores.failed else ""


def judged(run: RunResult) -> list[Block]:
    """The judges' verdicts on the rationales, if the run has them; each judge's validation comes
    before its rates.
    """
    if not run.about.judged:
        return []
    blocks: list[Block] = []
    rows: list[list[Any]] = []
    for one in run.about.judged:
        worth = one["standing"] or "unvalidated: it was not compared with annotators"
        blocks.append(
            Text(f"{one['judge']}: {worth}.", "warning" if "unvalidated" in worth else "note")
        )
        rows += [_rated(one["judge"], one["by_judge"])]
    people = next((one["by_people"] for one in run.about.judged if one["by_people"]), None)
    rows += [_rated("annotators", people)] if people else []
    columns = ["Judged by", *(words.capitalize() for words in RATES.values())]
    note = (
        "Cases with 95% intervals. The guide calls these two rates false-incorrect and"
        " false-correct."
    )
    return [
        Section("Rationales, judged", [*blocks, Text(note), Table(columns, rows, sortable=False)])
    ]


def _rated(who: str, rates: JsonObject) -> list[Any]:
    return [excerpt(who, 80), *(rate_in_words(rates[key]) for key in RATES)]
