"""When a shortcut check fails, warns, passes or cannot tell: the numbers and the words, for code,
page and docs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from claimlab.core.finding import Verdict
from claimlab.core.stats.interval import wilson
from claimlab.core.stats.rule import Rule as Rule

ProtocolName = Literal["fair", "cdl", "cdl-holdout"]
CDL_FLAG = 0.60  # the macro-F1 at which the published guide's scripts fail a check
CDL_RULE = (
    f"Fail from a macro-F1 of {CDL_FLAG:.2f}, else pass; this protocol has no interval and no"
    " permuted control."
)
FEASIBLE = 0.75  # the share of claims that can be checked at all, below which a dataset fails
GAIN = "gain_interval"  # among a finding's details: see `Rule.given`


@dataclass(frozen=True)
class ShareRule:
    """When a share of records fails, warns or passes. Where all records were counted, the share
    itself decides: a census has no interval. Where some were `drawn`, the 95% interval of what they
    stand for (Wilson) does: each drawn record is a unit.
    """

    fail: float
    warn: float = 0.0  # with 0, any record warns, and only none at all passes

    def verdict(self, hits: int, n: int, *, drawn: bool = False) -> Verdict:
        low, high = self.ends(hits, n, drawn=drawn)
        if hits and low > self.warn:
            return "fail" if low > self.fail else "warn"
        few = hits <= self.warn * n and (self.warn == 0.0 or high < self.fail)
        return "pass" if few else "inconclusive"

    def ends(self, hits: int, n: int, *, drawn: bool = False) -> tuple[float, float]:
        """Between what the share lies: the interval, or the share itself, which was counted."""
        if drawn:
            return wilson(hits, n) or (0.0, 1.0)
        return hits / max(1, n), hits / max(1, n)

    def shown(self, hits: int, n: int, *, drawn: bool = False) -> str:
        """The share, with its interval where there is one, as a sentence has it."""
        low, high = (100 * end for end in self.ends(hits, n, drawn=drawn))
        share = f"{100 * hits / max(1, n):.1f}%"
        return f"{share}, 95% interval {low:.1f} to {high:.1f}" if drawn else share

    def details(self, hits: int, n: int, *, drawn: bool = False) -> dict[str, object]:
        """The share, and its interval where there is one, for a finding's details."""
        ends = self.ends(hits, n, drawn=True) if drawn else None
        return {"share": hits / n, "share_interval": ends}

    def limits(self, *, drawn: bool = False) -> str:
        """The rule in parentheses."""
        return f"fail: {'surely ' if drawn else ''}more than {100 * self.fail:.0f}%; warn: any"


def needed(what: str, n: int) -> str | None:
    """Why a share of so few records gets no verdict, or null."""
    least = Rule.min_units
    return None if n >= least else f"{what}: {n:,}. A verdict needs at least {least}."


@dataclass(frozen=True)
class AuditSettings:
    """How much work a measurement does, and the rule that judges it."""

    folds: int = 4
    repeats: int = 3
    few: int = 20  # permutations where the decision is clear
    many: int = 200  # and where it is close
    max_rows: int = 20_000  # larger sets are sampled, and the finding says so
    max_column_rows: int = 100_000  # the same where a column is tested, which costs little
    rule: Rule = field(default_factory=Rule)


@dataclass(frozen=True)
class Context:
    """The input of every check: the protocol, the seed, and what the caller passed in."""

    protocol: ProtocolName = "fair"
    seed: int = 0
    settings: AuditSettings = field(default_factory=AuditSettings)
    columns: tuple[str, ...] = ()  # extra columns to test in the same way
    judge: Any = None  # a feasibility judge: see audit/checks/feasibility.py
    debug: bool = False  # let a fault in a check come through as it is
