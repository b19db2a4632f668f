"""Fit a detector on the training rows of a dataset and keep its prediction for every test row.

The run is a claimlab dataset: the test records with a `predictions` table beside them, so that a run can be audited,
evaluated, exported and reported like any other folder.
"""

from __future__ import annotations

import hashlib
import io
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.digest import write_parquet
from claimlab.core.errors import DataError, UsageError
from claimlab.core.progress import Progress, silent
from claimlab.detect.detector import DETECTORS, Detector, Part, Prediction
from claimlab.detect.evidence import PIECES, Reading, check_mode, read_evidence
from claimlab.detect.journal import Journal
from claimlab.detect.tables import as_table, evidence_of, suspicious
from claimlab.tasks.known.table_veracity import VERACITY
from claimlab.tasks.task import Task

SHARD = 100  # records between two entries in the journal


def detect(
    dataset: Dataset,
    detector: Detector | str,
    *,
    task: Task = VERACITY,
    seed: int = 0,
    evidence: str = "none",
    pieces: int = PIECES,
    work: Path | None = None,
    shard: int = SHARD,
    timed: bool = False,
    progress: Progress = silent,
) -> Dataset:
    """Train on split "train", tune on "dev", predict "test"; the result carries the predictions and their warnings.

    `evidence` says what of the dataset's evidence the detector sees: none, complete, filtered, guarded; at most
    `pieces` for a record. With `work`, a folder, every finished shard of `shard` records is kept there until
    `finish(work)`, and the same call goes on from it. `timed` fills `seconds` for detectors that do not measure their
    answers one by one (the share of the shard's time): two such runs then differ in that column, and in nothing else.
    """
    chosen = DETECTORS.get(detector)() if isinstance(detector, str) else detector
    job = prepare(dataset, chosen, task=task, seed=seed, evidence=evidence, pieces=pieces)
    asked, inputs = job.asked, job.inputs
    journal = Journal(work, {**asked, "inputs": inputs, "seed": seed, "shard": shard}) if work is not None else None
    predictions = _predict(chosen, job.shown["test"].records, shard, journal, timed, progress)
    step = Lineage(
        step="detect",
        parameters={**asked, "settings": chosen.parameters()},
        seed=seed,
        inputs=inputs,
        counts={name: part.records.height for name, part in job.parts.items()},
    )
    name = "-".join([chosen.name, *([evidence] if evidence != "none" else []), str(seed)])
    records = job.parts["test"].records
    result = dataset.derive(records, step, {"predictions": as_table(records, predictions, name)})
    found = evidence_of(records, predictions, dataset.tables.get("evidence"))
    result.tables |= {"evidence": found} if found is not None else {}
    standing = chosen.parameters().get("standing")
    told = [f"The model is {standing}."] if standing else []
    result.notes += [*told, *job.reading.notes(records), *unready(job), *suspicious(predictions)]
    return result


@dataclass(frozen=True)
class Prepared:
    """A detector fitted and ready to predict. `parts` are the records as they are, `shown` as the detector sees them;
    `asked` and `inputs` are what decides the answers, besides the seed."""

    parts: dict[str, Part]
    shown: dict[str, Part]
    reading: Reading
    asked: dict[str, Any]
    inputs: dict[str, str]


def prepare(dataset: Dataset, detector: Detector, *, task: Task, seed: int, evidence: str, pieces: int) -> Prepared:
    """Choose the evidence, divide the records and fit; nobody is asked to predict yet."""
    _refuse_unready(detector)
    reading = read_evidence(dataset, check_mode(evidence), pieces, required="search" not in detector.handles)
    parts = divide(dataset.records, task, training=detector.needs_training)
    shown = {name: _shown(part, reading, detector) for name, part in parts.items()}
    used = evidence != "none"
    inputs = {dataset.name: dataset.digest()} | ({"evidence": _digest(reading.table)} if used else {})
    asked: dict[str, Any] = {
        "detector": detector.name,
        "settings": detector.parameters(),  # before fit: what it was set to, not what it learned
        "task": task.name,
        **({"evidence": evidence, "pieces": pieces} if used else {}),
    }
    detector.task = task
    detector.fit(shown["train"], shown["dev"], seed=seed)
    return Prepared(parts, shown, reading, asked, inputs)


def finish(work: Path) -> None:
    """Remove what `detect` kept in its work folder; call it when the run is written."""
    Journal(work, {}).clear()


