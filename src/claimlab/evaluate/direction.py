"""Is a score the probability of the class that it was taken to be of? A column `score` names none.

Where its ranking is clearly the wrong way round although the answers are right, the user is asked
before anything that is made of the scores is shown.
"""

from __future__ import annotations

import json

import numpy as np
import polars as pl

from claimlab.core.stats.interval import intervals
from claimlab.detect.strict.read import SCORE_OF
from claimlab.evaluate.answers import Answers
from claimlab.evaluate.metric import METRICS

DRAWS = 500  # resamples behind the interval that decides


def assumed_class(meta: pl.Series) -> str | None:
    """The class that the scores of a run were taken to be of; null where it names theirs itself."""
    notes = meta.cast(pl.String).drop_nulls()
    first = notes.filter(notes.str.contains(f'"{SCORE_OF}"', literal=True)).head(1)
    return json.loads(first[0])[SCORE_OF] if len(first) else None


def reversed_scores(answers: Answers, assumed: str) -> str | None:
    """The question to ask, where AUROC is clearly below 50 and accuracy above the baseline."""
    other = next((name for name in answers.classes if name != assumed), None)
    metric = METRICS.get("auroc")
    cells = metric.cells(answers)
    if other is None or cells is None:
        return None
    (ends,) = intervals(
        answers.cluster if cells.cell.ndim == 1 else np.tile(answers.cluster, len(cells.cell)),
        cells.cell.ravel(),
        cells.size,
        cells.figure,
        draws=DRAWS,
    )
    majority = np.bincount(answers.truth).max() / answers.n
    if ends is None or ends[1] >= 0.5 or answers.right.mean() <= majority:
        return None
    return (
        f"`score` was read as the score of {assumed}, and ranks the records the wrong way round:"
        f" is it P({other})? Name the column score_{other}, or score_{assumed} if it is not."
    )
