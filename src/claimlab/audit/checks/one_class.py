"""Whether there is more than one class."""

from __future__ import annotations

from claimlab.audit.check import Context
from claimlab.audit.rule import Rule, needed
from claimlab.audit.shortcut import FairCheck
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding, Verdict
from claimlab.core.words import several

RARE = 0.05


class OneClass(FairCheck):
    name = "one-class"
    title = "One class only"
    question = "Does the data have more than one class?"
    rule = (
        f"Fail with fewer than two classes, warn when the rarest is under {100 * RARE:.0f}% of the"
        f" rows, else pass. Two classes in fewer than {Rule.min_units} records are not measured."
    )

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        counts = subject.class_counts
        shown = ", ".join(f"{c} {n:,}" for c, n in counts.items()) or "no labelled record"
        rarest = min(counts.values()) / subject.n if len(counts) > 1 else 0.0
        reason = needed("Labelled records", subject.n)
        if reason is not None and len(counts) > 1:
            return [self.unmeasured(reason, subject.n)]
        verdict: Verdict = "fail" if len(counts) < 2 else "warn" if rarest < RARE else "pass"
        words = {
            "fail": f"Nothing can be learned or tested with a single class ({shown}).",
            "warn": (
                f"The rarest class is {100 * rarest:.1f}% of labelled records ({shown}): accuracy"
                " is misleading."
            ),
            "pass": f"Every class is well represented ({shown}).",
        }
        unlabelled = subject.dataset.records.height - subject.n
        return [
            Finding(
                check=self.name,
                protocol="fair",
                verdict=verdict,
                why=words[verdict]
                + (
                    f" {several(unlabelled, 'record')} outside these classes." if unlabelled else ""
                ),
                n=subject.n,
                classes=counts,
            )
        ]


CHECK = OneClass()