def _predict(
    detector: Detector, records: pl.DataFrame, shard: int, journal: Journal | None, timed: bool, progress: Progress
) -> list[Prediction]:
    done: list[Prediction] = []
    for number, start in enumerate(range(0, records.height, shard)):
        rows = records[start : start + shard]
        kept = journal.read(number) if journal is not None else None
        if kept is None or len(kept) != rows.height:
            detector.progress = _shifted(progress, start, records.height)
            began = time.monotonic()
            kept = detector.predict(rows)
            if not detector.handles:
                kept = [replace(p, cost=0.0) if p.cost is None else p for p in kept]
            if timed:
                share = round((time.monotonic() - began) / max(1, rows.height), 6)
                kept = [replace(p, seconds=share) if p.seconds is None else p for p in kept]
            if journal is not None:
                journal.write(number, kept)
        done += kept
        progress("predicting", len(done), records.height)
    return done


def _shifted(progress: Progress, start: int, whole: int) -> Progress:
    """Progress inside a shard, told as progress of the whole."""

    def told(label: str, done: int, total: int | None) -> None:  # noqa: ARG001
        progress(label, start + done, whole)

    return told


def divide(records: pl.DataFrame, task: Task, *, training: bool = True) -> dict[str, Part]:
    """The labelled rows of each split; a sentence when there is nothing to train or to test on.

    Where nothing is to be trained, training rows are not asked for, and records without any split are all tested.
    """
    labels = task.labels(records)
    split = records["split"]
    if not training and split.null_count() == split.len():
        split = pl.Series(["test"], dtype=pl.String).new_from_index(0, records.height)
    parts = {}
    for name in ("train", "dev", "test"):
        mine = (split == name).fill_null(False) & labels.is_not_null()
        parts[name] = Part(records.filter(mine), labels.filter(mine).to_list())
    for name in ("train", "test") if training else ("test",):
        if not parts[name].labels:
            raise _nothing_in(name, split, task)
    if training and len(set(parts["train"].labels)) < 2:
        raise DataError("The training rows hold one class only.", "Use data with at least two classes.")
    return parts


def _nothing_in(name: str, split: pl.Series, task: Task) -> DataError:
    """Why a part has no labelled record: nobody divided the data, the part is absent, or its labels are not the
    task's. Each has another way out."""
    if split.null_count() == split.len():
        return DataError("The dataset has no split.", "Give it one first: claimlab split DIR -o NEW --by group")
    here = int((split == name).fill_null(False).sum())
    if not here:
        found = ", ".join(f"{part} {n:,}" for part, n in split.drop_nulls().value_counts().sort("split").iter_rows())
        return DataError(
            f"No record is in split '{name}' (there are: {found}).",
            "Use the whole dataset, not a run or a small --limit of it, or divide it anew: claimlab split DIR -o NEW",
        )
    return DataError(
        f"The {here:,} records of split '{name}' have no label of the task '{task.name}'.",
        "Name another task or a column with --task, or map the labels first: claimlab labels",
    )


def unready(job: Prepared) -> list[str]:
    """What a reader must know of the rows that were predicted: texts that are missing, classes nobody could learn."""
    test, seen = job.parts["test"], set(job.parts["train"].labels) | set(job.parts["dev"].labels)
    notes = []
    if bare := test.records["text"].null_count():
        notes.append(f"{bare:,} of {test.records.height:,} test records have no text.")
    new = Counter(label for label in test.labels if label not in seen)
    if seen and new:
        named = ", ".join(f"{label} {n:,}" for label, n in sorted(new.items()))
        notes.append(
            f"{sum(new.values()):,} of {len(test.labels):,} test records are of a class that training did not have "
            f"({named})."
        )
    return notes


def _refuse_unready(detector: Detector) -> None:
    """Say what is missing before any work is done, not after the first shard."""
    ways = {
        "model": "Name one with --profile; see: claimlab llm profiles",
        "search": "Name where to search with --provider, such as local:FOLDER.",
    }
    for name in detector.handles:
        if vars(detector).get(name) is None:
            what = {"model": "a model", "search": "a search provider"}.get(name, name)
            raise UsageError(f"The detector '{detector.name}' needs {what}.", ways.get(name, f"Hand in {name}=."))


def _shown(part: Part, reading: Reading, detector: Detector) -> Part:
    return Part(reading.attach(part.records, as_list=detector.reads_evidence), part.labels)


def _digest(table: pl.DataFrame) -> str:
    buffer = io.BytesIO()
    write_parquet(table, buffer)
    return hashlib.sha256(buffer.getvalue()).hexdigest()
