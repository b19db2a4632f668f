"""The two languages of one text: the same numbers, a plausible length, and in 16 languages a
similar meaning.
"""

from __future__ import annotations

from claimlab.generate.filter.metric import DOES_NOT_APPLY, Metric, Reading, unmeasured, within
from claimlab.generate.filter.metrics.similarity import cosines
from claimlab.generate.filter.texts import Batch, Text
from claimlab.text import details as d
from claimlab.text.vectors import LANGUAGES

DENSE = frozenset({"zho", "cmn", "jpn", "kor"})  # a character says about as much as half a word


def measure(batch: Batch) -> list[Reading]:
    """Answers for the translated text of each pair; its counterpart is the same pair."""
    first = [_without_vectors(text, batch) for text in batch.texts]
    measurable = [
        t for t, r in zip(batch.texts, first, strict=True) if r.outcome == "passed" and _vectors(t)
    ]
    values = iter(cosines([(text.pair or "", text.text or "") for text in measurable]))
    return [
        (
            within(
                next(values),
                batch.limit("translated-pair", "least", text),
                None,
                "similarity of the pair is",
            )
            if reading.outcome == "passed" and _vectors(text)
            else reading
        )
        for text, reading in zip(batch.texts, first, strict=True)
    ]


def _vectors(text: Text) -> bool:
    return text.language in LANGUAGES and text.pair_language in LANGUAGES


def _without_vectors(text: Text, batch: Batch) -> Reading:
    if not text.translated or text.text is None:
        return DOES_NOT_APPLY
    if text.pair is None:
        return unmeasured("the other language of this text is not here")
    fresh = d.numbers(text.text), d.numbers(text.pair)
    if None not in fresh:
        one, other = set(fresh[0] or ()), set(fresh[1] or ())
        one -= d.number_words(text.pair, text.pair_language)
        other -= d.number_words(text.text, text.language)
        if odd := sorted(one ^ other):
            return Reading(
                "failed", None, f"numbers in one language only: {', '.join(odd[:3])}", -1.0
            )
    if len({text.language, text.pair_language} & DENSE) == 1:
        return Reading("passed")  # lengths in characters say nothing here
    low, high = batch.table["translated-pair"]["length"]
    return within(
        len(text.text) / max(len(text.pair), 1), low, high, "length against its original is"
    )


METRIC = Metric(
    "translation", "both languages say the same", "both texts; vectors in 16 languages", measure
)
