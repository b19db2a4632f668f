"""When a shortcut check fails, warns, passes or cannot tell: the numbers and the words, for code,
page and docs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from claimlab.core.finding import Verdict
from claimlab.core.stats.interval import wilson

CDL_FLAG = 0.60  # the macro-F1 at which the published guide's scripts fail a check
CDL_RULE = (
    f"Fail from a macro-F1 of {CDL_FLAG:.2f}, else pass; this protocol has no interval and no"
    " permuted control."
)
FEASIBLE = 0.75  # the share of claims that can be checked at all, below which a dataset fails
GAIN = "gain_interval"  # among a finding's details: see `Rule.given`


@dataclass(frozen=True)
class Rule:
    """The numbers behind a verdict, the same for every check and every dataset."""

    margin: float = 0.05  # macro-F1 above the best baseline
    alpha: float = 0.05
    min_class: int = 30  # rows of the rarest class
    min_groups: int = 10  # groups of the rarest class
    min_units: int = 20  # groups in all: fewer have no interval
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
            " inconclusive. p is the share of permutations that reach the score, adjusted for the"
            " number of tests in the audit (Benjamini-Hochberg). Copies of a text with one label"
            " count once; where groups of one class differ in size from groups of another, so that"
            " labels cannot be shuffled, one record of each group and label stands for it. Not"
            f" measured when a class has fewer than {self.min_class} rows or {self.min_groups}"
            f" groups, with fewer than {self.min_units} groups in all, or when shuffling changes"
            f" less than {100 * self.min_moved:.0f}% of the labels that it would change without"
            " groups."
        )


@dataclass(frozen=True)
class Share:
    """When a share of records fails, warns or passes: its 95% interval (Wilson) decides, so one
    record cannot fail.
    """

    fail: float
    warn: float = 0.0  # with 0, any record warns, and only none at all passes

    def verdict(self, hits: int, n: int) -> Verdict:
        low, high = self.interval(hits, n)
        if hits and low > self.warn:
            return "fail" if low > self.fail else "warn"
        return (
            "pass"
            if hits <= self.warn * n and (self.warn == 0.0 or high < self.fail)
            else "inconclusive"
        )

    def interval(self, hits: int, n: int) -> tuple[float, float]:
        return wilson(hits, n) or (0.0, 1.0)

    def shown(self, hits: int, n: int) -> str:
        """The share with its interval, as a sentence has it."""
        low, high = (100 * end for end in self.interval(hits, n))
        return f"{100 * hits / max(1, n):.1f}%, 95% interval {low:.1f} to {high:.1f}"

    @property
    def limits(self) -> str:
        """The rule in parentheses."""
        return f"fail: surely more than {100 * self.fail:.0f}%; warn: any"


def needed(what: str, n: int, least: int = Rule.min_units) -> str | None:
    """Why a share of so few records gets no verdict, or null."""
    return None if n >= least else f"{what}: {n:,}. A verdict needs at least {least}."


@dataclass(frozen=True)
class Settings:
    """How much work a measurement does, and the rule that judges it."""

    folds: int = 4
    repeats: int = 3
    few: int = 20  # permutations where the decision is clear
    many: int = 200  # and where it is close
    max_rows: int = 20_000  # larger sets are sampled, and the finding says so
    max_column_rows: int = 100_000  # the same where a column is tested, which costs little
    rule: Rule = field(default_factory=Rule)
