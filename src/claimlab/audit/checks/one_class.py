"""Whether there is more than one class."""

from __future__ import annotations

from claimlab.audit.check import FairCheck, Findings
from claimlab.audit.rule import Rule, needed
from claimlab.audit.subject import Subject
from claimlab.core.words import several

RARE_SHARE = 0.05


class OneClass(FairCheck):
    name = "one-class"
    title = "One class only"
    question = "Does the data have more than one class?"
    rule = (
        f"Fail with fewer than two classes, warn when the rarest is under {100 * RARE_SHARE:.0f}%"
        " of the"
        f" rows, else pass. Two classes in fewer than {Rule.min_units} records are not measured."
    )

    def measure(self, subject: Subject) -> Findings:
        counts = subject.class_counts
        tally = ", ".join(f"{c} {n:,}" for c, n in counts.items()) or "no labelled record"
        unlabelled = subject.dataset.records.height - subject.n
        rest = f" {several(unlabelled, 'record')} outside these classes." if unlabelled else ""
        if len(counts) < 2:
            why = f"Nothing can be learned or tested with a single class ({tally})."
            yield self.found(subject, "fail", why + rest)
        elif (reason := needed("Labelled records", subject.n)) is not None:
            yield self.unmeasured(subject, reason)
        elif (rarest := min(counts.values()) / subject.n) < RARE_SHARE:
            why = (
                f"The rarest class is {100 * rarest:.1f}% of labelled records ({tally}): accuracy"
                " is misleading."
            )
            yield self.found(subject, "warn", why + rest)
        else:
            yield self.found(subject, "pass", f"Every class is well represented ({tally}).{rest}")


CHECK = OneClass()
