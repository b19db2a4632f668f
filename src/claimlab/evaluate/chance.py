"""Is a score above what needs no skill? The best of three baselines that do not read the text, and
a p-value.

`majority` always gives the most frequent class. `stratified` draws its answers from the labels.
`permuted` is what the run's own answers score against permuted labels: whatever class it prefers,
that much comes by chance. The test records took no part in the training, so answers need not be
made again for permuted labels; where they did (`split --all`), the whole procedure was.

A score is above chance where two tests agree, and the larger p-value counts. Few permutations of
the labels reach the score; they move labels at the level at which these were given: of whole
publishers, where each has one label. And few resamples of whole units (and of seeds, where there
are several) fall to the best baseline or below it. Fewer than 6 units of a class are not tested.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
import polars as pl

from claimlab.core.stats.chance import Chance
from claimlab.core.stats.codes import codes_of
from claimlab.core.stats.interval import LEAST_UNITS, Resampling, interval
from claimlab.core.stats.permute import Exchange, permutation_p
from claimlab.core.stats.scores import (
    Floats,
    Ints,
    confusions,
    macro_f1,
    majority_f1,
    stratified_f1,
)
from claimlab.core.units import Units, label_level, plural_of, too_few
from claimlab.core.words import several
from claimlab.evaluate.common_draws import Drawn, draw_metric, over_seeds
from claimlab.evaluate.confusion import macro_f1_of
from claimlab.evaluate.scored_run import Runs, ScoredRun
from claimlab.evaluate.sufficiency import thin_classes, unmeasured
from claimlab.evaluate.units import common_units
from claimlab.text.roles import roles_in

PERMUTATIONS, FEWEST = 200, 20
# labels permuted in all: of a million records, fewer permutations are made
MOST_LABELS = 10_000_000
# of the labels that a free permutation moves; below it the permutations are no control
LEAST_MOVED = 0.5


def against_chance(runs: Runs, **how: Unpack[Resampling]) -> Chance:
    """Runs that differ in their seed alone, or one run."""
    runs = common_units(runs) if runs else runs
    scores = [macro_f1_of(run.answers) for run in runs]
    measured = [score for score in scores if score is not None]
    if not runs or len(measured) < len(runs):
        reasons = [why for run in runs if (why := unmeasured(run.answers))]
        return Chance(why=f"Macro-F1 is {[*reasons, 'not measured: there is no run'][0]}.")
    control = permuted_scores(runs, how.get("seed", 0))
    trivial = _mean_over(runs, majority_f1), _mean_over(runs, stratified_f1)
    chance = Chance(*trivial, float(control.scores.mean()), control.moved)
    score, best = float(np.mean(measured)), chance.best or 0.0
    chance = replace(chance, difference=score - best)
    if why := _no_control(runs, control):
        return replace(chance, why=why)
    drawn = draw_metric(runs, **how)
    if drawn is None:
        thin = dict.fromkeys(name for run in runs for name in thin_classes(run.answers))
        return replace(chance, why=f"Too few records of {', '.join(thin)}.")
    if drawn.effective < LEAST_UNITS:
        units = drawn.units
        return replace(chance, why=f"Only {too_few(units.words, units.count, drawn.effective)}.")
    if control.level.column is not None and control.fewest < LEAST_UNITS:
        few = several(control.fewest, control.level.noun)
        why = f"A class has records of only {few}, which share their labels; at least"
        return replace(chance, why=f"{why} {LEAST_UNITS} are needed.")
    means = over_seeds(drawn.draws)
    ends = interval(means - best, drawn.effective, point=score - best)
    by_permuting = permutation_p(score, control.scores, float(means.std()))
    # resamples that fall to the baseline; where none does, a tail
    by_resampling = max(permutation_p(-best, -means, 0.0), _tail(score - best, means, drawn))
    p = max(by_resampling, by_permuting, control.least_p)
    return replace(chance, interval=ends, p=p)


def _tail(gain: float, means: Floats, drawn: Drawn) -> float:
    """The p-value of a gain whose standard error was estimated from few units: Student's t."""
    from scipy.special import stdtr  # scipy.stats takes a second to import

    units = drawn.effective
    error = max(float(means.std()), 1e-12) * np.sqrt(units / (units - 1))
    return float(stdtr(units - 1, -gain / error))


