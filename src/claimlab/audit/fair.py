"""Protocol `fair`: how much does this feature alone give away, measured so that the answer can be
believed.

- What must stay together stays together: exact duplicates and rows of one `group`, and what labels
  were given to as a whole, such as publishers (a column that says so, or lies within it, is tested
  with rows split at random, since the question is what it gives away).
- Repeated stratified grouped cross-validation; whatever is chosen is chosen on the training rows
  only.
- One statistic for everything: the mean over repeats of the macro-F1 of the pooled out-of-fold
  answers. The interval
  resamples whole units and scores all repeats under the same weights; permuted labels go through
  the same procedure.
- Permutations stop early where the decision is clear, and go on to 200 where it is close.
- The verdict comes from the interval of the difference to the best baseline (`audit/rule.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from claimlab.audit.features import Feature
from claimlab.audit.rule import AuditSettings
from claimlab.audit.subject import Subject
from claimlab.core.finding import Baselines
from claimlab.core.stats.deal import deal
from claimlab.core.stats.interval import Interval, interval
from claimlab.core.stats.permute import Exchange, permutation_p
from claimlab.core.stats.resampled import Resampled, resample
from claimlab.core.stats.scores import Floats, Ints, macro_f1, majority_f1, stratified_f1
from claimlab.core.units import Units, plural_of

Grouping = Literal[
    "groups", "rows", "any size"
]  # the last: groups, whose size is what is asked about
Folds = npt.NDArray[np.int8]
Tables = npt.NDArray[np.int32]
Permuted = tuple[npt.NDArray[np.int16], Folds]
WORK = 6_000_000  # counts held at a time
CLEAR = 6.0  # standard deviations between the score and the permuted ones
GROUP = "group"  # what must stay together, where labels were given to single records
ENOUGH_PERMUTATIONS = 5  # permutations that reach the score: no need for more


@dataclass(frozen=True)
class Measured:
    """One feature against its baselines; `p` is not yet adjusted for the other tests of the
    audit.
    """

    score: float
    interval: Interval
    baselines: Baselines
    difference: float
    difference_interval: Interval
    p: float
    permutations: int
    moved: float
    moved_freely: float
    n: int
    classes: dict[str, int]
    units: Units

    def words(self) -> str:
        """The numbers in a sentence."""
        few = ", few units" if self.units.few else ""
        of = f", over {self.units.words}{few}" if few or self.units.column != GROUP else ""
        of = of if self.units.column else ""
        low, high, below, above = (100 * end for end in (*self.interval, *self.difference_interval))
        return (
            f"macro-F1 {100 * self.score:.1f} (95% interval {low:.1f} to {high:.1f}) against"
            f" {100 * (self.score - self.difference):.1f} for the best baseline,"
            f" {100 * self.difference:+.1f} points ({below:+.1f} to {above:+.1f}){of}"
        )


def too_few(subject: Subject, units: Units) -> str | None:
    """Why this cannot be measured, or null."""
    rule = subject.settings.rule
    if len(subject.classes) < 2:
        only = f"only '{subject.classes[0]}'" if subject.classes else "none"
        return f"It needs two classes; the dataset has {only}."
    rarest = min(subject.class_counts, key=lambda c: subject.class_counts[c])
    rows = subject.class_counts[rarest]
    if rows < rule.min_class:
        return f"Class '{rarest}' has {rows} rows; at least {rule.min_class} are needed."
    plural, each = plural_of(units.column), range(len(subject.classes))
    fewest = min(each, key=lambda label: units.of_class(subject.y, label))
    of_class = units.of_class(subject.y, fewest)
    if of_class < rule.min_groups or units.effective < rule.least_units:
        return (
            f"{units.counted}: the {plural}, whose records are not independent, tell as much as"
            f" {units.effective:.1f} of equal size, and {of_class} of them have records of class"
            f" '{subject.classes[fewest]}'; at least {rule.min_groups} are needed."
        )
    return None


class Deal:
    """Rows assigned to folds, for their labels and for permuted ones: computed once for all checks.

    Folds are even in labels, and travel with them. Where groups of `any_size` exchange labels that
    is not possible: folds are even in the sizes of groups, and stay where they are. Where labels
    were `given` to smaller units, these exchange them.
    """

    def __init__(
        self,
        y: Ints,
        groups: Ints,
        classes: int,
        settings: AuditSettings,
        seed: int,
        *,
        any_size: bool = False,
        given: Ints | None = None,
    ) -> None:
        self.y, self.groups, self.classes, self.seed = y, groups, classes, seed
        self.folds, self.repeats = settings.folds, settings.repeats
        shares = (1 / self.folds,) * self.folds
        self.exchange = Exchange(y, groups if given is None else given, any_size=any_size)
        self.stays = any_size
        # so few units can be told from chance only so well
        self.least_p = Units(None, self.exchange.group).least_p(y)
        even = self.exchange.size[self.exchange.group] if any_size else y
        self.fold = np.stack(
            [deal(even, groups, shares, seed + r) for r in range(self.repeats)]
        ).astype(np.int8)
        self._permuted: list[Permuted] = []

    def permuted(self, number: int) -> Permuted:
        """Labels of the permutation with this number, and the folds of each repeat, which travel
        with them.
        """
        while len(self._permuted) <= number:
            rng = np.random.default_rng([self.seed, 10_000 + len(self._permuted)])
            labels, fold = self.exchange.draw(rng, self.fold)
            self._permuted.append(
                (labels.astype(np.int16), self.fold if self.stays else fold.astype(np.int8))
            )
        return self._permuted[number]

    def moved(self, permutations: int) -> float:
        """The share of labels that the first `permutations` permutations moved."""
        return float(np.mean([(self.permuted(i)[0] != self.y).mean() for i in range(permutations)]))


def deal_of(subject: Subject, grouping: Grouping = "groups") -> Deal:
    """The subject's own deal, made when first asked for."""
    key = ("deal", grouping)
    if key not in subject.memo:
        context, groups = subject.context, units_of(subject, grouping).codes
        given = None if subject.given is None or grouping == "rows" else subject.given.codes
        subject.memo[key] = Deal(
            subject.y,
            groups,
            len(subject.classes),
            context.settings,
            context.seed,
            # whole publishers exchange labels whatever the copies of their texts
            any_size=grouping == "any size" and subject.given is None,
            given=given,
        )
    deal: Deal = subject.memo[key]
    return deal


