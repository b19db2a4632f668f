"""What an evaluation measured, as data: what its pages show and its files hold."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Unpack

import numpy as np
import polars as pl

from claimlab.core.shown import Shown
from claimlab.core.stats.interval import DRAWS, Interval, Resampling, ends_of
from claimlab.core.stats.scores import (
    Counts,
    Floats,
    accuracy,
    f1_per_class,
    measured_macro_f1,
    ratio,
)
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.evaluate.metric import (
    Answers,
    Measured,
    confusion,
    metrics,
    table_interval,
    unmeasured,
)
from claimlab.evaluate.metrics.table_scores import RATES, Calibration, calibration
from claimlab.evaluate.scored_run import ABSTENTIONS, About, ScoredRun

if TYPE_CHECKING:
    from claimlab.core.stats.chance import Chance
    from claimlab.core.stats.ranks import Ranks
    from claimlab.evaluate.ceiling import Ceiling
    from claimlab.evaluate.compare import Board, Comparison, Drop, Explained, Seeds
    from claimlab.evaluate.slices import Beside, Slices


Intervals = dict[str, Interval | None]


@dataclass(frozen=True)
class ClassScore:
    name: str
    n: int
    # null when the class was never answered, and when it is the only class of the truth
    precision: float | None
    recall: float | None  # null where no record was answered
    f1: float | None  # null there, and when it is the only class: nothing could be mistaken for it


@dataclass(frozen=True)
class Rate:
    """The true-positive rate where at most `fpr` of the negatives pass for positives; null, and
    why, if unknown.
    """

    fpr: float
    tpr: float | None
    why: str | None = None


@dataclass(frozen=True)
class Scores:
    """Every measure of one run on one set of records. What could not be measured is null with a
    reason. `metrics` has every metric of the registry by its key; some have a field as well.
    """

    n: int
    classes: dict[str, int]
    failed: int
    other: int
    accuracy: float | None  # null where no record was answered
    macro_f1: float | None  # null there, and where the truth holds only one class
    why: str | None  # macro-F1 is null, where it is
    answered_accuracy: float | None
    answered_macro_f1: float | None
    per_class: list[ClassScore]
    auroc: float | None
    auroc_why: str | None
    rates: list[Rate]
    calibration: Calibration
    metrics: dict[str, Measured]


def measure(answers: Answers) -> Scores:
    """Every measure of one run."""
    counts = confusion(answers)
    k = len(answers.classes)
    answered = counts[:, : k + 1]  # without "no answer"
    measured = {metric.key: metric.measure(answers) for metric in metrics()}
    rates = {fpr: measured[f"tpr_at_{100 * fpr:g}"] for fpr in RATES}
    return Scores(
        n=answers.n,
        classes=dict(zip(answers.classes, counts.sum(axis=1).tolist(), strict=True)),
        failed=int(counts[:, k + 1].sum()),
        other=int(counts[:, k].sum()),
        accuracy=measured["accuracy"].value,
        macro_f1=measured["macro_f1"].value,
        why=unmeasured(answers),
        answered_accuracy=float(accuracy(answered)) if answers.answered else None,
        answered_macro_f1=measured_macro_f1(answered) if answers.answered else None,
        per_class=per_class(counts, answers.classes),
        auroc=measured["auroc"].value,
        auroc_why=measured["auroc"].why,
        rates=[Rate(fpr, rate.value, rate.why) for fpr, rate in rates.items()],
        calibration=calibration(answers),
        metrics=measured,
    )


def per_class(counts: Counts, classes: tuple[str, ...]) -> list[ClassScore]:
    k, spoke = len(classes), bool(counts[:, :-1].sum())
    hits = np.diagonal(counts).astype(np.float64)
    size, answered = counts.sum(axis=1), counts[:, :k].sum(axis=0)
    recall, f1 = ratio(hits, size, nothing=0.0), f1_per_class(counts)
    return [
        ClassScore(
            name,
            int(size[i]),
            float(hits[i] / answered[i]) if answered[i] and k > 1 else None,
            float(recall[i]) if spoke else None,
            float(np.nan_to_num(f1[i])) if spoke and k > 1 else None,
        )
        for i, name in enumerate(classes)
    ]


# Records of which a run said that it found no evidence, or not enough: no verdict, and no failure
# either. In every score they count as wrong, since a verdict was asked for. Here they are looked at
# apart, and the two kinds apart from each other: "no evidence" is about the search, "insufficient
# evidence" about its results.


@dataclass(frozen=True)
class Withheld:
    """One kind of abstention: how often, and of which true classes."""

    kind: str
    n: int
    share: float
    classes: dict[str, int]


@dataclass(frozen=True)
class Abstentions:
    """`coverage` is the share of records that got a verdict; accuracy and macro-F1 are over those
    alone.
    """

    kinds: list[Withheld]
    coverage: float
    coverage_interval: Interval | None
    accuracy: float | None
    macro_f1: float | None


def abstentions(run: ScoredRun, **how: Unpack[Resampling]) -> Abstentions | None:
    """Null when the run never abstained."""
    table = run.table
    classes, kinds = run.answers.classes, []
    for kind in ABSTENTIONS:
        truth = table.filter(abstained=kind)["truth"].to_list()
        if truth:
            counted = {name: truth.count(name) for name in classes}
            kinds.append(Withheld(kind, len(truth), len(truth) / table.height, counted))
    if not kinds:
        return None
    k = len(classes)
    counts = confusion(run.answers)
    verdicts = np.array(counts)
    verdicts[:, k:] = 0  # a verdict is one of the classes
    (covered,) = table_interval(run.answers, lambda counts: _coverage(counts, k), **how)
    spoke = bool(verdicts.sum())
    return Abstentions(
        kinds,
        float(_coverage(counts[None].astype(np.float64), k)[0]),
        covered,
        float(accuracy(verdicts)) if spoke else None,
        measured_macro_f1(verdicts),
    )


def _coverage(counts: Floats, k: int) -> Floats:
    whole = counts.sum(axis=(-2, -1))
    return np.asarray(counts[..., :k].sum(axis=(-2, -1)) / np.maximum(whole, 1))


@dataclass(frozen=True)
class Baseline:
    """What needs no detector: `majority` always gives the most frequent class, `stratified` draws
    from the labels.
    """

    name: str
    macro_f1: float | None  # null where the truth holds only one class
    accuracy: float


@dataclass(frozen=True)
class RunResult:
    """Everything measured of one run. `intervals` holds those of the metrics that have one, by
    key.
    """

    name: str
    dataset: str
    digest: str
    # a fingerprint of the ids that were scored: equal where two runs answered the same records
    records: str
    task: str
    split: str | None
    about: About
    scores: Scores
    confusion: list[list[int]]
    intervals: Intervals
    class_intervals: Intervals
    groups: int
    baselines: list[Baseline]
    slices: list[Slices]
    abstentions: Abstentions | None
    left_out: dict[str, int]
    cautions: list[str]
    chance: Chance  # what comes without reading the text, and whether the score is above it
    ceiling: Ceiling | None = None  # what a perfect detector would score on these labels
    contamination: Beside | None = None  # what a language model may have known of the records


@dataclass(frozen=True, repr=False)
class Evaluation(Shown):
    """Plain data: the views only show it, and `to_json` writes it."""

    runs: list[RunResult]
    comparisons: list[Comparison] = field(default_factory=list)
    seeds: list[Seeds] = field(default_factory=list)
    drops: list[Drop] = field(default_factory=list)
    seed: int = 0
    draws: int = DRAWS
    # runs of one task and dataset by each metric: ranks, ties and what can be seen at all
    boards: list[Board] = field(default_factory=list)
    # how much of each run the shortcuts explain that were run on the same records
    explained: list[Explained] = field(default_factory=list)

    def board(self, task: str, dataset: str) -> Board | None:
        """The runs of one task and dataset by the first metric; null where there are no two."""
        mine = (b for b in self.boards if (b.task, b.dataset) == (task, dataset))
        return next(mine, None)

    def ranks(self, run: RunResult) -> Ranks | None:
        """Those that macro-F1 allows a run among the others on its dataset."""
        about = run.task, run.dataset, "macro_f1"
        boards = [b for b in self.boards if (b.task, b.dataset, b.metric) == about]
        known = (one.ranks for board in boards for one in board.standings if one.name == run.name)
        return next(known, None)

    def headline(self) -> str:
        if not self.runs:
            return " ".join(board.headline() for board in self.boards)
        names = ", ".join(run.name for run in self.runs[:3]) + (", …" if len(self.runs) > 3 else "")
        return f"of {len(self.runs)} {'run' if len(self.runs) == 1 else 'runs'}: {names}"

    @property
    def table(self) -> pl.DataFrame:
        """A row for each run, or for each system of others where there is no run; scores are shares
        of 1, with the ends of their 95% intervals."""
        if not self.runs:
            rows = [row for board in self.boards for row in board.rows()]
            return pl.DataFrame(rows, infer_schema_length=None)
        rows = [
            {
                "run": run.name,
                "dataset": run.dataset,
                "task": run.task,
                "n": run.scores.n,
                "groups": run.groups,
                "failed": run.scores.failed,
                "macro_f1": run.scores.macro_f1,
                **ends_of(run.intervals["macro_f1"], "macro_f1_low", "macro_f1_high"),
                "accuracy": run.scores.accuracy,
                "auroc": run.scores.auroc,
                **ends_of(self.ranks(run), "best_rank", "worst_rank"),
            }
            for run in self.runs
        ]
        numbers = ("macro_f1", "macro_f1_low", "macro_f1_high", "accuracy", "auroc")
        places = ("best_rank", "worst_rank")
        types = dict.fromkeys(numbers, pl.Float64) | dict.fromkeys(places, pl.Int64)
        return pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None)

    def to_json(self) -> JsonObject:
        compared = [{**asdict(c), "better": c.better} for c in self.comparisons]
        return {**asdict(self), "comparisons": compared, "tool": f"claimlab {__version__}"}
