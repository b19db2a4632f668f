"""Do punctuation, capital letters, digits, white space or kinds of quotation marks give the label
away?
"""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix

from claimlab.audit.check import Context
from claimlab.audit.details import holding, word_details
from claimlab.audit.features import Giveaways, Numbers
from claimlab.audit.shortcut import FairCheck, sampled, shortcut
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.core.stats.scores import Floats32
from claimlab.core.types import JsonObject
from claimlab.text.traits import MARKS, PATTERNS, marks, shares


class Surface(FairCheck):
    name = "surface"
    title = "Punctuation, case, digits, white space and typography"
    question = "Does the way a text is typed give its label away?"

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        part = sampled(subject, context)
        texts = part.subject.rows["text"]
        if texts.null_count() == texts.len():
            return [self.unmeasured("The records have no text.", subject.n)]
        shared = [
            self._shares(part.subject, context, texts, family, part.note) for family in PATTERNS
        ]
        held = [
            f
            for family in MARKS
            for f in self._marks(part.subject, context, texts, family, part.note)
        ]
        return [*shared, *held]

    def _shares(
        self,
        subject: Subject,
        context: Context,
        texts: pl.Series,
        family: str,
        note: JsonObject,
    ) -> Finding:
        names, matrix = shares(texts, family)
        details = {"share_of_characters": class_means(subject, names, matrix), **note}
        why = f"A small tree on {family} alone"
        return shortcut(
            subject, context, self.name, Numbers(matrix), why=why, label=family, details=details
        )

    def _marks(
        self,
        subject: Subject,
        context: Context,
        texts: pl.Series,
        family: str,
        note: JsonObject,
    ) -> list[Finding]:
        """Marks that some texts hold. A tree cannot show one that few texts hold, whose other texts
        it has to guess: so those of one class are also tested as giveaways are."""
        names, matrix = marks(texts, family)
        some = np.flatnonzero((matrix.max(axis=0) > 0) & (matrix.min(axis=0) < 1))
        if not len(some):
            why = (
                f"All texts are typed alike: none of the marks of {family} is in some of them only."
            )
            return [self.unmeasured(why, subject.n, family)]
        names, matrix = [names[i] for i in some], matrix[:, some]
        details = {"share_of_texts": class_means(subject, names, matrix), **note}
        why = f"A small tree on {family} alone"
        tree = shortcut(
            subject,
            context,
            self.name,
            Numbers(matrix),
            why=why,
            label=family,
            fact=family,
            details=details,
        )
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
