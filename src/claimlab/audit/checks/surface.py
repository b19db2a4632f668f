"""Do punctuation, capital letters or digits give the label away?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from claimlab.audit.check import Context, not_measured
from claimlab.audit.features import Numbers
from claimlab.audit.shortcut import SHORTCUT_RULE, sampled, shortcut
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.text.traits import PATTERNS, shares


class Surface:
    name = "surface"
    title = "Punctuation, case and digits"
    question = "Does the way a text is typed give its label away?"
    protocols = ("fair",)
    rule = SHORTCUT_RULE

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        part = sampled(subject, context)
        texts = part.subject.rows["text"]
        if texts.null_count() == texts.len():
            return [not_measured(self.name, "fair", "The records have no text.", n=subject.n)]
        out = []
        for family in PATTERNS:
            names, matrix = shares(texts, family)
            means = class_means(part.subject, names, matrix)
            out.append(
                shortcut(
                    part.subject,
                    context,
                    self.name,
                    Numbers(matrix),
                    why=f"A small tree on {family} alone",
                    label=family,
                    details={"share_of_characters": means, **part.note},
                )
            )
        return out


def class_means(subject: Subject, names: list[str], matrix: npt.NDArray[np.float32]) -> list[dict[str, object]]:
    return [
        {
            "feature": name,
            **{c: round(float(matrix[subject.y == k, i].mean()), 5) for k, c in enumerate(subject.classes)},
        }
        for i, name in enumerate(names)
    ]


CHECK = Surface()
