"""Whether published scores are arithmetically possible: for so many records of two classes there
are only so many confusion tables, and one of them must give all scores of a row at once, rounded
or cut off as printed (Fazekas and Kovács 2024).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from claimlab.core.stats.scores import Floats

SCORES = ("accuracy", "precision", "recall", "specificity", "f1", "macro_f1")
MOST_TABLES = 1_000_000_000


def possible(positives: int, negatives: int, published: Mapping[str, str]) -> bool | None:
    """Whether one confusion table of so many records gives all these scores. They are text, because
    the number of digits matters: "84.1" and "0.841" are the same. Null where there are too many
    tables to try."""
    ranges = {name: printed_range(text) for name, text in published.items() if name in SCORES}
    low, high = ranges.get("recall", (0.0, 1.0))
    first, last = max(0, int(low * positives) - 1), min(positives, int(high * positives) + 1)
    if (last - first + 1) * (negatives + 1) > MOST_TABLES:
        return None
    rejected = np.arange(negatives + 1, dtype=np.float64)
    for hits in range(first, last + 1):
        scores = _scores(hits, rejected, positives, negatives)
        fits = np.ones(len(rejected), dtype=bool)
        for name, (least, most) in ranges.items():
            fits &= (scores[name] >= least - 1e-12) & (scores[name] < most + 1e-12)
        if fits.any():
            return True
    return False


def possible_together(records: int | None, accuracy: str, macro_f1: str) -> bool:
    """Whether a table of two classes of any size gives both scores. F1 of a class with n right
    answers and e errors in all is n / (n + e/2), which is concave: macro-F1 is never above
    accuracy, nor below what it is where only one class is ever right."""
    (least, most), (low, high) = printed_range(accuracy), printed_range(macro_f1)
    if records is None:
        return low < min(1.0, most) and least / (1 + least) < high
    for right in range(max(0, int(least * records)), min(records, int(most * records) + 1) + 1):
        if least - 1e-12 <= right / records < most + 1e-12:
            hits, errors = np.arange(right + 1.0), records - right
            f1 = 2 * hits / np.maximum(2 * hits + errors, 1)
            both = (f1 + f1[::-1]) / 2
            if ((both >= low - 1e-12) & (both < high + 1e-12)).any():
                return True
    return False


def printed_range(text: str) -> tuple[float, float]:
    """The shares that a printed score may stand for, rounded or cut off after its last digit."""
    digits = text.strip().rstrip("%")
    value = float(digits)
    unit = 10.0 ** -len(digits.partition(".")[2])
    scale = 100.0 if value > 1 or text.strip().endswith("%") else 1.0
    return (value - 0.5 * unit) / scale, (value + unit) / scale


def _scores(hits: int, rejected: Floats, positives: int, negatives: int) -> dict[str, Floats]:
    """Every score of tables with `hits` true positives, one for each number of true negatives."""
    called = hits + negatives - rejected  # answers "positive"
    denied = positives - hits + rejected
    f1 = 2 * hits / np.maximum(positives + called, 1)
    other = 2 * rejected / np.maximum(negatives + denied, 1)
    return {
        "accuracy": (hits + rejected) / (positives + negatives),
        "precision": hits / np.maximum(called, 1),
        "recall": np.full(len(rejected), hits / max(1, positives)),
        "specificity": rejected / max(1, negatives),
        "f1": f1,
        "macro_f1": (f1 + other) / 2,
    }
