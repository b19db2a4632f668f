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
import numpy.typing as npt

from claimlab.audit import fair
from claimlab.audit.check import Context
from claimlab.audit.details import holding, word_details, word_presence
from claimlab.audit.features import Giveaways as Feature
from claimlab.audit.shortcut import FairCheck, noted, sampled, shortcut
from claimlab.audit.subject import Subject
from claimlab.audit.text_model import text_score
from claimlab.core.finding import Finding
from claimlab.core.stats.interval import Interval, difference, interval, kinds, redraw
from claimlab.core.stats.permute import permutation_p
from claimlab.core.stats.scores import Floats, Ints
from claimlab.core.types import JsonObject, Sparse
from claimlab.text.mask import any_of
from claimlab.text.telling import CANDIDATES, LONGEST, MASKED, RATIO, per_class
from claimlab.text.telling import leaning as leaning_words

MASKED_ROWS = 3_000  # for the text model with and without the words
RARE = "one-sided words"
Columns = Ints


class Giveaways(FairCheck):
    name = "giveaways"
    title = "Boilerplate and placeholders"
    question = "Do words that say nothing of the claim occur almost only in one class?"

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        if not subject.has_text:
            return [self.unmeasured("The records have no text.", subject.n)]
        if len(subject.classes) < 2:
            return [self.unmeasured("It needs two classes.", subject.n)]
        part = sampled(subject, context)
        words, presence = word_presence(part.subject, frozenset(), CANDIDATES)
        if not words:
            return [self.unmeasured("No text contains a word.", subject.n)]
        columns = Feature(presence).columns(part.subject.y, len(subject.classes))
        details = {**word_details(part.subject, words, presence, only=columns), **part.note}
        finding = shortcut(
            part.subject,
            context,
            self.name,
            Feature(presence),
            why=(
                f"Words at least {RATIO:.0f} times as frequent in one class as in the others"
                f" ({_shown(details)})"
            ),
            records=holding(part.subject, presence, columns),
            fact=self.name,
            details=details,
        )
        if finding.verdict == "not-measured":
            return [finding]
        every = np.union1d(columns, leaning(part.subject, presence))
        names = [words[i] for i in every.tolist() if len(words[i]) <= LONGEST][:MASKED]
        if names:
            finding.details["text_model"] = left = masked(part.subject, context, names)
            finding.why += f" {left['sentence']}"
        return [finding, self._rare(part.subject, context, words, presence)]

    def _rare(
        self, part: Subject, context: Context, words: tuple[str, ...], presence: Sparse
    ) -> Finding:
        measured, columns = one_sided(part, presence, context), leaning(part, presence)
        details = word_details(part, words, presence, only=columns[:40])
        low, high = (100 * end for end in measured.interval)
        purity = 100 * measured.right / max(1, measured.held)
        finding = Finding(
            check=self.name,
            protocol="fair",
            verdict=context.settings.rule.verdict(measured.interval, measured.p),
            why=(
                f"Words that lean on one class in the training folds ({_shown(details)}): out of"
                f" fold, {measured.held:,} of {part.n:,} records contain one, and {purity:.0f}% of"
                f" those have its class, {100 * measured.excess:+.1f} points of all records more"
                f" than chance ({low:+.1f} to {high:+.1f})."
            ),
            difference=measured.excess,
            difference_interval=measured.interval,
            margin=context.settings.rule.margin,
            p=measured.p,
            p_adjusted=measured.p,
            permutations=measured.permutations,
            moved=measured.moved,
            n=part.n,
            classes=part.class_counts,
            feature=RARE,
            fact=self.name,
            records=holding(part, presence, columns),
            details={**details, "held": measured.held, "right": measured.right},
        )
        return noted(finding, part)


def leaning(subject: Subject, presence: Sparse) -> Columns:
    """The one-sided words of all rows together, the most widespread first."""
    counts = per_class(presence, subject.everyone, subject.y, len(subject.classes))
    columns, _ = leaning_words(counts, np.bincount(subject.y, minlength=len(subject.classes)))
    return columns[np.argsort(-counts[:, columns].sum(axis=0), kind="stable")]


def masked(subject: Subject, context: Context, words: list[str]) -> JsonObject:
    """How well a text model does on the texts, and on the same texts without `words`."""
    part = subject
    if subject.n > MASKED_ROWS:
        rows = np.random.default_rng(context.seed).choice(subject.n, MASKED_ROWS, replace=False)
        part = subject.take(np.sort(rows).astype(np.int64))
    texts = part.rows["text"]
    whole, bare = (
        text_score(part, context, t) for t in (texts, texts.str.replace_all(any_of(words), " "))
    )
    groups = fair.deal_of(part, "groups", context.settings, context.seed).groups
    change, ends = difference(
        part.y, whole.answers, bare.answers, groups, len(part.classes), seed=context.seed
    )
    before, after = whole.score, bare.score
    low, high = (100 * end for end in ends)
    return {
        "whole": before,
        "masked": after,
        "change": change,
        "interval": list(ends),
        "rows": part.n,
        "words": len(words),
        "sentence": (
            f"A text model scores macro-F1 {100 * before:.1f}, and {100 * after:.1f} once these"
            f" words are masked ({100 * change:+.1f} points, {low:+.1f} to {high:+.1f})."
        ),
    }


def _shown(details: JsonObject) -> str:
    return ", ".join(f"'{row['word']}'" for row in details["words"][:5]) or "none found"


CHECK = Giveaways()


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


def one_sided(subject: Subject, presence: Sparse, context: Context) -> OneSided:
    """What one-sided words tell of the rows that hold them, against permuted labels."""
    settings, classes = context.settings, len(subject.classes)
    deal = fair.deal_of(subject, "groups", settings, context.seed)
    values, held, right = _excess(presence, subject.y, deal.fold[0], classes)
    distinct, cell = np.unique(values, return_inverse=True)
    known = kinds(deal.groups, cell.ravel(), len(distinct))
    drawn = redraw(known, lambda n: n @ distinct / n.sum(axis=1), seed=context.seed)
    point = float(values.mean())
    permuted = np.empty(0)
    while len(permuted) < settings.many:
        more = range(len(permuted), len(permuted) + settings.few)
        permuted = np.append(permuted, [_permuted(presence, deal, i, classes) for i in more])
        if (permuted >= point).sum() or point > 4 * max(float(permuted.std()), float(drawn.std())):
            break
    return OneSided(
        point,
        interval(drawn, known.groups, point=point) or (-1.0, 1.0),
        permutation_p(point, permuted, float(drawn.std())),
        len(permuted),
        deal.moved(settings.few),
        held,
        right,
    )


def _excess(
    presence: Sparse, labels: Ints, fold: npt.NDArray[np.int8], classes: int
) -> tuple[Floats, int, int]:
    """Per row what it adds to the excess, then how many rows hold a chosen word, and how many of
    those are right.
    """
    base = np.bincount(labels, minlength=classes) / len(labels)
    values, held, right = np.zeros(len(labels)), 0, 0
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
        held, right = held + len(rows), right + int(hit.sum())
    return values, held, right


def _permuted(presence: Sparse, deal: fair.Deal, number: int, classes: int) -> float:
    labels, fold = deal.permuted(number)
    return float(_excess(presence, labels.astype(np.int64), fold[0], classes)[0].mean())
