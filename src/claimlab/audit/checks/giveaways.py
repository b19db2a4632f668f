"""Do boilerplate or placeholder words ("reuters", "url", a publisher's closing line) stand almost only in one class?"""

from __future__ import annotations

from claimlab.audit.check import SHORTCUT_RULE, Context, not_measured, sampled, shortcut
from claimlab.audit.features import Giveaways as Feature
from claimlab.audit.subject import Subject
from claimlab.audit.words import holding, word_details, word_presence
from claimlab.core.finding import Finding

CANDIDATES = 1_000  # the most widespread words, stop words included: "said" can be a giveaway


class Giveaways:
    name = "giveaways"
    title = "Boilerplate and placeholders"
    question = "Do words that say nothing of the claim stand almost only in one class?"
    protocols = ("fair",)
    rule = SHORTCUT_RULE

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        if subject.rows["text"].null_count() == subject.n:
            return [not_measured(self.name, "fair", "The records have no text.", n=subject.n)]
        if len(subject.classes) < 2:
            return [not_measured(self.name, "fair", "It needs two classes.", n=subject.n)]
        part = sampled(subject, context)
        words, presence = word_presence(part.subject, frozenset(), CANDIDATES)
        if not words:
            return [not_measured(self.name, "fair", "No text holds a word.", n=subject.n)]
        feature = Feature(presence)
        columns = feature.columns(part.subject.y, len(subject.classes))
        details = word_details(part.subject, words, presence, only=columns)
        shown = ", ".join(f"'{row['word']}'" for row in details["words"][:5]) or "none found"
        return [
            shortcut(
                part.subject,
                context,
                self.name,
                feature,
                why=f"Words at least {feature.ratio:.0f} times as usual in one class as elsewhere ({shown})",
                records=holding(part.subject, presence, columns),
                details={**details, **part.note},
            )
        ]


CHECK = Giveaways()
