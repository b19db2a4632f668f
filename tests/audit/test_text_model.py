"""The text model learns from many rare words: a solver that stops too early answers one class for
all.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from claimlab.audit.subject import Subject
from claimlab.audit.text_model import (
    CHARACTERS_READ,
    MOST_FEATURES,
    out_of_fold,
    probabilities,
    text_score,
    vectors,
)
from claimlab.core.dataset import Dataset
from claimlab.text import linear
from claimlab.text.tokens import tokenize


def test_many_weak_words_are_learnt() -> None:
    rng = np.random.default_rng(0)
    true = rng.random(600) < 0.6
    leans = np.array([f"w{i}" for i in range(400)])
    texts = [" ".join(rng.choice(leans[:250] if t else leans[150:], 14)) for t in true]
    rows = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(600)],
            "text": texts,
            "veracity": np.where(true, "true", "false"),
        }
    )
    subject = Subject.of(Dataset.build("d", rows))
    assert text_score(subject, subject.rows["text"]).score > 0.8
    assert probabilities(subject, vectors(subject.rows["text"])).std() > 0.05


def awkward(n: int) -> list[str]:
    """Texts of words of all lengths, some with letters of several bytes, none, or too many."""
    rng = np.random.default_rng(1)
    alphabet = [*"abcdefgeeiouáßжя語कि_7İ😀"]
    words = ["".join(rng.choice(alphabet, size)) for size in rng.integers(1, 24, 300)]
    texts = [" ".join(rng.choice(words, size)) for size in rng.integers(0, 40, n - 3)]
    return [*texts, "", "a b c", "long " * CHARACTERS_READ]


def test_vectors_are_those_of_scikit_learn() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = pl.Series(awkward(6_000)).str.slice(0, CHARACTERS_READ)  # more than one part
    peer = TfidfVectorizer(
        analyzer=lambda words: [*words, *map(" ".join, pairwise(words))],
        min_df=2,
        max_features=MOST_FEATURES,
        sublinear_tf=True,
    ).fit_transform(tokenize(texts).to_list())
    ours = vectors(texts)
    assert ours.shape[1] == min(peer.shape[1], MOST_FEATURES)
    likeness = (ours[:40] @ ours.T - peer[:40] @ peer.T).tocoo().data
    assert np.abs(likeness).max() < 1e-5


def test_texts_without_a_word_make_one_empty_column() -> None:
    assert vectors(pl.Series(["", None, "a"], dtype=pl.String)).toarray().tolist() == [[0.0]] * 3


@pytest.mark.parametrize("classes", [2, 3])
def test_the_model_out_of_fold_is_that_of_scikit_learn(
    classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(classes)
    y = np.sort(rng.integers(0, classes + 1, 800) % classes)  # one class has more than its share
    leans = np.array([f"word{i}" for i in range(500)])
    texts = [" ".join(rng.choice(leans[80 * k : 80 * k + 300], 12)) for k in y]
    matrix, fold = vectors(pl.Series(texts)), rng.integers(0, 3, 800)
    ours = out_of_fold(matrix, y, fold, classes)
    with monkeypatch.context() as to_the_end:
        to_the_end.setattr(linear, "TOLERANCE", 1e-7)
        exact = out_of_fold(matrix.astype(np.float64), y, fold, classes)
    for k in range(3):
        peer = LogisticRegression(
            C=3.0, class_weight="balanced", max_iter=500, tol=1e-9, solver="newton-cg"
        ).fit(matrix[fold != k].astype(np.float64), y[fold != k])
        expected = peer.predict_proba(matrix[fold == k])
        np.testing.assert_allclose(exact[fold == k], expected, rtol=0, atol=1e-5)
        np.testing.assert_allclose(ours[fold == k], expected, rtol=0, atol=1e-3)
    assert 0.6 < (ours.argmax(axis=1) == y).mean() < 0.98  # neither nothing to learn nor all


def test_a_class_that_is_not_in_training_is_not_answered() -> None:
    matrix = vectors(pl.Series(["one two", "three four", "five six", "seven eight"] * 5))
    y, fold = np.array([0, 1, 2, 2] * 5), np.array([0, 0, 1, 1] * 5)
    ours = out_of_fold(matrix, y, fold, 3)
    assert (ours[fold == 0].argmax(axis=1) == 2).all()
    assert set(ours[fold == 1].argmax(axis=1)) <= {0, 1}