def _mean_over(runs: Runs, score: Callable[[Ints], Floats | float]) -> float:
    """The mean score of a trivial baseline, which depends on the sizes of the classes alone."""
    return float(np.mean([score(np.bincount(run.answers.truth)) for run in runs]))


def _no_control(runs: Runs, control: Control) -> str | None:
    """Why permuted labels say nothing of these runs; null where they do."""
    if all(len(np.unique(run.answers.guess)) == 1 for run in runs):
        return "Every record has the same answer."
    if control.moved < LEAST_MOVED * control.freely:
        groups = plural_of(control.level.column)
        share = f"{100 * control.moved:.0f}%"
        return f"Shuffling the labels of whole {groups} changes only {share} of them."
    return None


@dataclass(frozen=True)
class Control:
    """The mean macro-F1 of the runs under each permutation of the labels, which were moved at a
    `level`; the share of labels that these `moved`, and that free ones would. Of the class that has
    the `fewest` units, how many it has; and the smallest p that so few units can give."""

    scores: Floats
    level: Units
    fewest: int
    least_p: float
    moved: float
    freely: float


def permuted_scores(runs: Runs, seed: int) -> Control:
    """Permutations common to all runs, over the records of all of them."""
    union = pl.concat(
        [run.table.with_columns(cluster=run.clusters) for run in runs], how="diagonal"
    ).unique("id", keep="first", maintain_order=True)
    classes, labels = union["truth"].unique().sort(), codes_of(union["truth"])
    level = _label_level(runs[0], union, labels)
    groups = level.codes
    places = union.select("id", place=pl.int_range(pl.len()))
    rows = [
        run.table.select("id").join(places, on="id", maintain_order="left")["place"].to_numpy()
        for run in runs
    ]
    guesses = [_guesses(run, classes) for run in runs]
    exchange, rng = Exchange(labels, groups), np.random.default_rng([seed, len(labels)])
    times = max(FEWEST, min(PERMUTATIONS, MOST_LABELS // max(1, len(labels))))
    tables: list[Ints] = []
    moved = 0.0
    for permuted in exchange.draw_labels(rng, times):
        moved += sum(share / times for share in (permuted != labels).mean(axis=1).tolist())
        counts = [
            confusions(permuted[:, row], guess, len(classes), extra=2)
            for row, guess in zip(rows, guesses, strict=True)
        ]
        tables.append(np.stack(counts, axis=1))
    fewest = min(level.of_class(labels, label) for label in range(len(classes)))
    scores = macro_f1(np.concatenate(tables)).mean(axis=1)
    trained = [run.null for run in runs if run.null is not None]
    if trained and len(trained) == len(runs):
        scores = np.mean(trained, axis=0)
    return Control(scores, level, fewest, level.least_p(labels), moved, exchange.moved_freely)


def _label_level(run: ScoredRun, union: pl.DataFrame, labels: Ints) -> Units:
    """What labels were given to as a whole: the values of a role column, or else the units that
    are resampled, whose labels change places as a whole and within."""
    units = Units.by(run.unit.column, union["cluster"])
    if run.unit.named:
        return units
    level = label_level(roles_in(union), labels)
    return units if level.column is None else level


def _guesses(run: ScoredRun, classes: pl.Series) -> Ints:
    """The answers of a run as numbers of `classes`; behind these, any other answer, and none."""
    answers = run.answers
    place = {name: i for i, name in enumerate(classes)}
    numbers = [*(place[name] for name in answers.classes), len(place), len(place) + 1]
    return np.array(numbers, np.int64)[answers.guess]
