"""Do boilerplate or placeholder words ("reuters", "url", a publisher's closing line) stand almost only in one class?"""

from __future__ import annotations

import numpy as np

from claimlab.audit.check import Context, no_such_protocol, not_measured, sampled, shortcut
from claimlab.audit.checks.keywords import word_presence
from claimlab.audit.features import Giveaways as Feature
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding

CANDIDATES = 1_000  # the most widespread words, stop words included: "said" can be a giveaway


class Giveaways:
    name = "giveaways"
    title = "Boilerplate and placeholders"
    question = "Do words that say nothing of the claim stand almost only in one class?"

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        if context.protocol == "cdl":
            return no_such_protocol(self.name)
        part = sampled(subject, context)
        if part.subject.rows["text"].null_count() == part.subject.n:
            return [not_measured(self.name, "fair", "The records have no text.", n=subject.n)]
        words, matrix = word_presence(part.subject.rows["text"], frozenset(), CANDIDATES)
        if not words or len(subject.classes) < 2:
            why = "No text holds a word." if not words else "It needs two classes."
            return [not_measured(self.name, "fair", why, n=subject.n)]
        feature = Feature(matrix)
        everyone = np.arange(part.subject.n, dtype=np.int64)
        columns = feature.chosen(everyone, part.subject.y, len(subject.classes))
        table = [
            {
                "word": words[int(c)],
                **{
                    name: int(matrix[part.subject.y == k, int(c)].sum(dtype=np.int64))
                    for k, name in enumerate(subject.classes)
                },
            }
            for c in columns
        ]
        holding = np.flatnonzero(matrix[:, columns].any(axis=1)) if len(columns) else np.empty(0, np.int64)
        shown = ", ".join(f"'{row['word']}'" for row in table[:5]) or "none found"
        return [
            shortcut(
                part.subject,
                context,
                self.name,
                feature,
                why=f"Words at least {feature.ratio:.0f} times as usual in one class as elsewhere ({shown})",
                records=[part.subject.ids[i] for i in holding[:50]],
                details={"words": table, "records_with_one": len(holding), **part.note},
            )
        ]


CHECK = Giveaways()
