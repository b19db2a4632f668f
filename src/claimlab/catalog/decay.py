"""What is left of a dataset, by class, and the bias that the loss causes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import polars as pl

from claimlab.catalog.load import DATASETS, load
from claimlab.core import packaged
from claimlab.core.stats.interval import interval
from claimlab.core.stats.resampled import resample
from claimlab.core.stats.scores import majority_f1, stratified_f1
from claimlab.core.types import JsonObject


@dataclass(frozen=True)
class Decay:
    """What is left of a dataset. `score` is the macro-F1 of telling the class by "is missing"
    alone, with its interval, next to the best baseline.
    """

    name: str
    day: date
    published: int | None
    table: pl.DataFrame
    score: float | None
    interval: tuple[float, float] | None
    baseline: float | None

    def sentence(self) -> str:
        size = "" if self.published is None else f"{self.published:,} published, "
        return f"{self.name}: {size}{in_words({'day': self.day, **self.facts()})}"

    def facts(self) -> JsonObject:
        """In all classes together: what cards keep."""
        sums = {column: int(self.table[column].sum()) for column in ("listed", "at_hand")}
        bias = {"score": self.score, "baseline": self.baseline}
        return sums | {name: round(score, 4) for name, score in bias.items() if score is not None}


def in_words(facts: JsonObject) -> str:
    return f"{facts['listed']:,} listed, {facts['at_hand']:,} with a text on {facts['day']}"


def known_decay(name: str) -> JsonObject | None:
    """What was left of a dataset when it was last counted; null where no row had lost its text."""
    facts: JsonObject | None = packaged.toml("claimlab.catalog", "decay.toml").get(name)
    return facts


def decay(name: str, source: str | Path, *, variant: str | None = None) -> Decay:
    """How much of the dataset `name` is in the files at `source`: rows that its publishers state,
    rows of the files, and rows with a text, by class; and the bias that the loss causes.

    Rows of a class that the published files had, as counted on its card, and that these files lack
    are missing as well.
    """
    entry = DATASETS.get(name)
    records = load(name, source, variant=variant, unmapped="unknown").records
    default = variant in (None, next(iter(entry.variants)))
    counted = dict(entry.real_labels) if default else {}
    table = (
        records.with_columns(label=pl.col("label_raw").fill_null("(none)"))
        .group_by("label")
        .agg(listed=pl.len(), at_hand=pl.col("text").is_not_null().sum())
        .sort("label")
    )
    stated = pl.Series([counted.get(label) for label in table["label"]], dtype=pl.Int64)
    table = table.with_columns(published=pl.max_horizontal(stated, "listed"))
    score = _bias(table.filter(pl.col("label") != "(none)"))
    return Decay(name, datetime.now(UTC).date(), entry.card.size, table, *score)


def _bias(
    table: pl.DataFrame,
) -> tuple[float | None, tuple[float, float] | None, float | None]:
    """Macro-F1 of the class from "is missing": the most frequent class of those that are missing,
    and of those that are not. Null where nothing or everything is missing, or there is one class.
    """
    left = table["at_hand"].to_numpy().astype(np.int64)
    lost = table["published"].to_numpy().astype(np.int64) - left
    if len(left) < 2 or not left.sum() or not lost.sum():
        return None, None, None
    classes = np.arange(len(left))
    truth = np.concatenate([np.repeat(classes, left), np.repeat(classes, lost)])
    guess = np.repeat([left.argmax(), lost.argmax()], [left.sum(), lost.sum()])
    drawn = resample(truth, [guess], np.arange(len(truth)), len(left))
    shares = np.bincount(truth)
    baseline = max(float(majority_f1(shares)), stratified_f1(shares))
    return drawn.score, interval(drawn.scores, drawn.units, point=drawn.score), baseline
