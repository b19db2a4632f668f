"""The result of an evaluation, as data: what its pages show and its files hold."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from claimlab.core.shown import Shown
from claimlab.core.stats.interval import DRAWS, FEW_UNITS, Interval, ends_of
from claimlab.core.types import JsonObject
from claimlab.core.units import plural_of
from claimlab.core.version import __version__
from claimlab.core.words import several
from claimlab.evaluate.scored_run import RunOrigin

if TYPE_CHECKING:
    from claimlab.core.stats.chance import Chance
    from claimlab.core.stats.ranks import Ranks
    from claimlab.evaluate.board import Board
    from claimlab.evaluate.ceiling import Ceiling
    from claimlab.evaluate.compare import Comparison
    from claimlab.evaluate.explained import Explained
    from claimlab.evaluate.measures import Scores
    from claimlab.evaluate.memorised import Beside
    from claimlab.evaluate.prevalence import InUse
    from claimlab.evaluate.siblings import Drop, Seeds
    from claimlab.evaluate.slices import Slices
from claimlab.evaluate.abstentions import Abstentions

Intervals = dict[str, Interval | None]


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
    about: RunOrigin
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
    in_use: InUse | None = None  # where the classes are as frequent as the user says
    # what 1,000 answers cost, in dollars, and take, in seconds
    per_thousand: dict[str, float] = field(default_factory=dict)
    units: str = ""  # records and units in words: "140 records of 4 publishers (largest 61%)"
    # the columns that might be the unit: how many units, their design effect, and why or why not
    considered: list[JsonObject] = field(default_factory=list)

    @property
    def size(self) -> str:
        """Its records and units in words."""
        return self.units or several(self.scores.n, "record")

    @property
    def spent(self) -> str:
        """What 1,000 answers cost and take, in words; nothing where the run does not say."""
        shown = {"cost": "${:.2f}", "seconds": "{:,.1f} s"}
        words = [shown[name].format(amount) for name, amount in self.per_thousand.items()]
        return f"1,000 records take {' and '.join(words)}" if words else ""

    @property
    def resampled(self) -> str:
        """What was resampled: publishers, or publishers (few units)."""
        if not self.considered:
            return plural_of(None)
        unit = self.considered[0]
        few = " (few units)" if unit["effective"] < FEW_UNITS else ""
        return f"{plural_of(unit['column'])}{few}"


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
        boards = (b for b in self.boards if (b.task, b.dataset) == (task, dataset))
        return next(boards, None)

    def ranks(self, run: RunResult) -> Ranks | None:
        """Those that macro-F1 allows a run among the others on its dataset."""
        about = run.task, run.dataset, "macro_f1"
        boards = [b for b in self.boards if (b.task, b.dataset, b.metric) == about]
        ranks = (
            standing.ranks
            for board in boards
            for standing in board.standings
            if standing.name == run.name
        )
        return next(ranks, None)

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
