"""What an evaluation measured, as data: what its pages show and its files hold."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from claimlab.core.shown import Shown
from claimlab.core.stats.interval import DRAWS, Interval
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__

if TYPE_CHECKING:
    from claimlab.core.stats.chance import Chance
    from claimlab.evaluate.abstain import Abstentions
    from claimlab.evaluate.compare import Comparison
    from claimlab.evaluate.contamination.beside import Beside
    from claimlab.evaluate.joined import Drop, Seeds
    from claimlab.evaluate.metrics import Scores
    from claimlab.evaluate.scored_run import About
    from claimlab.evaluate.slices import Slices


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
    """Everything measured of one run. `intervals` holds macro_f1, accuracy, auroc, and f1 of each
    class.
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
    intervals: dict[str, Interval | None]
    class_intervals: dict[str, Interval | None]
    groups: int
    baselines: list[Baseline]
    slices: list[Slices]
    abstentions: Abstentions | None
    left_out: dict[str, int]
    cautions: list[str]
    chance: Chance  # what comes without reading the text, and whether the score is above it
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

    def headline(self) -> str:
        names = ", ".join(run.name for run in self.runs[:3]) + (", …" if len(self.runs) > 3 else "")
        return f"of {len(self.runs)} {'run' if len(self.runs) == 1 else 'runs'}: {names}"

    @property
    def table(self) -> pl.DataFrame:
        """A row for each run; scores are shares of 1, with the ends of their 95% intervals."""
        ends = {run.name: run.intervals["macro_f1"] or (None, None) for run in self.runs}
        rows = [
            {
                "run": run.name,
                "dataset": run.dataset,
                "task": run.task,
                "n": run.scores.n,
                "groups": run.groups,
                "failed": run.scores.failed,
                "macro_f1": run.scores.macro_f1,
                "macro_f1_low": ends[run.name][0],
                "macro_f1_high": ends[run.name][1],
                "accuracy": run.scores.accuracy,
                "auroc": run.scores.auroc,
            }
            for run in self.runs
        ]
        numbers = ("macro_f1", "macro_f1_low", "macro_f1_high", "accuracy", "auroc")
        return pl.DataFrame(
            rows, schema_overrides=dict.fromkeys(numbers, pl.Float64), infer_schema_length=None
        )

    def to_json(self) -> JsonObject:
        compared = [{**asdict(c), "better": c.better} for c in self.comparisons]
        return {**asdict(self), "comparisons": compared, "tool": f"claimlab {__version__}"}
