"""What a plain text model says of every row, out of fold: word n-grams and logistic regression, groups kept together.

It is the yardstick of the checks that ask more than what one shortcut gives away: which labels look wrong, whether a
claim can be judged without its evidence, what is left when giveaway words are masked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.audit import fair
from claimlab.audit.check import Context
from claimlab.audit.subject import Subject
from claimlab.core.finding import Baselines
from claimlab.core.stats.codes import Codes
from claimlab.core.stats.interval import interval
from claimlab.core.stats.permute import permutation_p
from claimlab.core.stats.repeats import mean_macro_f1, resample
from claimlab.core.stats.scores import majority_f1, stratified_f1

Floats = npt.NDArray[np.float64]
FEATURES = 2**16
STRENGTH = 3.0
READ = 1_500  # characters of a text: an article's beginning says what it is about, and costs a tenth
PERMUTED = 5  # permutations: each fits the model anew


@dataclass(frozen=True)
class TextScore:
    """What the text gives away, and the answers behind it, for a comparison with another text of the same rows."""

    measured: fair.Measured
    answers: Codes


def probabilities(subject: Subject, context: Context, texts: pl.Series, labels: Codes | None = None) -> Floats:
    """A probability per row and class from a model that saw neither the row nor its group. A text may be null;
    `labels` replace the subject's own."""
    fold = fair.deal_of(subject, "groups", context.settings, context.seed).fold[0]
    return out_of_fold(vectors(texts), subject.y if labels is None else labels, fold, len(subject.classes))


def out_of_fold(matrix: Any, y: npt.NDArray[np.integer], fold: npt.NDArray[np.integer], classes: int) -> Floats:
    from sklearn.linear_model import LogisticRegression

    out = np.full((len(y), classes), 1.0 / classes)
    for k in range(int(fold.max()) + 1):
        test, train = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        # A loose tolerance would stop lbfgs before it has learnt anything: gradients of rare words are tiny.
        solver = "liblinear" if classes == 2 else "lbfgs"
        model = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=100, tol=1e-3, solver=solver)
        model.fit(matrix[train], y[train])
        out[np.ix_(test, model.classes_)] = model.predict_proba(matrix[test])
    return out


def text_score(subject: Subject, context: Context, texts: pl.Series, permutations: int = PERMUTED) -> TextScore:
    """The macro-F1 of the model on `texts`, its interval, and what it has to beat. One round of cross-validation, and
    few permutations: each costs as much as the score. The caller has ruled out `too_few`."""
    classes, seed, matrix = len(subject.classes), context.seed, vectors(texts)
    deal = fair.deal_of(subject, "groups", context.settings, seed)
    answers = out_of_fold(matrix, subject.y, deal.fold[0], classes).argmax(axis=1)
    drawn = resample(subject.y, [answers], deal.groups, classes, seed=seed)
    permuted = np.array([_permuted(deal.permuted(i), matrix, classes) for i in range(permutations)])
    counts = np.bincount(subject.y, minlength=classes)
    shuffled = float(permuted.mean()) if permutations else None
    baselines = Baselines(majority=float(majority_f1(counts)), stratified=stratified_f1(counts), shuffled=shuffled)
    difference, gap = fair.against_best(drawn, baselines, permuted, seed)
    measured = fair.Measured(
        score=drawn.score,
        interval=interval(drawn.scores, drawn.groups, point=drawn.score) or (0.0, 1.0),
        baselines=baselines,
        difference=difference,
        difference_interval=gap,
        p=permutation_p(drawn.score, permuted, float(drawn.scores.std())),
        permutations=permutations,
        moved=deal.moved(max(1, permutations)),
        moved_freely=deal.exchange.moved_freely,
        n=subject.n,
        classes=subject.class_counts,
    )
    return TextScore(measured, answers.astype(np.int64))


def _permuted(drawn: tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]], matrix: Any, classes: int) -> float:
    labels, fold = drawn[0].astype(np.int64), drawn[1]
    return mean_macro_f1(labels, [out_of_fold(matrix, labels, fold[0], classes).argmax(axis=1)], classes)


def vectors(texts: pl.Series) -> Any:
    """Hashed words and pairs of words, weighted by how rare they are; nothing is learnt from labels."""
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

    hashed = HashingVectorizer(n_features=FEATURES, ngram_range=(1, 2), alternate_sign=False, norm=None)
    counts = hashed.transform(texts.fill_null("").str.slice(0, READ).to_list())
    held = np.unique(counts.indices)  # the other columns are empty: a model would only pay for them
    return TfidfTransformer(sublinear_tf=True).fit_transform(counts[:, held])
