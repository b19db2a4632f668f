"""The tables of an evaluation: the leaderboard, a run's measures, its classes, its cells, and run
against run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from claimlab.core.stats.chance import STAR
from claimlab.core.stats.interval import Interval, ends_of
from claimlab.core.stats.ranks import rank_words
from claimlab.core.types import JsonObject
from claimlab.evaluate.abstentions import Withheld
from claimlab.evaluate.board import Board, RunStanding
from claimlab.evaluate.compare import Comparison
from claimlab.evaluate.explained import Explained
from claimlab.evaluate.measures import ClassScore, Scores
from claimlab.evaluate.metric import Metric, board_metrics, metrics
from claimlab.evaluate.result import Evaluation, RunResult
from claimlab.evaluate.siblings import Drop, Seeds
from claimlab.evaluate.slices import SliceCell as Subgroup
from claimlab.evaluate.slices import Slices
from claimlab.evaluate.sufficiency import ONE_CLASS
from claimlab.evaluate.traits import title
from claimlab.pages.blocks import (
    Blocks,
    Cell,
    Column,
    Columns,
    Section,
    Table,
    Text,
    Value,
    excerpt,
    percent,
    points,
    points_span,
    probability,
    short,
    span,
)

INTERVAL = "95% interval"
POINTS = "Differences are in percentage points of macro-F1."
CEILING = "ceiling"
TRIVIAL = {
    "majority": "(majority class)",
    "stratified": "(random guess)",
    CEILING: "(noise ceiling)",
}
FIRST_MEASURES = ("macro_f1", "accuracy")  # of the measures of a run
UNTESTED = Cell("–", sort=float("inf"))  # last where p-values are sorted
EXPLAINED = (
    "Shares of the answers in %. The model: a run repeats the shortcut, knows the label, or guesses"
    " among the classes. It attributes answers and names no cause; records on which a shortcut is"
    " wrong may also be harder."
)
DESIGN_EFFECT = (
    "The first is the unit. The design effect is the variance of the run's accuracy by a column"
    " over that by the unit: above 1.5 in any run, all runs are measured by that column, if it has"
    " 6 effective units or more. Effective: as many units of equal size tell as much."
)
ABOVE_CEILING = "† above the noise ceiling: it repeats errors of these labels, or has seen them."
STANDINGS: Columns[RunStanding] = (
    Column("Rank", lambda standing: rank_words(standing.ranks)),
    Column("System", "name", short(60)),
    Column("Score", "score", percent),
    Column(INTERVAL, "interval", span),
    Column("May be the best", lambda standing: "yes" if standing.tied else "–"),
)
_DIFFERENCE: Columns[Comparison] = (
    Column("Difference", "difference", points),
    Column(INTERVAL, "interval", points_span),
)
_BETTER: Column[Comparison] = Column("Better", lambda c: c.why or c.better or "no clear difference")
COMPARED: Columns[Comparison] = (
    Column("Run", "first", short(50)),
    Column("against", "second", short(50)),
    Column("Shared records", "shared"),
    *_DIFFERENCE,
    Column("Only first right", "only_first"),
    Column("Only second right", "only_second"),
    Column("McNemar p", "p", probability, UNTESTED),
    Column("p, units", "p_units_holm", probability, UNTESTED),
    Column("p, all pairs", "p_ranks", probability, UNTESTED),
    _BETTER,
)
# for a terminal, where counts would leave no room for names
COMPARED_IN_SHORT: Columns[Comparison] = (
    Column("Run", "first"),
    Column("against", "second"),
    Column("Shared"),
    *_DIFFERENCE,
    Column("p", "sure", probability, UNTESTED),
    _BETTER,
)
SEEDS: Columns[Seeds] = (
    Column("Detector", "name", short(40)),
    Column("Dataset"),
    Column("Task"),
    Column("Split by", "divided_by"),
    Column("Seeds", lambda s: ", ".join(map(str, s.seeds))),
    Column("Mean macro-F1", "mean", percent),
    Column("sd", "sd", lambda sd: Cell(f"± {100 * sd:.1f}", sort=sd)),
    Column(INTERVAL, "interval", span),
    Column("Error from seeds", "from_seeds", percent),
    Column("from records", "from_records", percent),
    Column("More would help", "advice", missing="–"),
)
DROPS: Columns[Drop] = (
    Column("Detector", "name", short(40)),
    Column("Dataset"),
    Column("Task"),
    Column("Random split", "random", percent),
    Column("Held out by", "divided_by"),
    Column("Held-out split", "held_out", percent),
    Column("Change", lambda d: -d.drop, points),
    Column(INTERVAL, "interval", lambda ends: points_span((-ends[1], -ends[0]))),
)


def f1_cell(value: float | None, why: str | None = None, *, marks: str = "") -> Cell:
    """A macro-F1 in percent with its marks, or why there is none."""
    if value is None:
        return Cell(why or ONE_CLASS, sort=float("-inf"), tone="not-measured")
    return Cell(f"{percent(value).text}{marks}", sort=value) if marks else percent(value)


def leaderboard(
    runs: Sequence[RunResult], links: dict[str, str], board: Board | None = None
) -> Table:
    """Runs of one task on one dataset, the best first, with what needs no detector among them; with
    the ranks that a `board` allows them."""
    ranks = {} if board is None or board.why else board.ranks
    first, *others = board_metrics()
    lines = [_of_run(run, ranks, links) for run in runs]
    rows: list[tuple[str, Sequence[float | None], Interval | None]] = [
        (baseline.name, (baseline.macro_f1, baseline.accuracy), None)
        for baseline in runs[0].baselines
    ]
    scores = {} if runs[0].ceiling is None else runs[0].ceiling.scores
    if scores:
        rows.append((CEILING, [scores[key][0] for key in FIRST_MEASURES], scores[first.key][1]))
    for name, pair, ends in rows:
        label = Cell(TRIVIAL[name], tone="not-measured")
        counts = runs[0].scores.n, None, None
        values = dict(zip(FIRST_MEASURES, pair, strict=True))
        lines.append(_line(("", label, f1_cell(pair[0])), values, ends, counts))
    lines.sort(key=lambda line: line[0], reverse=True)
    heads = ["Rank", "Run", first.head, INTERVAL, *(metric.head for metric in others)]
    skip = 0 if ranks else 1
    return Table(
        [*heads, "n", "Groups", "Failed"][skip:],
        [cells[skip:] for _, cells in lines],
        _caption(runs, bool(scores)),
    )


Line = tuple[list[float], list[Value]]  # of the leaderboard: what it is sorted by, and its cells


def _of_run(run: RunResult, ranks: dict[str, str], links: dict[str, str]) -> Line:
    scores, ends = run.scores, run.intervals[FIRST_MEASURES[0]]
    name = Cell(excerpt(run.name, 60), link=links.get(run.name))
    star = "*" if run.chance.beaten else ""
    dagger = "†" if _above_ceiling(run) else ""
    score = f1_cell(scores.macro_f1, scores.why, marks=star + dagger)
    named = ranks.get(run.name, ""), name, score
    values = {key: value.value for key, value in scores.metrics.items()}
    return _line(named, values, ends, (scores.n, run.groups, scores.failed))


def _line(
    named: Sequence[Value],
    values: Mapping[str, float | None],
    ends: Interval | None,
    counts: Sequence[Value],
) -> Line:
    """A run, or a baseline, which has few of the metrics."""
    shares = [percent(values.get(metric.key)) for metric in board_metrics()[1:]]
    return [values[key] or 0.0 for key in FIRST_MEASURES], [*named, span(ends), *shares, *counts]


def _caption(runs: Sequence[RunResult], ceiling: bool) -> str:
    """What the marks of a leaderboard mean, of those that it has."""
    lines = "trivial baselines and the noise ceiling" if ceiling else "trivial baselines"
    star = f" {STAR.format('runs evaluated')}" if any(run.chance.beaten for run in runs) else ""
    above = f" {ABOVE_CEILING}" if any(_above_ceiling(run) for run in runs) else ""
    sizes = list(dict.fromkeys(run.size for run in runs))
    over = f", over {sizes[0]}" if len(sizes) == 1 else ""
    return f"Values in %{over}. In parentheses: {lines}.{star}{above}"


def considered(run: RunResult) -> Table:
    """The columns that might be the unit, and why each is or is not."""
    rows: list[Sequence[Value]] = [
        [
            column["column"] or "record",
            column["units"],
            column["effective"],
            percent(column["largest"]),
            column["design_effect"],
            column["why"],
        ]
        for column in run.considered
    ]
    heads = ["Column", "Units", "Effective", "Largest, in %", "Design effect", "Why"]
    return Table(heads, rows, DESIGN_EFFECT, sortable=False)


def standings(board: Board) -> Table:
    """The systems of a board, the best first."""
    return Table.of(STANDINGS, board.standings, f"{board.title[:1].upper()}{board.title[1:]} in %.")


def ranks(boards: Sequence[Board]) -> Table:
    """The ranks of each run by every metric, and the smallest difference that can be seen by it."""
    runs = dict.fromkeys(standing.name for board in boards for standing in board.standings)
    places = [board.ranks for board in boards]
    rows: list[Sequence[Value]] = [
        [excerpt(name, 60), *(place.get(name, "–") for place in places)] for name in runs
    ]
    seen = [percent(board.detectable) for board in boards]
    rows.append([Cell("smallest difference seen", tone="not-measured"), *seen])
    caption = (
        "Ranks that the data allow. Last: the smallest difference that can be seen, in points."
    )
    return Table(["Run", *(board.title for board in boards)], rows, caption, sortable=False)


def _above_ceiling(run: RunResult) -> bool:
    return run.ceiling is not None and run.ceiling.exceeded(FIRST_MEASURES[0], run.scores.macro_f1)


def measures(run: RunResult) -> Table:
    """Every measure of a run with its interval, or the reason why there is none."""
    scores, chance, intervals = run.scores, run.chance, run.intervals
    failed = f"{scores.failed:,} failed" if scores.failed else ""
    moved = (
        ""
        if chance.moved is None
        else f"permutations moved {100 * chance.moved:.0f}% of the labels"
    )
    tested = (
        chance.why or ""
        if chance.p_holm is None
        else f"corrected p {probability(chance.p_holm).text}"
    )
    rows: list[Sequence[Value]] = [
        ["macro-F1", f1_cell(scores.macro_f1, scores.why), span(intervals["macro_f1"]), ""],
        ["accuracy", percent(scores.accuracy), span(intervals["accuracy"]), ""],
        ["macro-F1, answered records only", percent(scores.answered_macro_f1), None, failed],
        ["accuracy, answered records only", percent(scores.answered_accuracy), None, failed],
        *(_measure(run, metric) for metric in metrics() if metric.key not in FIRST_MEASURES),
        *(
            [f"macro-F1 of the {b.name} baseline", f1_cell(b.macro_f1), None, ""]
            for b in run.baselines
        ),
        ["macro-F1 of its answers against permuted labels", percent(chance.permuted), None, moved],
        [
            "macro-F1 less the best baseline",
            points(chance.difference),
            points_span(chance.interval),
            tested,
        ],
    ]
    caption = f"Values in %, over {run.size}. Intervals are 95%, by resampling {run.resampled}."
    return Table(["Measure", "Value", INTERVAL, "Note"], rows, caption, sortable=False)


def _measure(run: RunResult, metric: Metric) -> list[Value]:
    measured = run.scores.metrics[metric.key]
    bounds = f"from {100 * metric.lowest:g} to {100 * metric.highest:g}" if metric.lowest else ""
    ends = span(run.intervals.get(metric.key))
    return [metric.title, percent(measured.value), ends, measured.why or bounds]


def classes(run: RunResult) -> Table:
    names = [c.name for c in run.scores.per_class]
    answered = [*(f"predicted {excerpt(n, 24)}" for n in names), "predicted other", "failed"]
    columns: list[Column[ClassScore]] = [
        Column("True class", "name", short(40)),
        Column("n"),
        *(Column(head, None, percent) for head in ("Precision", "Recall", "F1")),
        Column("95% interval of F1", lambda c: run.class_intervals[c.name], span),
        *(Column(head, partial(_counted, run, i)) for i, head in enumerate(answered)),
    ]
    return Table.of(
        columns, run.scores.per_class, "Per class, and the confusion table.", sortable=False
    )


def _counted(run: RunResult, answer: int, score: ClassScore) -> int:
    return run.confusion[run.scores.per_class.index(score)][answer]


def count_of(part: Subgroup | Withheld, name: str) -> int:
    """How many records of the class `name` are in it."""
    return part.classes[name]


def cells(subgroups: Slices) -> Table:
    """One row per subgroup."""
    names = list(subgroups.cells[0].classes) if subgroups.cells else []
    columns: list[Column[Subgroup]] = [
        Column(title(subgroups.by).capitalize(), "value", short(60)),
        Column("n"),
        *(Column(excerpt(name, 24), partial(count_of, name=name)) for name in names),
        Column("Macro-F1", "macro_f1", percent),
        Column(INTERVAL, "macro_f1_interval", span),
        Column("Accuracy", "accuracy", percent),
        Column(INTERVAL, "accuracy_interval", span),
        Column("Failed"),
        Column("Note", "why", missing="", optional=True),
    ]
    return Table.of(columns, subgroups.cells)


def comparisons(pairs: Sequence[Comparison], *, short: bool = False) -> Table:
    """Run against run; `short` for a terminal."""
    return Table.of(COMPARED_IN_SHORT if short else COMPARED, pairs, POINTS)


def seeds(families: Sequence[Seeds]) -> Table:
    note = (
        "The sd says how far the score moves with the seed; the interval, with the records. The"
        " errors of the mean that come from few seeds and from few records are given apart."
    )
    return Table.of(SEEDS, families, note)


def explained(runs: Sequence[Explained]) -> Table:
    """The shares of each run's answers that repeat a shortcut, and that know the label."""
    rows: list[Sequence[Value]] = [
        [
            excerpt(run.run, 50),
            excerpt(name, 50),
            percent(share),
            span(ends),
            percent(run.shares.own[0]),
            span(run.shares.own[1]),
        ]
        for run in runs
        for name, (share, ends) in zip(run.shortcuts, run.shares.shortcuts, strict=True)
    ]
    heads = ["Run", "Shortcut", "Repeats it", INTERVAL, "Knows the label", INTERVAL]
    return Table(heads, rows, EXPLAINED)


