"""Does the length of a text give its label away?"""

from __future__ import annotations

import numpy as np

from claimlab.audit.check import Context
from claimlab.audit.details import histogram
from claimlab.audit.features import Numbers
from claimlab.audit.shortcut import FairCheck, sampled, shortcut
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.text.traits import lengths


class Length(FairCheck):
    name = "length"
    title = "Length"
    question = "Is one class longer than the other?"

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        part = sampled(subject, context)
        texts = part.subject.rows["text"]
        if texts.null_count() == texts.len():
            return [self.unmeasured("The records have no text.", subject.n)]
        matrix = lengths(texts)
        characters = texts.str.len_chars().fill_null(0).to_numpy()
        medians = {
            c: float(np.median(characters[part.subject.y == k]))
            for k, c in enumerate(part.subject.classes)
        }
        shown = ", ".join(f"{c} {m:,.0f}" for c, m in medians.items())
        return [
            shortcut(
                part.subject,
                context,
                self.name,
                Numbers(matrix),
                why=(
                    "A small tree on the number of characters and words alone (median characters:"
                    f" {shown})"
                ),
                details={
                    "median_characters": medians,
                    "histogram": histogram(part.subject, characters.astype(np.float64), cut=0.99),
                    **part.note,
                },
            )
        ]


CHECK = Length()
