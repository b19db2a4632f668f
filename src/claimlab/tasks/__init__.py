"""A task: which question is asked of a record, what its answers are, and how answers are scored.

A task that reads a column is a table of `data/tasks.toml`; one that does more is a file in this
folder with a module-level TASK. The room is low in the house because a split is stratified by a
task's labels, a detector learns them, an audit tests them and an evaluation scores them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from claimlab.core.columns import column_values
from claimlab.core.errors import DataError, UnknownName
from claimlab.core.labels import fold
from claimlab.core.registry import Registry

if TYPE_CHECKING:
    from claimlab.core.dataset import Dataset

TRUTH = "veracity"
MAKERS = ("import", "load", "merge")  # steps that say what labels are about
TASKS: Registry[Task] = Registry(
    "task", package="claimlab.tasks", attribute="TASK", group="claimlab.tasks"
)


@dataclass(frozen=True)
class Task:
    """`read` gives every record its class, or null if the record is not part of the task.

    `classes` are in order, worst or first to last; empty means "whatever values are found".
    `meaning` says in a sentence what each class is: people read it in reports, models in prompts.
    `positive` is the class that AUROC and the true-positive rate look for; null means one class
    against the rest, averaged.
    """

    name: str
    summary: str
    read: Callable[[pl.DataFrame], pl.Series]
    classes: tuple[str, ...] = ()
    meaning: Mapping[str, str] = field(default_factory=dict)
    question: str = "Which class does this text belong to?"
    metric: str = "macro_f1"
    positive: str | None = None

    def labels(self, records: pl.DataFrame) -> pl.Series:
        """One class or null per record; a value outside the task's classes is a defect of the task,
        and raises.

        Parameters
        ----------
        records : pl.DataFrame
            The records, with the columns of a dataset.

        Returns
        -------
        pl.Series
            A series with a row for each record.
        """
        labels = self.read(records).cast(pl.String).alias("label")
        strange = (
            set(labels.drop_nulls().unique().to_list()) - set(self.classes)
            if self.classes
            else set()
        )
        if strange:
            raise DataError(
                f"The task '{self.name}' does not know {', '.join(sorted(map(repr, strange)))}.",
                f"Its classes are {', '.join(self.classes)}: map the values, or name a column"
                " instead.",
            )
        return labels

    def classes_in(self, records: pl.DataFrame) -> tuple[str, ...]:
        """The classes that these records hold, in the task's order (by name for an open task).

        Parameters
        ----------
        records : pl.DataFrame
            The records, with the columns of a dataset.
        """
        present = set(self.labels(records).drop_nulls().unique().to_list())
        return (
            tuple(c for c in self.classes if c in present)
            if self.classes
            else tuple(sorted(present))
        )


def open_task(name: str, records: pl.DataFrame | None = None) -> Task:
    """A known task, or any column (or key of `meta`) as an open task: its values are the
    classes.
    """
    if name in TASKS.names():
        return TASKS.get(name)
    if records is not None:
        try:
            column_values(records, name)
        except UnknownName as error:
            raise DataError(
                f"There is no task and no column '{name}' to predict.",
                f"Use a task ({', '.join(TASKS.names())}), a record column, or a key of meta.",
            ) from error
    return Task(
        name, f"The values of '{name}'.", lambda rows: column_values(rows, name).cast(pl.String)
    )


def own_task(dataset: Dataset, task: str | None = None) -> str:
    """`task`, or else what the labels of `dataset` are about by the step that made it: the default
    wherever a task can be named. It is veracity unless that step says otherwise.
    """
    tasks = (step.parameters.get("task") for step in dataset.lineage if step.step in MAKERS)
    return task or next((str(name) for name in tasks if name), TRUTH)


def not_verdicts(task: str) -> str:
    """What to say of a dataset whose labels answer another question than veracity."""
    return f"The labels are about {task}, not about truth: that is the task unless you name one."


def words_of(
    column: str, classes: Mapping[str, tuple[str, ...]]
) -> Callable[[pl.DataFrame], pl.Series]:
    """A reader that knows each class by several spellings (case, accents, dashes aside); other
    values are left out.
    """
    class_of = {fold(word): name for name, words in classes.items() for word in words}

    def read(records: pl.DataFrame) -> pl.Series:
        values = column_values(records, column).cast(pl.String)
        table = {
            value: class_of.get(fold(value)) for value in values.drop_nulls().unique().to_list()
        }
        return values.replace_strict(table, default=None, return_dtype=pl.String)

    return read
