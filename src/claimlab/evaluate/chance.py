"""Is a score above what needs no skill? The best of three baselines that do not read the text, and
a p-value.

`majority` always gives the most frequent class. `stratified` draws its answers from the labels.
`permuted` is what the run's own answers score against permuted labels: whatever class it prefers,
that much comes by chance. The test records took no part in the training, so answers need not be
made again for permuted labels.

A score is above chance where two tests agree, and the larger p-value counts. Few permutations of
the labels, which move groups of records as a whole, reach the score; and few resamples of whole
groups (and of seeds, where there are several) fall to the best baseline or below it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Unpack

import numpy as np
import polars as pl

from claimlab.core.stats.chance import Chance
from claimlab.core.stats.deal import codes_of
from claimlab.core.stats.interval import Resampling, interval
from claimlab.core.stats.permute import Exchange, permutation_p
from claimlab.core.stats.ranks import UNITS
from claimlab.core.stats.scores import (
    Floats,
    Ints,
    confusions,
    macro_f1,
    majority_f1,
    stratified_f1,
)
from claimlab.core.words import several
from claimlab.evaluate.compare import draw_metric, over_seeds
from claimlab.evaluate.metric import macro_f1_of, thin_classes, unmeasured
from claimlab.evaluate.scored_run import Runs, ScoredRun

PERMUTATIONS, FEWEST = 200, 20
# labels permuted in all: of a million records, fewer permutations are made
MOST_LABELS = 10_000_000
# of the labels that a free permutation moves; below it the permutations are no control
LEAST_MOVED = 0.5


def against_chance(runs: Runs, **how: Unpack[Resampling]) -> Chance:
    """Runs that differ in their seed alone, or one run."""
    scores = [macro_f1_of(run.answers) for run in runs]
    known = [score for score in scores if score is not None]
    if not runs or len(known) < len(runs):
        reasons = [why for run in runs if (why := unmeasured(run.answers))]
        return Chance(why=f"Macro-F1 is {[*reasons, 'not measured: there is no run'][0]}.")
    permuted, moved, freely = permuted_scores(runs, how.get("seed", 0))
    trivial = _mean_over(runs, majority_f1), _mean_over(runs, stratified_f1)
    chance = Chance(*trivial, float(permuted.mean()), moved)
    score, best = float(np.mean(known)), chance.best or 0.0
    chance = replace(chance, difference=score - best)
    if why := _no_control(runs, moved, freely):
        return replace(chance, why=why)
    drawn = draw_metric(runs, **how)
    if drawn is None:
        thin = dict.fromkeys(name for run in runs for name in thin_classes(run.answers))
        return replace(chance, why=f"Too few records of {', '.join(thin)}.")
    if drawn.groups < UNITS:
        return replace(chance, why=f"The records are only {several(drawn.groups, 'group')}.")
    means = over_seeds(drawn.draws)
    ends = interval(means - best, drawn.groups, point=score - best)
    by_permuting = permutation_p(score, permuted, float(means.std()))
    # resamples that fall to the baseline; where none does, a tail
    by_resampling = permutation_p(-best, -means, 0.0)
    return replace(chance, interval=ends, p=max(by_resampling, by_permuting))


def _mean_over(runs: Runs, score: Callable[[Ints], Floats | float]) -> float:
    """The mean score of a trivial baseline, which depends on the sizes of the classes alone."""
    return float(np.mean([score(np.bincount(run.answers.truth)) for run in runs]))


def _no_control(runs: Runs, moved: float, freely: float) -> str | None:
    """Why permuted labels say nothing of these runs; null where they do."""
    if all(len(np.unique(run.answers.guess)) == 1 for run in runs):
        return "Every record has the same answer."
    if moved < LEAST_MOVED * freely:
        return f"Shuffling the labels of whole groups changes only {100 * moved:.0f}% of them."
    return None


def permuted_scores(runs: Runs, seed: int) -> tuple[Floats, float, float]:
    """The mean macro-F1 of the runs under each permutation of the labels, common to all of them;
    the share of labels that these moved, and the share that free ones would move."""
    union = pl.concat(
        [run.table.select("id", "truth").with_columns(cluster=run.clusters) for run in runs]
    ).unique("id", keep="first", maintain_order=True)
    classes = union["truth"].unique().sort()
    labels, groups = codes_of(union["truth"]), codes_of(union["cluster"])
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
    return macro_f1(np.concatenate(tables)).mean(axis=1), moved, exchange.moved_freely


def _guesses(run: ScoredRun, classes: pl.Series) -> Ints:
    """The answers of a run as numbers of `classes`; behind these, any other answer, and none."""
    answers = run.answers
    place = {name: i for i, name in enumerate(classes)}
    numbers = [*(place[name] for name in answers.classes), len(place), len(place) + 1]
    return np.array(numbers, np.int64)[answers.guess]
