"""A detector made ready to predict: the evidence that it sees is chosen, the labelled records of
each split are told apart, and it is fitted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import get_args

import polars as pl

from claimlab.core.choices import one_of
from claimlab.core.dataset import Dataset
from claimlab.core.digest import digest_table
from claimlab.core.errors import DataError, UsageError
from claimlab.core.progress import progress
from claimlab.core.types import JsonObject
from claimlab.core.words import several, several_of, verb
from claimlab.detect.detector import Detector, Part
from claimlab.detect.evidence import EvidenceReading, Mode, read_evidence
from claimlab.detect.own.detector import Own
from claimlab.detect.own_words import own_words
from claimlab.tasks import Task


@dataclass(frozen=True)
class Prepared:
    """A detector fitted and ready to predict. `parts` are the records as they are, `shown` as the
    detector sees them; `asked` and `inputs` are what decides the answers, besides the seed."""

    parts: dict[str, Part]
    shown: dict[str, Part]
    reading: EvidenceReading
    asked: JsonObject
    inputs: dict[str, str]


def prepare(
    dataset: Dataset,
    detector: Detector,
    *,
    task: Task,
    seed: int,
    evidence: str,
    pieces: int,
    limit: int | None = None,
) -> Prepared:
    """Choose the evidence, divide the records and fit; nothing is predicted yet. `limit`: of the
    test records.
    """
    _refuse_unready(detector)
    reading = read_evidence(
        dataset,
        one_of(get_args(Mode), evidence, "evidence"),
        pieces,
        required="search" not in detector.handles,
    )
    parts = divide(dataset.records, task, training=detector.needs_training)
    if limit is not None:
        parts["test"] = Part(parts["test"].records.head(limit), parts["test"].labels[:limit])
    shown = {
        name: Part(reading.attach(part.records, as_list=detector.reads_evidence), part.labels)
        for name, part in parts.items()
    }
    used = evidence != "none"
    inputs = {dataset.name: dataset.digest()} | (
        {"evidence": digest_table(reading.table)} if used else {}
    )
    settings: JsonObject = {
        "detector": detector.name,
        "settings": detector.parameters(),  # before fit: what it was set to, not what it learned
        "task": task.name,
        **({"evidence": evidence, "pieces": pieces} if used else {}),
        **({"limit": limit} if limit is not None else {}),
    }
    detector.task, detector.evidence = task, evidence
    if isinstance(detector, Own):
        detector.words = own_words(task, dataset.records)
    progress(f"training {detector.name}", 0, None)
    detector.fit(shown["train"], shown["dev"], seed=seed)
    return Prepared(parts, shown, reading, settings, inputs)


def divide(records: pl.DataFrame, task: Task, *, training: bool = True) -> dict[str, Part]:
    """The labelled rows of each split; a sentence when there is nothing to train or to test on.

    Where nothing is to be trained, training rows are not asked for, and records without any split
    are all tested. Published lists may withhold the test: then "dev" is tested, and tunes nothing.
    """
    labels = task.labels(records)
    split = records["split"]
    if not training and split.null_count() == split.len():
        split = pl.Series(["test"], dtype=pl.String).new_from_index(0, records.height)
    parts = {}
    for name in ("train", "dev", "test"):
        of_split = (split == name).fill_null(False) & labels.is_not_null()
        parts[name] = Part(records.filter(of_split), labels.filter(of_split).to_list())
    if not (split == "test").any() and parts["dev"].labels:
        parts["test"], parts["dev"] = parts["dev"], parts["test"]
    for name in ("train", "test") if training else ("test",):
        if not parts[name].labels:
            raise _nothing_in(name, split, task)
    if training and len(set(parts["train"].labels)) < 2:
        raise DataError(
            "The training rows hold one class only.", "Use data with at least two classes."
        )
    return parts


def _nothing_in(name: str, split: pl.Series, task: Task) -> DataError:
    """Why a part has no labelled record: the data has no split, the part is absent, or its labels
    are not the task's. Each has another way out."""
    if split.null_count() == split.len():
        return DataError(
            "The dataset has no split.", "Give it one first: claimlab split DIR -o NEW --by group"
        )
    here = int((split == name).fill_null(False).sum())
    if not here:
        parts = ", ".join(
            f"{part} {n:,}"
            for part, n in split.drop_nulls().value_counts().sort("split").iter_rows()
        )
        return DataError(
            f"No record is in split '{name}' (there are: {parts}).",
            "Use the whole dataset, not a run or a small part of it, or split it again: claimlab"
            " split DIR -o NEW",
        )
    return DataError(
        f"None of the {several(here, 'record')} in split '{name}' has a label of the task"
        f" '{task.name}'.",
        "Pass another `task`, or map the labels first: claimlab labels",
    )


def unready(job: Prepared) -> list[str]:
    """Notes on the predicted rows: missing texts, and classes that do not occur in train."""
    test, seen = job.parts["test"], set(job.parts["train"].labels) | set(job.parts["dev"].labels)
    notes = []
    if (test.records["split"] == "dev").any():
        notes.append("Scored on split 'dev', since the data has no test: nothing was tuned on it.")
    if bare := test.records["text"].null_count():
        notes.append(
            f"{several_of(bare, test.records.height, 'test record')} {verb(bare, 'has', 'have')} no"
            " text."
        )
    new = Counter(label for label in test.labels if label not in seen)
    if seen and new:
        named = ", ".join(f"{label} {n:,}" for label, n in sorted(new.items()))
        n = sum(new.values())
        of = several_of(n, len(test.labels), "test record")
        notes.append(
            f"{of} {verb(n, 'has', 'have')} a class that does not occur in train ({named})."
        )
    return notes


def _refuse_unready(detector: Detector) -> None:
    """Say what is missing before any work is done, not after the first shard."""
    ways = {
        "model": ("a model", "Pass `profile`; see: claimlab llm profiles"),
        "search": ("a search provider", "Pass `provider`, such as local:FOLDER."),
    }
    for name in detector.handles:
        if vars(detector).get(name) is None:
            what, todo = ways.get(name, (name, f"Pass `{name}` to its constructor."))
            raise UsageError(f"The detector '{detector.name}' needs {what}.", todo)
