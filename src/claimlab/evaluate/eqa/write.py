"""The EQA report on disk: `eqa.json` holds everything, `index.html` and `report.md` are views of it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from claimlab import __version__
from claimlab.audit.views.page import Chapter
from claimlab.audit.write import PLOTS, write_plots
from claimlab.core.atomic import atomic_folder
from claimlab.core.errors import OutputExists
from claimlab.core.progress import Progress, silent
from claimlab.evaluate.eqa.evidence import Evidence, gather
from claimlab.evaluate.eqa.limits import Limit, limits
from claimlab.evaluate.eqa.study import read_study
from claimlab.evaluate.eqa.views import SIZES, eqa_report
from claimlab.pages.blocks import Figure, walk
from claimlab.pages.html import to_html_within
from claimlab.pages.markdown import to_markdown

FILE = "eqa.json"


def report(study_file: Path, folder: Path, *, force: bool = False, progress: Progress = silent) -> dict[str, Any]:
    """Assemble the report of the study in `study_file` and write it to `folder` in one atomic step."""
    if folder.exists() and any(folder.iterdir()) and not (force and (folder / FILE).is_file()):
        raise OutputExists(folder)
    study = read_study(study_file)
    evidence = gather(study, study_file.absolute().parent, progress=progress)
    found = limits(evidence)
    parts = [Chapter(a, i, alarms_only=True) for i, a in enumerate(evidence.every_audit())]
    content = to_json(evidence, found)
    with atomic_folder(folder) as building:
        text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
        (building / FILE).write_text(text, encoding="utf-8")
        whole = eqa_report(evidence, found, parts, SIZES[0])
        html = to_html_within(eqa_report(evidence, found, parts, size) for size in SIZES)
        (building / "index.html").write_text(html, encoding="utf-8")
        (building / "report.md").write_text(to_markdown(whole), encoding="utf-8")
        write_plots((b for b in walk(whole.blocks) if isinstance(b, Figure)), building / PLOTS)
    return content


def to_json(evidence: Evidence, found: list[Limit]) -> dict[str, Any]:
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
        "limits": [{"kind": m.kind, "about": m.about or None, "sentence": m.sentence} for m in found],
    }  # fmt: skip


def _together(evidence: Evidence) -> dict[str, Any]:
    """Run against run, several seeds, and the drop from a random split to a held-out one."""
    told = {} if evidence.evaluation is None else evidence.evaluation.to_json()
    return {name: told.get(name, []) for name in ("comparisons", "seeds", "drops")}
