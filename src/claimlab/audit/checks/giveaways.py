"""Do boilerplate or placeholder words ("reuters", "url", a publisher's closing line) occur almost
only in one class?

Words that few texts hold, but almost all of them in one class: what they say of the rows that
hold them.

Macro-F1 over all rows cannot show them: a word in 8% of one class leaves the other rows as they
are, and a model that uses it scores no better than a guess. So the statistic is over the rows that
hold such a word: how much more often they carry its class than chance has it, in points of all
rows. Words are chosen on the training folds, by association.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from claimlab.audit import fair
from claimlab.audit.check import FairCheck, Findings, sampled
from claimlab.audit.details import holding, presence, word_counts, word_details
from claimlab.audit.features import OneSidedWords as Feature
from claimlab.audit.subject import Subject
from claimlab.audit.text_model import change, text_score
from claimlab.core.finding import Finding
from claimlab.core.stats.interval import Interval, interval, kinds, redraw
from claimlab.core.stats.permute import permutation_p
from claimlab.core.stats.scores import Floats, Ints
from claimlab.core.types import JsonObject, Sparse
from claimlab.text.mask import any_of
from claimlab.text.telling import (
    CANDIDATE_WORDS,
    CHARACTERS_MASKED,
    ONE_SIDED_RATIO,
    WORDS_MASKED,
    per_class,
)
from claimlab.text.telling import leaning as leaning_words

MASKED_ROWS = 3_000  # for the text model with and without the words
ONE_SIDED = "one-sided words"


class Giveaways(FairCheck):
    name = "giveaways"
    title = "Boilerplate and placeholders"
    question = "Do words that say nothing about the claim occur almost only in one class?"

    needs = ("text", "classes")

    def measure(self, subject: Subject) -> Findings:
        part = sampled(subject)
        words, table = presence(part.words, part.n, CANDIDATE_WORDS)
        if not words:
            yield self.unmeasured(subject, "No text contains a word.")
            return
        columns = Feature(table).columns(part.y, len(part.classes))
        details = word_details(part, words, table, only=columns) | part.sampling
        finding = self.shortcut(
            part,
            Feature(table),
            f"Words at least {ONE_SIDED_RATIO:.0f} times as frequent in one class as in the others"
            f" ({_shown(details)})",
            records=holding(part, table, columns),
            fact=self.name,
            details=details,
        )
        if finding.verdict == "not-measured":
            yield finding
            return
        every = np.union1d(columns, leaning(part, table))
        names = [words[i] for i in every.tolist() if len(words[i]) <= CHARACTERS_MASKED][
            :WORDS_MASKED
        ]
        if names:
            finding.details["text_model"] = left = masked(part, names)
            finding.why += f" {left['sentence']}"
        yield finding
        yield self._rare(part, words, table)

    def _rare(self, part: Subject, words: tuple[str, ...], table: Sparse) -> Finding:
        measured, columns = one_sided(part, table), leaning(part, table)
        details = word_details(part, words, table, only=columns[:40])
        rule, ends = part.settings.rule, measured.interval
        purity = 100 * measured.right / max(1, measured.held)
        return self.found(
            part,
            rule.verdict(ends, measured.p),
            f"Words that lean on one class in the training folds ({_shown(details)}): out of"
            f" fold, {measured.held:,} of {part.n:,} records contain one, and {purity:.0f}% of"
            f" those have its class, {100 * measured.excess:+.1f} points of all records more"
            f" than chance ({100 * ends[0]:+.1f} to {100 * ends[1]:+.1f}).",
            difference=measured.excess,
            difference_interval=ends,
            margin=rule.margin,
            p=measured.p,
            p_adjusted=measured.p,
            permutations=measured.permutations,
            moved=measured.moved,
            feature=ONE_SIDED,
            fact=self.name,
            records=holding(part, table, columns),
            details={**details, "held": measured.held, "right": measured.right},
        )


CHECK = Giveaways()


def leaning(subject: Subject, presence: Sparse) -> Ints:
    """The one-sided words of all rows together, the most widespread first."""
    counts = word_counts(subject, presence)
    columns, _ = leaning_words(counts, subject.sizes)
    return columns[np.argsort(-counts[:, columns].sum(axis=0), kind="stable")]


def masked(subject: Subject, words: list[str]) -> JsonObject:
    """How well a text model does on the texts, and on the same texts without `words`."""
    part = subject.drawn(MASKED_ROWS)
    texts = part.rows["text"]
    whole, bare = (text_score(part, t) for t in (texts, texts.str.replace_all(any_of(words), " ")))
    points, (low, high) = change(part, whole, bare)
    return {
        "whole": whole.score,
        "masked": bare.score,
        "change": points,
        "interval": [low, high],
        "rows": part.n,
        "words": len(words),
        "sentence": (
            f"A text model scores macro-F1 {100 * whole.score:.1f}, and {100 * bare.score:.1f} once"
            f" these words are masked ({100 * points:+.1f} points, {100 * low:+.1f} to"
            f" {100 * high:+.1f})."
        ),
    }


def _shown(details: JsonObject) -> str:
    return ", ".join(f"'{row['word']}'" for row in details["words"][:5]) or "none found"


@dataclass(frozen=True)
class OneSided:
    """`excess` is the share of rows that the words get right beyond chance, out of fold; `right` of
    `held` rows.
    """

    excess: float
    interval: Interval
    p: float
    permutations: int
    moved: float
    held: int
    right: int


def one_sided(subject: Subject, presence: Sparse) -> OneSided:
    """What one-sided words tell of the rows that hold them, against permuted labels."""
    settings, classes = subject.settings, len(subject.classes)
    deal = fair.deal_of(subject)
    values, holding, right = _excess(presence, subject.y, deal.fold[0], classes)
    distinct, cell = np.unique(values, return_inverse=True)
    counted = kinds(deal.groups, cell.ravel(), len(distinct))
    drawn = redraw(counted, lambda n: n @ distinct / n.sum(axis=1), seed=subject.seed)
    point = float(values.mean())
    permuted = np.empty(0)
    while len(permuted) < settings.many:
        more = range(len(permuted), len(permuted) + settings.few)
        permuted = np.append(permuted, [_permuted(presence, deal, i, classes) for i in more])
        if (permuted >= point).sum() or point > 4 * max(float(permuted.std()), float(drawn.std())):
            break
    return OneSided(
        point,
        interval(drawn, counted.effective, point=point) or (-1.0, 1.0),
        max(permutation_p(point, permuted, float(drawn.std())), deal.least_p),
        len(permuted),
        deal.moved(settings.few),
        holding,
        right,
    )


def _excess(
    presence: Sparse, labels: Ints, fold: fair.Folds, classes: int
) -> tuple[Floats, int, int]:
    """Per row what it adds to the excess, then how many rows hold a chosen word, and how many of
    those are right.
    """
    base = np.bincount(labels, minlength=classes) / len(labels)
    values, holding, right = np.zeros(len(labels)), 0, 0
    for k in range(int(fold.max()) + 1):
        test, train = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        counts = per_class(presence, train, labels[train], classes)
        words, leans = leaning_words(counts, np.bincount(labels[train], minlength=classes))
        if not len(words):
            continue
        votes = presence[test][:, words].astype(np.int64) @ (leans[:, None] == np.arange(classes))
        rows = np.flatnonzero(votes.sum(axis=1))
        answer = votes[rows].argmax(axis=1)
        hit = answer == labels[test][rows]
        values[test[rows]] = hit - base[answer]
        holding, right = holding + len(rows), right + int(hit.sum())
    return values, holding, right


def _permuted(presence: Sparse, deal: fair.Deal, number: int, classes: int) -> float:
    labels, fold = deal.permuted(number)
    return float(_excess(presence, labels.astype(np.int64), fold[0], classes)[0].mean())
