"""A score beside the baselines that do not read the text: what they are, and what a star says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from claimlab.core.stats.correction import holm
from claimlab.core.stats.interval import Interval

LEVEL = 0.05
# What a score must be above to be called so, wherever it is called so: see `Chance.beaten`.
ABOVE = (
    "above every baseline that does not read the text (majority, random guess, the same answers"
    " against permuted labels)"
)
STAR = f"* {ABOVE}: p below 0.05, corrected by Holm's method for all {{}}."


@dataclass(frozen=True)
class Chance:
    """The mean macro-F1 of runs beside its baselines. `p` and `p_holm` are null, and `why` says
    why, where the score cannot be tested; `moved` is the share of labels that the permutations
    moved."""

    majority: float | None = None
    stratified: float | None = None
    permuted: float | None = None
    moved: float | None = None
    difference: float | None = None  # the score less the best baseline
    interval: Interval | None = None  # of the difference
    p: float | None = None
    p_holm: float | None = None
    why: str | None = None

    @property
    def best(self) -> float | None:
        """The highest of the three."""
        three = self.majority, self.stratified, self.permuted
        return max((baseline for baseline in three if baseline is not None), default=None)

    @property
    def beaten(self) -> bool:
        """Whether the score is above the best of them, corrected for all that were tested
        together.
        """
        return self.p_holm is not None and self.p_holm < LEVEL


UNTESTED = Chance()


def corrected(chances: Sequence[Chance]) -> list[Chance]:
    """The same with p-values corrected by Holm's method for how many were tested, in the order
    given.
    """
    adjusted = holm([chance.p for chance in chances])
    return [replace(chance, p_holm=p) for chance, p in zip(chances, adjusted, strict=True)]
