"""Do punctuation, capital letters, digits, whitespace or kinds of quotation marks give the label
away?
"""

from __future__ import annotations

import numpy as np

from claimlab.audit.check import FairCheck, Findings, sampled
from claimlab.audit.details import holding, word_details
from claimlab.audit.features import Giveaways, Numbers
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.core.stats.scores import Floats32
from claimlab.core.types import JsonObject
from claimlab.text.traits import MARKS, PATTERNS, marks, shares


class Surface(FairCheck):
    name = "surface"
    title = "Punctuation, case, digits, whitespace and typography"
    question = "Does the way a text is typed give its label away?"
    needs = ("text",)

    def measure(self, subject: Subject) -> Findings:
        part = sampled(subject)
        for family in PATTERNS:
            names, matrix = shares(part.rows["text"], family)
            means = {"share_of_characters": class_means(part, names, matrix)}
            yield self._tree(part, family, matrix, means)
        for family in MARKS:
            yield from self._marks(part, family)

    def _tree(
        self,
        part: Subject,
        family: str,
        matrix: Floats32,
        means: JsonObject,
        fact: str | None = None,
    ) -> Finding:
        """A small tree on numbers of one family."""
        why, details = f"A small tree on {family} alone", means | part.sampling
        return self.shortcut(part, Numbers(matrix), why, family, fact=fact, details=details)

    def _marks(self, subject: Subject, family: str) -> Findings:
        """Marks that some texts hold. A tree cannot show one that few texts hold, whose other texts
        it has to guess: so those of one class are also tested as giveaways are."""
        from scipy.sparse import csr_matrix

        names, matrix = marks(subject.rows["text"], family)
        some = np.flatnonzero((matrix.max(axis=0) > 0) & (matrix.min(axis=0) < 1))
        if not len(some):
            why = (
                f"All texts are typed alike: none of the marks of {family} is in some of them only."
            )
            yield self.unmeasured(subject, why, family)
            return
        names, matrix = [names[i] for i in some], matrix[:, some]
        means = {"share_of_texts": class_means(subject, names, matrix)}
        tree = self._tree(subject, family, matrix, means, fact=family)
        yield tree
        presence = csr_matrix(matrix.astype(np.uint8))
        columns = Giveaways(presence).columns(subject.y, len(subject.classes))
        if len(columns) and tree.verdict != "not-measured":
            shown = ", ".join(names[i] for i in columns[:3].tolist())
            words = word_details(subject, tuple(names), presence, only=columns)["words"]
            yield self.shortcut(
                subject,
                Giveaways(presence),
                f"Marks that are almost only in texts of one class ({shown})",
                f"{family}, one-sided marks",
                fact=family,
                records=holding(subject, presence, columns),
                details={"words": words},
            )


def class_means(subject: Subject, names: list[str], matrix: Floats32) -> list[JsonObject]:
    return [
        {
            "feature": name,
            **subject.per_class(matrix[:, i], lambda mine: round(float(mine.mean()), 5)),
        }
        for i, name in enumerate(names)
    ]


CHECK = Surface()