def drops(measured: Sequence[Drop]) -> Table:
    return Table.of(DROPS, measured, POINTS)


def flat(evaluation: Evaluation) -> list[JsonObject]:
    """Every figure of every run as one plain table (for a spreadsheet): the whole run first, then
    its cells.
    """
    out = []
    for run in evaluation.runs:
        named = {"run": run.name, "dataset": run.dataset, "task": run.task}
        ends = run.intervals["macro_f1"], run.intervals["accuracy"]
        whole = _figures(run.scores, run.groups, *ends)
        ends_of_ranks = ends_of(evaluation.ranks(run), "best_rank", "worst_rank")
        spent = {f"{name}_per_1000": run.per_thousand.get(name) for name in ("cost", "seconds")}
        out.append({**named, "by": None, "value": None, **whole, **ends_of_ranks, **spent})
        for subgroups in run.slices:
            for c in subgroups.cells:
                figures = _figures(c, c.groups, c.macro_f1_interval, c.accuracy_interval)
                out.append({**named, "by": subgroups.by, "value": c.value, **figures})
    return out or [row for board in evaluation.boards for row in board.rows()]


def _figures(
    scored: Scores | Subgroup, groups: int, f1: Interval | None, share: Interval | None
) -> JsonObject:
    return {
        "n": scored.n,
        "groups": groups,
        "failed": scored.failed,
        "macro_f1": scored.macro_f1,
        **ends_of(f1, "macro_f1_low", "macro_f1_high"),
        "accuracy": scored.accuracy,
        **ends_of(share, "accuracy_low", "accuracy_high"),
    }


def judged(run: RunResult) -> Blocks:
    """The judges' verdicts on the rationales, if the run has them; each judge's validation comes
    before its rates.
    """
    if not run.about.judged:
        return []
    from claimlab.evaluate.judge.people import RATES, rate_in_words

    blocks: Blocks = []
    for judgement in run.about.judged:
        worth = judgement["standing"] or "unvalidated: it was not compared with annotators"
        blocks.append(
            Text(f"{judgement['judge']}: {worth}.", "warning" if "unvalidated" in worth else "note")
        )
    rows = [{"who": judgement["judge"], **judgement["by_judge"]} for judgement in run.about.judged]
    people = [judgement["by_people"] for judgement in run.about.judged if judgement["by_people"]]
    rows += [{"who": "annotators", **rates} for rates in people[:1]]
    columns: list[Column[JsonObject]] = [
        Column("Judged by", "who", short(80)),
        *(Column(words.capitalize(), key, rate_in_words) for key, words in RATES.items()),
    ]
    note = (
        "Cases with 95% intervals. The guide calls these two rates false-incorrect and"
        " false-correct."
    )
    table = Table.of(columns, rows, sortable=False)
    return [Section("Rationales, judged", [*blocks, Text(note), table])]
