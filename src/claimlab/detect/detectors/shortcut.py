"""One shortcut alone: what a detector would score that looks at nothing but length, source, date or another trait.

On a leaderboard it is the row that a detector must clear before its score says anything of reading. Numbers go to a
small decision tree; categories answer with the class that is over-represented among training rows of the same value.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.columns import column_values
from claimlab.core.errors import DataError
from claimlab.detect.detector import Detector, Part, Prediction
from claimlab.detect.learned import Learned
from claimlab.detect.tree import Tree
from claimlab.text.traits import PATTERNS, as_numbers, lengths, links, shares, sites

Floats = npt.NDArray[np.float64]
COLUMNS = {"event": "group"}  # what audits call differently


class Shortcut(Detector):
    name: ClassVar[str] = "shortcut"
    summary: ClassVar[str] = "One property alone (length, case, source, any column): what a shortcut achieves."
    quick: ClassVar[bool] = True
    from_scratch: ClassVar[bool] = True

    def __init__(self, *, feature: str = "length") -> None:
        self.feature = feature

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        self.classes = sorted(set(train.labels))
        y = np.array([self.classes.index(label) for label in train.labels])
        values = trait(train.records, self.feature)
        self.numeric = not isinstance(values, pl.Series)
        if isinstance(values, pl.Series):
            if values.null_count() == values.len():
                raise DataError(f"No training record has a value in '{self.feature}'.", "Choose another feature.")
            self._count(values, y)
        else:
            self.features = values.shape[1]
            self.tree = Tree.of(_tree(seed).fit(values, y))

    def learned(self) -> dict[str, Any]:
        if self.numeric:
            return {"classes": self.classes, "tree": self.tree.learned(), "features": self.features}
        known = pl.DataFrame({"value": [value for value in self.shares if value is not None]}, {"value": pl.String})
        shares = [self.shares[value] for value in known["value"]]
        missing = {"missing": self.shares[None]} if None in self.shares else {}
        matrix = np.array(shares, np.float64).reshape(len(shares), len(self.classes))
        return {"classes": self.classes, "values": known, "shares": matrix, "usual": self.usual, **missing}

    def recall(self, learned: Learned) -> None:
        self.classes = learned.words("classes")
        width, self.numeric = len(self.classes), "tree" in learned
        if self.numeric:
            self.features = learned.whole("features")
            self.tree = Tree.recalled(learned.part("tree"), width, self.features)
            return
        values = learned.table("values", {"value": pl.String()})["value"].to_list()
        shares = learned.array("shares", np.float64, [len(values), width])
        self.shares: dict[object, Floats] = dict(zip(values, shares, strict=True))
        if "missing" in learned:
            self.shares[None] = learned.array("missing", np.float64, [width])
        self.usual = learned.array("usual", np.float64, [width])

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        if self.numeric:
            values = trait(records, self.feature, numeric=True)
            shares: Floats = self.tree.predict(values)
        else:
            values = trait(records, self.feature, numeric=False)
            rows = [self.shares.get(v, self.usual) for v in values.to_list()]
            shares = np.stack(rows) if rows else np.empty((0, len(self.classes)))
        return [
            Prediction(self.classes[int(row.argmax())], dict(zip(self.classes, map(float, row), strict=True)))
            for row in shares
        ]

    def _count(self, values: pl.Series, y: npt.NDArray[np.int64]) -> None:
        """Shares of each class per value, a rare class weighing as much as a frequent one, smoothed by one row.

        A value never met in training, or none at all, is answered with the usual class.
        """
        overall = np.bincount(y, minlength=len(self.classes)).astype(np.float64)
        counts: dict[object, Floats] = {}
        for value, k in zip(values.to_list(), y.tolist(), strict=True):
            counts.setdefault(value, np.zeros(len(self.classes)))[k] += 1
        lifts = {value: (row + overall / overall.sum()) / overall for value, row in counts.items()}
        self.shares = {value: lift / lift.sum() for value, lift in lifts.items()}
        self.usual = overall / overall.sum()


def trait(records: pl.DataFrame, feature: str, *, numeric: bool | None = None) -> Any:
    """The trait of each record: a matrix of numbers, or a column of categories.

    `numeric` holds a column to the kind that it had in training; null lets the values decide.
    """
    texts = records["text"]
    if feature == "length":
        return lengths(texts)
    if feature in PATTERNS:
        return shares(texts, feature)[1]
    if feature == "url":
        return links(texts)
    values = sites(records) if feature == "domain" else column_values(records, COLUMNS.get(feature, feature))
    figures = as_numbers(values) if numeric is None else _figures(values) if numeric else None
    return values.cast(pl.String) if figures is None else figures.to_numpy().astype(np.float32)[:, None]


def _figures(values: pl.Series) -> pl.Series:
    """A column that was numeric in training, parsed again; anything else is missing."""
    if values.dtype.is_temporal():
        return values.cast(pl.Datetime("us")).dt.epoch("d").cast(pl.Float64).fill_null(float("nan"))
    return values.cast(pl.Float64, strict=False).fill_null(float("nan"))


def _tree(seed: int) -> Any:
    """As large as an audit's: it can show a shortcut, and is too small to learn the task."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_leaf_nodes=20, min_samples_leaf=5, class_weight="balanced", random_state=seed)


DETECTOR = Shortcut
