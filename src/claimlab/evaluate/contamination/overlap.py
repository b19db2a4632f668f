"""Word n-grams that the test texts share with corpora.

A record counts as contaminated where at least 70% of its 8-grams occur in the corpora, the rule of
PaLM's report (Chowdhery et al. 2022); the share of records with any 13-gram in common, the rule of
GPT-3's (Brown et al. 2020), is reported next to it. The control is the same texts with their words
in random order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from claimlab.core.errors import DataError
from claimlab.core.finding import Finding
from claimlab.core.journal import Journal
from claimlab.core.progress import Progress, silent
from claimlab.core.types import JsonObject
from claimlab.core.words import several, several_of
from claimlab.evaluate.contamination.corpora import batches, files_in, names_of
from claimlab.evaluate.contamination.ngrams import Grams, gram_hashes
from claimlab.evaluate.contamination.paired import RULE, paired
from claimlab.text.tokens import tokenize

SHORT, LONG = 8, 13  # words
THRESHOLD = 0.7  # of the 8-grams of a text


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
        "short": Grams(words, SHORT),
        "long": Grams(words, LONG),
        "control": Grams(_shuffled(words, seed), SHORT),
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
        mine = _share(grams["short"], numbers["short"]) >= THRESHOLD
        counts[name]["contaminated"] = int(mine.sum())
        sources = pl.select(
            pl.when(pl.Series(mine)).then(sources + f"{name}; ").otherwise(sources)
        ).to_series()
        for name, seen in numbers.items():
            matches[name] |= seen
    for name, n in (("short", SHORT), ("long", LONG), ("control", SHORT)):
        suffix = f"{n}" if name != "control" else f"{n}_control"
        table |= {
            f"grams_{suffix}": grams[name].counts(),
            f"shared_{suffix}": grams[name].matches([*matches[name]]),
        }
    frame = pl.DataFrame(table).with_columns(
        share_8=_ratio("8"),
        share_13=_ratio("13"),
        share_8_control=_ratio("8_control"),
        corpora=sources.str.strip_suffix("; ").replace("", None),
    )
    frame = frame.drop("grams_8_control", "shared_8_control").with_columns(
        contaminated=pl.col("share_8") >= THRESHOLD, control=pl.col("share_8_control") >= THRESHOLD
    )
    return frame, _finding(frame, records["group"], counts, seed)


def _ratio(suffix: str) -> pl.Expr:
    """The share of a text's n-grams that the corpora hold; null where it is too short to have
    any.
    """
    grams = pl.col(f"grams_{suffix}")
    return pl.when(grams > 0).then(pl.col(f"shared_{suffix}") / grams)


def _share(grams: Grams, numbers: set[int]) -> Any:
    return grams.matches([*numbers]) / np.maximum(grams.counts(), 1)


def _scan(
    corpus: Path, grams: dict[str, Grams], journal: Journal, shard: str, progress: Progress
) -> tuple[dict[str, set[int]], dict[str, int]]:
    """The n-grams that a corpus holds, file by file: one that an earlier start has finished is not
    read again.
    """
    numbers: dict[str, set[int]] = {name: set() for name in grams}
    counts: Counter[str] = Counter()
    files = files_in(corpus)
    for i, file in enumerate(files):
        progress(f"reading {corpus.name}", i, len(files))
        done = journal.read(f"{shard}-{i}")
        if done is None:
            done = _scan_file(file, grams)
            journal.write(f"{shard}-{i}", done)
        counts.update(done["counts"])
        for name, seen in done["numbers"].items():
            numbers[name].update(seen)
    progress(f"reading {corpus.name}", len(files), len(files))
    return numbers, dict(counts)


def _scan_file(file: Path, grams: dict[str, Grams]) -> JsonObject:
    numbers: dict[str, set[int]] = {name: set() for name in grams}
    counts: Counter[str] = Counter()
    for texts in batches(file, counts):
        words = _words(texts)
        hashes = {n: gram_hashes(words, n)[0] for n in {mine.n for mine in grams.values()}}
        for name, mine in grams.items():
            numbers[name].update(mine.among(hashes[mine.n]).tolist())
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
    known = table["contaminated"].is_not_null()
    own = table["contaminated"].filter(known).to_numpy().astype(np.float64)
    control = table["control"].filter(known).to_numpy().astype(np.float64)
    n, names = len(own), ", ".join(counts)
    measured = paired(own, control, groups.filter(known), seed=seed) if n else None
    if measured is None:
        why = (
            f"Only {several(n, 'record')} with at least {SHORT} words: a verdict needs"
            f" {RULE.min_units} groups."
        )
        return Finding(
            check="overlap", protocol="contamination", verdict="not-measured", why=why, n=n
        )
    hits, long = int(own.sum()), table["share_13"].drop_nulls()
    touched = int((long > 0).sum())
    why = (
        f"At least {100 * THRESHOLD:.0f}% of the {SHORT}-word sequences of"
        f" {several_of(hits, n, 'text')} occur in {names} (with shuffled words:"
        f" {control.sum():.0f}); {several_of(touched, len(long), 'text')}"
        f" {'shares' if touched == 1 else 'share'} a sequence of {LONG} words."
    )
    details = {
        "control": measured.control,
        "groups": measured.groups,
        "too_short": int((~known).sum()),
        "corpora": counts,
        "touched_13": {"records": touched, "n": len(long)},
    }
    return Finding(
        check="overlap",
        protocol="contamination",
        verdict=measured.verdict,
        why=why,
        score=measured.rate,
        interval=measured.interval,
        difference=measured.difference,
        difference_interval=measured.difference_interval,
        margin=RULE.margin,
        p=measured.p,
        n=n,
        details=details,
        records=table.filter(pl.col("contaminated").fill_null(False))["id"].to_list(),
    )
