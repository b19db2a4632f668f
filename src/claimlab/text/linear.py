"""Linear models of texts: logistic regression and support-vector machines, as scikit-learn fits
them, without its import.

A trust-region Newton method (Lin, Weng and Keerthi, Trust Region Newton Method for Large-scale
Logistic Regression, JMLR 2008) fits both. A support-vector machine on sparse rows is fitted by a
compiled descent instead, where it was built: the coefficients are those of scikit-learn's
LinearSVC to the last bit, from the matrix as it lies in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from claimlab.core.stats.scores import Flags, Floats, Floats32
from claimlab.core.types import Sparse

try:
    from claimlab.text._descent import descend
except ImportError:  # not built here: the Newton method fits the same model, more slowly
    descend = None  # type: ignore[assignment]

Matrix: TypeAlias = Floats | Floats32 | Sparse  # rows by features
Labels: TypeAlias = npt.NDArray[Any]
Rows: TypeAlias = npt.NDArray[np.int64]
Margins: TypeAlias = Floats  # rows by classes; one column where there are two classes

ROWS_PER_BLOCK = 20_000  # rows whose margins are computed at a time: they are doubled in size
TOLERANCE = 1e-3  # of the length of the first gradient, times the share of the rarest class
DESCENT_TOLERANCE, DESCENT_PASSES = 1e-2, 20_000
NEWTON_ROWS_PER_COLUMN = 4  # at least: the descent then takes longer than Newton
MOST_STEPS = 100
MOST_DIRECTIONS = 200  # of conjugate gradients, within a step
SHRINK, GROW = 0.25, 4.0  # a step is trusted less or more than the last one


class Weights(NamedTuple):
    """A row of coefficients per class; two classes have one row, for the second against the
    first."""

    classes: Labels
    coefficients: Floats
    intercepts: Floats


def fit_logistic(matrix: Matrix, labels: Labels, strength: float) -> Weights:
    """Logistic regression, each class weighing alike.

    `strength` is the inverse of the regularisation: scikit-learn's `C`.
    """
    classes, codes = np.unique(labels, return_inverse=True)
    weights = strength * balanced(codes)
    loss = _Logistic(codes, weights)
    learned = _lowest(matrix, loss, rarest_share(codes), penalise_intercept=False)
    return Weights(classes, np.ascontiguousarray(learned[:-1].T), learned[-1].copy())


def fit_svm(
    matrix: Matrix,
    labels: Labels,
    strength: float,
    *,
    rows: Rows | None = None,
    seed: int = 0,
    balance: bool = True,
) -> Weights:
    """A support-vector machine with squared hinge loss, one class against the others.

    `labels` are those of `rows` of the matrix (null: of all). `seed` sets the order in which the
    descent looks at them; `balance` makes each class weigh alike.
    """
    rows = np.arange(matrix.shape[0]) if rows is None else rows
    classes, codes = np.unique(labels, return_inverse=True)
    size = np.bincount(codes)
    own = strength * (len(codes) / (len(size) * size) if balance else np.ones(len(size)))
    two = len(size) == 2
    others = own[:1] if two else np.full(len(size), strength)
    own = own[1:] if two else own
    sparse = not isinstance(matrix, np.ndarray)
    if sparse and descend is not None and len(rows) < NEWTON_ROWS_PER_COLUMN * matrix.shape[1]:
        learned = _descended(matrix, codes, rows, own, others, seed)
    else:
        chosen = matrix if len(rows) == matrix.shape[0] else matrix[rows]
        of_class = codes[:, None] == (np.array([1]) if two else np.arange(len(size)))
        learned = np.stack(
            [
                _lowest(
                    chosen,
                    _SquaredHinge(column, np.where(column, weight, other)),
                    rarest_share(column.astype(np.int64)),
                    penalise_intercept=True,
                )[:, 0]
                for column, weight, other in zip(of_class.T, own, others, strict=True)
            ]
        )
    return Weights(classes, np.ascontiguousarray(learned[:, :-1]), learned[:, -1].copy())


def margins(model: Weights, matrix: Matrix, rows: Rows) -> Margins:
    """One margin per class for each of these rows; of two classes, each has half of the second's
    margin against the first, with its sign."""
    parts = [
        np.asarray(matrix[rows[start : start + ROWS_PER_BLOCK]] @ model.coefficients.T, np.float64)
        for start in range(0, max(len(rows), 1), ROWS_PER_BLOCK)
    ]
    whole = np.concatenate(parts) + model.intercepts
    return np.concatenate([-whole / 2, whole / 2], 1) if whole.shape[1] == 1 else whole


def shares(model: Weights, matrix: Matrix) -> Floats:
    """The probability of each class for each row, by logistic regression."""
    logits = np.asarray(matrix @ model.coefficients.T, np.float64) + model.intercepts
    if len(model.classes) == 2:
        logits = np.concatenate([np.zeros_like(logits), logits], axis=1)
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def balanced(codes: npt.NDArray[np.integer]) -> Floats:
    """A weight per row, so that the rows of each class weigh alike together."""
    size = np.bincount(codes)
    return np.asarray(len(codes) / (len(size) * size[codes]))


def rarest_share(codes: npt.NDArray[np.integer]) -> float:
    return int(np.bincount(codes).min()) / len(codes)


class _Loss(ABC):
    """What a margin costs, how steep that is, and how the steepness changes."""

    columns = 1  # of margins

    @abstractmethod
    def at(self, margins: Margins) -> float: ...

    @abstractmethod
    def slope(self, margins: Margins) -> Margins: ...

    @abstractmethod
    def bend(self, margins: Margins) -> Callable[[Margins], Margins]: ...


class _Logistic(_Loss):
    """Of two classes the second has a column, and the first a margin of 0."""

    def __init__(self, codes: npt.NDArray[np.integer], weight: Floats) -> None:
        hot = np.eye(int(codes.max()) + 1)[codes]
        self.two = hot.shape[1] == 2
        self.hot = hot[:, 1:] if self.two else hot
        self.columns = self.hot.shape[1]
        self.weight = weight[:, None]

    def _logarithms(self, margins: Margins) -> Margins:
        """Of the sum of the exponentials of all classes, in a column."""
        if self.two:
            return np.asarray(np.logaddexp(0, margins))
        highest = margins.max(axis=1, keepdims=True)
        return np.asarray(highest + np.log(np.exp(margins - highest).sum(axis=1, keepdims=True)))

    def at(self, margins: Margins) -> float:
        right = (margins * self.hot).sum(axis=1, keepdims=True)
        return float((self.weight * (self._logarithms(margins) - right)).sum())

    def shares(self, margins: Margins) -> Margins:
        return np.asarray(np.exp(margins - self._logarithms(margins)))

    def slope(self, margins: Margins) -> Margins:
        return np.asarray(self.weight * (self.shares(margins) - self.hot))

    def bend(self, margins: Margins) -> Callable[[Margins], Margins]:
        shares = self.shares(margins)
        weighted = self.weight * shares

        def bent(way: Margins) -> Margins:
            return np.asarray(weighted * (way - (shares * way).sum(axis=1, keepdims=True)))

        return bent


class _SquaredHinge(_Loss):
    """Rows on the wrong side of a margin of 1, or on the right side but nearer than that."""

    def __init__(self, positive: Flags, weight: Floats) -> None:
        self.sign, self.weight = np.where(positive, 1.0, -1.0)[:, None], weight[:, None]

    def _gap(self, margins: Margins) -> Margins:
        return np.maximum(1 - self.sign * margins, 0)

    def at(self, margins: Margins) -> float:
        return float((self.weight * self._gap(margins) ** 2).sum())

    def slope(self, margins: Margins) -> Margins:
        return np.asarray(-2 * self.weight * self.sign * self._gap(margins))

    def bend(self, margins: Margins) -> Callable[[Margins], Margins]:
        weight = 2 * self.weight * (self._gap(margins) > 0)

        def bent(way: Margins) -> Margins:
            return np.asarray(weight * way)

        return bent


def _lowest(matrix: Matrix, loss: _Loss, rarest: float, *, penalise_intercept: bool) -> Floats:
    """Weights (columns and then the intercept, by margins) at which half their squared length and
    the loss are lowest together.
    """
    from threadpoolctl import threadpool_limits

    turned = matrix.T if isinstance(matrix, np.ndarray) else matrix.T.tocsr()
    kind = matrix.dtype

    def apply(weights: Floats) -> Margins:
        return np.asarray(matrix @ weights[:-1].astype(kind) + weights[-1], np.float64)

    def back(values: Margins) -> Floats:
        return np.vstack([turned @ values.astype(kind), values.sum(axis=0)]).astype(np.float64)

    kept = np.ones((matrix.shape[1] + 1, 1))
    kept[-1] = penalise_intercept
    # on vectors this short, threads wait 20 times as long as they work
    with threadpool_limits(1, "blas"):
        return _newton(apply, back, loss, kept, TOLERANCE * rarest)


def _newton(
    apply: Callable[[Floats], Margins],
    back: Callable[[Margins], Floats],
    loss: _Loss,
    kept: Floats,
    tolerance: float,
) -> Floats:
    """Newton's method in a region of trust. `kept` is 1 where a weight is penalised."""

    def curvature(bend: Callable[[Margins], Margins], way: Floats) -> Floats:
        return kept * way + back(bend(apply(way)))

    now = np.zeros((len(kept), loss.columns))
    margins = apply(now)
    cost = loss.at(margins)
    slope = back(loss.slope(margins))
    radius = float(np.linalg.norm(slope))
    enough = tolerance * radius
    for number in range(MOST_STEPS):
        if np.linalg.norm(slope) <= enough:
            break
        bend = loss.bend(margins)
        step, rest = _within(partial(curvature, bend), slope, radius)
        length, along = float(np.linalg.norm(step)), float((slope * step).sum())
        promised = -0.5 * (along - float((step * rest).sum()))
        next_margins = apply(now + step)
        next_cost = 0.5 * float((kept * (now + step) ** 2).sum()) + loss.at(next_margins)
        gained, over = cost - next_cost, next_cost - cost - along
        scale = GROW if over <= 0 else max(SHRINK, -0.5 * along / over)
        radius = min(radius, length) if number == 0 else radius
        if promised <= 1e-12 * abs(cost):
            break
        if gained < 1e-4 * promised:
            radius = min(scale * length, 0.5 * radius)
            continue
        lowest = 1.0 if gained >= 0.75 * promised else SHRINK
        highest = 0.5 if gained < 0.25 * promised else GROW
        radius = max(lowest * radius, min(scale * length, highest * radius))
        now, cost, margins = now + step, next_cost, next_margins
        slope = kept * now + back(loss.slope(margins))
    return now


