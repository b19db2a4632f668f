"""Which rows hold nearly the same text: the distinct texts, the graph of near-duplicates over them,
and texts that say the same, or another thing, with a few words changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from math import ceil

import numpy as np
import polars as pl

from claimlab.core.progress import progress
from claimlab.core.stats.codes import Codes, joined
from claimlab.core.stats.scores import Flags
from claimlab.core.types import Sparse
from claimlab.text.changes import is_number, is_word, pieces
from claimlab.text.details import details, number_words, numbers
from claimlab.text.stopwords import ENGLISH, stop_words
from claimlab.text.tokens import spaced

_WORDS_COMPARED = 200  # of a text that are compared in order
_FEWEST_WORDS = 6
SHARE_IN_ORDER = 0.7  # of the words, in the same order
_STEM = 0.7  # of the letters of the longer word, from its start: forms of one word share them
_LIGHT = 4  # letters; longer words carry weight also where a list of stop words has them
_PLAIN, _NOT_PLAIN = re.compile("[a-z]"), re.compile(r"[^a-z\d-]")
_NOT_IN_CHINESE = frozenset("不没沒未非無无勿")
_CONTRACTED = re.compile(
    "(?:do|does|did|is|are|was|were|has|have|had|ca|wo|could|would|should)n'?t"
)


@dataclass(frozen=True)
class NearTexts:
    """`text_of` gives each row its distinct text (-1: none); `linked` holds pairs of distinct texts
    nearly the same.
    """

    text_of: Codes
    linked: Codes  # (pairs, 2)
    texts: int

    @cached_property
    def graph(self) -> Sparse:
        """Sparse matrix over distinct texts: 1 where two are the same or nearly so."""
        from scipy.sparse import coo_matrix, eye

        a, b = self.linked[:, 0], self.linked[:, 1]
        ones = np.ones(2 * len(a), np.int32)
        graph = coo_matrix((ones, (np.r_[a, b], np.r_[b, a])), shape=(self.texts, self.texts))
        return (graph + eye(self.texts, dtype=np.int32)).tocsr()

    @cached_property
    def clusters(self) -> Codes:
        """A code per row: rows whose texts are linked through near-duplicates share one; without
        text, each its own.
        """
        of_text = joined(self.linked[:, 0], self.linked[:, 1], self.texts)
        codes = np.arange(len(self.text_of), dtype=np.int64) + self.texts
        has_text = self.text_of >= 0
        codes[has_text] = of_text[self.text_of[has_text]]
        return codes

    def copied(self, here: Flags, there: Flags) -> Flags:
        """Which rows of `here` have a text that is `there`, the same or nearly."""
        holds = np.zeros(self.texts, np.int64)
        holds[self.text_of[there & (self.text_of >= 0)]] = 1
        rows = np.flatnonzero(here & (self.text_of >= 0))
        out = np.zeros(len(self.text_of), np.bool_)
        out[rows[(self.graph @ holds)[self.text_of[rows]] > 0]] = True
        return out


def near_texts(normal: pl.Series) -> NearTexts:
    """Near-duplicates (character 5-grams, Jaccard 0.7) among texts in their normal form; null is
    not a text.
    """
    from claimlab.text.neardup import find_pairs

    distinct = normal.drop_nulls().unique(maintain_order=True)
    code = pl.DataFrame({"text": distinct, "code": np.arange(distinct.len())})
    text_of = pl.DataFrame({"text": normal}).join(
        code, on="text", how="left", maintain_order="left"
    )["code"]
    pairs = find_pairs(distinct)
    linked_pairs = np.stack([np.asarray(pairs.left), np.asarray(pairs.right)], axis=1).astype(
        np.int64
    )
    return NearTexts(
        text_of.fill_null(-1).to_numpy().astype(np.int64), linked_pairs, distinct.len()
    )


def reworded(normal: pl.Series, texts: Flags, others: Flags) -> dict[int, int]:
    """For those of `texts` that say what one of `others` says with a few words changed, the first
    such text (codes as in `near_texts`): half of their words or more are shared, and
    `SHARE_IN_ORDER` of them come in the same order. In texts of 18 words this finds all copies with
    two changed words and three quarters of those with four; letters in common find a third and a
    tenth.
    """
    from claimlab.text.neardup import find_pairs

    distinct = normal.drop_nulls().unique(maintain_order=True)
    separate = spaced(distinct)
    words = [text.split()[:_WORDS_COMPARED] for text in separate.to_list()]
    pairs = find_pairs(separate, threshold=0.5, unit="word", ngram=1)
    ends = np.asarray(pairs.left, np.int64), np.asarray(pairs.right, np.int64)
    both = np.stack([np.concatenate(ends), np.concatenate(ends[::-1])])
    left, right = both[:, texts[both[0]] & others[both[1]]]
    order = np.lexsort((right, left))
    which, start = np.unique(left[order], return_index=True)
    copies = {}
    for number, (code, candidates) in enumerate(
        zip(which.tolist(), np.split(right[order], start[1:]), strict=False)
    ):
        progress("reworded texts", number, len(which))
        for other in candidates.tolist():
            # the order of the two matters to difflib
            if in_order(words[min(code, other)], words[max(code, other)]):
                copies[code] = other
                break
    return copies


def in_order(words: list[str], others: list[str], alike: float = SHARE_IN_ORDER) -> float:
    """The share of the words of two texts that match in order; 0 where it is below `alike`, and for
    very short texts, which are alike by accident.
    """
    if min(len(words), len(others)) < _FEWEST_WORDS:
        return 0.0
    match = SequenceMatcher(None, words[:_WORDS_COMPARED], others[:_WORDS_COMPARED], autojunk=False)
    if match.real_quick_ratio() < alike or match.quick_ratio() < alike:
        return 0.0
    share = match.ratio()
    return share if share >= alike else 0.0


def other_claim(text: str, other: str, language: str | None = None) -> bool:
    """Whether two texts that are nearly the same claim different things: one has another number, a
    negation, another word in the place of one (a name, most often), or one more between words that
    both have. Forms of one word, short stop words, damaged letters, and what is added at either end
    do not make another claim.
    """
    language = language or ENGLISH
    written, others_written = _words(text), _words(other)
    old, new = ([_plain(word) for word in side] for side in (written, others_written))
    places = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    within = range(1, len(places) - 1)
    for number, (kind, start, end, first, last) in enumerate(places):
        if kind == "equal":
            continue
        here, there = written[start:end], others_written[first:last]
        if _turns(here, language) or _turns(there, language):
            return True
        if (kind == "replace" or number in within) and _differ(
            old[start:end], new[first:last], stop_words(language)
        ):
            return True
    return False


def _words(text: str) -> list[str]:
    """The words and numbers of a text, without the marks between them."""
    return [p.strip().casefold() for p in pieces(text) if is_word(p) or is_number(p)]


def _plain(word: str) -> str:
    """One spelling of a number or word. Letters that are not ASCII are left out beside ones that
    are: they may be damaged.
    """
    if word[0].isdecimal():
        return " ".join(numbers(word) or [word])
    return _NOT_PLAIN.sub("", word) if _PLAIN.search(word) else word


def _turns(words: list[str], language: str) -> bool:
    """Whether there is a number or a negation, which make another claim wherever they are."""
    text = " ".join(words)
    return (
        any(word[0].isdecimal() or _CONTRACTED.fullmatch(word) for word in words)
        or not _NOT_IN_CHINESE.isdisjoint(words)
        or bool(number_words(text, language))
        or any(detail.kind == "negation" for detail in details(text, language))
    )


def _differ(words: list[str], others: list[str], light: frozenset[str]) -> bool:
    """Whether one side has a word with weight, of which the other has no form."""
    if "".join(words) == "".join(others):
        return False  # "non contact" and "noncontact"
    sides = ((words, others), (others, words))
    return any(
        not any(_form(word, other) for other in there)
        for here, there in sides
        for word in here
        if len(word) > _LIGHT or word not in light
    )


def _form(word: str, other: str) -> bool:
    """Whether two words begin alike, as forms of one word do."""
    longest = ceil(_STEM * max(len(word), len(other)))
    return word[:longest] == other[:longest]
