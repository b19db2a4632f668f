"""The dataset under audit, prepared once for all checks: usable rows, labels as codes, and what
must stay together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.stats.deal import Codes, codes_of, linked
from claimlab.core.stats.scores import Flags, Ints
from claimlab.core.words import several
from claimlab.tasks import open_task
from claimlab.text.near import NearTexts, near_texts
from claimlab.text.normalise import normal_form
from claimlab.text.telling import held_words


@dataclass(frozen=True)
class Subject:
    """`rows` are the records whose label is one of `classes`; `y` holds their codes (an index into
    `classes`).

    Where rows were left out so that each observation counts once, `note` says so, and `bound` has
    what must stay together as it was with them.
    """

    dataset: Dataset
    target: str
    rows: pl.DataFrame
    classes: tuple[str, ...]
    y: Codes
    bound: Codes | None = None
    note: str = ""

    @classmethod
    def of(cls, dataset: Dataset, target: str = "veracity") -> Subject:
        """Choose the rows for `target`, which is a task or any column: those that the task has a
        class for.
        """
        task = open_task(target)
        labels = task.labels(dataset.records)
        classes = task.classes_in(dataset.records)
        keep = labels.is_in(classes) & labels.is_not_null()
        code = {c: i for i, c in enumerate(classes)}
        y = (
            labels.filter(keep).replace_strict(code, return_dtype=pl.Int64).to_numpy()
            if classes
            else np.empty(0, np.int64)
        )
        return cls(dataset, target, dataset.records.filter(keep), tuple(classes), y)

    @cached_property
    def memo(self) -> dict[tuple[object, ...], Any]:
        """What several checks need and only one has to work out (folds, samples)."""
        return {}

    @property
    def n(self) -> int:
        return self.rows.height

    @property
    def has_text(self) -> bool:
        return self.rows["text"].null_count() < self.n

    @cached_property
    def class_counts(self) -> dict[str, int]:
        counts = np.bincount(self.y, minlength=len(self.classes))
        return {c: int(counts[i]) for i, c in enumerate(self.classes)}

    @cached_property
    def ids(self) -> list[str]:
        return self.rows["id"].to_list()

    @cached_property
    def everyone(self) -> Codes:
        """The index of every row."""
        return np.arange(self.n, dtype=np.int64)

    @cached_property
    def normal_text(self) -> pl.Series:
        """Texts as compared for exact duplicates: null stays null."""
        return normal_form(self.rows["text"])

    @cached_property
    def words(self) -> pl.DataFrame:
        """`row` and `word`, once for each word that a row's text holds; words of one letter are
        left out.
        """
        return held_words(self.rows["text"])

    @cached_property
    def groups(self) -> Codes:
        """Rows with one code must never be split: same normal text, or same `group`, or linked
        through others.
        """
        if self.bound is not None:
            return self.bound
        return linked([codes_of(self.normal_text), codes_of(self.rows["group"])], self.n)

    @cached_property
    def near(self) -> NearTexts:
        """Which texts are nearly the same (character 5-grams, Jaccard 0.7), found once for every
        check that asks.
        """
        return near_texts(self.normal_text)

    def take(self, index: Ints) -> Subject:
        """The same subject with only these rows; itself, with all it has worked out, where these
        are all of them.
        """
        if len(index) == self.n and np.array_equal(index, self.everyone):
            return self
        bound = None if self.bound is None else self.bound[index]
        return replace(self, rows=self.rows[index], y=self.y[index], bound=bound)

    @cached_property
    def distinct(self) -> Subject:
        """One record of each text and label: copies with one label are one observation."""
        return self.first_of_each(self.normal_text)

    def first_of_each(self, texts: pl.Series) -> Subject:
        """The first row of each of `texts` and label; a row without one is no copy. A text under
        two labels keeps one row of each, and what belonged together with a copy belongs together
        with the row that stays.
        """
        repeated = self.repeated(texts)
        copies = several(int(repeated.sum()), "copy is", "copies are")
        return self.standing(
            np.flatnonzero(~repeated), f"Each text counts once: {copies} left out."
        )

    def repeated(self, texts: pl.Series) -> Flags:
        """Which rows have the text and the label of an earlier one."""
        key = codes_of(texts) * max(1, len(self.classes)) + self.y
        return ~pl.Series(key).is_first_distinct().to_numpy()

    def standing(self, index: Ints, note: str) -> Subject:
        """Only these rows, which stand for all others; itself where there are no others."""
        if len(index) == self.n:
            return self
        return replace(
            self,
            rows=self.rows[index],
            y=self.y[index],
            bound=self.groups[index],
            note=f"{self.note} {note}".strip(),
        )

    def table(self, name: str) -> pl.DataFrame | None:
        return self.dataset.tables.get(name)
