"""Which findings call for what: the written rules of `audit/data/advice.toml`, each of them a
sentence and what carries it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from claimlab.audit import remedy
from claimlab.audit.ladder import Weighs
from claimlab.audit.remedy import Remedy
from claimlab.core import packaged
from claimlab.core.finding import Finding, Verdict
from claimlab.core.types import JsonObject

ALARMS: tuple[Verdict, ...] = ("fail", "warn")
Action = Literal["split", "drop", "report", "review", "collect", "clean"]


@dataclass(frozen=True)
class AdviceRule:
    """Findings of `checks` (of all their features, or those that begin with `feature`) call for
    `sentence`, which `remedy` carries out.

    The fields of a sentence: `names` and `scored` (features, the latter with scores), `first` (the
    most severe), `top` (its score), `each` and `them` ("it" for one), `counts`, and `share`,
    `column` and `words` of the most severe finding. `reason` is what a table says of a single
    finding. `labelled`: only where there is a labelled record, or only where there is none.
    """

    action: Action
    sentence: str
    remedy: Remedy
    weighs: Weighs
    otherwise: str = ""
    checks: tuple[str, ...] = ()
    reason: str = "{difference} points"
    feature: tuple[str, ...] = ("",)
    verdicts: tuple[Verdict, ...] = ALARMS
    labelled: bool | None = None
    cleaned: bool = False

    def matches(self, finding: Finding) -> bool:
        return (
            finding.check in (self.checks or [finding.check])
            and self.labelled in (None, bool(finding.n))
            and (not self.cleaned or finding.details.get("verdict_cleaned") == "pass")
            and finding.verdict in self.verdicts
            and (finding.feature or "").startswith(self.feature)
        )


def _rule(row: JsonObject) -> AdviceRule:
    """A row of `data/advice.toml`; its remedy is a name, or a name and a word behind a colon."""
    name, *words = row["remedy"].split(":")
    carried_out = getattr(remedy, name)
    lists = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
    return AdviceRule(**{**row, **lists, "remedy": lambda case: carried_out(case, *words)})


# The last is for a check of another package, or one that has no rule of its own yet.
RULES = tuple(map(_rule, packaged.toml("claimlab.audit", "advice.toml")["rule"]))


def rule_for(finding: Finding) -> AdviceRule:
    """The first rule that is meant for this finding; the last rule is meant for all."""
    return next(rule for rule in RULES if rule.matches(finding))
