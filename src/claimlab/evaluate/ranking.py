"""The interval of AUROC: groups are drawn, and every draw ranks the same scores with other weights."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from claimlab.core.stats.interval import Interval, interval
from claimlab.core.stats.scores import Floats, Ints
from claimlab.evaluate.answers import Answers
from claimlab.evaluate.metrics import ranked, targets

# A ranking cannot be summed up in a table, so a draw costs as much as there are records: fewer draws of many.
DRAWS, FEWEST = 1_000, 200
WORK = 200_000_000  # records times classes times draws
CHUNK = 2_000_000


def auroc_interval(
    answers: Answers, positive: str | None = None, *, seed: int = 0, draws: int | None = None
) -> Interval | None:
    """The interval of `metrics.auroc`; null where that is. `draws` are 1,000, or fewer of very many records."""
    rows, _ = ranked(answers)
    if rows is None:
        return None
    _, cluster = np.unique(rows.cluster, return_inverse=True)
    groups = int(cluster.max()) + 1
    if draws is None:
        draws = max(FEWEST, min(DRAWS, WORK // (len(cluster) * len(targets(rows, positive)))))
    rng = np.random.default_rng(seed)
    parts = []
    step = max(1, CHUNK // len(cluster))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        drawn = rng.integers(groups, size=(size, groups)) + groups * np.arange(size)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=size * groups).reshape(size, groups)[:, cluster]
        parts.append(np.mean([weighted_areas(t, s, weights) for t, s in targets(rows, positive)], axis=0))
    return interval(np.concatenate(parts), groups)


def weighted_areas(truth: npt.NDArray[np.bool_], score: Floats, weights: Ints) -> Floats:
    """AUROC for each row of `weights`: how often a positive outranks a negative, ties counted half."""
    order = np.argsort(score, kind="stable")
    first = np.flatnonzero(np.diff(score[order], prepend=-np.inf) > 0)  # where each distinct score starts
    heavy = weights[:, order].astype(np.float64)
    up = np.add.reduceat(heavy * truth[order], first, axis=1)
    down = np.add.reduceat(heavy * ~truth[order], first, axis=1)
    below = np.cumsum(down, axis=1) - down
    won = (up * (below + down / 2)).sum(axis=1)
    pairs = up.sum(axis=1) * down.sum(axis=1)
    areas: Floats = np.divide(won, pairs, out=np.full(len(won), np.nan), where=pairs > 0)
    return areas
