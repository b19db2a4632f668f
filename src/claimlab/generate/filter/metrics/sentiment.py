"""Whether real text keeps the tone of its source: VADER, in English only."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from claimlab.generate.filter.metric import (
    DOES_NOT_APPLY,
    Metric,
    Reading,
    one_by_one,
    unmeasured,
    within,
)
from claimlab.generate.filter.texts import Batch, Text

_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def tone(text: str) -> float:
    """The mean over sentences, from -1 to 1: over a whole article the score would run into either
    end.
    """
    scores = [
        _analyser().polarity_scores(sentence)["compound"]
        for sentence in _SENTENCE.split(text)
        if sentence
    ]
    return sum(scores) / len(scores) if scores else 0.0


@cache
def _analyser() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return SentimentIntensityAnalyzer()


def read(text: Text, batch: Batch) -> Reading:
    if text.short or text.translated or text.text is None:
        return DOES_NOT_APPLY
    if text.source is None:
        return unmeasured("no source") if text.machine else DOES_NOT_APPLY
    if text.language != "eng" or text.source_language != "eng":
        return unmeasured(f"no measure of sentiment for {text.language or 'an unstated language'}")
    shift = abs(tone(text.text) - tone(text.source))
    return within(
        shift, None, batch.limit("sentiment", "most_shift", text), "shift of sentiment is"
    )


METRIC = Metric(
    "consistency", "real text keeps the tone of its source", "the source; English", one_by_one(read)
)
