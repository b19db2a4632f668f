"""A linear model over any matrix, tuned on dev: what the classic detectors share once they have
made numbers of texts.

The strength of the fit is the one with the best macro-F1 on dev (or, without dev, out of fold
inside train); the model is then fitted again on train and dev together, as is usual for tuned
classics. Scores are margins put through a softmax whose one temperature was fitted on rows that the
model had not seen: they sum to one, they move, and the best-scored class is always the model's
answer.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl

from claimlab.core.errors import UsageError
from claimlab.core.stats.scores import Floats, Floats32, macro_f1_of
from claimlab.core.types import JsonObject
from claimlab.detect.detector import Detector, Part, Prediction
from claimlab.detect.learned import Learned
from claimlab.text.linear import Labels, Matrix, Rows, Weights, fit_logistic, fit_svm
from claimlab.text.linear import margins as margins_of

Kind = Literal["svm", "logistic"]
STRENGTHS: dict[Kind, tuple[float, ...]] = {
    "svm": (0.1, 0.3, 1.0, 3.0),
    "logistic": (0.3, 1.0, 3.0, 10.0, 30.0),
}
FOLDS = 3
STEEPEST = -5.0, 3.0  # logarithms of the lowest and the highest temperature


class Linear:
    """A support-vector machine (sharper on sparse n-grams) or logistic regression (smoother on
    dense embeddings).
    """

    def __init__(self, kind: Kind = "svm", strength: float | None = None) -> None:
        if strength is not None and not strength > 0:  # nan is not above 0 either
            raise UsageError(
                f"A linear model cannot be fitted with strength {strength:g}.",
                "Give a number above 0.",
            )
        self.kind = kind
        self.strength = strength  # null: tuned

    def fit(
        self, matrix: Matrix, labels: Sequence[str], *, dev_labels: Sequence[str] = (), seed: int
    ) -> None:
        """The rows of `matrix` are those of `labels`, then those of `dev_labels`."""
        y = np.asarray([*labels, *dev_labels])
        rows, train = np.arange(len(y)), np.arange(len(labels))
        strengths = (self.strength,) if self.strength is not None else STRENGTHS[self.kind]
        unseen = rows[len(labels) :] if dev_labels else train
        margins = [
            margins_of(self._fitted(c, matrix, y, train, seed), matrix, unseen)
            if dev_labels
            else self._out_of_fold(c, matrix, y, seed)
            for c in strengths
        ]
        classes = sorted(set(labels))
        best = int(
            np.argmax(
                [_macro_f1(y[unseen], np.asarray(classes)[m.argmax(axis=1)]) for m in margins]
            )
        )
        self.chosen = strengths[best]
        self.temperature = temperature(margins[best], y[unseen], classes)
        self.model = self._fitted(self.chosen, matrix, y, rows, seed)

    def _fitted(self, strength: float, matrix: Matrix, y: Labels, rows: Rows, seed: int) -> Weights:
        """What was learnt from these rows of the matrix."""
        if self.kind == "svm":
            return fit_svm(matrix, y[rows], strength, rows=rows, seed=seed)
        return fit_logistic(matrix if len(rows) == len(y) else matrix[rows], y[rows], strength)

    def learned(self) -> JsonObject:
        return {
            "classes": [str(c) for c in self.model.classes],
            "coefficients": self.model.coefficients,
            "intercepts": self.model.intercepts,
            "temperature": self.temperature,
            "strength": self.chosen,
        }

    def recall(self, learned: Learned, width: int | None = None) -> None:
        """`width` is how many columns a matrix has, where that is known."""
        classes, self.chosen = learned.words("classes"), learned.number("strength")
        self.temperature = learned.number("temperature")
        rows = 1 if len(classes) == 2 else len(classes)
        self.model = Weights(
            np.asarray(classes),
            learned.array("coefficients", np.floating, [rows, width]),
            learned.array("intercepts", np.floating, [rows]),
        )

    def toward(self, label: str) -> Floats:
        """What each feature adds to the margin of `label` over the mean of the other classes."""
        classes, rows = [str(c) for c in self.model.classes], self.model.coefficients
        coefficients = np.stack([-rows[0] / 2, rows[0] / 2]) if len(classes) == 2 else rows
        at = classes.index(label)
        return np.asarray(coefficients[at] - np.delete(coefficients, at, axis=0).mean(axis=0))

    def predict(self, matrix: Matrix) -> list[Prediction]:
        return as_predictions(
            margins_of(self.model, matrix, np.arange(matrix.shape[0])),
            [str(c) for c in self.model.classes],
            self.temperature,
        )

    def _out_of_fold(self, strength: float, matrix: Matrix, y: Labels, seed: int) -> Floats:
        """Margins for every row from a model that did not see it; few rows of a class make fewer
        folds.
        """
        folds = min(FOLDS, int(np.unique(y, return_counts=True)[1].min()))
        if folds < 2:
            rows = np.arange(len(y))
            return margins_of(self._fitted(strength, matrix, y, rows, seed), matrix, rows)
        out = np.zeros((len(y), len(np.unique(y))))
        fold = stratified(y, folds, seed)
        for number in range(folds):
            train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            out[test] = margins_of(self._fitted(strength, matrix, y, train, seed), matrix, test)
        return out


def stratified(y: Labels, folds: int, seed: int) -> Rows:
    """The fold of each row; every class is spread evenly, as scikit-learn's StratifiedKFold does
    it.
    """
    _, first, code = np.unique(y, return_index=True, return_inverse=True)
    code = np.argsort(np.argsort(first))[code]  # classes in the order in which they occur
    rng, ordered, out = np.random.RandomState(seed), np.sort(code), np.empty(len(y), np.int64)
    shares = [np.bincount(ordered[number::folds], minlength=len(first)) for number in range(folds)]
    for k, share in enumerate(np.transpose(shares)):
        of_class = np.repeat(np.arange(folds), share)
        rng.shuffle(of_class)
        out[code == k] = of_class
    return out


class LinearOnVectors(Detector):
    """A detector that makes a vector of each text and gives the vectors to a linear model; `head`
    says which, `strength` is tuned where it is null.
    """

    def __init__(self, *, head: Kind = "logistic", strength: float | None = None) -> None:
        self.head: Kind = head
        self.strength = strength

    @abstractmethod
    def vectors(self, records: pl.DataFrame) -> Floats32:
        """One row per record."""

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        self.linear = Linear(self.head, self.strength)
        parts = [self.vectors(part.records) for part in (train, dev) if part.labels]
        self.linear.fit(np.concatenate(parts), train.labels, dev_labels=dev.labels, seed=seed)

    def learned(self) -> JsonObject:
        return {"linear": self.linear.learned()}

    def recall(self, learned: Learned) -> None:
        self.linear = Linear(self.head, self.strength)
        self.linear.recall(learned.part("linear"))

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        return self.linear.predict(self.vectors(records))


def as_predictions(margins: Floats, classes: Sequence[str], temperature: float) -> list[Prediction]:
    """The class with the largest margin, and tempered scores that sum to one."""
    from scipy.special import softmax

    shares = softmax(margins / temperature, axis=1)
    return [
        Prediction(classes[int(row.argmax())], dict(zip(classes, map(float, row), strict=True)))
        for row in shares
    ]


def temperature(margins: Floats, truth: Labels, classes: Sequence[object]) -> float:
    """The one number that makes the scores of unseen rows most likely, a rare class weighing as
    much as a frequent.

    Targets are smoothed as in Platt's method (1999): a row of a class with n unseen rows counts as
    (n + 1) / (n + k) of that class and 1 / (n + k) of each of the k - 1 others. So a model without
    an error on n rows is taken to err on the next one about once in n, and not never.
    """
    from scipy.special import softmax

    place = {c: i for i, c in enumerate(classes)}
    has_class = np.array([t in place for t in truth.tolist()])
    if not has_class.any():
        return 1.0
    at = np.array([place[t] for t in truth[has_class].tolist()])
    size = np.bincount(at, minlength=len(classes))[at]
    target = np.repeat(1 / (size + len(classes)), len(classes)).reshape(len(at), len(classes))
    target[np.arange(len(at)), at] += size / (size + len(classes))

    low, high = STEEPEST
    for _ in range(50):  # the likelihood has one peak, where its slope changes sign
        middle = (low + high) / 2
        expected = softmax(margins[has_class] / np.exp(middle), axis=1)
        uphill = (((expected - target) * margins[has_class]).sum(axis=1) / size).sum() > 0
        low, high = (middle, high) if uphill else (low, middle)
    return float(np.exp(middle))


def _macro_f1(truth: Labels, guess: Labels) -> float:
    codes = np.unique(np.concatenate([truth, guess]), return_inverse=True)[1]
    return macro_f1_of(codes[: len(truth)], codes[len(truth) :])
