"""Protocol `fair`: how much does this feature alone give away, measured so that the answer can be believed.

- What must stay together stays together: exact duplicates and rows of one `group` (a grouping column itself is
  tested with rows split at random, since the question is what it gives away).
- Repeated stratified grouped cross-validation; whatever is chosen is chosen on the training rows only.
- Beside the score: the majority answer, a draw from the label distribution, and the same check on shuffled labels.
- A 95 % interval by resampling whole groups, and a permutation p.
- The verdict rule, written down (`Rule`): FAIL only when the interval's lower end clears the best baseline by the
  margin and p is small; WARN when it clears the baseline by less; PASS otherwise; too few rows are NOT MEASURED.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from claimlab.audit.features import Codes, Feature
from claimlab.audit.subject import Subject
from claimlab.core.finding import Baselines, Finding, Verdict
from claimlab.core.stats.deal import deal
from claimlab.core.stats.interval import interval
from claimlab.core.stats.repeats import resample
from claimlab.core.stats.scores import confusion, macro_f1, majority_f1, stratified_f1

Grouping = Literal["groups", "rows"]


@dataclass(frozen=True)
class Rule:
    """The numbers behind a verdict, the same for every check and every dataset."""

    margin: float = 0.05  # macro-F1 by which the interval must clear the best baseline for a fail
    alpha: float = 0.05
    min_class: int = 30  # rows of the rarest class
    min_groups: int = 10  # groups of the rarest class

    def verdict(self, low: float, best: float, p: float) -> Verdict:
        if p > self.alpha or low <= best:
            return "pass"
        return "fail" if low > best + self.margin else "warn"

    def words(self) -> str:
        """The rule as a report prints it."""
        return (
            f"Fail when the lower end of the 95 % interval clears the best baseline by more than "
            f"{100 * self.margin:.0f} points of macro-F1 and p is at most {self.alpha}; warn when it clears it by "
            f"less; else pass. Not measured when a class has fewer than {self.min_class} rows or {self.min_groups} "
            f"groups."
        )


@dataclass(frozen=True)
class Settings:
    folds: int = 4
    repeats: int = 3
    shuffles: int = 19
    max_rows: int = 100_000  # larger sets are sampled, and the finding says so
    rule: Rule = Rule()


@dataclass(frozen=True)
class Measured:
    score: float
    interval: tuple[float, float]
    baselines: Baselines
    p: float
    n: int
    classes: dict[str, int]


def too_few(subject: Subject, groups: Codes, rule: Rule) -> str | None:
    """Why this cannot be measured, or null."""
    if len(subject.classes) < 2:
        only = f"only '{subject.classes[0]}'" if subject.classes else "none"
        return f"It needs two classes; the dataset has {only}."
    rarest = min(subject.class_counts, key=lambda c: subject.class_counts[c])
    rows = subject.class_counts[rarest]
    if rows < rule.min_class:
        return f"Class '{rarest}' has {rows} rows; at least {rule.min_class} are needed."
    held = len(np.unique(groups[subject.y == subject.classes.index(rarest)]))
    if held < rule.min_groups:
        return f"The rows of class '{rarest}' form {held} groups that must stay together; {rule.min_groups} are needed."
    return None


class Deal:
    """How the rows of one subject are dealt into folds, for its labels and for shuffled ones, seed by seed.

    Every feature of a subject is tested on the same folds, so each is dealt once, however many checks ask.
    """

    def __init__(self, y: Codes, groups: Codes, classes: int, folds: int) -> None:
        self.y, self.groups, self.classes, self.folds = y, compact(groups), classes, folds
        self._shares = (1 / folds,) * folds
        self._folds: dict[int, npt.NDArray[np.int8]] = {}
        self._shuffled: dict[int, tuple[npt.NDArray[np.int16], npt.NDArray[np.int8]]] = {}

    def fold(self, seed: int) -> npt.NDArray[np.int8]:
        if seed not in self._folds:
            self._folds[seed] = deal(self.y, self.groups, self._shares, seed).astype(np.int8)
        return self._folds[seed]

    def shuffled(self, seed: int) -> tuple[Codes, npt.NDArray[np.int8]]:
        """Labels moved between groups, and the folds dealt for them."""
        if seed not in self._shuffled:
            moved = move_labels(self.y, self.groups, np.random.default_rng(10_000 + seed))
            fold = deal(moved, self.groups, self._shares, seed)
            self._shuffled[seed] = moved.astype(np.int16), fold.astype(np.int8)
        moved_small, fold_small = self._shuffled[seed]
        return moved_small.astype(np.int64), fold_small


def deal_of(subject: Subject, grouping: Grouping, folds: int) -> Deal:
    """The subject's own deal, made when first asked for."""
    key = ("deal", grouping, folds)
    if key not in subject.memo:
        groups = subject.groups if grouping == "groups" else subject.everyone
        subject.memo[key] = Deal(subject.y, groups, len(subject.classes), folds)
    deal: Deal = subject.memo[key]
    return deal


