"""Words that tell classes apart: the most frequent ones, and those that occur almost only in one
class.

An audit measures what they give away, the detector `shortcut` answers by them, and cleaning masks
them: all three choose them here, each from the rows that it may learn from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.stats.scores import Flags, Ints
from claimlab.core.types import Sparse
from claimlab.text.stopwords import without_stop_words
from claimlab.text.tokens import tokenize

KEYWORDS_COUNTED = 40  # the most frequent words
WIDESPREAD_WORDS = 10  # one-sided words that a small tree is given
# the most frequent words, stop words included, among which one-sided ones are looked for
CANDIDATE_WORDS = 1_000
ONE_SIDED_RATIO = 8.0  # times as frequent in one class as in the others together
CLASS_SHARE = 0.02  # of the rows of its class that a widespread one-sided word is in
SURE_ERRORS = 3.0  # standard errors between the shares of a one-sided word
WORDS_MASKED = 200  # one-sided words at most that are masked
CHARACTERS_MASKED = 60  # characters of a word that is masked
# A letter of these scripts is a word or a syllable ("假", "毒", "嘘", "헉"); of others it is a
# fragment.
_WORD_OF_ONE = r"^[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]$"

Counts = Ints
Numbers = npt.NDArray[Any]
Rates = npt.NDArray[np.floating]


def held_words(texts: pl.Series, languages: pl.Series | None = None) -> pl.DataFrame:
    """`row` and `word`, once for each word that a text holds; words of one letter are left out,
    except in Han, kana and Hangul. `languages` are those of the texts, where they are known.
    """
    cut = tokenize(texts, language=languages)
    words = pl.LazyFrame({"row": np.arange(texts.len()), "word": cut}).explode("word")
    word = pl.col("word")
    counts = (word.str.len_chars() > 1) | word.str.contains(_WORD_OF_ONE)
    return words.filter(counts).unique().collect(engine="streaming")


def most_frequent(occurrences: pl.DataFrame, top: int) -> tuple[str, ...]:
    """The `top` words that most texts hold; of equals, the first in the alphabet."""
    counted = occurrences["word"].value_counts(name="n")
    return tuple(counted.sort(["n", "word"], descending=[True, False]).head(top)["word"].to_list())


def presence(occurrences: pl.DataFrame, words: Sequence[str], rows: int) -> Sparse:
    """A sparse 0/1 matrix of texts by `words`."""
    from scipy.sparse import csr_matrix

    columns = pl.DataFrame(
        {"word": words, "column": range(len(words))}, schema={"word": pl.String, "column": pl.Int64}
    )
    hits = occurrences.join(columns, on="word")
    ones = np.ones(hits.height, np.uint8)
    return csr_matrix(
        (ones, (hits["row"].to_numpy(), hits["column"].to_numpy())), shape=(rows, len(words))
    )


def per_class(matrix: Sparse, rows: Ints, labels: Ints, classes: int) -> Counts:
    """How many of `rows` hold each word, by class (classes by words)."""
    from scipy.sparse import csr_matrix

    ones = np.ones(len(rows), np.int64)
    chosen = csr_matrix((ones, (labels, rows)), shape=(classes, matrix.shape[0]), dtype=np.int64)
    return np.asarray((chosen @ matrix.astype(np.int64)).todense(), np.int64)


def _rates(counts: Numbers, size: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The share of each class that holds each word, the rows of the other classes, and the share of
    those."""
    rate = counts / np.maximum(size, 1)[..., None]
    rest = np.maximum(size.sum(axis=-1, keepdims=True) - size, 1)[..., None]
    return rate, rest, (counts.sum(axis=-2, keepdims=True) - counts + 0.5) / rest


def widespread(counts: Numbers, size: Numbers) -> tuple[Flags, Rates]:
    """Which words are one-sided and in many rows of their class, and in what share of it; given
    rows per class and word (..., classes, words) and per class (..., classes)."""
    rate, _, other = _rates(counts, size)
    one_sided = (rate >= CLASS_SHARE) & (rate >= ONE_SIDED_RATIO * other)
    return np.asarray(one_sided.any(axis=-2)), rate.max(axis=-2)


def leaning(counts: Counts, size: Counts) -> tuple[Ints, Ints]:
    """The words that surely lean on one class, however rare, and the class of each, given rows per
    class and word, and per class."""
    rate, rest, other = _rates(counts, size)
    overall = counts.sum(axis=0) / max(1, int(size.sum()))
    error = np.sqrt(
        np.maximum(overall * (1 - overall), 1e-12) * (1 / np.maximum(size, 1)[:, None] + 1 / rest)
    )
    leans = (rate >= ONE_SIDED_RATIO * other) & (rate - other >= SURE_ERRORS * error)
    words = np.flatnonzero(leans.any(axis=0))
    return words, np.where(leans, rate, -1.0).argmax(axis=0)[words]


def first(value: Rates, top: int) -> Flags:
    """The `top` largest of each row, of equals the first."""
    rank = np.argsort(-value, axis=-1, kind="stable")[..., :top]
    chosen = np.zeros(value.shape, np.bool_)
    np.put_along_axis(chosen, rank, True, axis=-1)
    return chosen


def keywords(texts: pl.Series, languages: pl.Series) -> tuple[str, ...]:
    """The 40 most frequent words; the stop words of each text's own language do not count."""
    return most_frequent(content_words(texts, languages), KEYWORDS_COUNTED)


def content_words(texts: pl.Series, languages: pl.Series) -> pl.DataFrame:
    """`held_words` without the stop words of each text's own language."""
    return without_stop_words(held_words(texts, languages), languages)


def one_sided_words(
    texts: pl.Series, labels: Ints, *, languages: pl.Series | None = None, rare: bool = True
) -> tuple[str, ...]:
    """The widespread one-sided words; with `rare`, those in few texts as well, all that an audit
    masks.
    """
    occurrences = held_words(texts, languages)
    words = most_frequent(occurrences, CANDIDATE_WORDS)
    size = np.bincount(labels)
    counts = per_class(
        presence(occurrences, words, texts.len()), np.arange(texts.len()), labels, len(size)
    )
    flags, rate = widespread(counts, size)
    chosen = np.flatnonzero(first(np.where(flags, rate, 0.0), WIDESPREAD_WORDS) & flags)
    if rare:
        chosen = np.union1d(chosen, leaning(counts, size)[0])
    kept = [words[i] for i in chosen.tolist() if len(words[i]) <= CHARACTERS_MASKED]
    return tuple(kept[:WORDS_MASKED])
