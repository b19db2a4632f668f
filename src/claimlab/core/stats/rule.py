"""When a measured difference fails, warns, passes or cannot tell: the same numbers for an audit and
for contamination.
"""

from __future__ import annotations

from dataclasses import dataclass

from claimlab.core.finding import Verdict
from claimlab.core.stats.interval import FEW_UNITS, LEAST_UNITS


@dataclass(frozen=True)
class Rule:
    """The numbers behind a verdict, the same for every check and every dataset."""

    margin: float = 0.05  # macro-F1 above the best baseline
    alpha: float = 0.05
    min_class: int = 30  # rows of the rarest class
    min_groups: int = LEAST_UNITS  # units of the rarest class
    least_units: float = LEAST_UNITS  # effective, in all: fewer have no interval
    min_units: int = 20  # records of which a share is taken
    min_moved: float = 0.5  # of the labels that a free permutation moves

    def verdict(self, interval: tuple[float, float], p: float) -> Verdict:
        """From the 95% interval of the difference to the best baseline, and the p adjusted for all
        tests.
        """
        low, high = interval
        if p <= self.alpha and low > 0:
            return "fail" if low > self.margin else "warn"
        return "pass" if high < self.margin else "inconclusive"

    def given(self, alone: Verdict, gain: tuple[float, float] | None) -> Verdict:
        """The verdict on one input alone, given the interval of what a second input adds to it (if
        any): an alarm is confirmed if the gain is surely small, and withdrawn if the second input
        surely helps."""
        if gain is None or alone not in ("fail", "warn"):
            return alone
        return "pass" if gain[0] > 0 else "warn" if gain[1] < self.margin else "inconclusive"

    def words(self) -> str:
        """The rule as reports and docs print it."""
        margin = f"{100 * self.margin:.0f} points"
        return (
            "What counts is the difference between the macro-F1 of the feature alone and the best"
            " of three baselines (the majority class, a random guess by label proportions, the"
            " same procedure on permuted labels). Fail when the 95% interval of the difference"
            f" lies above {margin} and the adjusted p is at most {self.alpha}; warn when it lies"
            f" above 0 and p is at most {self.alpha}; pass when it ends below {margin}; otherwise"
            " inconclusive. p is the share of permutations that reach the score or, if none does,"
            " the tail of Student's t fitted to their scores, adjusted for the number of tests in"
            " the audit (Benjamini-Hochberg). Copies of a text with one label count once. Units are"
            " what labels were given to as a whole: the values of the coarsest role column (source,"
            " author, domain, group, speaker, event, thread, article) that mostly agree in their"
            " labels, or else what must stay together (copies of a text, records of one group)."
            " They stay on one side, are resampled and exchange their labels as a whole; where"
            " groups of one class differ in size from groups of another, so that labels cannot be"
            " shuffled, one record of each group and label stands for it. Not"
            f" measured when a class has fewer than {self.min_class} rows or {self.min_groups}"
            f" units, with fewer than {self.least_units:.0f} effective units in all, or when"
            f" shuffling changes less than {100 * self.min_moved:.0f}% of the labels that it would"
            f" change without groups; fewer than {FEW_UNITS} effective units are called few."
        )