def measure(subject: Subject, feature: Feature, *, deal: Deal, settings: Settings, seed: int = 0) -> Measured:
    """Score `feature` on `subject`; `deal` says which rows stay together. The caller has ruled out `too_few`."""
    classes, groups = len(subject.classes), deal.groups
    guesses = [out_of_fold(deal, feature, seed=seed + r) for r in range(settings.repeats)]
    drawn = resample(subject.y, guesses, groups, classes, seed=seed)
    score = drawn.score
    shuffled = np.array([_shuffled_score(deal, feature, seed + s) for s in range(settings.shuffles)])
    counts = np.bincount(subject.y, minlength=classes)
    return Measured(
        score=score,
        interval=interval(drawn.scores, drawn.groups, point=score) or (0.0, 1.0),
        baselines=Baselines(
            majority=float(majority_f1(counts)), stratified=stratified_f1(counts), shuffled=float(shuffled.mean())
        ),
        p=float((1 + (shuffled >= score).sum()) / (1 + len(shuffled))),
        n=subject.n,
        classes=subject.class_counts,
    )


def compact(groups: Codes) -> Codes:
    """The same groups numbered from 0 without gaps, as the functions below expect them."""
    return np.unique(groups, return_inverse=True)[1].ravel()


def out_of_fold(deal: Deal, feature: Feature, *, seed: int) -> npt.NDArray[np.int64]:
    """A guess for every row, each from a model that saw neither the row nor anything of its group."""
    fold = deal.fold(seed)
    guess = np.zeros(len(deal.y), np.int64)
    for k in range(deal.folds):
        test = np.flatnonzero(fold == k)
        train = np.flatnonzero(fold != k)
        guess[test] = feature.fit(train, deal.y[train], deal.classes, seed=seed)(test)
    return guess


def _shuffled_score(deal: Deal, feature: Feature, seed: int) -> float:
    """One fold of the same check on labels that were moved between groups."""
    moved, fold = deal.shuffled(seed)
    test, train = np.flatnonzero(fold == 0), np.flatnonzero(fold != 0)
    guess = feature.fit(train, moved[train], deal.classes, seed=seed)(test)
    return float(macro_f1(confusion(moved[test], guess, deal.classes)))


def move_labels(y: Codes, groups: Codes, rng: np.random.Generator) -> Codes:
    """Shuffle labels by whole groups: rows that shared a label because they share a group still do, mostly."""
    order = np.argsort(groups, kind="stable")
    rank = rng.permutation(int(groups.max()) + 1)
    moved = np.empty_like(y)
    moved[order] = y[np.argsort(rank[groups], kind="stable")]
    return moved


def finding(
    check: str, measured: Measured, rule: Rule, *, why: str, feature: str | None = None, **more: object
) -> Finding:
    """A finding with the rule applied; `why` is completed with what the numbers say."""
    best = measured.baselines.best() or 0.0
    verdict = rule.verdict(measured.interval[0], best, measured.p)
    low, high = measured.interval
    numbers = (
        f"macro-F1 {100 * measured.score:.1f} (95 % interval {100 * low:.1f} to {100 * high:.1f}) "
        f"against {100 * best:.1f} for the best baseline"
    )
    return Finding.model_validate(
        {
            "check": check,
            "protocol": "fair",
            "verdict": verdict,
            "why": f"{why}: {numbers}.",
            "score": measured.score,
            "baselines": measured.baselines,
            "interval": measured.interval,
            "p": measured.p,
            "n": measured.n,
            "classes": measured.classes,
            "feature": feature,
            **more,
        }
    )
