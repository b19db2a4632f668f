"""Do a few frequent words give the label away?"""

from __future__ import annotations

from scipy.sparse import csr_matrix

from claimlab.audit import cdl
from claimlab.audit.check import Context, not_measured
from claimlab.audit.details import holding, telling, word_details, word_presence
from claimlab.audit.features import Words
from claimlab.audit.shortcut import FairCheck, sampled, shortcut
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.core.types import Sparse
from claimlab.text.stopwords import stop_words_for
from claimlab.text.telling import KEYWORDS as TOP
from claimlab.text.telling import per_class

CANDIDATES = 200  # words that could be among the 40 most frequent of some training part


class Keywords(FairCheck):
    name = "keywords"
    title = "Keywords"
    question = "Do a few frequent words give the label away?"
    protocols = ("fair", "cdl")

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        if not subject.has_text:
            return [
                not_measured(self.name, context.protocol, "The records have no text.", n=subject.n)
            ]
        if len(subject.classes) < 2:
            return [not_measured(self.name, context.protocol, "It needs two classes.", n=subject.n)]
        if context.protocol == "cdl":
            return [self._cdl(subject)]
        part = sampled(subject, context)
        return [self._fair(part.subject, context, part.note)]

    def _cdl(self, subject: Subject) -> Finding:
        reason = cdl.cannot_split(subject)
        if reason is not None:
            return not_measured(self.name, "cdl", reason, n=subject.n)
        done = cdl.keywords(subject, top=TOP)
        if done is None:
            return not_measured(
                self.name, "cdl", "No word is left once stop words are out.", n=subject.n
            )
        return cdl.finding(
            self.name,
            done.score,
            subject,
            what=f"A 20-leaf forest on the {len(done.words)} most frequent words",
            feature=f"{TOP} words",
            details=word_details(subject, tuple(done.words), csr_matrix(done.presence)),
        )

    def _fair(self, subject: Subject, context: Context, note: dict[str, int]) -> Finding:
        stop = stop_words_for(subject.rows["language"].drop_nulls().unique().to_list() or ["eng"])
        words, presence = word_presence(subject, stop, CANDIDATES)
        if not words:
            return self.unmeasured("No word is left once stop words are out.", subject.n)
        return shortcut(
            subject,
            context,
            self.name,
            Words(presence, top=TOP),
            why=(
                f"A small tree on the {min(TOP, len(words))} most frequent words of the training"
                " part"
            ),
            label=f"{TOP} words",
            records=telling_records(subject, presence),
            details={**word_details(subject, words, presence), **note},
        )


def telling_records(subject: Subject, presence: Sparse) -> list[str]:
    """Records that hold the most telling words."""
    counts = per_class(presence, subject.everyone, subject.y, len(subject.classes))
    return holding(subject, presence, telling(counts, subject)[:5])


CHECK = Keywords()
