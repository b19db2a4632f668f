"""Fit a detector on the training rows of a dataset and keep its prediction for every test row.

The run is a claimlab dataset: the test records with a `predictions` table beside them, so that a
run can be audited, evaluated, exported and reported like any other folder.

Predictions of a trained detector in other processes: what it learned is written once, and rows
are shared."""

from __future__ import annotations

import io
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Unpack, get_args

import polars as pl

from claimlab.core.atomic import atomic_folder
from claimlab.core.call import repeatable
from claimlab.core.calls.estimate import Priced
from claimlab.core.calls.recording import Recording
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.digest import digest_table, write_parquet
from claimlab.core.engine import run_stage
from claimlab.core.engine.names import place, shares
from claimlab.core.engine.reads import digest_of, keep, reads
from claimlab.core.errors import DataError, UsageError
from claimlab.core.journal import Journal
from claimlab.core.options import (
    TASK,
    Argument,
    DataBatch,
    Engine,
    Force,
    ModelName,
    Option,
    OutputFolder,
    Place,
    Profile,
    PromptFiles,
    Seed,
    Setting,
)
from claimlab.core.progress import Progress, progress
from claimlab.core.run import Run, Source
from claimlab.core.settings import one_of
from claimlab.core.types import Json, JsonObject
from claimlab.core.words import several, several_of, verb
from claimlab.detect.asking import Asking
from claimlab.detect.detector import DETECTORS, Detector, Part, Prediction
from claimlab.detect.detectors.llm_search import LlmSearch
from claimlab.detect.evidence import PIECES, Mode, Reading, read_evidence
from claimlab.detect.open import open_detector
from claimlab.detect.outside import import_predictions
from claimlab.detect.tables import as_table, evidence_of, restored, scores_of, stored, suspicious
from claimlab.llm.estimate import estimate as estimate_model
from claimlab.search.terms import Searches
from claimlab.tasks import Task, open_task, own_task

SHARD = 100  # records between two entries in the journal
QUICK = 10_000  # the same, of a quick detector


@repeatable()
def detect(
    data: Annotated[Source, Argument("A claimlab dataset folder with a split.")],
    detector: Annotated[
        Detector | str,
        Option(
            "The detector: tfidf, majority, llm-zero-shot, ...; see: claimlab detect --detectors",
            complete="detectors",
        ),
    ] = "tfidf",
    *,
    output: OutputFolder = None,
    task: Annotated[Task | str | None, TASK] = None,
    settings: Annotated[
        Mapping[str, Any] | Sequence[str],
        Option("A setting of the detector, or one of those below; may be repeated.", flag="--set"),
    ] = (),
    evidence: Annotated[
        str,
        Option(
            "What it sees of the dataset's evidence: none, complete, filtered, guarded or"
            " corresponding."
        ),
    ] = "none",
    pieces: Annotated[
        int, Setting("Pieces of evidence for a record, at most.", least=1, most=50)
    ] = PIECES,
    profile: Profile = None,
    model: ModelName = None,
    provider: Annotated[
        str | Sequence[str],
        Option("Where llm-search searches: local:FOLDER, brave, ...; again for a fallback."),
    ] = (),
    prompts: PromptFiles = (),
    timed: Annotated[
        bool, Setting("Keep the seconds per prediction of local detectors too (they vary).")
    ] = False,
    shard: int = SHARD,
    seed: Seed = 0,
    limit: Annotated[int | None, Option("Predict only the first N test records.", least=1)] = None,
    force: Force = False,
    engine: Engine = None,
    predictions: Annotated[
        Place | None,
        Option(
            "Make the run from predictions made elsewhere: a table with id and label, an Inspect"
            " log."
        ),
    ] = None,
    **calls: Unpack[DataBatch],
) -> Dataset:
    """Train a detector on split "train", tune it on "dev", and keep its predictions for "test".

    The result is the test records with their predictions; `report` of it has the scores and what
    was spent. `detector` may be an object that is ready to be fitted, too. Every `shard` records
    are kept, so that the same call goes on after a stop, and the caps hold over all its starts.
    With `predictions` no detector runs: the run is made of what another tool predicted.
    """
    if predictions is not None:
        name = task.name if isinstance(task, Task) else task
        return import_predictions(data, predictions, output=output, task=name, force=force)
    with Run("detect", data, output, force=force, seed=seed, engine=engine, **calls) as run:
        words = {
            "profile": profile,
            "model": model,
            "providers": provider,
        }
        opened = (
            task
            if isinstance(task, Task)
            else open_task(own_task(run.dataset, task), run.dataset.records)
        )
        with open_detector(detector, settings, run.calls, evidence, words, prompts) as ready:
            ready.progress = progress  # training may take long too
            job = prepare(
                run.dataset,
                ready,
                task=opened,
                seed=seed,
                evidence=evidence,
                pieces=pieces,
                limit=limit,
            )
            if run.estimate:
                records = job.shown["test"].records
                parts = cost(ready, records, run.calls.existing())
                run.estimated(parts, facts={"records to predict": records.height})
            journal = run.journal(**job.asked, inputs=job.inputs, shard=shard)
            result = _result(
                run.dataset, ready, job, _predict(ready, job, shard, journal, timed, progress), seed
            )
        result.report = {
            "scores": scores_of(result, opened),
            "notes": result.notes[len(run.dataset.notes) :],
            "budget": run.calls.budget.summary(),
        }
        return run.finish(result)


