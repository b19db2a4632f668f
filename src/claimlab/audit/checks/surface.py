"""Do punctuation, capital letters, digits, whitespace, kinds of quotation marks, or the marks and
forms of letters of a script give the label away?
"""

from __future__ import annotations

import numpy as np

from claimlab.audit.check import FairCheck, Findings, sampled
from claimlab.audit.details import holding, word_details
from claimlab.audit.features import Numbers, OneSidedWords
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.core.stats.scores import Flags, Floats, Floats32, Ints
from claimlab.core.types import JsonObject
from claimlab.text.traits import MARKS, PATTERNS, marks, shares

LEFTOVERS, SCRIPT = "leftovers", "script"
FEWEST_TEXTS = 10  # that hold what is left over
RARE = 0.001  # of random draws: then what is left over depends on the label
ALMOST_ALL = 0.95  # of the texts that hold it are of one class


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
            if family != LEFTOVERS and (family != SCRIPT or _of_other_scripts(part)):
                yield from self._marks(part, family)
        yield from self._leftovers(part)

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
        columns = OneSidedWords(presence).columns(subject.y, len(subject.classes))
        if len(columns) and tree.verdict != "not-measured":
            examples = ", ".join(names[i] for i in columns[:3].tolist())
            words = word_details(subject, tuple(names), presence, only=columns)["words"]
            yield self.shortcut(
                subject,
                OneSidedWords(presence),
                f"Marks that are almost only in texts of one class ({examples})",
                f"{family}, one-sided marks",
                fact=family,
                records=holding(subject, presence, columns),
                details={"words": words},
            )

    def _leftovers(self, subject: Subject) -> Findings:
        """What is left of a wrong encoding or of a rating: a finding for each that some texts
        hold, and that depends on the label.
        """
        names, matrix = marks(subject.rows["text"], LEFTOVERS)
        for number, name in enumerate(names):
            presence = matrix[:, [number]]
            holding_rows = presence[:, 0] > 0
            counts = np.bincount(subject.y[holding_rows], minlength=len(subject.classes))
            share = _chance_of(subject, holding_rows)
            if counts.sum() >= FEWEST_TEXTS and share < RARE:
                yield self._left(subject, name, presence, counts, share)

    def _left(
        self, subject: Subject, name: str, presence: Floats32, counts: Ints, share: float
    ) -> Finding:
        from scipy.sparse import csr_matrix

        of = ", ".join(f"{n:,} {c}" for c, n in zip(subject.classes, counts, strict=True))
        sparse = csr_matrix(presence.astype(np.uint8))
        return self.found(
            subject,
            "fail" if counts.max() >= ALMOST_ALL * counts.sum() else "warn",
            f"{counts.sum():,} texts hold {name} ({of}); so uneven by chance: p {share:.1g}.",
            feature=name,
            n=len(subject.y),
            records=holding(subject, sparse, np.array([0])),
            details={"words": word_details(subject, (name,), sparse)["words"]},
        )


CHECK = Surface()


def _chance_of(subject: Subject, rows: Flags) -> float:
    """How often texts that hold what `rows` do would lean on a class as much by chance; where
    labels were given to whole units, of units with such a text, each of its most frequent class.
    """
    if subject.given is None:
        counts = np.bincount(subject.y[rows], minlength=len(subject.classes))
        return _chance(counts, subject.y)
    unit = np.unique(subject.given.codes, return_inverse=True)[1].ravel()
    tally = np.zeros((int(unit.max()) + 1, len(subject.classes)), np.int64)
    np.add.at(tally, (unit, subject.y), 1)
    label = tally.argmax(axis=1)
    counts = np.bincount(label[np.unique(unit[rows])], minlength=len(subject.classes))
    return _chance(counts, label)


def _of_other_scripts(subject: Subject) -> bool:
    """Whether marks of other scripts than Latin are in so many texts that they could tell."""
    return bool(marks(subject.rows["text"], SCRIPT)[1].any(axis=1).sum() >= FEWEST_TEXTS)


def _chance(counts: Ints, y: Ints) -> float:
    """How often as many texts, drawn at random, are of one class or more."""
    sizes = np.bincount(y, minlength=len(counts))
    tails = [
        _at_least(int(n), len(y), int(size), int(counts.sum()))
        for n, size in zip(counts, sizes, strict=True)
    ]
    return float(min(1.0, len(counts) * min(tails)))


def _at_least(n: int, records: int, of_class: int, drawn: int) -> float:
    """The upper tail of the hypergeometric distribution: `n` or more of a class among `drawn`."""
    from scipy.special import gammaln  # scipy.stats takes a second to import

    def ways(total: int | Ints, taken: int | Ints) -> Floats:
        """The logarithm of how many ways there are."""
        return np.asarray(
            gammaln(np.asarray(total) + 1)
            - gammaln(np.asarray(taken) + 1)
            - gammaln(np.asarray(total) - np.asarray(taken) + 1)
        )

    hits = np.arange(max(n, drawn - (records - of_class), 0), min(of_class, drawn) + 1)
    rest = ways(records - of_class, drawn - hits)
    return float(np.exp(ways(of_class, hits) + rest - ways(records, drawn)).sum())


def class_means(subject: Subject, names: list[str], matrix: Floats32) -> list[JsonObject]:
    return [
        {
            "feature": name,
            **subject.per_class(matrix[:, i], lambda values: round(float(values.mean()), 5)),
        }
        for i, name in enumerate(names)
    ]
