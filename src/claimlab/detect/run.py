"""Fit a detector on the training rows of a dataset and keep its prediction for every test row.

The run is a claimlab dataset: the test records with a `predictions` table beside them, so that a
run can be audited, evaluated, exported and reported like any other folder.
With an engine, what a trained detector learned is written once, and rows are shared among other
processes.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Unpack

import polars as pl

from claimlab.core.atomic import atomic_folder
from claimlab.core.call import repeatable
from claimlab.core.calls.estimate import Priced
from claimlab.core.calls.recording import Recording
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.digest import write_parquet
from claimlab.core.engine.names import place, shares
from claimlab.core.engine.reads import digest_of, keep, reads
from claimlab.core.engine.run import run_stage
from claimlab.core.errors import UsageError
from claimlab.core.journal import Journal
from claimlab.core.options import (
    TASK,
    Argument,
    DataBatch,
    Engine,
    Force,
    InPython,
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
from claimlab.core.tables import read_parquet
from claimlab.core.types import Json, JsonObject
from claimlab.detect.asking import Asking
from claimlab.detect.detector import DETECTORS, Detector, Prediction
from claimlab.detect.detectors.llm_search import LlmSearch
from claimlab.detect.evidence import PIECES_SHOWN
from claimlab.detect.open import open_detector
from claimlab.detect.outside import import_predictions
from claimlab.detect.own.forms import FittedModel, TextFunction
from claimlab.detect.prepare import Prepared, prepare, unready
from claimlab.detect.tables import as_table, evidence_of, restored, scores_of, stored, suspicious
from claimlab.llm.estimate import estimate as estimate_model
from claimlab.search.terms import Searches
from claimlab.tasks import Task, open_task, own_task

RECORDS_PER_SHARD = 100  # between two entries in the journal
RECORDS_PER_QUICK_SHARD = 10_000  # the same, of a quick detector
ROWS_PER_TASK = 2_000  # records in a shard; of a quick detector ten times as many


@repeatable()
def detect(  # noqa: PLR0913
    data: Annotated[Source, Argument("A claimlab dataset folder with a split.")],
    detector: Annotated[
        Detector | str | TextFunction | FittedModel,
        Option(
            "The detector: tfidf, majority, llm-zero-shot, ...; or a function of your own, as"
            " file.py:function or module:function; see: claimlab detect --detectors",
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
    ] = PIECES_SHOWN,
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
    shard: Annotated[
        int, InPython("Number of records that are predicted between two saves.")
    ] = RECORDS_PER_SHARD,
    seed: Seed = 0,
    limit: Annotated[int | None, Option("Predict only the first N test records.", least=1)] = None,
    force: Force = False,
    engine: Engine = None,
    predictions: Annotated[
        Place | None,
        Option(
            "Make the run from predictions made elsewhere: a table with id (or text), label and"
            " score_CLASS (score alone is of the positive class: false, for veracity); a shared"
            " task's run file, the JSON of a pipeline, an Inspect log."
        ),
    ] = None,
    split: Annotated[
        str | None,
        Option("With predictions: of this split alone; those for others are left out."),
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
        return import_predictions(
            data, predictions, output=output, task=name, split=split, force=force
        )
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


def _predict(
    detector: Detector, job: Prepared, shard: int, journal: Journal, timed: bool, progress: Progress
) -> list[Prediction]:
    """Shard by shard. A shard in which something failed is not taken up again, so that what failed
    is tried again. A detector that makes no calls costs nothing, unless it says otherwise.
    """
    records = job.shown["test"].records
    shard = RECORDS_PER_QUICK_SHARD if detector.quick and shard == RECORDS_PER_SHARD else shard
    free: JsonObject = {} if detector.handles else {"cost": 0.0}
    if not timed and (shared := shared_predictions(detector, records, shard, progress)):
        return [_with(p, **free) for p in shared]
    predicted = []
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
        predicted += predictions
        progress("predicting", len(predicted), records.height)
    return predicted


def _asked(detector: Detector, rows: pl.DataFrame, timed: bool) -> list[Prediction]:
    """The predictions of one shard, with the seconds that each took where they are wanted."""
    began = time.monotonic()
    predictions = detector.predict(rows)
    seconds = round((time.monotonic() - began) / max(1, rows.height), 6)
    return [_with(p, seconds=seconds) for p in predictions] if timed else predictions


def _with(prediction: Prediction, **values: Json) -> Prediction:
    """What is known of it, where it does not say so itself."""
    return replace(
        prediction, **{k: v for k, v in values.items() if getattr(prediction, k) is None}
    )


def shared_predictions(
    detector: Detector, records: pl.DataFrame, size: int, progress: Progress
) -> list[Prediction]:
    """The predictions for all records, in order, asked for `size` records at a time as without
    shards; none where the run does not share its work, the detector may ask a model or a search, or
    does not say what it learned.
    """
    task, rows = (
        detector.task,
        max(1, (10 * ROWS_PER_TASK if detector.quick else ROWS_PER_TASK) // size) * size,
    )
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
    records, size = read_parquet(shard["rows"]), shard["size"]
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