def _result(
    dataset: Dataset, detector: Detector, job: Prepared, predictions: list[Prediction], seed: int
) -> Dataset:
    step = Lineage(
        step="detect",
        parameters={**job.asked, "settings": detector.parameters()},
        seed=seed,
        inputs=job.inputs,
        counts={name: part.records.height for name, part in job.parts.items()},
    )
    evidence = [job.asked["evidence"]] if "evidence" in job.asked else []
    name = "-".join([detector.name, *evidence, str(seed)])
    records = job.parts["test"].records
    result = dataset.derive(records, step, {"predictions": as_table(records, predictions, name)})
    pieces = evidence_of(records, predictions, dataset.tables.get("evidence"))
    result.tables |= {"evidence": pieces} if pieces is not None else {}
    standing = detector.parameters().get("standing")
    warnings = [f"The model is {standing}."] if standing else []
    result.notes += [
        *warnings,
        *job.reading.notes(records),
        *detector.remarks(records),
        *unready(job),
        *suspicious(predictions),
    ]
    return result


@dataclass(frozen=True)
class Prepared:
    """A detector fitted and ready to predict. `parts` are the records as they are, `shown` as the
    detector sees them; `asked` and `inputs` are what decides the answers, besides the seed."""

    parts: dict[str, Part]
    shown: dict[str, Part]
    reading: Reading
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
    progress(f"training {detector.name}", 0, None)
    detector.fit(shown["train"], shown["dev"], seed=seed)
    return Prepared(parts, shown, reading, settings, inputs)


def _predict(
    detector: Detector, job: Prepared, shard: int, journal: Journal, timed: bool, progress: Progress
) -> list[Prediction]:
    """Shard by shard. A shard in which something failed is not taken up again, so that what failed
    is tried again. A detector that makes no calls costs nothing, unless it says otherwise.
    """
    records = job.shown["test"].records
    shard = QUICK if detector.quick and shard == SHARD else shard
    free: JsonObject = {} if detector.handles else {"cost": 0.0}
    if not timed and (shared := shared_predictions(detector, records, shard, progress)):
        return [_with(p, **free) for p in shared]
    done = []
    for number, start in enumerate(range(0, records.height, shard)):
        rows = records[start : start + shard]
        predictions = [restored(raw) for raw in journal.read(f"{number:06d}") or []]
        if len(predictions) != rows.height or any(p.failure for p in predictions):
            # progress inside a shard is progress of the whole run
            detector.progress = lambda label, here, _, before=start: progress(
                label, before + here, records.height
            )
            predictions = [_with(p, **free) for p in _asked(detector, rows, timed)]
            journal.write(f"{number:06d}", [stored(p) for p in predictions])
        done += predictions
        progress("predicting", len(done), records.height)
    return done


