"""The tables of an evaluation: the leaderboard, a run's measures, its classes, its cells, and run
against run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from claimlab.core.stats.chance import STAR
from claimlab.core.stats.interval import Interval
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evaluate.answers import ONE_CLASS
from claimlab.evaluate.board import Board, Standing, rank_words
from claimlab.evaluate.compare import Comparison, Drop, Seeds
from claimlab.evaluate.judge.people import RATES, rate_in_words
from claimlab.evaluate.metric import Metric, board_metrics, metrics
from claimlab.evaluate.result import Baseline, ClassScore, Evaluation, RunResult, Scores, Withheld
from claimlab.evaluate.slices import Cell as Subgroup
from claimlab.evaluate.slices import Slices
from claimlab.evaluate.traits import title
from claimlab.pages.blocks import (
    Block,
    Cell,
    Column,
    Section,
    Table,
    Text,
    Value,
    percent,
    points,
    points_span,
    probability,
    short,
    span,
)
from claimlab.pages.excerpt import excerpt

INTERVAL = "95% interval"
POINTS = "Differences are in percentage points of macro-F1."
TRIVIAL = {"majority": "(majority class)", "stratified": "(random guess)"}
FIRST = ("macro_f1", "accuracy")  # of the measures of a run
UNTESTED = Cell("–", sort=float("inf"))  # last where p-values are sorted
Line = RunResult | Baseline  # what the leaderboard has a row of


def f1_cell(value: float | None, why: str | None = None, *, star: bool = False) -> Cell:
    """A macro-F1 in percent, with a star where it is above chance, or why there is none."""
    if value is None:
        return Cell(why or ONE_CLASS, sort=float("-inf"), tone="not-measured")
    return Cell(f"{percent(value).text}*", sort=value) if star else percent(value)


def leaderboard(
    runs: Sequence[RunResult], links: dict[str, str], board: Board | None = None
) -> Table:
    """Runs of one task on one dataset, the best first, with what needs no detector among them; with
    the ranks that a `board` allows them."""
    ranks = {} if board is None or board.why else board.ranks
    lines: list[Line] = [*runs, *runs[0].baselines]
    lines.sort(key=lambda line: [_of(line, key) or 0.0 for key in FIRST], reverse=True)
    first, *others = board_metrics()
    columns: list[Column[Line]] = [
        *([Column("Rank", lambda line: ranks.get(line.name), missing="")] if ranks else []),
        Column("Run", lambda line: _name(line, links)),
        Column(first.head, _headline),
        Column(INTERVAL, _of_run(lambda run: run.intervals[first.key]), span),
        *(Column(metric.head, partial(_of, key=metric.key), percent) for metric in others),
        Column("n", lambda line: (line if isinstance(line, RunResult) else runs[0]).scores.n),
        Column("Groups", _of_run(lambda run: run.groups)),
        Column("Failed", _of_run(lambda run: run.scores.failed)),
    ]
    star = f" {STAR.format('runs evaluated')}" if any(run.chance.beaten for run in runs) else ""
    return Table.of(columns, lines, f"Values in %. In parentheses: trivial baselines.{star}")


STANDINGS: tuple[Column[Standing], ...] = (
    Column("Rank", lambda one: rank_words(one.ranks)),
    Column("System", "name", short(60)),
    Column("Score", "score", percent),
    Column(INTERVAL, "interval", span),
    Column("May be the best", lambda one: "yes" if one.tied else "–"),
)


def standings(board: Board) -> Table:
    """The systems of a board, the best first."""
    return Table.of(STANDINGS, board.standings, f"{board.title.capitalize()} in %.")


def ranks(boards: Sequence[Board]) -> Table:
    """The ranks of each run by every metric, and the smallest difference that can be seen by it."""
    runs = dict.fromkeys(one.name for board in boards for one in board.standings)
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


def _of(line: Line, key: str) -> float | None:
    """A metric of a run or of a baseline, which has few of them."""
    if isinstance(line, RunResult):
        return line.scores.metrics[key].value
    known: float | None = getattr(line, key, None)
    return known


def _of_run(value: Callable[[RunResult], object]) -> Callable[[Line], object]:
    """What only a run has."""
    return lambda line: value(line) if isinstance(line, RunResult) else None


def _name(line: Line, links: dict[str, str]) -> Cell:
    if isinstance(line, RunResult):
        return Cell(excerpt(line.name, 60), link=links.get(line.name))
    return Cell(TRIVIAL[line.name], tone="not-measured")


def _headline(line: Line) -> Cell:
    if isinstance(line, RunResult):
        return f1_cell(line.scores.macro_f1, line.scores.why, star=line.chance.beaten)
    return f1_cell(line.macro_f1)


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
        *(_measure(run, metric) for metric in metrics() if metric.key not in FIRST),
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
    units = f"{several(scores.n, 'record')} in {several(run.groups, 'group')}"
    caption = f"Values in %, over {units}. Intervals are 95%, by resampling groups."
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


_DIFFERENCE: tuple[Column[Comparison], ...] = (
    Column("Difference", "difference", points),
    Column(INTERVAL, "interval", points_span),
)
_BETTER: Column[Comparison] = Column("Better", lambda c: c.why or c.better or "no clear difference")
COMPARED: tuple[Column[Comparison], ...] = (
    Column("Run", "first", short(50)),
    Column("against", "second", short(50)),
    Column("Shared records", "shared"),
    *_DIFFERENCE,
    Column("Only first right", "only_first"),
    Column("Only second right", "only_second"),
    Column("McNemar p", "p", probability, UNTESTED),
    Column("p, Holm", "p_holm", probability, UNTESTED),
    Column("p, all pairs", "p_ranks", probability, UNTESTED),
    _BETTER,
)
# for a terminal, where counts would leave no room for names
COMPARED_IN_SHORT: tuple[Column[Comparison], ...] = (
    Column("Run", "first"),
    Column("against", "second"),
    Column("Shared"),
    *_DIFFERENCE,
    Column("p", lambda c: c.p_holm if c.p_ranks is None else c.p_ranks, probability, UNTESTED),
    _BETTER,
)
SEEDS: tuple[Column[Seeds], ...] = (
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
DROPS: tuple[Column[Drop], ...] = (
    Column("Detector", "name", short(40)),
    Column("Dataset"),
    Column("Task"),
    Column("Random split", "random", percent),
    Column("Held out by", "divided_by"),
    Column("Held-out split", "held_out", percent),
    Column("Change", lambda d: -d.drop, points),
    Column(INTERVAL, "interval", lambda ends: points_span((-ends[1], -ends[0]))),
)


def comparisons(pairs: Sequence[Comparison], *, short: bool = False) -> Table:
    """Run against run; `short` for a terminal."""
    return Table.of(COMPARED_IN_SHORT if short else COMPARED, pairs, POINTS)


def seeds(families: Sequence[Seeds]) -> Table:
    note = (
        "The sd says how far the score moves with the seed; the interval, with the records. The"
        " errors of the mean that come from few seeds and from few records are given apart."
    )
    return Table.of(SEEDS, families, note)


def drops(measured: Sequence[Drop]) -> Table:
    return Table.of(DROPS, measured, POINTS)


def flat(evaluation: Evaluation) -> list[JsonObject]:
    """Every figure of every run as one plain table (for a spreadsheet): the whole run first, then
    its cells.
    """
    out = []
    places = {
        (board.task, board.dataset, one.name): one.ranks or (None, None)
        for board in evaluation.boards
        if board.metric == FIRST[0]
        for one in board.standings
    }
    for run in evaluation.runs:
        first, last = places.get((run.task, run.dataset, run.name), (None, None))
        named = {"run": run.name, "dataset": run.dataset, "task": run.task}
        ends = run.intervals["macro_f1"], run.intervals["accuracy"]
        whole = _figures(run.scores, run.groups, *ends)
        out.append(
            {**named, "by": None, "value": None, **whole, "best_rank": first, "worst_rank": last}
        )
        for subgroups in run.slices:
            for c in subgroups.cells:
                figures = _figures(c, c.groups, c.macro_f1_interval, c.accuracy_interval)
                out.append({**named, "by": subgroups.by, "value": c.value, **figures})
    return out or [row for board in evaluation.boards for row in board.rows()]


def _figures(
    scored: Scores | Subgroup, groups: int, f1: Interval | None, share: Interval | None
) -> JsonObject:
    (f1_low, f1_high), (low, high) = (ends or (None, None) for ends in (f1, share))
    return {
        "n": scored.n,
        "groups": groups,
        "failed": scored.failed,
        "macro_f1": scored.macro_f1,
        "macro_f1_low": f1_low,
        "macro_f1_high": f1_high,
        "accuracy": scored.accuracy,
        "accuracy_low": low,
        "accuracy_high": high,
    }


def judged(run: RunResult) -> list[Block]:
    """The judges' verdicts on the rationales, if the run has them; each judge's validation comes
    before its rates.
    """
    if not run.about.judged:
        return []
    blocks: list[Block] = []
    for one in run.about.judged:
        worth = one["standing"] or "unvalidated: it was not compared with annotators"
        blocks.append(
            Text(f"{one['judge']}: {worth}.", "warning" if "unvalidated" in worth else "note")
        )
    rows = [{"who": one["judge"], **one["by_judge"]} for one in run.about.judged]
    people = [one["by_people"] for one in run.about.judged if one["by_people"]]
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
