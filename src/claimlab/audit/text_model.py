"""What a plain text model says of every row, out of fold: word n-grams and logistic regression, groups kept together.

It is the yardstick of the checks that ask more than what one shortcut gives away: which labels look wrong, whether a
claim can be judged without its evidence, what is left when giveaway words are masked.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.audit import fair
from claimlab.audit.check import Context
from claimlab.audit.subject import Subject
from claimlab.core.stats.codes import Codes

Floats = npt.NDArray[np.float64]
FEATURES = 2**16
STRENGTH = 3.0
READ = 1_500  # characters of a text: an article's beginning says what it is about, and costs a tenth


def probabilities(subject: Subject, context: Context, texts: pl.Series, labels: Codes | None = None) -> Floats:
    """A probability per row and class from a model that saw neither the row nor its group. A text may be null;
    `labels` replace the subject's own."""
    from sklearn.linear_model import LogisticRegression

    y = subject.y if labels is None else labels
    matrix = vectors(texts)
    fold = fair.deal_of(subject, "groups", context.settings, context.seed).fold[0]
    out = np.full((subject.n, len(subject.classes)), 1.0 / len(subject.classes))
    for k in range(int(fold.max()) + 1):
        test, train = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        model = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=100, tol=1e-2)
        model.fit(matrix[train], y[train])
        out[np.ix_(test, model.classes_)] = model.predict_proba(matrix[test])
    return out


def vectors(texts: pl.Series) -> npt.NDArray[np.float64]:
    """Hashed words and pairs of words, weighted by how rare they are; nothing is learnt from labels."""
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

    hashed = HashingVectorizer(n_features=FEATURES, ngram_range=(1, 2), alternate_sign=False, norm=None)
    counts = hashed.transform(texts.fill_null("").str.slice(0, READ).to_list())
    return TfidfTransformer(sublinear_tf=True).fit_transform(counts)  # type: ignore[no-any-return]
