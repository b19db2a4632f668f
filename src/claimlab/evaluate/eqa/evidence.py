"""The inputs of a study's report: its datasets, their saved audits, and its evaluation runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from claimlab.audit.result import Audit, read_audits
from claimlab.core.dataset import Dataset
from claimlab.core.progress import Progress, silent
from claimlab.evaluate.compare import compare_all
from claimlab.evaluate.contamination.result import Contamination, read_contamination
from claimlab.evaluate.eqa.runs import Run, Scoring, read_runs
from claimlab.evaluate.eqa.scope import ShiftResult, held_against
from claimlab.evaluate.eqa.study import Study
from claimlab.evaluate.joined import drops, join_seeds
from claimlab.evaluate.result import Evaluation


@dataclass(frozen=True)
class Evidence:
    """`audits[i]` are the audits made on exactly the records of `datasets[i]`; the others are
    `strays`.
    """

    study: Study
    datasets: list[Dataset]
    audits: list[list[Audit]]
    strays: list[Audit] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    contamination: list[Contamination] = field(default_factory=list)

    @cached_property
    def evaluation(self) -> Evaluation | None:
        """The runs beside each other: compared, joined over seeds, and dropped from random to
        held-out splits.
        """
        runs = [run for run in self.runs if run.result is not None]
        results = [run.result for run in runs if run.result is not None]
        return (
            Evaluation(results, compare_all(runs), join_seeds(runs), drops(runs)) if runs else None
        )

    @cached_property
    def scope(self) -> list[ShiftResult]:
        """Every shift of the form, held against what the runs test; empty where the author wrote no
        form.
        """
        return [] if self.study.shifts is None else held_against(self.study.shifts, self.runs)

    def every_audit(self) -> list[Audit]:
        return [a for mine in self.audits for a in mine]


def gather(study: Study, home: Path, *, progress: Progress = silent) -> Evidence:
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
    runs: list[Run] = []
    scoring = Scoring(home, study.data.target, study.inspection.seed, datasets)
    for i, listed in enumerate(study.runs):
        progress("runs", i, len(study.runs))
        for run in read_runs(listed, scoring):
            run.evaluate(progress)
            runs.append(run)
    progress("runs", len(study.runs), len(study.runs))
    known = [read_contamination(home / path) for path in study.data.contamination]
    return Evidence(study, datasets, by_dataset, strays, runs, known)
