"""The dataset under audit, prepared once for all checks: usable rows, labels as codes, and what
must stay together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.audit.rule import AuditSettings, Context
from claimlab.core.dataset import Dataset
from claimlab.core.stats.codes import Codes, codes_of, linked
from claimlab.core.stats.scores import Flags, Ints
from claimlab.core.types import JsonObject
from claimlab.core.units import Units, label_level
from claimlab.core.words import several
from claimlab.tasks import open_task, own_task
from claimlab.text.near import NearTexts, near_texts
from claimlab.text.normalise import normal_form
from claimlab.text.roles import roles_in
from claimlab.text.stopwords import without_stop_words
from claimlab.text.telling import held_words

T = TypeVar("T")
Values = npt.NDArray[Any]
HELD_OUT = ("dev", "test")  # the parts whose labels may be withheld
WITHHELD = ""  # the class of a record without a label, where such records are read


@dataclass(frozen=True)
class Subject:
    """`rows` are the records whose label is one of `classes`; `y` holds their codes (an index into
    `classes`).

    Where rows were left out so that each observation counts once, `note` says so, and `bound` has
    what must stay together as it was with them. `sampling` is for a finding's details: how many
    rows were drawn, and of how many. A group that claimlab made of near-copies is no column that a
    detector reads: `bound` has it, `rows` do not; `near_copies` counts its rows. `levels` is what
    the whole subject, of which these are some rows, has as `given`; empty where this is the whole.
    """

    dataset: Dataset
    target: str
    rows: pl.DataFrame
    classes: tuple[str, ...]
    y: Codes
    context: Context = field(default_factory=Context)
    bound: Codes | None = None
    note: str = ""
    sampling: JsonObject = field(default_factory=dict)
    near_copies: int = 0
    levels: tuple[Units | None, ...] = ()

    @classmethod
    def of(
        cls, dataset: Dataset, target: str | None = None, context: Context | None = None
    ) -> Subject:
        """Choose the rows for `target`, which is a task or any column: those that the task has a
        class for.
        """
        target = own_task(dataset, target)
        task = open_task(target)
        labels = task.labels(dataset.records)
        classes = task.classes_in(dataset.records)
        keep = labels.is_in(classes) & labels.is_not_null()
        y = labels.filter(keep).cast(pl.Enum(classes)).to_physical().to_numpy().astype(np.int64)
        rows = dataset.records.filter(keep)
        subject = cls(dataset, target, rows, tuple(classes), y, context or Context())
        own = rows.select(pl.when(~pl.col("id").is_in(made_groups(dataset))).then("group"))["group"]
        n = own.null_count() - rows["group"].null_count()
        if not n:
            return subject
        rows = rows.with_columns(own)
        return replace(subject, rows=rows, bound=subject.groups, near_copies=n)

    def under(self, context: Context) -> Subject:
        """The same for another context; itself, with all it has worked out, for its own."""
        return self if context == self.context else replace(self, context=context)

    @cached_property
    def memo(self) -> dict[tuple[object, ...], Any]:
        """What several checks need and only one has to work out (folds, samples)."""
        return {}

    @property
    def settings(self) -> AuditSettings:
        return self.context.settings

    @property
    def seed(self) -> int:
        return self.context.seed

    @property
    def n(self) -> int:
        return self.rows.height

    @property
    def has_text(self) -> bool:
        return self.rows["text"].null_count() < self.n

    @cached_property
    def sizes(self) -> Ints:
        """The number of rows of each class."""
        return np.bincount(self.y, minlength=len(self.classes))

    @cached_property
    def class_counts(self) -> dict[str, int]:
        return self.named(self.sizes)

    def named(self, counts: Ints) -> dict[str, int]:
        """A count of each class, by its name."""
        return dict(zip(self.classes, counts.tolist(), strict=True))

    def per_class(self, values: Values, statistic: Callable[[Values], T]) -> dict[str, T]:
        """A statistic of the values of each class; `values` has one for each row."""
        return {c: statistic(values[self.y == k]) for k, c in enumerate(self.classes)}

    @cached_property
    def ids(self) -> list[str]:
        return self.rows["id"].to_list()

    @property
    def labels(self) -> pl.DataFrame:
        """`id` and `label` of every row."""
        names = pl.Series(self.classes, dtype=pl.String).gather(self.y)
        return self.rows.select("id", label=names)

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
        """`row` and `word`, once for each word that a row's text holds."""
        return held_words(self.rows["text"], self.rows["language"])

    @cached_property
    def content_words(self) -> pl.DataFrame:
        """`words` without the stop words of each row's own language."""
        return without_stop_words(self.words, self.rows["language"])

    @cached_property
    def groups(self) -> Codes:
        """Rows with one code must never be split: same normal text, or same `group`, or linked
        through others.
        """
        if self.bound is not None:
            return self.bound
        return linked([codes_of(self.normal_text), codes_of(self.rows["group"])], self.n)

    @cached_property
    def given(self) -> Units | None:
        """What labels were given to as a whole, among texts that count once; null where that is
        single records. A record without a value belongs to what it must stay together with.
        """
        if self.levels:
            return self.levels[0]
        once = ~self.repeated(self.normal_text)
        level = label_level(roles_in(self.rows.filter(once)), self.y[once])
        if level.column is None or len(self.classes) < 2:
            return None
        values = roles_in(self.rows)[level.column]
        codes, blank = codes_of(values), values.is_null().to_numpy()
        if blank.any():
            codes = np.where(blank, int(codes.max()) + 1 + self.groups, codes)
        return Units(level.column, codes)

    @cached_property
    def ungiven(self) -> Subject:
        """The same, as if labels were given to single records."""
        return self if self.given is None else replace(self, levels=(None,))

    @cached_property
    def units(self) -> Units:
        """What is resampled as a whole and stays on one side: what labels were given to, or what
        must stay together, where that is coarser.
        """
        groups = Units("group", self.groups)
        if self.given is None:
            return groups
        pairs = np.unique(np.stack([self.given.codes, self.groups]), axis=1)
        nested = pairs.shape[1] == self.given.count  # each lies within one group
        return groups if nested and groups.count < self.given.count else self.given

    @cached_property
    def near(self) -> NearTexts:
        """Which texts are nearly the same (character 5-grams, Jaccard 0.7), found once for every
        check that asks.
        """
        return near_texts(self.normal_text)

    def take(self, index: Ints) -> Subject:
        """The same subject with only these rows; itself, with all it has worked out, where these
        are all of them. What is bound is numbered by its first row, whatever was left out.
        """
        if len(index) == self.n and np.array_equal(index, self.everyone):
            return self
        bound = None if self.bound is None else linked([self.bound[index]], len(index))
        levels = (None if self.given is None else self.given.take(index),)
        return replace(self, rows=self.rows[index], y=self.y[index], bound=bound, levels=levels)

    def where(self, chosen: pl.Series) -> Subject:
        """The same subject with only the rows that are `chosen`."""
        return self.take(np.flatnonzero(chosen.to_numpy()))

    def beside(self, table: pl.DataFrame) -> pl.DataFrame:
        """What `table` has on each row, by its `record_id`."""
        ids = self.rows.select(record_id="id")
        return ids.join(table, on="record_id", how="left", maintain_order="left")

    def aligned(self, whole: Subject, values: pl.Series) -> pl.Series:
        """Of the values of the rows of `whole`, those of these rows."""
        value_of = dict(zip(whole.ids, values, strict=True))
        return pl.Series([value_of[record] for record in self.ids], dtype=values.dtype)

    def drawn(self, most: int) -> Subject:
        """`most` rows drawn at random where there are more."""
        if self.n <= most:
            return self
        chosen = np.random.default_rng(self.context.seed).choice(self.n, most, replace=False)
        part = self.take(np.sort(chosen))
        return replace(part, sampling={"sampled_rows": most, "of_rows": self.n})

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
        part = replace(self, bound=self.groups, note=f"{self.note} {note}".strip())
        return part.take(index)

    def table(self, name: str) -> pl.DataFrame | None:
        return self.dataset.tables.get(name)

    @cached_property
    def hidden(self) -> pl.DataFrame:
        """The records of dev and test that have no label: a test whose labels are withheld can leak
        as any other.
        """
        records = self.dataset.records
        unlabelled = (
            open_task(self.target).labels(records).is_null() & records["label_raw"].is_null()
        )
        return records.filter(unlabelled & records["split"].is_in(HELD_OUT).fill_null(value=False))

    @cached_property
    def with_hidden(self) -> Subject:
        """The same with the `hidden` records, in the order of the dataset; their class, the last,
        is `WITHHELD`. Itself where there are none. For questions that need no label of a test.
        """
        if not self.hidden.height:
            return self
        hidden = self.hidden.with_columns(pl.lit(len(self.classes), pl.Int64).alias("y"))
        every = pl.concat([self.rows.with_columns(pl.Series("y", self.y)), hidden])
        order = self.dataset.records.select("id").with_row_index("row")
        every = every.join(order, on="id", maintain_order="left").sort("row").drop("row")
        return replace(
            self,
            rows=every.drop("y"),
            classes=(*self.classes, WITHHELD),
            y=every["y"].to_numpy(),
            bound=None,
            levels=(None,),
        )


def made_groups(dataset: Dataset) -> list[str]:
    """The ids of records whose group cleaning filled with their near-copies."""
    changes = dataset.tables.get("changes")
    if changes is None or not {"id", "step", "column"} <= set(changes.columns):
        return []
    return changes.filter(column="group", step="near-duplicates")["id"].to_list()