def _within(
    curvature: Callable[[Floats], Floats], slope: Floats, radius: float
) -> tuple[Floats, Floats]:
    """A step no longer than the radius, by conjugate gradients, and what is left of the slope."""
    step, rest = np.zeros_like(slope), -slope
    way, size = rest, float((rest * rest).sum())
    enough = 0.1 * float(np.linalg.norm(slope))
    for _ in range(MOST_DIRECTIONS):
        if np.linalg.norm(rest) <= enough:
            break
        bent = curvature(way)
        far = size / float((way * bent).sum())
        if np.linalg.norm(step + far * way) > radius:  # go to the edge, and no further
            ahead, long = float((step * way).sum()), float((way * way).sum())
            gap = radius**2 - float((step * step).sum())
            root = float(np.sqrt(ahead**2 + long * gap))
            far = gap / (ahead + root) if ahead >= 0 else (root - ahead) / long
            return step + far * way, rest - far * bent
        step, rest = step + far * way, rest - far * bent
        before, size = size, float((rest * rest).sum())
        way = size / before * way + rest
    return step, rest


def _descended(
    matrix: Sparse,
    codes: npt.NDArray[np.integer],
    rows: Rows,
    own: Floats,
    others: Floats,
    seed: int,
) -> Floats:
    """What scikit-learn would learn, from the matrix as it lies in memory: a third of the bytes,
    half of the time."""
    assert descend is not None
    order = np.argsort(codes, kind="stable")
    out = np.zeros((len(own), matrix.shape[1] + 1))
    descend(
        matrix.data,
        matrix.indices.astype(np.int32, copy=False),
        matrix.indptr.astype(np.int64, copy=False),
        rows[order],
        codes[order].astype(np.int32),
        own,
        others,
        DESCENT_TOLERANCE,
        DESCENT_PASSES,
        np.random.RandomState(seed).randint(np.iinfo(np.int32).max),
        out,
    )
    return out
