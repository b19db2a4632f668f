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
from claimlab.core.stats.codes import Codes
from claimlab.core.stats.interval import Interval, interval
from claimlab.core.stats.resampled import Resampled, difference, mean_macro_f1, resample
from claimlab.core.stats.scores import Floats
from claimlab.core.types import Sparse
from claimlab.text.linear import fit_logistic, shares
from claimlab.text.ngrams import TfIdf, Words

MOST_FEATURES = 2**16  # words and pairs at most, the most frequent
STRENGTH = 3.0
# characters of a text: an article's beginning says what it is about, and costs a tenth
CHARACTERS_READ = 1_500


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
        return interval(self.drawn.scores, self.drawn.units, point=self.drawn.score) or (0.0, 1.0)


def probabilities(subject: Subject, matrix: Sparse, labels: Codes | None = None) -> Floats:
    """A probability per row of `matrix` (see `vectors`) and class, from a model that saw neither
    the row nor its group; `labels` replace the subject's own.
    """
    codes = subject.y if labels is None else labels
    fold = fair.deal_of(subject).fold[0]
    return out_of_fold(matrix, codes, fold, len(subject.classes))


def out_of_fold(
    matrix: Sparse, y: npt.NDArray[np.integer], fold: npt.NDArray[np.integer], classes: int
) -> Floats:
    out = np.full((len(y), classes), 1.0 / classes)
    for k in range(int(fold.max()) + 1):
        test, train = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        model = fit_logistic(matrix[train], y[train], STRENGTH)
        out[np.ix_(test, model.classes)] = shares(model, matrix[test])
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
        shuffled = labels.astype(np.int64)
        answers = out_of_fold(text.matrix, shuffled, fold[0], deal.classes).argmax(axis=1)
        return mean_macro_f1(shuffled, [answers], deal.classes)

    def scores(start: int, more: int) -> Floats:
        return np.array([permuted(number) for number in range(start, start + more)])

    return fair.against_permuted(subject, text.drawn, deal, scores, close=close)


def vectors(texts: pl.Series) -> Sparse:
    """Words and pairs of words, weighted by how rare they are; nothing is learnt from labels. A
    text may be null; where no text shares a word with another, there is one empty column.
    """
    from scipy.sparse import csr_matrix

    beginnings = texts.fill_null("").str.slice(0, CHARACTERS_READ)
    matrix = TfIdf(Words(), most=MOST_FEATURES).fit_transform(beginnings)
    return matrix if matrix.shape[1] else csr_matrix((texts.len(), 1), dtype=np.float32)