def units_of(subject: Subject, grouping: Grouping) -> Units:
    """What stays on one side of a fold, and is resampled."""
    return Units.records(subject.n) if grouping == "rows" else subject.units


def unmeasurable(subject: Subject, grouping: Grouping = "groups") -> str | None:
    """Why nothing can be compared with shuffled labels here, or null."""
    reason = too_few(subject, units_of(subject, grouping))
    if reason is not None:
        return reason
    moved, free = movement(subject, grouping)
    if moved >= subject.settings.rule.min_moved * free:
        return None
    if subject.given is not None:
        plural = plural_of(subject.given.column)
        return (
            f"Shuffled labels would be nearly the real ones: labels were given to whole {plural},"
            f" and {plural} of one class differ in size from those of another, so that"
            f" {100 * moved:.0f}% of the labels change where {100 * free:.0f}% should. Collect more"
            f" {plural} of each class."
        )
    return (
        "Shuffled labels would be nearly the real ones: records of one group stay together, and"
        f" groups of one class differ in size from groups of another, so that {100 * moved:.0f}% of"
        f" the labels change where {100 * free:.0f}% should. Collect more groups of each class, or"
        " leave the column `group` empty where records need not stay together."
    )


def movement(subject: Subject, grouping: Grouping = "groups") -> tuple[float, float]:
    """The share of labels that shuffling changes, and the share that it would change without
    groups.
    """
    deal = deal_of(subject, grouping)
    return deal.moved(subject.settings.few), deal.exchange.moved_freely


def shuffled_freely(subject: Subject) -> Subject:
    """`subject`, or where its groups keep labels from being shuffled, one row of each group and
    label.

    Groups of one class only that differ in size from those of the other class cannot exchange
    labels. One row of each can, at the price of the other rows. Where that leaves too few, nothing
    is left out, and the reason is given.
    """
    if subject.given is not None or too_few(subject, subject.units) is not None:
        return subject
    moved, free = movement(subject)
    if moved >= subject.settings.rule.min_moved * free:
        return subject
    order = np.random.default_rng([subject.seed, 30_000]).permutation(subject.n)
    kinds = subject.groups[order] * len(subject.classes) + subject.y[order]
    rows = np.sort(order[np.unique(kinds, return_index=True)[1]])
    note = (
        f"One record of each group and label, drawn at random, stands for it ({len(rows):,} of"
        f" {subject.n:,}): groups of one class differ in size from groups of another."
    )
    one_each = subject.standing(rows, note)
    return subject if too_few(one_each, one_each.units) is not None else one_each


def measure(subject: Subject, feature: Feature, deal: Deal) -> Measured:
    """Score `feature` on `subject`; `deal` says which rows stay together. The caller has ruled out
    `unmeasurable`.
    """
    guesses = out_of_fold(deal, feature)
    drawn = resample(deal.y, guesses, deal.groups, deal.classes, seed=subject.seed)
    return against_permuted(
        subject, drawn, deal, lambda start, more: permuted_scores(deal, feature, start, more)
    )


