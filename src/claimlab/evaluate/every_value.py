"""One score of a detector over all values of a column, each tested by a model that saw none of it.

Where publishers are few, a test of some of them says little of others. `claimlab split --all` makes
a split for every value, or for several where a value has one class only, so that each leaves out a
unit of each class; their tests together are the dataset, once. The score is of all answers pooled,
its units are the values. Models of one fold learn from labels that another fold is tested by, so
shuffled labels go through the whole procedure: they move between whole units, folds travel with
them, and every model is trained again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.front_door import FUNCTIONS
from claimlab.core.progress import progress
from claimlab.core.stats.codes import codes_of
from claimlab.core.stats.permute import Exchange
from claimlab.core.stats.scores import Ints
from claimlab.evaluate.confusion import macro_f1_of
from claimlab.evaluate.scored_run import ScoredRun, about_of, open_runs
from claimlab.tasks import TRUTH, own_task
from claimlab.text.unit import Unit, unit_names

SHUFFLES = 40  # each trains a model for every fold
TRUE_LABEL = "veracity"


def splits_in(folder: Path) -> list[Path]:
    """The datasets in a folder that `split --all` wrote, by name; empty for any other folder."""
    if not folder.is_dir() or (folder / "dataset.json").is_file():
        return []
    return sorted(place.parent for place in folder.glob("*/dataset.json"))


def pooled(
    splits: Sequence[Dataset], detector: str, *, seed: int = 0, shuffles: int = SHUFFLES
) -> ScoredRun:
    """The answers of a detector to the tests of all splits as one run, with its score on shuffled
    labels."""
    abouts = [about_of(split.lineage) for split in splits]
    column = abouts[0].unit if abouts else None
    if len(splits) < 2 or column is None or any(about.unit != column for about in abouts):
        raise DataError(
            "These splits do not hold out the values of one column, such as source.",
            "Split the data by that column with `every=True` first, and give that folder.",
        )
    if any(own_task(split, None) != TRUTH for split in splits):
        raise DataError(
            "Labels of another task than veracity cannot be shuffled through a detector.",
            "Evaluate a run of each split instead.",
        )
    first = splits[0]
    records = first.records
    fold = np.full(records.height, -1)
    for number, split in enumerate(splits):
        if split.records["id"].to_list() != records["id"].to_list():
            raise DataError("These splits are not of one dataset.", "Pass one folder of them.")
        tested = (split.records["split"] == "test").fill_null(value=False).to_numpy()
        if (fold[tested] >= 0).any():
            raise DataError("A record is in the test of two splits.", "Pass one folder of them.")
        fold[tested] = number
    fold[records[TRUE_LABEL].is_null().to_numpy()] = -1
    fold = np.unique(fold, return_inverse=True)[1].ravel() - int((fold < 0).any())
    run = _answers(first, records[TRUE_LABEL], fold, detector, seed)
    division = f"{column}: every value left out once"
    about = replace(run.about, divided_by=column, division=division, unit=column)
    run = replace(run, name=detector, about=about, unit=Unit(column))
    null = list(_shuffled(first, fold, column, (detector, seed, shuffles)))
    return replace(run, null=np.array(null, np.float64))


def _answers(data: Dataset, labels: pl.Series, fold: Ints, detector: str, seed: int) -> ScoredRun:
    """The answers to the test of every fold, in one table."""
    runs = []
    for number in range(int(fold.max()) + 1):
        here = pl.Series(fold)
        side = pl.when(here == number).then(pl.lit("test")).when(here >= 0).then(pl.lit("train"))
        records = data.records.with_columns(labels.alias(TRUE_LABEL), side.alias("split"))
        part = replace(data, records=records, path=None)
        runs += open_runs(FUNCTIONS.get("detect")(part, detector, seed=seed))
    classes = tuple(sorted({name for run in runs for name in run.classes}))
    table = pl.concat([run.table for run in runs], how="diagonal")
    return replace(runs[0], table=table, classes=classes, digest=data.digest())


def _shuffled(data: Dataset, fold: Ints, column: str, how: tuple[str, int, int]) -> Iterator[float]:
    """The scores of the same procedure on labels that were moved between whole units."""
    detector, seed, shuffles = how
    used = (data.records[TRUE_LABEL].is_not_null() & pl.Series(fold >= 0)).to_numpy()
    rows = np.flatnonzero(used)
    labels = data.records[TRUE_LABEL].gather(rows)
    names = labels.unique().sort()
    units = codes_of(unit_names(data.records, Unit(column)).gather(rows))
    exchange = Exchange(codes_of(labels), units)
    for number in range(shuffles):
        progress("shuffled labels", number, shuffles)
        rng = np.random.default_rng([seed, 40_000 + number])
        moved, carried = exchange.draw(rng, fold[rows])
        shuffled = np.full(data.records.height, None, dtype=object)
        shuffled[rows] = names.gather(moved).to_list()
        folds = np.full(len(fold), -1)
        folds[rows] = carried
        run = _answers(data, pl.Series(shuffled.tolist(), dtype=pl.String), folds, detector, seed)
        score = macro_f1_of(run.answers)
        yield np.nan if score is None else score
