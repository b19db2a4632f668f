"""A text that is its source: word for word where something was to change, or in the source's
language.
"""

from __future__ import annotations

import polars as pl

from claimlab.generate.filter.metric import DOES_NOT_APPLY, Metric, Reading, unmeasured, within
from claimlab.generate.filter.texts import Batch
from claimlab.text.tokens import tokenize


def measure(batch: Batch) -> list[Reading]:
    size = batch.table["copying"]["run"]
    words = tokenize(pl.Series([t.text for t in batch.texts], dtype=pl.String)).to_list()
    sources = tokenize(pl.Series([t.source for t in batch.texts], dtype=pl.String)).to_list()
    out = []
    for text, own, source in zip(batch.texts, words, sources, strict=True):
        if own is None or text.short:
            out.append(DOES_NOT_APPLY)  # a post may well quote its article
        elif source is None:
            out.append(unmeasured("no source") if text.machine else DOES_NOT_APPLY)
        elif own == source:
            out.append(Reading("failed", 1.0, "the source was copied word for word", -1.0))
        else:
            most = 1.0 if text.translated else batch.limit("copying", "most", text)
            out.append(
                within(copied(own, source, size), None, most, "the share copied from the source is")
            )
    return out


def copied(words: list[str], source: list[str], size: int) -> float:
    """The share of the runs of `size` words that are in the source, too."""
    held = {tuple(source[i : i + size]) for i in range(len(source) - size + 1)}
    runs = [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]
    return sum(run in held for run in runs) / len(runs) if runs else 0.0


METRIC = Metric("validation", "the text is not a copy of its source", "the source", measure)
