"""How much of each run a shortcut explains: runs of the detector `shortcut` are compared with the
others on the same records (`core/stats/attribution`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np

from claimlab.core.stats.attribution import Attribution, attribute
from claimlab.core.stats.interval import Resampling
from claimlab.evaluate.common_draws import families, on_shared_records
from claimlab.evaluate.scored_run import Runs, ScoredRun
from claimlab.evaluate.sufficiency import LEAST_RECORDS

SHORTCUT = "shortcut"  # the detector that looks at one property alone


@dataclass(frozen=True)
class Explained:
    """One run beside the shortcuts: the share of its answers that repeats each, the share that
    knows the label, and its accuracy where the first shortcut is right and where it is wrong."""

    run: str
    shortcuts: list[str]
    shares: Attribution
    where_right: float | None
    where_wrong: float | None


def explain(runs: Runs, **how: Unpack[Resampling]) -> list[Explained]:
    """Every run that is no shortcut, where there is a shortcut on the same task and dataset."""
    out: list[Explained | None] = []
    for family in families(run for run in runs if run.answers.answered):
        shared = on_shared_records(family)
        shortcuts = [run for run in shared if run.about.detector == SHORTCUT]
        others = [run for run in shared if run.about.detector != SHORTCUT and shortcuts]
        out += [explained_by(run, shortcuts, **how) for run in others]
    return [explained for explained in out if explained is not None]


def explained_by(run: ScoredRun, shortcuts: Runs, **how: Unpack[Resampling]) -> Explained | None:
    """Null with fewer than 30 records that all of them answered with a class."""
    every, classes = [run, *shortcuts], len(run.answers.classes)
    guesses = np.stack([answering.answers.guess for answering in every])
    rows = np.flatnonzero((guesses < classes).all(axis=0))
    if len(rows) < LEAST_RECORDS or classes < 2:
        return None
    truth, (answers, *others) = run.answers.truth[rows], guesses[:, rows]
    shares = attribute(truth, answers, others, run.answers.cluster[rows], classes, **how)
    if shares is None:
        return None
    right, easy = answers == truth, others[0] == truth
    return Explained(
        run.name,
        [shortcut.name for shortcut in shortcuts],
        shares,
        float(right[easy].mean()) if easy.any() else None,
        float(right[~easy].mean()) if not easy.all() else None,
    )
