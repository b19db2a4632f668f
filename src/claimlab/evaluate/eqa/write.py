"""The EQA report on disk: `eqa.json` holds everything, `index.html` and `report.md` are views of it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from claimlab import __version__
from claimlab.audit.views.page import Chapter
from claimlab.core.guard import refuse_taken
from claimlab.core.progress import Progress, silent
from claimlab.evaluate.eqa.evidence import Evidence, gather
from claimlab.evaluate.eqa.limits import Limit, limits
from claimlab.evaluate.eqa.study import read_study
from claimlab.evaluate.eqa.views import SIZES, eqa_report
from claimlab.pages.folder import Contents, write_report

FILE = "eqa.json"
KIND = "quality assurance report"


def report(study_file: Path, folder: Path, *, force: bool = False, progress: Progress = silent) -> dict[str, Any]:
    """Assemble the report of the study in `study_file` and write it to `folder` in one atomic step."""
    refuse_taken(folder, force=force, kind=KIND, reads=[study_file])
    study = read_study(study_file)
    evidence = gather(study, study_file.absolute().parent, progress=progress)
    gaps = limits(evidence)
    parts = [Chapter(a, i, alarms_only=True) for i, a in enumerate(evidence.every_audit())]
    content = to_json(evidence, gaps)
    pages = (eqa_report(evidence, gaps, parts, size) for size in SIZES)
    write_report(Contents(KIND, pages, data={FILE: content}), folder, force=force)
    return content


def to_json(evidence: Evidence, gaps: list[Limit]) -> dict[str, Any]:
    """Formulation, quality and limits, as data."""
    return {
        "title": evidence.study.title,
        "tool": f"claimlab {__version__}",
        "formulation": evidence.study.formulation.model_dump(),
        "quality": {
            "datasets": [
                {"name": d.name, "records": d.records.height, "digest": d.digest(), "audits": len(audits)}
                for d, audits in zip(evidence.datasets, evidence.audits, strict=True)
            ],
            "audits": [a.to_json() for a in evidence.every_audit()],
            "runs": [
                {
                    "name": run.name, "dataset": run.dataset, "digest": run.digest, "split": run.split,
                    "records": run.table.height, "answered": run.answered, "scores": run.scores(),
                    "evaluation": None if run.result is None else asdict(run.result),
                    "correct": run.correct, "wrong": run.wrong,
                }
                for run in evidence.runs
            ],
            "together": _together(evidence),
            "inspection": evidence.study.inspection.model_dump(),
        },
        "limits": [{"kind": m.kind, "about": m.about or None, "sentence": m.sentence} for m in gaps],
    }  # fmt: skip


def _together(evidence: Evidence) -> dict[str, Any]:
    """Run against run, several seeds, and the drop from a random split to a held-out one."""
    content = {} if evidence.evaluation is None else evidence.evaluation.to_json()
    return {name: content.get(name, []) for name in ("comparisons", "seeds", "drops")}
