"""Do a few frequent words give the label away?"""

from __future__ import annotations

from claimlab.audit import cdl
from claimlab.audit.check import FairCheck, Findings, sampled
from claimlab.audit.details import holding, presence, telling, word_counts, word_details
from claimlab.audit.features import FrequentWords
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.core.languages import describe
from claimlab.core.words import several
from claimlab.text.stopwords import without_list
from claimlab.text.telling import KEYWORDS_COUNTED as TOP

CANDIDATES = 200  # words that could be among the 40 most frequent of some training part
NO_WORD = "No word is left once stop words are out."
RECORDS_OF_A_LANGUAGE = 100  # records that a language needs for words of its own
ALMOST_ALL = 0.9  # of the records: the words of such a language are those of the whole set
OF_ONE_LANGUAGE = "words of one language"


class Keywords(FairCheck):
    name = "keywords"
    title = "Keywords"
    question = "Do a few frequent words give the label away?"
    protocols = ("fair", "cdl")
    needs = ("text", "classes")

    def measure(self, subject: Subject) -> Findings:
        if subject.context.protocol == "cdl":
            yield self._cdl(subject)
            return
        part = sampled(subject)
        yield self._fair(part)
        yield from self._by_language(part)

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
        words, table = presence(subject.content_words, subject.n, CANDIDATES)
        if not words:
            return self.unmeasured(subject, NO_WORD)
        first = telling(word_counts(subject, table), subject)[:5]
        finding = self.shortcut(
            subject,
            FrequentWords(table, top=TOP),
            f"A small tree on the {min(TOP, len(words))} most frequent words of the training part",
            f"{TOP} words",
            records=holding(subject, table, first),
            details=word_details(subject, words, table) | subject.sampling,
        )
        if bare := without_list(subject.rows["language"].unique()):
            finding.why += f" No stop words are known for {', '.join(bare)}: theirs count as words."
        return finding

    def _by_language(self, subject: Subject) -> Findings:
        """Words are also looked for in each language of a set of several: one that gives a sixth
        of the records away is not among the most frequent of all. Shown is the language in which
        words tell most, with its p-value corrected for the number of languages.
        """
        counted = subject.rows["language"].drop_nulls().value_counts(name="n").sort("language")
        chosen = counted.filter(
            (counted["n"] >= RECORDS_OF_A_LANGUAGE) & (counted["n"] < ALMOST_ALL * subject.n)
        )["language"]
        names = {code: facts.name if (facts := describe(code)) else code for code in chosen}
        findings = {
            code: self._fair(subject.where(subject.rows["language"] == code)) for code in names
        }
        measured = {code: f for code, f in findings.items() if f.p is not None}
        if not measured:
            return
        code = min(measured, key=lambda c: (measured[c].p, -(measured[c].difference or 0.0), c))
        best = measured[code]
        assert best.p is not None
        best.p = best.p_adjusted = min(1.0, len(measured) * best.p)
        best.feature = OF_ONE_LANGUAGE
        top = ", ".join(f"'{row['word']}'" for row in best.details["words"][:3])
        best.why = (
            f"In {names[code]}, one of {several(len(measured), 'language')} with at least"
            f" {RECORDS_OF_A_LANGUAGE} records in which words were looked for ({top}): {best.why}"
            f" Its p-value is corrected for the {several(len(measured), 'language')}."
        )
        best.details |= {"language": code, "languages": sorted(measured)}
        yield best


CHECK = Keywords()
