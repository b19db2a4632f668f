"""Whether a text still tells its source's story: cosine of sentence vectors, in and across 16
languages.
"""

from __future__ import annotations

from claimlab.generate.filter.metric import DOES_NOT_APPLY, Metric, Reading, unmeasured, within
from claimlab.generate.filter.texts import Batch, Text
from claimlab.text.vectors import LANGUAGES, encode

CHARACTERS = 600  # of a text: what comes later moves its vector little and costs as much


def cosines(pairs: list[tuple[str, str]]) -> list[float]:
    """The cosine of each pair; a text that occurs in several is encoded once."""
    texts = sorted({text[:CHARACTERS] for pair in pairs for text in pair})
    at, vectors = {text: i for i, text in enumerate(texts)}, encode(texts)
    return [float(vectors[at[a[:CHARACTERS]]] @ vectors[at[b[:CHARACTERS]]]) for a, b in pairs]


def measure(batch: Batch) -> list[Reading]:
    measurable = [text for text in batch.texts if _why_not(text) is None]
    values = iter(cosines([(text.source or "", text.text or "") for text in measurable]))
    return [
        (
            why
            if (why := _why_not(text)) is not None
            else within(
                next(values),
                batch.limit("similarity", "least", text),
                None,
                "similarity to the source is",
            )
        )
        for text in batch.texts
    ]


def _why_not(text: Text) -> Reading | None:
    if text.text is None or (text.source is None and not text.machine):
        return DOES_NOT_APPLY
    if text.source is None:
        return unmeasured("no source")
    for language in (text.language, text.source_language or text.language):
        if language not in LANGUAGES:
            return unmeasured(f"no sentence vectors for {language or 'an unstated language'}")
    return None


METRIC = Metric(
    "consistency", "the meaning is near that of the source", "the source; 16 languages", measure
)
