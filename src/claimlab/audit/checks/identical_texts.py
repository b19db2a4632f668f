"""Does the same text have different labels?"""

from __future__ import annotations

import polars as pl

from claimlab.audit.check import Context, not_measured
from claimlab.audit.conflicts import RULE, conflict_finding
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding


class IdenticalTexts:
    name = "identical-texts"
    title = "Identical text, different labels"
    question = "Does the same text have different labels?"
    protocols = ("fair",)
    rule = RULE

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        if subject.rows["text"].null_count() == subject.n:
            return [not_measured(self.name, "fair", "The records have no text.", n=subject.n)]
        texts = pl.DataFrame({"row": subject.everyone, "key": subject.normal_text})
        return [conflict_finding(subject, self.name, texts, what="text")]


CHECK = IdenticalTexts()
