"""The evidence of a study: its datasets, their saved audits, and its runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from claimlab.audit.result import Audit, read_audits
from claimlab.claims.contamination.result import Contamination, read_contamination
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.progress import progress
from claimlab.core.toml_file import read_saved
from claimlab.core.types import JsonObject
from claimlab.evaluate.compare import compare_all
from claimlab.evaluate.defend.page import COLOURS
from claimlab.evaluate.eqa.runs import ExaminedRun, read_runs
from claimlab.evaluate.eqa.scope import ShiftResult, shift_result
from claimlab.evaluate.eqa.study import Study
from claimlab.evaluate.evaluation import together
from claimlab.evaluate.result import Evaluation


@dataclass(frozen=True)
class StudyEvidence:
    """`audits[i]` are the audits made on exactly the records of `datasets[i]`; the others are
    `strays`.
    """

    study: Study
    datasets: list[Dataset]
    audits: list[list[Audit]]
    strays: list[Audit] = field(default_factory=list)
    runs: list[ExaminedRun] = field(default_factory=list)
    contamination: list[Contamination] = field(default_factory=list)
    defences: list[JsonObject] = field(default_factory=list)

    @cached_property
    def evaluation(self) -> Evaluation | None:
        """The runs beside each other: compared, joined over seeds, and dropped from random to
        held-out splits.
        """
        runs = [run for run in self.runs if run.result is not None]
        results = [run.result for run in runs if run.result is not None]
        return Evaluation(results, **together(runs, compare_all(runs))) if runs else None

    @cached_property
    def scope(self) -> list[ShiftResult]:
        """Every shift of the form, held against what the runs test; empty where the author wrote no
        form.
        """
        promises = {} if self.study.shifts is None else self.study.shifts.each()
        return [shift_result(name, promise, self.runs) for name, promise in promises.items()]

    def every_audit(self) -> list[Audit]:
        return [a for audits in self.audits for a in audits]


def gather(study: Study, home: Path) -> StudyEvidence:
    """Open what the study names; paths are relative to `home`, the folder of the study file."""
    folders = study.data.datasets
    datasets = []
    for i, folder in enumerate(folders):
        progress("datasets", i, len(folders))
        datasets.append(Dataset.open(home / folder))
    progress("datasets", len(folders), len(folders))
    digests = [d.digest() for d in datasets]
    saved = [a for path in study.data.audits for a in read_audits(home / path)]
    by_dataset = [[a for a in saved if a.digest == digest] for digest in digests]
    strays = [a for a in saved if a.digest not in digests]
    runs: list[ExaminedRun] = []
    for i, listed in enumerate(study.runs):
        progress("runs", i, len(study.runs))
        runs += read_runs(listed, study, home, datasets)
    progress("runs", len(study.runs), len(study.runs))
    reports = [read_contamination(home / path) for path in study.data.contamination]
    defences = [read_defence(home / path) for path in study.data.defences]
    return StudyEvidence(study, datasets, by_dataset, strays, runs, reports, defences)


def read_defence(folder: Path) -> JsonObject:
    """What `defend` wrote of a run. The figure is drawn again: a file that was received may hold
    anything."""
    todo = "Give a folder that claimlab defend wrote."
    try:
        content: JsonObject = read_saved(
            folder / "defence.json", "cannot be read as a defence", todo
        )
        run, ceiling = content["run"], content["run"]["ceiling"]
        top = ((ceiling or {}).get("scores") or {}).get("accuracy")
        parts = {
            segment["name"]: float(segment["share"]) for segment in content["copied"]["segments"]
        }
        return {
            "paragraph": str(content["paragraph"]),
            "row": dict(content["row"]),
            "run": str(run["name"]),
            "accuracy": float(run["scores"]["accuracy"] or 0),
            "ceiling": top and float(top[0]),
            "parts": {name: share for name, share in parts.items() if name in COLOURS},
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"'{folder}' cannot be read as a defence: {error}.",
            todo,
        ) from None
