"""Text that says the same again and again: the share of runs of words that were there before."""

from __future__ import annotations

import polars as pl

from claimlab.generate.filter.metric import DOES_NOT_APPLY, Metric, Reading, within
from claimlab.generate.filter.texts import Batch
from claimlab.text.tokens import tokenize


def measure(batch: Batch) -> list[Reading]:
    size, fewest = batch.table["repetition"]["run"], batch.table["repetition"]["fewest_words"]
    words = tokenize(pl.Series([t.text for t in batch.texts], dtype=pl.String)).to_list()
    sources = tokenize(pl.Series([t.source for t in batch.texts], dtype=pl.String)).to_list()
    out = []
    for text, own, source in zip(batch.texts, words, sources, strict=True):
        if own is None or len(own) < fewest:
            out.append(DOES_NOT_APPLY)
            continue
        most = max(
            batch.limit("repetition", "most", text), repeated(source or [], size)
        )  # a list repeats itself, too
        out.append(within(repeated(own, size), None, most, "share of repeated runs of words"))
    return out


def repeated(words: list[str], size: int) -> float:
    runs = [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]
    return 1 - len(set(runs)) / len(runs) if runs else 0.0


METRIC = Metric(
    "defects", "the text does not repeat itself", "at least 20 words", measure, stage="defects"
)
