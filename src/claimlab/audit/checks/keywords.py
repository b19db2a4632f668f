"""Do a few frequent words give the label away?"""

from __future__ import annotations

from claimlab.audit import cdl
from claimlab.audit.check import FairCheck, Findings, sampled
from claimlab.audit.details import holding, presence, telling, word_counts, word_details
from claimlab.audit.features import FrequentWords
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.text.stopwords import stop_words_for
from claimlab.text.telling import KEYWORDS_COUNTED as TOP

CANDIDATES = 200  # words that could be among the 40 most frequent of some training part
NO_WORD = "No word is left once stop words are out."


class Keywords(FairCheck):
    name = "keywords"
    title = "Keywords"
    question = "Do a few frequent words give the label away?"
    protocols = ("fair", "cdl")
    needs = ("text", "classes")

    def measure(self, subject: Subject) -> Findings:
        cdl_protocol = subject.context.protocol == "cdl"
        yield self._cdl(subject) if cdl_protocol else self._fair(sampled(subject))

    def _cdl(self, subject: Subject) -> Finding:
        from scipy.sparse import csr_matrix

        reason = cdl.cannot_split(subject)
        measured = cdl.keywords(subject, top=TOP) if reason is None else None
        if measured is None:
            return self.unmeasured(subject, reason or NO_WORD)
        return cdl.finding(
            self.name,
            measured.score,
            subject,
            f"A 20-leaf forest on the {len(measured.words)} most frequent words",
            f"{TOP} words",
            details=word_details(subject, tuple(measured.words), csr_matrix(measured.presence)),
        )

    def _fair(self, subject: Subject) -> Finding:
        stop = stop_words_for(subject.rows["language"].drop_nulls().unique().to_list() or ["eng"])
        words, table = presence(subject.words, subject.n, CANDIDATES, stop)
        if not words:
            return self.unmeasured(subject, NO_WORD)
        first = telling(word_counts(subject, table), subject)[:5]
        return self.shortcut(
            subject,
            FrequentWords(table, top=TOP),
            f"A small tree on the {min(TOP, len(words))} most frequent words of the training part",
            f"{TOP} words",
            records=holding(subject, table, first),
            details=word_details(subject, words, table) | subject.sampling,
        )


CHECK = Keywords()
