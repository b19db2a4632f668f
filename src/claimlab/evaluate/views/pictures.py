"""The pictures of an evaluation: the leaderboard with its baselines, cells of a trait, and
calibration.
"""

from __future__ import annotations

from collections.abc import Sequence

from claimlab.evaluate.result import RunResult
from claimlab.evaluate.slices import Slices
from claimlab.evaluate.traits import title
from claimlab.pages.blocks import Figure
from claimlab.pages.charts import Dot, dots, reliability, to_svg
from claimlab.pages.excerpt import excerpt

LINES = 40  # more would not fit a screen; the table has them all


def board(runs: Sequence[RunResult], name: str) -> Figure:
    """Macro-F1 of every run with its interval, against the two baselines."""
    marks = {b.name: b.macro_f1 for b in runs[0].baselines if b.macro_f1 is not None}
    scored = [(r.scores.macro_f1, r) for r in runs if r.scores.macro_f1 is not None]
    ordered = sorted(scored, key=lambda pair: -pair[0])[:LINES]
    rows = [
        Dot(excerpt(r.name, 40), f1, r.intervals["macro_f1"], "plain", marks) for f1, r in ordered
    ]
    return Figure(
        to_svg(dots(rows, title="macro-F1 (%)")),
        "Macro-F1 of each run with its 95% interval; the grey marks are trivial baselines.",
        "Macro-F1 of each run with its interval against the majority and stratified baselines",
        f"{name}-leaderboard",
    )


def forest(subgroups: Slices, run: RunResult, name: str) -> list[Figure]:
    """The cells of a trait with their intervals, against the score over all records; accuracy where
    no cell has F1.
    """
    f1 = [c for c in subgroups.cells if c.macro_f1 is not None]
    shown = f1 or [c for c in subgroups.cells if c.accuracy is not None]
    if len(shown) < 2:
        return []
    what, whole = ("macro-F1", run.scores.macro_f1) if f1 else ("accuracy", run.scores.accuracy)
    rows = [
        Dot(
            f"{excerpt(c.value, 32)} ({c.n:,})",
            (c.macro_f1 if f1 else c.accuracy) or 0.0,
            c.macro_f1_interval if f1 else c.accuracy_interval,
            "plain",
        )
        for c in shown[:LINES]
    ]
    more = f" {len(shown) - LINES} more are in the table." if len(shown) > LINES else ""
    return [
        Figure(
            to_svg(dots(rows, title=f"{what} (%)", threshold=whole)),
            f"{what[:1].upper()}{what[1:]} by {title(subgroups.by)} with 95% intervals; in brackets"
            f" the records; dashed: over all records.{more}",
            f"{what} of each {title(subgroups.by)} with its interval",
            f"{name}-by-{subgroups.by.replace('.', '-')}",
        )
    ]


def calibration(run: RunResult, name: str) -> list[Figure]:
    measured = run.scores.calibration
    if not measured.curve:
        return []
    return [
        Figure(
            to_svg(reliability([(b.n, b.confidence, b.accuracy) for b in measured.curve])),
            "How often answers are right against how sure the run was of them, in ten bins; larger"
            " dots hold more records. Below the dashed line it is too sure, above it not sure"
            " enough.",
            "Reliability curve",
            f"{name}-calibration",
        )
    ]
