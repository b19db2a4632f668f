"""Two retrievers made one: words (BM25) and meaning (sentence vectors), fused.

Plain reciprocal ranks make a good retriever worse where the other is poor. Here each candidate gets
a score from what both say of it and from how sure each is of this query (how far its first is above
its second). A retriever that finds nothing says nothing. The weights were learned on eight sets of
labelled pairs; `bench/match_truth.py` tries them, and learns others on many more sets.

Vectors are passed in: what encodes a text is not this room's. Without them, words alone decide.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from claimlab.core.stats.scores import Floats, Floats32, Ints

FEATURES = (
    *("words", "meaning", "words_first", "meaning_first"),
    *("words_behind", "meaning_behind", "words_sure", "meaning_sure"),
)
WEIGHTS = (0.148, 1.196, 1.234, 0.845, 2.806, 3.956, 2.176, 1.881)
BIAS = -2.63


class SentenceEncoder(NamedTuple):
    """What makes unit vectors of texts, the languages (ISO 639-3) that it knows, and how many
    characters of a document it is given: null for all.
    """

    encode: Callable[[Sequence[str]], Floats32]
    languages: Collection[str]
    characters: int | None = None


@dataclass(frozen=True)
class RetrievedDocuments:
    """What both retrievers say of the union of their best, by the numbers of documents."""

    documents: Sequence[int]
    words: Floats  # 0: not among the best
    meaning: Floats

    @classmethod
    def of(
        cls, words: Sequence[tuple[float, int]], cosines: Floats32, depth: int
    ) -> RetrievedDocuments:
        """From the best by words, and the cosine of every document; -inf: it is left out."""
        by_words = {document: score for score, document in words}
        alike = [document for document in _best(cosines, depth) if cosines[document] > -np.inf]
        best = dict.fromkeys([*by_words, *map(int, alike)])
        scores = np.array([by_words.get(document, 0.0) for document in best])
        return cls([*best], scores, cosines[[*best]].astype(np.float64))

    def features(self) -> Floats:
        """A row per candidate."""
        words, meaning = _relative(self.words), _relative(self.meaning)
        columns = (
            *(np.log1p(self.words), self.meaning),
            *(_reciprocal(self.words), _reciprocal(self.meaning)),
            *(
                words - words.max(initial=0.0),
                meaning - 1,
                _margin(words) * words,
                _margin(meaning) * meaning,
            ),
        )
        return np.stack(columns, axis=1)


def cosines(documents: Floats32, query: Floats32) -> Floats32:
    """How alike each document is to a query, of which the first vector is that of the whole and
    the others those of its sentences: a long post may say its claim in one of them."""
    alike = documents @ query.T
    whole = alike[:, 0]
    return np.asarray(whole if len(query) == 1 else (whole + alike[:, 1:].max(axis=1)) / 2)


def _best(scores: Floats32, depth: int) -> Ints:
    """The places of the best `depth`, best first; the earliest of equals."""
    if len(scores) > depth:
        least = np.partition(scores, -depth)[-depth]
        some = np.flatnonzero(scores >= least)
        return np.asarray(some[np.argsort(-scores[some], kind="stable")][:depth])
    return np.argsort(-scores, kind="stable")


def _relative(scores: Floats) -> Floats:
    """Scores as shares of the best."""
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else scores


def _margin(relative: Floats) -> float:
    """How far the best is above the next."""
    ordered = np.sort(relative)[::-1]
    return float(ordered[0] - ordered[1]) if len(ordered) > 1 else 1.0


def _reciprocal(scores: Floats) -> Floats:
    """1 for the best, 1/2 for the next; 0 for what has no score."""
    rank = np.empty(len(scores), np.int64)
    rank[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return np.where(scores > 0, 1 / rank, 0.0)


def fused(
    candidates: RetrievedDocuments, weights: Floats | None = None, bias: float = BIAS
) -> Floats:
    """A score from 0 to 1 for each candidate."""
    linear = candidates.features() @ (np.array(WEIGHTS) if weights is None else weights) + bias
    return np.asarray(1 / (1 + np.exp(-linear)))
