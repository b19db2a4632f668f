"""Out-of-fold predictions of a plain text model: word n-grams and logistic regression, groups kept
together.

It is the yardstick of the checks that ask more than what one shortcut gives away: which labels look
wrong, whether a claim can be judged without its evidence, what is left when giveaway words are
masked.
"""

from __future__ import annotations

from dataclasses import dataclass

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
READ = (
    1_500  # characters of a text: an article's beginning says what it is about, and costs a tenth
)


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
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    out = np.full((len(y), classes), 1.0 / classes)
    for k in range(int(fold.max()) + 1):
        test, train = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        # A loose tolerance would stop lbfgs before it has learnt anything: gradients of rare words
        # are tiny.
        solver = "liblinear" if classes == 2 else "lbfgs"
        model = LogisticRegression(
            C=STRENGTH, class_weight="balanced", max_iter=100, tol=1e-3, solver=solver
        )
        with threadpool_limits(
            1, "blas"
        ):  # on vectors this short, threads spend 20 times as long waiting as working
            model.fit(matrix[train], y[train])
        out[np.ix_(test, model.classes_)] = model.predict_proba(matrix[test])
    return out


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
    labels. A text may be null.
    """
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

    hashed = HashingVectorizer(
        n_features=FEATURES, ngram_range=(1, 2), alternate_sign=False, norm=None
    )
    counts = hashed.transform(texts.fill_null("").str.slice(0, READ).to_list())
    # The other columns are empty: a model would only pay for them. Texts without a word keep one.
    held = np.unique(counts.indices) if counts.nnz else np.zeros(1, np.int64)
    return TfidfTransformer(sublinear_tf=True).fit_transform(counts[:, held])
