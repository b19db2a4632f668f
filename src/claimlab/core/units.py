"""What varies independently: records of one publisher, author, event or thread are not independent
evidence, so a figure over them holds for so many publishers, not for so many records.

A number of units counts what they tell: the effective number is that of units of equal size whose
mean is as certain. Fewer than 6 carry no interval and no verdict, fewer than 20 are called few.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from claimlab.core.stats.codes import codes_of
from claimlab.core.stats.interval import FEW_UNITS, LEAST_UNITS, effective_groups
from claimlab.core.stats.scores import Ints
from claimlab.core.types import JsonObject
from claimlab.core.words import several

LEAST_AGREEMENT = 0.5  # of labels within a value, for labels to be given to values
LEAST_RECURRING = 0.5  # of the records, for a column to say anything of them
NOUNS = {"source": "publisher", "group": "group", "time": "stretch of time"}
PLURALS = {"time": "stretches of time"}
RECORD = "record"


@dataclass(frozen=True)
class Units:
    """The unit of every record, as a code; `column` is null where each record is one."""

    column: str | None
    codes: Ints

    @classmethod
    def by(cls, column: str, values: pl.Series) -> Units:
        """Equal values are one unit; a record without a value is one by itself."""
        return cls(column, codes_of(values))

    @classmethod
    def records(cls, n: int) -> Units:
        return cls(None, np.arange(n))

    @cached_property
    def sizes(self) -> Ints:
        return np.unique(self.codes, return_counts=True)[1]

    @property
    def count(self) -> int:
        return len(self.sizes)

    @property
    def effective(self) -> float:
        """How many units of equal size tell as much: (sum n)^2 / sum n^2."""
        return effective_groups(self.sizes)

    @property
    def enough(self) -> bool:
        return self.effective >= LEAST_UNITS

    @property
    def few(self) -> bool:
        return self.effective < FEW_UNITS

    @property
    def noun(self) -> str:
        return noun_of(self.column)

    @property
    def counted(self) -> str:
        """How many they are, in words: 4 publishers."""
        return several(self.count, self.noun, plural_of(self.column))

    @property
    def words(self) -> str:
        """The records and their units: 140 records of 4 publishers (largest 61%)."""
        records = several(len(self.codes), RECORD)
        if self.count == len(self.codes):
            return records
        return f"{records} of {self.counted} (largest {self.largest:.0%})"

    @property
    def largest(self) -> float:
        """The share of the records that belong to the largest unit."""
        return float(self.sizes.max() / len(self.codes)) if len(self.codes) else 0.0

    @property
    def why_not(self) -> str | None:
        """Why they carry no interval; null where they do."""
        return None if self.enough else too_few(self.words, self.count, self.effective)

    def of_class(self, labels: Ints, label: int) -> int:
        """How many units have records of a class."""
        return len(np.unique(self.codes[labels == label]))

    def least_p(self, labels: Ints) -> float:
        """The smallest p that shuffling can give: one in the number of ways to give their labels to
        units that have one each. Where units hold several classes, there are more ways than matter.
        """
        from scipy.special import gammaln  # scipy.stats takes a second to import

        pairs = np.unique(np.stack([self.codes, labels]), axis=1)
        if pairs.shape[1] > self.count:
            return 0.0
        of_class = np.unique(pairs[1], return_counts=True)[1]
        return float(np.exp(gammaln(of_class + 1).sum() - gammaln(self.count + 1)))

    def take(self, index: Ints) -> Units:
        """The units of these records."""
        return Units(self.column, self.codes[index])

    def to_json(self) -> JsonObject:
        return {
            "column": self.column,
            "records": len(self.codes),
            "units": self.count,
            "effective": round(self.effective, 1),
            "largest": round(self.largest, 4),
        }


def noun_of(column: str | None) -> str:
    """What one unit is called: a publisher, an author, a record."""
    return RECORD if column is None else NOUNS.get(column, column.removeprefix("meta."))


def plural_of(column: str | None) -> str:
    """What several units are called: publishers, authors, records."""
    return PLURALS.get(column or "", f"{noun_of(column)}s")


def too_few(words: str, count: int, effective: float) -> str:
    """Why so few units carry no interval and no verdict."""
    alike = "" if count < LEAST_UNITS else f", which tell as much as {effective:.1f} of equal size"
    return f"{words}{alike}; at least {LEAST_UNITS} are needed"


def agreement(codes: Ints, labels: Ints) -> tuple[float, float]:
    """How far records that share a code share their label, and the share of records whose code
    recurs. 1: always; 0: as often as under shuffled labels."""
    unit = np.unique(codes, return_inverse=True)[1].ravel()
    size = np.bincount(unit)
    recurring = size[unit] > 1
    n = int(recurring.sum())
    if n == 0:
        return 0.0, 0.0
    label = np.unique(labels, return_inverse=True)[1].ravel()
    classes = int(label.max()) + 1
    place = unit[recurring] * classes + label[recurring]
    alike = np.bincount(place)[place] - 1
    shared = float((alike / (size[unit[recurring]] - 1)).mean())
    of_class = np.bincount(label[recurring]).astype(np.float64)
    expected = float((of_class * (of_class - 1)).sum() / (n * (n - 1)))
    share = n / len(codes)
    return ((shared - expected) / (1 - expected) if expected < 1 else 0.0), share


def label_level(columns: Mapping[str, pl.Series], labels: Ints, named: str | None = None) -> Units:
    """The units to which labels were given as a whole: those of the column that was `named`, or
    else the coarsest column whose values mostly agree in their labels, or else single records."""
    if named is not None:
        return Units.by(named, columns[named])
    levels = [
        units
        for units in (Units.by(column, values) for column, values in columns.items())
        if carries_labels(units, labels)
    ]
    return coarsest([*levels, Units.records(len(labels))])


def carries_labels(units: Units, labels: Ints) -> bool:
    """Whether labels were given to these units as a whole."""
    agreed, recurring = agreement(units.codes, labels)
    return recurring >= LEAST_RECURRING and agreed >= LEAST_AGREEMENT and units.count > 1


def coarsest(units: list[Units]) -> Units:
    """Those of the fewest effective units; of nested columns the outer one."""
    return min(units, key=lambda each: each.effective)