def _asked(detector: Detector, rows: pl.DataFrame, timed: bool) -> list[Prediction]:
    """The predictions of one shard, with the seconds that each took where they are wanted."""
    began = time.monotonic()
    predictions = detector.predict(rows)
    seconds = round((time.monotonic() - began) / max(1, rows.height), 6)
    return [_with(p, seconds=seconds) for p in predictions] if timed else predictions


def _with(prediction: Prediction, **known: Json) -> Prediction:
    """What is known of it, where it does not say so itself."""
    return replace(prediction, **{k: v for k, v in known.items() if getattr(prediction, k) is None})


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
        mine = (split == name).fill_null(False) & labels.is_not_null()
        parts[name] = Part(records.filter(mine), labels.filter(mine).to_list())
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


ROWS = 2_000  # records in a shard; of a quick detector ten times as many


def shared_predictions(
    detector: Detector, records: pl.DataFrame, size: int, progress: Progress
) -> list[Prediction]:
    """The predictions for all records, in order, asked for `size` records at a time as without
    shards; none where the run does not share its work, the detector may ask a model or a search, or
    does not say what it learned.
    """
    task, rows = detector.task, max(1, (10 * ROWS if detector.quick else ROWS) // size) * size
    # a worker makes the detector and opens the task by their names
    ours = DETECTORS.all().get(detector.name) is type(detector)
    if not shares() or detector.handles or not ours or records.height <= rows:
        return []
    if replace(open_task(task.name), read=task.read) != task:
        return []
    with place() as here:
        learned = here.absolute() / "learned"
        with atomic_folder(learned) as building:
            if not detector.keep(building):
                return []
            digest = digest_of(building)  # while no other user can write it
        common = {
            "detector": detector.name,
            "settings": detector.parameters(),
            "task": task.name,
            "learned": reads(learned, digest),
            "size": size,
        }
        shards = []
        for start in range(0, records.height, rows):
            content = io.BytesIO()
            write_parquet(records[start : start + rows], content)
            part = keep(here / "predicted", content.getvalue(), "parquet")
            shards.append({**common, "rows": part})
        outputs = run_stage(
            do_predictions, shards, folder=here, name="predictions", progress=progress
        )
        return [restored(raw) for file in outputs for raw in json.loads(file.read_bytes())]


def do_predictions(shard: JsonObject, output: Path) -> None:
    """The predictions for some rows."""
    detector = DETECTORS.get(shard["detector"])(**shard["settings"])
    detector.take_up(Path(shard["learned"]))
    detector.task = open_task(shard["task"])
    records, size = pl.read_parquet(shard["rows"]), shard["size"]
    parts = [records[start : start + size] for start in range(0, records.height, size)]
    predictions = [stored(one) for part in parts for one in detector.predict(part)]
    output.write_text(json.dumps(predictions, ensure_ascii=False), encoding="utf-8")


def cost(
    detector: Detector, records: pl.DataFrame, recording: Recording | None
) -> dict[str, Priced]:
    """The least and the most that the answers for `records` can take. Calls that are recorded
    already are taken off; for a detector that searches, every search is counted, and every result
    taken to be as long as it may be.
    """
    if not isinstance(detector, Asking):
        raise UsageError(
            f"The detector '{detector.name}' makes no calls: it costs nothing.",
            "Leave out `estimate`.",
        )
    endpoint = detector.provider.profile
    priced: Priced = estimate_model(detector.requests(records), endpoint, recording=recording)
    parts = {endpoint.chosen_model(): priced}
    if isinstance(detector, LlmSearch) and detector.search is not None:
        most = records.height * detector.searches
        # every provider of a chain may be asked
        names = [p.name for p in getattr(detector.search, "providers", [detector.search])]
        parts |= {name: Searches(name, 0, most) for name in names}
    return parts
