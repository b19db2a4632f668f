"""The interval of AUROC: groups are drawn, and each draw counts the positives and negatives at
every score.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from claimlab.core.stats.interval import Interval, interval, kinds, redraw
from claimlab.core.stats.scores import Floats, Ints
from claimlab.evaluate.answers import Answers
from claimlab.evaluate.metrics import rank_area, ranked, targets

DRAWS = 1_000
MOST_SCORES = (
    1_000  # distinct scores; beyond these, scores next to each other share a place in the ranking
)


def auroc_interval(
    answers: Answers, positive: str | None = None, *, seed: int = 0, draws: int = DRAWS
) -> Interval | None:
    """The interval of `metrics.auroc`; null where that is."""
    rows, _ = ranked(answers)
    if rows is None:
        return None
    tables = [_ranks(truth, score) for truth, score in targets(rows, positive)]
    sizes = [int(places) * 2 for _, places in tables]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    # One record has a cell in the table of every class that is ranked.
    cell = np.concatenate(
        [cells + start for (cells, _), start in zip(tables, starts, strict=False)]
    )
    table = kinds(np.tile(rows.cluster, len(tables)), cell, int(starts[-1]))

    def mean_area(counts: Floats) -> Floats:
        parts = [counts[:, a:b].reshape(len(counts), -1, 2) for a, b in pairwise(starts)]
        return np.asarray(np.mean([areas(part) for part in parts], axis=0))

    drawn = redraw(table, mean_area, seed=seed, draws=draws)
    whole = np.bincount(cell, minlength=int(starts[-1])).astype(np.float64)
    exact = float(np.mean([rank_area(truth, score) for truth, score in targets(rows, positive)]))
    return interval(drawn + (exact - mean_area(whole[None])[0]), table.groups)


def _ranks(truth: npt.NDArray[np.bool_], score: Floats) -> tuple[Ints, int]:
    """The cell of each record in a table of places in the ranking by class, and how many places
    there are.
    """
    distinct, place = np.unique(score, return_inverse=True)
    places = len(distinct)
    if places > MOST_SCORES:
        first = np.searchsorted(np.sort(score), score)  # equal scores share the place of the first
        place, places = first * MOST_SCORES // len(score), MOST_SCORES
    return np.asarray(place * 2 + truth), places


def areas(counts: Floats) -> Floats:
    """AUROC of each table of negatives and positives by place (tables, places, 2): how often a
    positive outranks a negative, ties counted half."""
    down, up = counts[..., 0], counts[..., 1]
    below = np.cumsum(down, axis=-1) - down
    won = (up * (below + down / 2)).sum(axis=-1)
    pairs = up.sum(axis=-1) * down.sum(axis=-1)
    return np.asarray(np.divide(won, pairs, out=np.full(won.shape, np.nan), where=pairs > 0))
