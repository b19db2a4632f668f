"""Out-of-fold predictions of a plain text model: word n-grams and logistic regression, groups kept
together.

It is the yardstick of the checks that ask more than what one shortcut gives away: which labels look
wrong, whether a claim can be judged without its evidence, what is left when giveaway words are
masked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.audit import fair
from claimlab.audit.subject import Subject
from claimlab.core.stats.deal import Codes
from claimlab.core.stats.interval import (
    Interval,
    Resampled,
    difference,
    interval,
    mean_macro_f1,
    resample,
)
from claimlab.core.stats.scores import Floats
from claimlab.core.types import Sparse

FEATURES = 2**16
STRENGTH = 3.0
# characters of a text: an article's beginning says what it is about, and costs a tenth
READ = 1_500
PART = 5_000  # texts that are cut into words at a time
WORD = re.compile(r"\b\w\w+\b")
Words: TypeAlias = npt.NDArray[np.uint32]  # of 32 bits


@dataclass(frozen=True)
class TextScore:
    """What the text gives away, and the answers behind it, for a comparison with another text of
    the same rows.
    """

    drawn: Resampled
    answers: Codes
    matrix: Sparse  # of the texts, for `against_baselines`

    @property
    def score(self) -> float:
        return self.drawn.score

    @property
    def interval(self) -> Interval:
        return interval(self.drawn.scores, self.drawn.groups, point=self.drawn.score) or (0.0, 1.0)


def probabilities(subject: Subject, matrix: Sparse, labels: Codes | None = None) -> Floats:
    """A probability per row of `matrix` (see `vectors`) and class, from a model that saw neither
    the row nor its group; `labels` replace the subject's own.
    """
    known = subject.y if labels is None else labels
    fold = fair.deal_of(subject).fold[0]
    return out_of_fold(matrix, known, fold, len(subject.classes))


def out_of_fold(
    matrix: Sparse, y: npt.NDArray[np.integer], fold: npt.NDArray[np.integer], classes: int
) -> Floats:
    from scipy.special import expit, softmax
    from threadpoolctl import threadpool_limits

    out = np.full((len(y), classes), 1.0 / classes)
    for k in range(int(fold.max()) + 1):
        test, train = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        known, codes = np.unique(y[train], return_inverse=True)
        weight = STRENGTH * len(train) / (len(known) * np.bincount(codes)[codes])
        with threadpool_limits(
            1, "blas"
        ):  # on vectors this short, threads spend 20 times as long waiting as working
            learn = _learn_two if len(known) == 2 else _learn_several
            learned = learn(matrix[train], codes, weight)
        margins = matrix[test] @ learned[:-1] + learned[-1]
        second = expit(margins)
        shares = np.stack([1 - second, second], 1) if len(known) == 2 else softmax(margins, 1)
        out[np.ix_(test, known)] = shares
    return out


# Logistic regression of our own: the same steps as scikit-learn's take, without the 1.7 seconds
# that a command would wait for its import. Of the solvers, "liblinear" is followed for two classes
# and "lbfgs" for several: a loose tolerance would stop lbfgs before it has learnt anything from
# two, since gradients of rare words are tiny.
LOOSE, MOST = 1e-3, 100  # of the gradient at the start; steps
SHRINK, GROW = 0.25, 4.0  # a step is trusted less or more than the last one


def _learn_two(matrix: Sparse, codes: Codes, weight: Floats) -> Floats:
    """A weight per column, and the intercept, which is kept small too: a Newton method in a region
    of trust (Lin, Weng and Keerthi 2008).
    """
    from scipy.special import expit

    turned, sign = matrix.T.tocsr(), 2.0 * codes - 1
    rarer = int(np.bincount(codes).min()) / len(codes)

    def apply(weights: Floats) -> Floats:
        return np.asarray(matrix @ weights[:-1] + weights[-1])

    def back(values: Floats) -> Floats:
        return np.append(turned @ values, values.sum())

    def loss(weights: Floats) -> tuple[float, Floats]:
        margins = sign * apply(weights)
        cost = 0.5 * weights @ weights + weight @ np.logaddexp(0, -margins)
        return float(cost), np.asarray(expit(margins))

    def curvature(bend: Floats, way: Floats) -> Floats:
        return way + back(bend * apply(way))

    now = np.zeros(matrix.shape[1] + 1)
    cost, right = loss(now)
    slope = now + back(weight * (right - 1) * sign)
    radius = float(np.linalg.norm(slope))
    enough = LOOSE * rarer * radius
    for number in range(MOST):
        if np.linalg.norm(slope) <= enough:
            break
        bend = weight * right * (1 - right)
        step, rest = _within(partial(curvature, bend), slope, radius)
        length, along = float(np.linalg.norm(step)), slope @ step
        promised = -0.5 * (along - step @ rest)
        next_cost, next_right = loss(now + step)
        gained, over = cost - next_cost, next_cost - cost - along
        scale = GROW if over <= 0 else max(SHRINK, float(-0.5 * along / over))
        radius = min(radius, length) if number == 0 else radius
        if gained < 1e-4 * promised:
            radius = min(scale * length, 0.5 * radius)
            continue
        lowest = 1.0 if gained >= 0.75 * promised else SHRINK
        highest = 0.5 if gained < 0.25 * promised else GROW
        radius = max(lowest * radius, min(scale * length, highest * radius))
        now, cost, right = now + step, next_cost, next_right
        slope = now + back(weight * (right - 1) * sign)
    return now


def _within(
    curvature: Callable[[Floats], Floats], slope: Floats, radius: float
) -> tuple[Floats, Floats]:
    """A step no longer than the radius, by conjugate gradients, and what is left of the slope."""
    step, rest = np.zeros_like(slope), -slope
    way, size = rest, rest @ rest
    enough = 0.1 * np.linalg.norm(slope)
    while np.linalg.norm(rest) > enough:
        bent = curvature(way)
        far = size / (way @ bent)
        if np.linalg.norm(step + far * way) > radius:  # go to the edge, and no further
            ahead, gap, long = step @ way, radius**2 - step @ step, way @ way
            root = np.sqrt(ahead**2 + long * gap)
            far = gap / (ahead + root) if ahead >= 0 else (root - ahead) / long
            return step + far * way, rest - far * bent
        step, rest = step + far * way, rest - far * bent
        before, size = size, rest @ rest
        way = size / before * way + rest
    return step, rest


def _learn_several(matrix: Sparse, codes: Codes, weight: Floats) -> Floats:
    """A column per class of weights, and the intercepts, which may be of any size."""
    from scipy.optimize import minimize
    from scipy.special import log_softmax

    turned, hot = matrix.T.tocsr(), np.eye(int(codes.max()) + 1)[codes]
    total = weight.sum()

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(-1, hot.shape[1])
        likely = log_softmax(matrix @ weights[:-1] + weights[-1], axis=1)
        off = (np.exp(likely) - hot) * (weight / total)[:, None]
        cost = -(weight @ likely[hot > 0]) / total + (weights[:-1] ** 2).sum() / total / 2
        slope = np.vstack([turned @ off + weights[:-1] / total, off.sum(axis=0)])
        return cost, slope.ravel()

    start = np.zeros((matrix.shape[1] + 1) * hot.shape[1])
    limits = {"maxiter": MOST, "maxls": 50, "gtol": LOOSE, "ftol": 64 * np.finfo(float).eps}
    lowest = minimize(loss, start, jac=True, method="L-BFGS-B", options=limits)
    return np.asarray(lowest.x.reshape(-1, hot.shape[1]))


def text_score(subject: Subject, texts: pl.Series) -> TextScore:
    """The macro-F1 of the model on `texts`, over one round of cross-validation, and its
    resamples.
    """
    classes, matrix, deal = len(subject.classes), vectors(texts), fair.deal_of(subject)
    answers = out_of_fold(matrix, subject.y, deal.fold[0], classes).argmax(axis=1)
    drawn = resample(subject.y, [answers], deal.groups, classes, seed=subject.seed)
    return TextScore(drawn, answers.astype(np.int64), matrix)


def change(subject: Subject, before: TextScore, after: TextScore) -> tuple[float, Interval]:
    """What another text of the same rows adds to the score, and its interval."""
    groups, seed = fair.deal_of(subject).groups, subject.seed
    answers = before.answers, after.answers
    return difference(subject.y, *answers, groups, len(subject.classes), seed=seed)


def against_baselines(subject: Subject, text: TextScore, *, close: bool = True) -> fair.Measured:
    """The score against what it has to beat. The caller has ruled out `unmeasurable`."""
    deal = fair.deal_of(subject)

    def permuted(number: int) -> float:
        labels, fold = deal.permuted(number)
        known = labels.astype(np.int64)
        answers = out_of_fold(text.matrix, known, fold[0], deal.classes).argmax(axis=1)
        return mean_macro_f1(known, [answers], deal.classes)

    def scores(start: int, more: int) -> Floats:
        return np.array([permuted(number) for number in range(start, start + more)])

    return fair.against_permuted(subject, text.drawn, deal, scores, close=close)


def vectors(texts: pl.Series) -> Sparse:
    """Hashed words and pairs of words, weighted by how rare they are; nothing is learnt from
    labels. A text may be null. The matrix is that of scikit-learn's HashingVectorizer and
    TfidfTransformer with logarithms of the counts.
    """
    from scipy.sparse import csr_matrix

    short = texts.fill_null("").str.slice(0, READ)
    cells, counts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for first in range(0, short.len(), PART):
        keys = _cells(short[first : first + PART]) + first * FEATURES
        for values, more in zip((cells, counts), np.unique(keys, return_counts=True), strict=True):
            values.append(more)
    cell = np.concatenate(cells)
    row, bucket = cell // FEATURES, cell % FEATURES
    # The other columns are empty: a model would only pay for them. Texts without a word keep one.
    held, column = np.unique(bucket, return_inverse=True)
    rare = np.log((1 + texts.len()) / (1 + np.bincount(column))) + 1
    value = (np.log(np.concatenate(counts)) + 1) * rare[column]
    length = np.sqrt(np.bincount(row, value**2, minlength=texts.len()))
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=texts.len()))])
    shape = (texts.len(), max(len(held), 1))
    return csr_matrix((value / length[row], column, starts), shape=shape)


def _cells(texts: pl.Series) -> npt.NDArray[np.int64]:
    """Row times FEATURES plus the bucket of each word, and of each pair next to each other."""
    words = [WORD.findall(text.lower()) for text in texts.to_list()]
    row = np.repeat(np.arange(len(words)), list(map(len, words)))
    single = pl.Series([word for text in words for word in text], dtype=pl.String)
    pairs = (single + " " + single.shift(-1)).filter(pl.Series(np.append(np.diff(row) == 0, False)))
    rows = np.concatenate([row, row[:-1][np.diff(row) == 0]])
    hashes = _murmur(single.append(pairs)).astype(np.int64)
    return np.asarray(rows * FEATURES + np.abs(hashes) % FEATURES)


def _murmur(terms: pl.Series) -> npt.NDArray[np.int32]:
    """MurmurHash3 (32 bits, seed 0) of each term."""
    size = terms.str.len_bytes().to_numpy().astype(np.int64)
    start = np.cumsum(size) - size
    letters = np.frombuffer("".join(terms.to_list()).encode() + bytes(4), np.uint8)
    four = np.zeros(len(letters) - 3, np.uint32)
    for k in range(4):
        four |= letters[k : len(four) + k].astype(np.uint32) << np.uint32(8 * k)

    def turned(part: Words, by: int) -> Words:
        return part << np.uint32(by) | part >> np.uint32(32 - by)

    def mixed(part: Words) -> Words:
        return turned(part * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)

    out, rows = np.zeros(len(size), np.uint32), np.arange(len(size))
    for at in range(0, int(size.max(initial=0)) - 3, 4):
        rows = rows[size[rows] >= at + 4]
        part = turned(out[rows] ^ mixed(four[start[rows] + at]), 13)
        out[rows] = part * np.uint32(5) + np.uint32(0xE6546B64)
    rest = size % 4
    out ^= mixed(four[start + size - rest] & ((1 << 8 * rest) - 1).astype(np.uint32))
    out ^= size.astype(np.uint32)
    for turn, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        out = (out ^ out >> np.uint32(turn)) * np.uint32(factor)
    return (out ^ out >> np.uint32(16)).view(np.int32)
