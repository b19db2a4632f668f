"""Information, never a gate: how surprising a text is to a model of characters made of the people's
texts beside it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from claimlab.generate.filter.metric import DOES_NOT_APPLY, Metric, Reading, unmeasured
from claimlab.generate.filter.texts import Batch

ORDER, CHARACTERS, ALPHABET = 3, 2_000, 200
ENOUGH = 20_000  # characters of people's text in a language


def measure(batch: Batch) -> list[Reading]:
    """Bits per character (the logarithm of perplexity) under trigrams of the same language, add-one
    smoothed.
    """
    models: dict[str | None, tuple[Counter[str], Counter[str]]] = {}
    pages: dict[str | None, dict[str, None]] = defaultdict(dict)
    for text in (*batch.originals, *batch.texts):
        page = text.source if text.machine else text.text
        if page:
            pages[text.source_language if text.machine else text.language][page[:CHARACTERS]] = None
    for language, texts in pages.items():
        joined = "\n".join(texts)
        if len(joined) >= ENOUGH:
            grams = Counter(joined[i : i + ORDER] for i in range(len(joined) - ORDER + 1))
            models[language] = (
                grams,
                Counter(joined[i : i + ORDER - 1] for i in range(len(joined) - ORDER + 2)),
            )
    out = []
    for text in batch.texts:
        if not text.text:
            out.append(DOES_NOT_APPLY)
        elif text.language not in models:
            out.append(
                unmeasured(
                    f"too little text by people in {text.language or 'an unstated language'}"
                )
            )
        else:
            out.append(
                Reading("information", _bits(text.text[:CHARACTERS], *models[text.language]))
            )
    return out


def _bits(text: str, grams: Counter[str], before: Counter[str]) -> float:
    runs = [text[i : i + ORDER] for i in range(len(text) - ORDER + 1)]
    bits = [-math.log2((grams[run] + 1) / (before[run[:-1]] + ALPHABET)) for run in runs]
    return sum(bits) / len(bits) if bits else 0.0


METRIC = Metric(
    "information", "bits per character", "20,000 characters by people", measure, gate=False
)
