"""The contract of a detector: `fit` learns from labelled records, `predict` answers for others
without their labels.

A detector is one file in `detect/detectors/` with a module-level DETECTOR: a subclass of `Detector`
whose keyword arguments are its settings. Constructors store each setting under its own name, `fit`
learns, seeds are arguments. A run predicts in shards, so that it can be stopped and taken up again:
the answer for a record must not depend on which other records are asked about in the same call.
Where a run shares its work, other processes predict with what it says that it learned.

One that asks a model or a search is best derived from `Asking` (detect/asking.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import polars as pl

from claimlab.core.errors import DataError
from claimlab.core.progress import Progress, silent
from claimlab.core.registry import Registry
from claimlab.core.settings import declared
from claimlab.core.types import Json, JsonObject
from claimlab.detect.learned import Learned, read_learned, write_learned
from claimlab.search.evidence import Evidence
from claimlab.tasks import Task
from claimlab.tasks.table import VERACITY

ABSTAINED = ("no-evidence", "insufficient-evidence")
DETECTORS: Registry[type[Detector]] = Registry(
    "detector",
    package="claimlab.detect.detectors",
    attribute="DETECTOR",
    group="claimlab.detectors",
)


@dataclass(frozen=True)
class Prediction:
    """A label, a score per class (they need not sum to one), and, where the detector can, why.

    A prediction that failed has a null label and a `failure`: it is counted, never guessed. A
    detector that declines to answer for lack of evidence has a null label and says so in
    `abstained`: that is an answer, not a failure.
    """

    label: str | None
    scores: dict[str, float] = field(default_factory=dict)
    rationale: str | None = None
    evidence_ids: tuple[str, ...] = ()
    cost: float | None = None  # US dollars; null: not known
    seconds: float | None = None
    failure: str | None = None
    abstained: str | None = None  # one of ABSTAINED
    found: tuple[
        Evidence, ...
    ] = ()  # what it found by searching: goes into the run's evidence table
    notes: Mapping[str, Json] = field(
        default_factory=dict
    )  # more to tell, JSON-safe; goes into `meta`


@dataclass(frozen=True)
class Part:
    """The labelled records of one split."""

    records: pl.DataFrame
    labels: list[str]


class Detector(ABC):
    """What a detector says of itself, and how it learns and predicts. Its settings are keyword
    arguments of the constructor, which stores them under their own names.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    # Constructor arguments that the program passes in ("model", "search"). Without any, a detector
    # makes no calls, and its answers cost nothing unless it says otherwise.
    handles: ClassVar[tuple[str, ...]] = ()
    quick: ClassVar[bool] = False  # True: it predicts thousands of records a second
    needs_training: ClassVar[bool] = True  # False: it may run where there are no training rows
    from_scratch: ClassVar[bool] = (
        False  # True: it knows the training rows only, so that no test record can be known
    )
    # True: records reach it with a column `evidence`, a list of (id, text); else what is in that
    # list is put behind the text, so that any detector of texts can be run with evidence.
    reads_evidence: ClassVar[bool] = False
    extra: ClassVar[str | None] = (
        None  # of claimlab, that it needs; what is missing is a sentence with the pip line
    )
    trial: ClassVar[
        Mapping[str, Json]
    ] = {}  # settings that make it cheap enough for the test that walks every detector
    unreported: ClassVar[frozenset[str]] = (
        frozenset()
    )  # settings that change no answer, such as the device

    task: Task = VERACITY  # set by the run before `fit`
    evidence: str = "none"  # which reading of the evidence it is shown; set by the run before `fit`
    progress: Progress = staticmethod(silent)  # set by the run, for what takes long

    def parameters(self) -> dict[str, object]:
        """What this detector was set to, JSON-safe: every setting, as the constructor stored it."""
        return {
            name: vars(self)[name] for name in declared(type(self)) if name not in self.unreported
        }

    def remarks(self, records: pl.DataFrame) -> list[str]:  # noqa: ARG002
        """What a reader must know of its answers for these records.

        Parameters
        ----------
        records : pl.DataFrame
            The records that were predicted.

        Returns
        -------
        list[str]
            Sentences, for the report of the run.
        """
        return []

    def learned(self) -> JsonObject | None:
        """What `fit` learned, as plain values, arrays and tables by names, so that other processes
        can predict; null: it predicts in one process."""
        return None

    def recall(self, learned: Learned) -> None:
        """Be as after the `fit` that learned these values, with the same settings. They come from a
        file: ask for each as what it must be.

        Parameters
        ----------
        learned : Learned
            The values that `learned` gave, read back from a file.
        """
        raise NotImplementedError

    def keep(self, folder: Path) -> bool:
        """Write what this detector learned into `folder`; false where it cannot be.

        Parameters
        ----------
        folder : Path
            An empty folder.
        """
        values = self.learned()
        if values is None:
            return False
        write_learned(values, folder)
        return True

    def take_up(self, folder: Path) -> None:
        """Recall what the detector learned that wrote `folder`.

        Parameters
        ----------
        folder : Path
            The folder that `keep` wrote.
        """
        self.recall(read_learned(folder))

    @abstractmethod
    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        """Learn from `train`, tune on `dev` (which may be empty).

        Parameters
        ----------
        train : Part
            The training records with their labels.
        dev : Part
            Records to tune on, with their labels; there may be none.
        seed : int
            Seed of everything that is random.
        """

    @abstractmethod
    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        """One prediction for each record, in order, without its label.

        Parameters
        ----------
        records : pl.DataFrame
            Records without their labels; an answer must not depend on the other rows.

        Returns
        -------
        list[Prediction]
            A label with its scores, or why there is none.
        """


def texts_of(records: pl.DataFrame) -> pl.Series:
    """Every text, "" where a record has none; a sentence when no record has one."""
    texts = records["text"]
    if texts.len() and texts.null_count() == texts.len():
        raise DataError(
            "The records have no text.",
            "Use a detector that does not read text, or fetch the texts.",
        )
    return texts.fill_null("")
