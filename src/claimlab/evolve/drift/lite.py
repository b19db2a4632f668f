"""drift-lite: how far a text has moved from its base claim, in six dimensions, without a model.

It asks the six questions of FUSE-EVAL with word lists and counts, and it is its own measure: it was
not fitted to a judge, and its figures must never be called FUSE-EVAL. What each dimension is worth
was measured on released pairs (bench/evolve_drift.py pairs); the ones that hardly separate anything
are marked weak, here and wherever they are shown.
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
import polars as pl

from claimlab.core import packaged
from claimlab.core.progress import progress
from claimlab.core.stats.interval import Interval, unit_interval
from claimlab.core.types import JsonObject
from claimlab.evolve.drift.hops import LEAST as LEAST_TRACES

# What drift-lite and coverage read in one text: a few small sets and numbers, computed once per
# different text.  English only: the word lists (data/words.toml), the stemmer and the sentiment
# lexicon are. The lists are data, so a reader can see and change them.


_WORD = re.compile(r"[^\W_]+(?:['’.,][^\W_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d(?:s\b)?|\b(?:the )?(?:[2-9]0s)\b|[’']\d0s\b")
_SENTENCE_END = re.compile(r"(?<![.!?])[.!?]+(?=\s|$)")
_EMOJI = re.compile("[\U0001f300-\U0001faff]")


@dataclass(frozen=True, slots=True)
class Features:
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
def read(text: str) -> Features:
    plain = text.replace("’", "'")
    words = tuple(w.lower() for w in _WORD.findall(plain))
    stems: list[str] = _stemmer().analyze(plain)
    padded = f" {' '.join(words)} "
    return Features(
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
    return packaged.toml("claimlab.evolve.drift", "words.toml")


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


CHUNK = 2_000


@dataclass(frozen=True)
class Dimension:
    """`ceiling` is the greatest value the dimension can take; `ceiling_when` says what it takes to
    get there.
    """

    name: str
    title: str
    ceiling: float
    ceiling_when: str
    weak: bool


DIMENSIONS = tuple(
    Dimension(**row)
    for row in packaged.toml("claimlab.evolve.drift", "dimensions.toml")["dimensions"]
)
NAMES = tuple(d.name for d in DIMENSIONS)
TOTAL = "drift"
CEILING = sum(d.ceiling for d in DIMENSIONS) / len(DIMENSIONS)


def compare(base: Features, now: Features) -> tuple[float, ...]:
    """The six distances between two texts, each from 0 (nothing moved) to its ceiling, in the order
    of NAMES.
    """
    return (
        abs(now.sentiment - base.sentiment) / 2,
        _new(base, now),
        abs(now.certainty - base.certainty) / 2,
        float(np.sqrt(np.mean((now.style - base.style) ** 2))),
        _unlike(base.times, now.times),
        _unlike(base.pairs, now.pairs),
    )


def drift_lite(
    base: Sequence[str | None],
    now: Sequence[str | None],
) -> pl.DataFrame:
    """One row per pair: the six dimensions and `drift`, their mean. A pair with a missing text is
    null throughout.
    """
    values = np.full((len(base), len(NAMES)), np.nan)
    known: dict[
        tuple[str, str], tuple[float, ...]
    ] = {}  # a bystander's hop leaves the pair as it was
    for i, (a, b) in enumerate(zip(base, now, strict=True)):
        if a is not None and b is not None:
            if (a, b) not in known:
                known[a, b] = compare(read(a), read(b))
            values[i] = known[a, b]
        if i % CHUNK == 0:
            progress("measuring drift", i, len(base))
    progress("measuring drift", len(base), len(base))
    columns = {name: values[:, i] for i, name in enumerate(NAMES)}
    return pl.DataFrame(columns | {TOTAL: values.mean(axis=1)}).fill_nan(None)


def _new(base: Features, now: Features) -> float:
    """Share of what the text says now that the base did not say."""
    fresh = len(now.units - base.units)
    return fresh / len(now.units) if now.units else 0.0


def _unlike(a: frozenset[str], b: frozenset[str]) -> float:
    """1 less the Jaccard index; two empty sets are alike."""
    both = len(a | b)
    return 1 - len(a & b) / both if both else 0.0


# Does drift rise fast and then flatten? The mean over traces at each hop, its early and late slope,
# its ceiling.  Two ceilings are given. One is the measure's own, which no text can pass. The other
# is what unrelated claims score against each other: a text that is as far from its base has lost
# what the base said. A curve that ends below the second ceiling has kept some of it.


SHARE = 1 / 3  # of the hops: the first third is early, the last third is late
LEAST = 6  # hops; fewer have no early and late part worth a slope
FLAT = 0.2  # a late slope under a fifth of the early one counts as flat
DRAWS = 500


@dataclass(frozen=True)
class Curve:
    """The mean drift at each hop, starting at hop 0, over the traces that reached it; and the shape
    of that curve.
    """

    hops: tuple[int, ...]
    mean: tuple[float, ...]
    n: tuple[int, ...]
    end: float | None  # mean over traces of each one's last hop
    early: float | None
    late: float | None
    ratio_interval: tuple[float, float] | None
    ceiling: float
    unrelated: float | None
    noise: tuple[float, ...] = ()  # the mean of the null model at the same hops
    noise_end: float | None = None
    beyond: tuple[float, float] | None = None  # interval of the end less the end of the null model

    @property
    def ratio(self) -> float | None:
        """The late slope as a share of the early one; null where drift never rose."""
        return (
            None
            if self.early is None or self.late is None or self.early <= 0
            else self.late / self.early
        )

    @property
    def flattens(self) -> bool | None:
        return None if self.ratio is None else self.ratio < FLAT

    def to_json(self) -> JsonObject:
        return {
            "hops": list(self.hops),
            "mean": list(self.mean),
            "n": list(self.n),
            "early_slope": self.early,
            "late_slope": self.late,
            "ratio": self.ratio,
            "ratio_interval": self.ratio_interval,
            "flattens": self.flattens,
            "end": self.end,
            "ceiling": self.ceiling,
            "unrelated": self.unrelated,
            "null": list(self.noise),
            "null_end": self.noise_end,
            "beyond_null": self.beyond,
        }


def curve(measured: pl.DataFrame, *, unrelated: float | None = None, seed: int = 0) -> Curve:
    """`measured` has trace_id, depth and drift. No trace has drifted at depth 0, its base claim.

    Slopes are taken over the same traces throughout, up to the hop that half of all traces reached:
    a curve must not bend because traces end. The means say at each hop how many traces got there.
    """
    # In a cascade a trace has several texts at one depth: their mean is the trace's value there.
    known = (
        measured.drop_nulls(TOTAL)
        .group_by("trace_id", hop="depth", maintain_order=True)
        .agg(pl.col(TOTAL).mean())
        .sort("trace_id", "hop")
    )
    # A mean of floats depends on the order of its terms: groups keep the order of the rows, here
    # and below.
    means = (
        known.group_by("hop", maintain_order=True).agg(pl.col(TOTAL).mean(), n=pl.len()).sort("hop")
    )
    matrix = _whole(known)
    early = late = interval = None
    if matrix is not None and len(matrix) >= LEAST_TRACES:
        early, late = _slopes(matrix.mean(axis=0))
        interval = _interval(matrix, seed)
    ends = known.group_by("trace_id", maintain_order=True).last()[TOTAL]
    return Curve(
        hops=(0, *means["hop"]),
        mean=(0.0, *means[TOTAL]),
        n=(len(ends), *means["n"]),
        end=float(ends.sum()) / len(ends) if len(ends) else None,
        early=early,
        late=late,
        ratio_interval=interval,
        ceiling=CEILING,
        unrelated=unrelated,
    )


def unrelated_drift(bases: Sequence[str], *, seed: int = 0) -> float | None:
    """Mean drift between different base claims: each against the next in a shuffled ring."""
    different = sorted(set(bases))
    if len(different) < 2:
        return None
    ring = np.random.default_rng(seed).permutation(len(different))
    texts = [different[i] for i in ring]
    value = drift_lite(texts, [*texts[1:], texts[0]])[TOTAL].mean()
    return float(value) if isinstance(value, float) else None


def _whole(known: pl.DataFrame) -> npt.NDArray[np.float64] | None:
    """Traces by hops, hop 0 included, up to the hop that half of the traces reached; null when that
    is too early.
    """
    lengths = known.group_by("trace_id").agg(pl.col("hop").max())["hop"].sort(descending=True)
    last = int(lengths[(len(lengths) - 1) // 2]) if len(lengths) else 0
    if last < LEAST:
        return None
    part = known.filter(pl.col("hop") <= last)
    full = part.filter(pl.len().over("trace_id") == last).sort("trace_id", "hop")
    if not full.height:
        return None
    matrix = full[TOTAL].to_numpy().reshape(-1, last)
    return np.pad(matrix, ((0, 0), (1, 0)))


def _slopes(mean: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Least-squares slopes per hop over the first and the last third."""
    part = max(2, round(SHARE * (len(mean) - 1)))
    x = np.arange(part + 1)
    return float(np.polyfit(x, mean[: part + 1], 1)[0]), float(
        np.polyfit(x, mean[-part - 1 :], 1)[0]
    )


def _interval(matrix: npt.NDArray[np.float64], seed: int) -> Interval | None:
    """95% bootstrap interval of the late slope over the early one; null where drift often does not
    rise.
    """

    def ratio(traces: npt.NDArray[np.int64]) -> float:
        early, late = _slopes(matrix[traces].mean(axis=0))
        return late / early if early > 0 else float("nan")

    return unit_interval(len(matrix), ratio, seed=seed, draws=DRAWS)
