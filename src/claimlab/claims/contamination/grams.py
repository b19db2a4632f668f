"""Word n-grams that the test texts share with corpora.

A record counts as contaminated where at least 70% of its 8-grams occur in the corpora, the rule of
PaLM's report (Chowdhery et al. 2022); the share of records with any 13-gram in common, the rule of
GPT-3's (Brown et al. 2020), is reported next to it. The control is the same texts with their words
in random order. Memory is needed for the test texts and one batch of a corpus only.

A word is what `text/tokens` calls one, lower-cased: by Unicode's rules, and by ICU's
dictionaries in scripts without spaces. An n-gram is known by a 64-bit number; two different ones
share it by chance once in 10^19.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.claims.contamination.result import RULE, not_measured, paired
from claimlab.claims.contamination.texts import batches, files_in, names_of
from claimlab.core.errors import DataError
from claimlab.core.finding import Finding
from claimlab.core.journal import Journal
from claimlab.core.progress import Progress, silent
from claimlab.core.stats.scores import Ints
from claimlab.core.types import JsonObject
from claimlab.core.words import several, several_of
from claimlab.text.tokens import tokenize

_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no word is lost in the product
SHORT_GRAM_WORDS, LONG_GRAM_WORDS = 8, 13
CONTAMINATED_SHARE = 0.7  # of the 8-grams of a text
Hashes = npt.NDArray[np.uint64]


class TextGrams:
    """The distinct n-grams of the test texts, numbered in the order of their first occurrence."""

    def __init__(self, words: pl.Series, n: int) -> None:
        hashes, self.row = gram_hashes(words, n)
        self.n, self.rows = n, len(words)
        self._known, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        self._number = np.empty(len(first), dtype=np.int64)
        self._number[np.argsort(first, kind="stable")] = np.arange(len(first))
        self.gram: Ints = self._number[inverse] if len(first) else np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._known)

    def among(self, hashes: Hashes) -> Ints:
        """The numbers of those that are among `hashes`."""
        if not len(self) or not len(hashes):
            return np.empty(0, dtype=np.int64)
        place = np.minimum(np.searchsorted(self._known, hashes), len(self) - 1)
        return np.unique(self._number[place[self._known[place] == hashes]])

    def counts(self) -> Ints:
        """How many n-grams each text has."""
        return np.bincount(self.row, minlength=self.rows)

    def matches(self, numbers: Sequence[int] | Ints) -> Ints:
        """How many n-grams of each text are among `numbers`."""
        seen = np.zeros(len(self), dtype=bool)
        seen[np.asarray(numbers, dtype=np.int64)] = True
        return np.bincount(self.row[seen[self.gram]], minlength=self.rows)


def gram_hashes(words: pl.Series, n: int) -> tuple[Hashes, Ints]:
    """A number for every run of `n` words, and the row that it is in; `words` are lists of
    words.
    """
    lengths = words.list.len().fill_null(0).to_numpy().astype(np.int64)
    long = lengths >= n
    if not long.any():
        return np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    marks = words.filter(pl.Series(long)).explode().hash(seed=0).to_numpy()
    lengths, rows = lengths[long], np.flatnonzero(long)
    total = np.zeros(len(marks) - n + 1, dtype=np.uint64)
    for k in range(n):
        total = total * _FACTOR + marks[k : len(marks) - n + 1 + k]
    # Words from here to the end of the text.
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(marks))
    starts = np.flatnonzero(left >= n)
    return total[starts], np.repeat(rows, lengths)[starts]


def overlap(
    records: pl.DataFrame,
    corpora: Sequence[Path],
    *,
    journal: Journal | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[pl.DataFrame, Finding]:
    """A row for each record (n-grams, how many occur in the corpora, and in which), and what
    follows from them.
    """
    words = _words(records["text"].fill_null(""))
    grams = {
        "short": TextGrams(words, SHORT_GRAM_WORDS),
        "long": TextGrams(words, LONG_GRAM_WORDS),
        "control": TextGrams(_shuffled(words, seed), SHORT_GRAM_WORDS),
    }
    journal = journal or Journal(None, {})
    table: JsonObject = {"id": records["id"], "words": words.list.len()}
    matches: dict[str, set[int]] = {name: set() for name in grams}
    counts: dict[str, dict[str, int]] = {}
    sources = pl.Series([""] * records.height, dtype=pl.String)
    for number, (name, corpus) in enumerate(zip(names_of(corpora), corpora, strict=True)):
        numbers, counts[name] = _scan(corpus, grams, journal, f"corpus-{number}", progress)
        if not counts[name].get("documents"):
            raise DataError(
                f"The corpus '{corpus}' holds no text.",
                "Nothing can be compared with it: leave it out.",
            )
        matched = grams["short"].matches([*numbers["short"]])
        contaminated = matched / np.maximum(grams["short"].counts(), 1) >= CONTAMINATED_SHARE
        counts[name]["contaminated"] = int(contaminated.sum())
        sources = pl.select(
            pl.when(pl.Series(contaminated)).then(sources + f"{name}; ").otherwise(sources)
        ).to_series()
        for name, seen in numbers.items():
            matches[name] |= seen
    shares = {}
    for name, suffix in (("short", "8"), ("long", "13"), ("control", "8_control")):
        table[f"grams_{suffix}"] = grams[name].counts()
        table[f"shared_{suffix}"] = grams[name].matches([*matches[name]])
        # Null where a text is too short to have any.
        every = pl.col(f"grams_{suffix}")
        shares[f"share_{suffix}"] = pl.when(every > 0).then(pl.col(f"shared_{suffix}") / every)
    sources = sources.str.strip_suffix("; ").replace("", None)
    frame = pl.DataFrame(table).with_columns(**shares, corpora=sources)
    frame = frame.drop("grams_8_control", "shared_8_control").with_columns(
        contaminated=pl.col("share_8") >= CONTAMINATED_SHARE,
        control=pl.col("share_8_control") >= CONTAMINATED_SHARE,
    )
    return frame, _finding(frame, records["group"], counts, seed)


def _scan(
    corpus: Path, grams: dict[str, TextGrams], journal: Journal, shard: str, progress: Progress
) -> tuple[dict[str, set[int]], dict[str, int]]:
    """The n-grams that a corpus holds, file by file: one that an earlier start has finished is not
    read again.
    """
    numbers: dict[str, set[int]] = {name: set() for name in grams}
    counts: Counter[str] = Counter()
    files = files_in(corpus)
    for i, file in enumerate(files):
        progress(f"reading {corpus.name}", i, len(files))
        scanned = journal.read(f"{shard}-{i}")
        if scanned is None:
            scanned = _scan_file(file, grams)
            journal.write(f"{shard}-{i}", scanned)
        counts.update(scanned["counts"])
        for name, seen in scanned["numbers"].items():
            numbers[name].update(seen)
    progress(f"reading {corpus.name}", len(files), len(files))
    return numbers, dict(counts)


def _scan_file(file: Path, grams: dict[str, TextGrams]) -> JsonObject:
    numbers: dict[str, set[int]] = {name: set() for name in grams}
    counts: Counter[str] = Counter()
    for texts in batches(file, counts):
        words = _words(texts)
        hashes = {n: gram_hashes(words, n)[0] for n in {wanted.n for wanted in grams.values()}}
        for name, wanted in grams.items():
            numbers[name].update(wanted.among(hashes[wanted.n]).tolist())
    return {
        "counts": dict(counts),
        "numbers": {name: sorted(seen) for name, seen in numbers.items()},
    }


def _words(texts: pl.Series) -> pl.Series:
    """Words without any punctuation, that inside a word included: published copies of a text have
    often lost it, and "it's" would not be found in "it s"."""
    return tokenize(texts.str.replace_all(r"[^\p{L}\p{M}\p{N}\s]", " "))


def _shuffled(words: pl.Series, seed: int) -> pl.Series:
    """The words of each text in random order."""
    rng = np.random.default_rng(seed)
    rows = [[row[i] for i in rng.permutation(len(row))] for row in words.to_list()]
    return pl.Series(words.name, rows, dtype=pl.List(pl.String))


def _finding(
    table: pl.DataFrame, groups: pl.Series, counts: dict[str, dict[str, int]], seed: int
) -> Finding:
    long_enough = table["contaminated"].is_not_null()
    own, control = (
        table[c].filter(long_enough).to_numpy().astype(np.float64)
        for c in ("contaminated", "control")
    )
    n, names = len(own), ", ".join(counts)
    measured = paired(own, control, groups.filter(long_enough), seed=seed) if n else None
    if measured is None:
        why = (
            f"Only {several(n, 'record')} with at least {SHORT_GRAM_WORDS} words: a verdict needs"
            f" {RULE.min_units} groups."
        )
        return not_measured("overlap", why, n)
    hits, long = int(own.sum()), table["share_13"].drop_nulls()
    touched = int((long > 0).sum())
    why = (
        f"At least {100 * CONTAMINATED_SHARE:.0f}% of the {SHORT_GRAM_WORDS}-word sequences of"
        f" {several_of(hits, n, 'text')} occur in {names} (with shuffled words:"
        f" {control.sum():.0f}); {several_of(touched, len(long), 'text')}"
        f" {'shares' if touched == 1 else 'share'} a sequence of {LONG_GRAM_WORDS} words."
    )
    details = {
        "control": measured.control,
        "groups": measured.groups,
        "too_short": int((~long_enough).sum()),
        "corpora": counts,
        "touched_13": {"records": touched, "n": len(long)},
    }
    records = table.filter(pl.col("contaminated").fill_null(False))["id"]
    return measured.finding("overlap", why, n, details, records)
