"""How many bands of how many rows: enough for the recall asked for, at the least expected work.

A band of r rows agrees between two texts of Jaccard similarity J with probability J^r, so b bands
miss a pair with probability (1 - J^r)^b. For each r, b is the least that meets the target at the
threshold itself, where recall is lowest. Among these the cheapest is taken: few rows make many
chance candidates, which grow with the square of the number of texts; many rows need many more
bands, which grow with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from claimlab.core.errors import UsageError

MAX_BINS = 1024
# Two unrelated texts of one language share a few per cent of their n-grams ("tion ", " the ").
# Corpora with templates share more, and guessing low costs far more than guessing high.
BACKGROUND = 0.05
# Nanoseconds a text and bin to sketch, a text and band to sort, a candidate to sift, as measured on
# posts; only their ratios count.
SKETCH, SORT, SIFT = 15.0, 30.0, 40.0


@dataclass(frozen=True)
class BandPlan:
    """The bands in use, and the recall to expect of a pair that is exactly at the threshold (higher
    above it).
    """

    threshold: float
    target: float | None
    bands: int
    rows: int
    needed: int = 1  # bands that must agree

    @property
    def expected_recall(self) -> float:
        return self.recall_at(self.threshold)

    def recall_at(self, jaccard: float) -> float:
        """The probability that a pair of this Jaccard similarity becomes a candidate."""
        p = jaccard**self.rows
        missed = (
            math.comb(self.bands, k) * p**k * (1 - p) ** (self.bands - k)
            for k in range(self.needed)
        )
        return max(0.0, 1 - sum(missed))

    def __str__(self) -> str:
        shape = f"{self.bands} band{_s(self.bands)} of {self.rows} row{_s(self.rows)}"
        return f"{shape}: expected recall {self.expected_recall:.4f} at Jaccard {self.threshold:g}"


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def choose(threshold: float, recall: float, texts: int) -> BandPlan:
    """The cheapest plan for `texts` texts that meets `recall` at `threshold`."""
    if not 0 < threshold <= 1:
        raise UsageError(
            f"The threshold {threshold} is not a Jaccard similarity.",
            "Give one above 0, at most 1.",
        )
    if not 0 < recall < 1:
        raise UsageError(
            f"The recall {recall} cannot be promised by hashing.", "Give one above 0 and below 1."
        )
    best: tuple[float, BandPlan] | None = None
    for rows in range(1, 17):
        agree = threshold**rows
        bands = (
            1 if agree >= recall else math.ceil(math.log(1 - recall) / math.log1p(-agree) - 1e-12)
        )
        if bands * rows > MAX_BINS:
            break
        cost = (
            texts * (SKETCH * bands * rows + SORT * bands)
            + SIFT * texts**2 / 2 * bands * BACKGROUND**rows
        )
        if best is None or cost < best[0]:
            best = (cost, BandPlan(threshold, recall, bands, rows))
    if best is None:
        raise UsageError(
            f"A recall of {recall} at a threshold of {threshold} needs more than {MAX_BINS} hashes"
            " a text.",
            "Raise the threshold or lower the recall.",
        )
    return best[1]
