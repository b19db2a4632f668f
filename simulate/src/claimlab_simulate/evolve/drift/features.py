"""What drift-lite and coverage read in one text: a few small sets and numbers, computed once per
different text.

English only: the word lists (words.toml), the stemmer and the sentiment lexicon are. The lists are
data, so a reader can see and change them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from claimlab.core import packaged

_WORD = re.compile(r"[^\W_]+(?:['’.,][^\W_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d(?:s\b)?|\b(?:the )?(?:[2-9]0s)\b|[’']\d0s\b")
_SENTENCE_END = re.compile(r"(?<![.!?])[.!?]+(?=\s|$)")
_EMOJI = re.compile("[\U0001f300-\U0001faff]")


@dataclass(frozen=True, slots=True)
class TextFeatures:
    """Everything that is read in one text. Each style number lies between 0 and 1."""

    words: tuple[str, ...]
    content: frozenset[str]
    numbers: frozenset[str]
    times: frozenset[str]
    pairs: frozenset[
        str
    ]  # pairs of neighbouring stems, and the stems: what the paraphrase distance compares
    sentiment: float  # -1 to 1
    certainty: float  # -1 to 1
    style: npt.NDArray[np.float64]

    @property
    def units(self) -> frozenset[str]:
        """The pieces of information a text carries: content words (names among them) and numbers,
        each counted once.
        """
        return self.content | self.numbers


@lru_cache(maxsize=1 << 16)  # along a walk most texts come again and again
def read(text: str) -> TextFeatures:
    plain = text.replace("’", "'")
    words = tuple(w.lower() for w in _WORD.findall(plain))
    stems: list[str] = _stemmer().analyze(plain)
    padded = f" {' '.join(words)} "
    return TextFeatures(
        words=words,
        content=frozenset(s for s in stems if s not in _stop_stems() and not s.isdigit()),
        numbers=frozenset(n.replace(",", "") for n in _NUMBER.findall(plain)),
        times=times(plain, words, padded),
        pairs=frozenset(stems) | {f"{a} {b}" for a, b in pairwise(stems)},
        sentiment=_sentiment().polarity_scores(plain)["compound"],
        certainty=certainty(words, padded),
        style=style(plain, words, padded),
    )


def certainty(words: Sequence[str], padded: str) -> float:
    """Boosters against hedges, from -1 (hedged) to 1 (asserted)."""
    down, up = (_listed("certainty", kind).count(words, padded) for kind in ("hedges", "boosters"))
    return (up - down) / (up + down + 1)


def times(text: str, words: Sequence[str], padded: str) -> frozenset[str]:
    """The expressions of time in a text: years and decades, months, days of the week, words such as
    "recently".
    """
    times = {m.group().removeprefix("the ").strip("'") for m in _YEAR.finditer(text)}
    for kind in ("months", "days", "relative"):
        times |= _listed("time", kind).found(words, padded)
    times |= {m.group().strip() for m in _spans().finditer(padded)}
    return frozenset(times)


def style(text: str, words: Sequence[str], padded: str) -> npt.NDArray[np.float64]:
    """How a text is written, as numbers between 0 and 1 that do not depend on what it says: lengths
    of words and sentences, contractions, person, exclamations, questions, casual and formal words,
    capitals, commas, emoji.
    """
    n = max(len(words), 1)
    sentences = max(len(_SENTENCE_END.findall(text)), 1)
    letters = sum(map(str.isalpha, text)) or 1
    raw = (
        (sum(map(len, words)) / n - 3) / 4,
        n / sentences / 40,
        5 * sum("'" in w for w in words) / n,
        5 * _listed("style", "person").count(words, padded) / n,
        text.count("!") / sentences,
        text.count("?") / sentences,
        10 * _listed("style", "casual").count(words, padded) / n,
        10 * _listed("style", "formal").count(words, padded) / n,
        5 * sum(map(str.isupper, text)) / letters,
        5 * text.count(",") / n,
        float(_EMOJI.search(text) is not None),
    )
    return np.asarray(np.clip(np.array(raw), 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class Listed:
    """One list of words: single words are looked up, only phrases are searched for."""

    single: frozenset[str]
    phrases: tuple[str, ...]

    @classmethod
    def of(cls, words: Iterable[str]) -> Listed:
        listed = list(words)
        return cls(
            frozenset(w for w in listed if " " not in w),
            tuple(f" {w} " for w in listed if " " in w),
        )

    def count(self, words: Sequence[str], padded: str) -> int:
        """How many of them are in the text, repeats included; `padded` is the words between
        spaces.
        """
        return sum(w in self.single for w in words) + sum(padded.count(p) for p in self.phrases)

    def found(self, words: Sequence[str], padded: str) -> set[str]:
        return set(self.single.intersection(words)) | {
            p.strip() for p in self.phrases if p in padded
        }


@cache
def _listed(table: str, kind: str) -> Listed:
    return Listed.of(word_lists()[table][kind])


@cache
def word_lists() -> dict[str, dict[str, list[str]]]:
    return packaged.toml("claimlab_simulate.evolve.drift", "words.toml")


@cache
def _spans() -> re.Pattern[str]:
    """A number or "a few" of days, weeks, years ..."""
    units = "|".join(word_lists()["time"]["spans"])
    return re.compile(
        rf" (?:\d+|a|one|two|three|four|five|six|ten|few|several|many|couple of) (?:{units})(?= )"
    )


@cache
def _sentiment() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return SentimentIntensityAnalyzer()


@cache
def _stemmer() -> Any:
    from claimlab.search.analysis import analyzer

    return analyzer("lang_eng")


@cache
def _stop_stems() -> frozenset[str]:
    from claimlab.text.stopwords import stop_words

    stem = _stemmer()
    return frozenset(s for word in stop_words() for s in stem.analyze(word)) | {
        "s",
        "t",
        "re",
        "ve",
        "ll",
        "d",
        "m",
    }