def against_permuted(
    subject: Subject,
    drawn: Resampled,
    deal: Deal,
    scores: Callable[[int, int], Floats],
    *,
    close: bool = True,
) -> Measured:
    """A score against its baselines. `scores(start, more)` gives the same statistic on so many
    permutations of `deal`; it is asked for a few where the decision is clear, and for many where it
    may be `close`."""
    settings = subject.settings
    most = settings.many if close else settings.few
    counts = np.bincount(deal.y, minlength=deal.classes)
    fixed = Baselines(majority=float(majority_f1(counts)), stratified=stratified_f1(counts))
    permuted = np.empty(0)
    while True:
        drawn_so_far = len(permuted)  # a few are added first, then up to twice as many as there are
        more = min(2 * drawn_so_far or settings.few, most - drawn_so_far)
        permuted = np.concatenate([permuted, scores(drawn_so_far, more)])
        baselines = fixed.model_copy(update={"shuffled": float(permuted.mean())})
        difference, gap = against_best(drawn, baselines, permuted, subject.seed)
        if len(permuted) >= most or decided(drawn, permuted, gap):
            break
    return Measured(
        score=drawn.score,
        interval=interval(drawn.scores, drawn.units, point=drawn.score) or (0.0, 1.0),
        baselines=baselines,
        difference=difference,
        difference_interval=gap,
        p=max(permutation_p(drawn.score, permuted, float(drawn.scores.std())), deal.least_p),
        permutations=len(permuted),
        moved=deal.moved(min(settings.few, len(permuted))),
        moved_freely=deal.exchange.moved_freely,
        n=subject.n,
        classes=subject.class_counts,
        units=subject.units if deal.groups is subject.units.codes else Units.records(subject.n),
    )


def decided(drawn: Resampled, permuted: Floats, gap: Interval) -> bool:
    """Whether more permutations could change nothing: no alarm is possible, the score is far away,
    or reached often.
    """
    far = drawn.score - permuted.mean() > CLEAR * max(
        float(permuted.std(ddof=1)), float(drawn.scores.std())
    )
    return gap[0] <= 0 or bool(far) or int((permuted >= drawn.score).sum()) >= ENOUGH_PERMUTATIONS


def against_best(
    drawn: Resampled, baselines: Baselines, permuted: Floats, seed: int
) -> tuple[float, Interval]:
    """The score less its best baseline, and the interval of that difference under the same
    resamples.
    """
    best = baselines.best() or 0.0
    if best == baselines.majority:
        floor = drawn.majority
    elif best == baselines.stratified:
        floor = np.full(len(drawn.scores), best)
    else:  # the mean of the permuted scores is itself an estimate
        rng = np.random.default_rng([seed, 20_000])
        floor = rng.choice(permuted, size=(len(drawn.scores), len(permuted))).mean(axis=1)
    point = drawn.score - best
    return point, interval(drawn.scores - floor, drawn.units, point=point) or (-1.0, 1.0)


def out_of_fold(deal: Deal, feature: Feature) -> list[Ints]:
    """For each repeat a guess for every row, each from a model that saw neither the row nor
    anything of its group.
    """
    counts = fold_counts(deal, feature.cell, deal.y, deal.fold)
    answers = feature.answers(trained_on(counts)).reshape(deal.repeats, deal.folds, -1)
    return [answers[r][deal.fold[r], feature.cell] for r in range(deal.repeats)]


def permuted_scores(deal: Deal, feature: Feature, start: int, more: int) -> Floats:
    """The same statistic on permuted labels: the models learn them, and are scored by them."""
    cells = int(feature.cell.max()) + 1
    step = max(1, WORK // (deal.repeats * deal.folds * cells * deal.classes))
    scores = []
    for first in range(start, start + more, step):
        drawn = [deal.permuted(i) for i in range(first, min(first + step, start + more))]
        counts = np.concatenate(
            [fold_counts(deal, feature.cell, labels, fold) for labels, fold in drawn]
        )
        scores.append(_pooled(feature.answers(trained_on(counts)), counts, len(drawn)))
    return np.concatenate(scores)


def fold_counts(deal: Deal, cell: Ints, labels: npt.NDArray[np.integer], fold: Folds) -> Tables:
    """Rows by repeat, fold, cell and class."""
    cells = int(cell.max()) + 1
    inside = cell * deal.classes + labels
    size = cells * deal.classes
    tables = [
        np.bincount(f.astype(np.int64) * size + inside, minlength=deal.folds * size) for f in fold
    ]
    return np.stack(tables).reshape(-1, deal.folds, cells, deal.classes).astype(np.int32)


def trained_on(counts: Tables) -> Tables:
    """The rows of the other folds, one model after another."""
    others: Tables = counts.sum(axis=1, keepdims=True, dtype=np.int32) - counts
    return others.reshape(-1, *counts.shape[2:])


def _pooled(answers: Ints, counts: Tables, permutations: int) -> Floats:
    """Mean over repeats of the macro-F1 of all folds together, per permutation."""
    repeats, _, _, classes = counts.shape  # repeats of all permutations
    place = np.arange(repeats)[:, None] * classes + answers.reshape(repeats, -1)
    tested = counts.reshape(repeats, -1, classes)
    tables = [
        np.bincount(place.ravel(), tested[:, :, k].ravel(), minlength=repeats * classes).reshape(
            repeats, classes
        )
        for k in range(classes)
    ]
    return np.asarray(macro_f1(np.stack(tables, axis=1)).reshape(permutations, -1).mean(axis=1))
