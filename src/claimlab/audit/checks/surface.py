"""Do punctuation, capital letters, digits, whitespace or kinds of quotation marks give the label
away?
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from claimlab.audit.check import Context, FairCheck
from claimlab.audit.details import holding, word_details
from claimlab.audit.features import Giveaways, Numbers
from claimlab.audit.shortcut import Sampled, sampled, shortcut
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.core.stats.scores import Floats32
from claimlab.text.traits import MARKS, PATTERNS, marks, shares


class Surface(FairCheck):
    name = "surface"
    title = "Punctuation, case, digits, whitespace and typography"
    question = "Does the way a text is typed give its label away?"

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        part = sampled(subject, context)
        texts = part.subject.rows["text"]
        if texts.null_count() == texts.len():
            return [self.unmeasured("The records have no text.", subject.n)]
        shared = [
            self._tree(part, context, family, "share_of_characters", *shares(texts, family))
            for family in PATTERNS
        ]
        return [*shared, *(f for family in MARKS for f in self._marks(part, context, family))]

    def _tree(
        self,
        part: Sampled,
        context: Context,
        family: str,
        shown: str,
        names: list[str],
        matrix: Floats32,
        fact: str | None = None,
    ) -> Finding:
        """A small tree on numbers of one family; `shown` names their means in the details."""
        return shortcut(
            part.subject,
            context,
            self.name,
            Numbers(matrix),
            why=f"A small tree on {family} alone",
            label=family,
            fact=fact,
            details={shown: class_means(part.subject, names, matrix), **part.note},
        )

    def _marks(self, part: Sampled, context: Context, family: str) -> list[Finding]:
        """Marks that some texts hold. A tree cannot show one that few texts hold, whose other texts
        it has to guess: so those of one class are also tested as giveaways are."""
        subject = part.subject
        names, matrix = marks(subject.rows["text"], family)
        some = np.flatnonzero((matrix.max(axis=0) > 0) & (matrix.min(axis=0) < 1))
        if not len(some):
            why = (
                f"All texts are typed alike: none of the marks of {family} is in some of them only."
            )
            return [self.unmeasured(why, subject.n, family)]
        names, matrix = [names[i] for i in some], matrix[:, some]
        tree = self._tree(part, context, family, "share_of_texts", names, matrix, fact=family)
        sided = self._one_sided(subject, context, family, tuple(names), matrix)
        return [tree] if sided is None or tree.verdict == "not-measured" else [tree, sided]

    def _one_sided(
        self,
        subject: Subject,
        context: Context,
        family: str,
        names: tuple[str, ...],
        matrix: Floats32,
    ) -> Finding | None:
        presence = csr_matrix(matrix.astype(np.uint8))
        columns = Giveaways(presence).columns(subject.y, len(subject.classes))
        if not len(columns):
            return None
        shown = ", ".join(names[i] for i in columns[:3].tolist())
        return shortcut(
            subject,
            context,
            self.name,
            Giveaways(presence),
            why=f"Marks that are almost only in texts of one class ({shown})",
            label=f"{family}, one-sided marks",
            fact=family,
            records=holding(subject, presence, columns),
            details={"words": word_details(subject, names, presence, only=columns)["words"]},
        )


def class_means(subject: Subject, names: list[str], matrix: Floats32) -> list[dict[str, object]]:
    return [
        {
            "feature": name,
            **{
                c: round(float(matrix[subject.y == k, i].mean()), 5)
                for k, c in enumerate(subject.classes)
            },
        }
        for i, name in enumerate(names)
    ]


CHECK = Surface()
