"""N-grams counted by sorting keys must be scikit-learn's, text by text."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from claimlab.text import ngrams
from claimlab.text.ngrams import Characters, TfIdf, Words

TEXTS = [
    "The bridge OPENED in 1931, they say.",
    "  A b  c\n\nthe bridge ",
    "",
    "ponte aberta às 9h: é verdade? 😀😀",
    "x",
    "橋は1931年に開通した",
    "the the the bridge",
]


def sums(texts: list[str], shortest: int, longest: int) -> list[int]:
    counts = Characters(shortest, longest).count(pl.Series(texts, dtype=pl.String))
    found = dict(counts.group_by("row").agg(pl.col("n").sum()).iter_rows())
    return [found.get(row, 0) for row in range(len(texts))]


@pytest.mark.parametrize(("shortest", "longest"), [(1, 1), (2, 2), (3, 3), (2, 5)])
def test_as_many_n_grams_as_scikit_learn_finds(shortest: int, longest: int) -> None:
    # Its analyser counts a word that is shorter than the n-gram once, whole; ours counts it at its
    # own length only.
    theirs = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(shortest, longest), lowercase=False
    ).build_analyzer()
    if shortest == 1:
        assert sums(TEXTS, 1, 1) == [len("".join(text.split())) for text in TEXTS]
    else:
        long_enough = [" ".join(w for w in text.split() if len(w) + 2 >= longest) for text in TEXTS]
        assert sums(long_enough, shortest, longest) == [len(theirs(text)) for text in long_enough]


def test_the_matrix_is_scikit_learns() -> None:
    theirs = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(2, 5), min_df=2, sublinear_tf=True, lowercase=False
    )
    expected = theirs.fit_transform(TEXTS)
    ours = TfIdf(Characters(), most=10**6).fit_transform(pl.Series(TEXTS))
    assert ours.shape == expected.shape
    assert np.abs((ours @ ours.T - expected @ expected.T).toarray()).max() < 1e-5
    assert ours.has_sorted_indices
    assert ours.dtype == np.float32


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="ab é\n\u3000😀", max_size=12), min_size=1, max_size=5))
def test_counts_do_not_depend_on_the_texts_beside(texts: list[str]) -> None:
    together = Characters().count(pl.Series(texts, dtype=pl.String)).sort("row", "term")
    for row, text in enumerate(texts):
        alone = Characters().count(pl.Series([text])).select("term", "n")
        assert together.filter(pl.col("row") == row).select("term", "n").equals(alone)


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Characters().count(pl.Series(TEXTS))
    monkeypatch.setattr(ngrams, "CHARACTERS_PER_CHUNK", 10)
    assert Characters().count(pl.Series(TEXTS)).equals(whole)
    monkeypatch.setattr(ngrams, "TEXTS_PER_CHUNK", 1)
    assert Characters().count(pl.Series(TEXTS)).equals(whole)


def test_words_and_pairs_of_words() -> None:
    counts = Words().count(pl.Series(["The bridge, the bridge", None, "no"]))
    assert counts.rows() == [
        (0, "bridge", 2), (0, "bridge the", 1), (0, "the", 2), (0, "the bridge", 2), (2, "no", 1),
    ]  # fmt: skip


def test_what_was_never_met_leaves_an_empty_row() -> None:
    fitted = TfIdf(Words(), most=10, min_df=1)
    assert fitted.fit_transform(pl.Series(["a bridge", "a road"])).shape == (2, 5)
    matrix = fitted.transform(pl.Series(["river", "bridge", ""]))
    assert matrix.getnnz(axis=1).tolist() == [0, 1, 0]
    assert matrix[1].max() == pytest.approx(1)


def test_only_the_most_frequent_terms_are_kept() -> None:
    fitted = TfIdf(Words(1), most=1, min_df=1)
    fitted.fit_transform(pl.Series(["road road bridge", "road"]))
    assert fitted.vocabulary["term"].to_list() == ["road"]
