"""The EQA report on disk: `eqa.json` holds everything, `index.html` and `report.md` are views of
it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from claimlab.audit.views.page import Chapter
from claimlab.core.call import repeatable
from claimlab.core.options import Argument, Force, OptionalFolder, Place
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run
from claimlab.core.shown import Shown
from claimlab.core.trust import require
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several
from claimlab.evaluate.eqa.evidence import Evidence, gather
from claimlab.evaluate.eqa.evidence import Run as EvaluationRun
from claimlab.evaluate.eqa.limits import KINDS, Limit, limits
from claimlab.evaluate.eqa.scope import is_generative
from claimlab.evaluate.eqa.study import needs_of, read_study
from claimlab.evaluate.eqa.views import SIZES, eqa_report
from claimlab.pages.folder import Contents, fill

FILE = "eqa.json"
KIND = "quality assurance report"


@dataclass(frozen=True, repr=False)
class Assurance(Shown):
    """What `eqa.json` holds: "formulation", "shifts", "quality" and "limits"."""

    content: JsonObject

    def __getitem__(self, part: str) -> Any:
        return self.content[part]

    def counts(self) -> dict[str, int]:
        """Limits by kind, in the order of the report."""
        kinds = [limit["kind"] for limit in self["limits"]]
        return {kind: kinds.count(kind) for kind in KINDS if kind in kinds}

    @property
    def table(self) -> pl.DataFrame:
        """One row per limit."""
        return pl.DataFrame(
            self["limits"], schema={"kind": pl.String, "about": pl.String, "sentence": pl.String}
        )

    def headline(self) -> str:
        return f"'{self['title']}': {several(len(self['limits']), 'limit')}"

    def to_json(self) -> JsonObject:
        return self.content


@repeatable("trust")
def report(
    study: Annotated[Place, Argument("The EQA file (TOML); start one with --init.")],
    output: OptionalFolder = None,
    *,
    force: Force = False,
    trust: bool = False,
    progress: Progress = silent,
) -> Assurance:
    """Write the evaluation quality assurance (EQA) report of a study, with everything that was not
    checked.

    `study` is a TOML file that answers the questions of the method and names datasets, audits and
    runs (an EQA file: `new_study` starts one), or the folder of a study that was run, if its file
    has the answers. A file that names paths outside its
    folder must have been allowed (`claimlab trust FILE`), unless `trust` says that it is yours.
    """
    file = Path(study)
    file = file / "report.toml" if file.is_dir() else file
    questions = read_study(file)
    require(file, needs_of(questions, file), trust=trust)
    home = file.absolute().parent
    named = [
        *questions.data.datasets,
        *questions.data.audits,
        *questions.data.contamination,
        *(run.path for run in questions.runs),
        *(run.review for run in questions.runs if run.review is not None),
    ]
    reads = [file, *(home / path for path in named)]
    with Run("report", None, output, kind=KIND, reads=reads, force=force, progress=progress) as run:
        evidence = gather(questions, home, progress=progress)
        gaps = limits(evidence)
        parts = [Chapter(a, i, alarms_only=True) for i, a in enumerate(evidence.every_audit())]
        content = Assurance(assured(evidence, gaps))
        pages = (eqa_report(evidence, gaps, parts, size) for size in SIZES)
        run.fill(lambda folder: fill(Contents(KIND, pages, data={FILE: content.to_json()}), folder))
    return content


def assured(evidence: Evidence, gaps: list[Limit]) -> JsonObject:
    """Formulation, quality and limits, as data."""
    return {
        "title": evidence.study.title,
        "tool": f"claimlab {__version__}",
        "formulation": evidence.study.formulation.model_dump(),
        "shifts": [{**asdict(result), "sentence": result.sentence()} for result in evidence.scope],
        "quality": {
            "datasets": [
                {
                    "name": d.name,
                    "records": d.records.height,
                    "digest": d.digest(),
                    "audits": len(audits),
                }
                for d, audits in zip(evidence.datasets, evidence.audits, strict=True)
            ],
            "audits": [a.to_json() for a in evidence.every_audit()],
            "runs": [
                {
                    "name": run.name,
                    "dataset": run.dataset,
                    "digest": run.digest,
                    "split": run.split,
                    "records": run.table.height,
                    "answered": run.answered,
                    "scores": run.scores(),
                    "evaluation": None if run.result is None else asdict(run.result),
                    "lower_bound": is_generative(run),
                    "tests": asdict(run.tests),
                    "correct": _judged(run, run.correct),
                    "wrong": _judged(run, run.wrong),
                }
                for run in evidence.runs
            ],
            "contamination": [report.to_json() for report in evidence.contamination],
            "together": _together(evidence),
            "inspection": evidence.study.inspection.model_dump(),
        },
        "limits": [
            {"kind": m.kind, "about": m.about or None, "sentence": m.sentence} for m in gaps
        ],
    }


def _judged(run: EvaluationRun, examples: list[JsonObject]) -> list[JsonObject]:
    """The examples with what annotators decided about each; null where none did."""
    judgements = {i: asdict(judgement) for i, judgement in run.judgements.items()}
    shown = ("question", "value", "how", "annotators", "comments")
    return [
        {
            **row,
            "judgement": (
                {k: judgements[row["id"]][k] for k in shown} if row["id"] in judgements else None
            ),
        }
        for row in examples
    ]


def _together(evidence: Evidence) -> JsonObject:
    """Run against run, several seeds, and the drop from a random split to a held-out one."""
    content = {} if evidence.evaluation is None else evidence.evaluation.to_json()
    return {name: content.get(name, []) for name in ("comparisons", "seeds", "drops")}
