"""`cl.report` and `claimlab report`: the EQA report as `eqa.json`, which holds everything, and
`index.html` and `report.md`, views of it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from claimlab.audit.views.page import Chapter
from claimlab.core.call import repeatable
from claimlab.core.grants import on_behalf_of, require
from claimlab.core.options import Argument, Force, InPython, Option, OptionalFolder, Place
from claimlab.core.run import Run
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several
from claimlab.evaluate.eqa.checklist import checklist_section, venue_checklist
from claimlab.evaluate.eqa.evidence import StudyEvidence, gather
from claimlab.evaluate.eqa.limits import KINDS, Limit, limits
from claimlab.evaluate.eqa.study import fetched, read_study, wanted_by_answers
from claimlab.pages.blocks import (
    Blocks,
)
from claimlab.pages.folder import Contents, fill

FILE, KIND = "eqa.json", "quality assurance report"
TOGETHER = ("comparisons", "seeds", "drops")  # run against run, in eqa.json


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
    checklist: Annotated[
        str | None, Option("Add the checklist of a venue, filled where possible: arr or neurips.")
    ] = None,
    force: Force = False,
    trust: Annotated[
        bool, InPython("Allow what the file names outside its folder, without asking.")
    ] = False,
) -> Assurance:
    """Write the evaluation quality assurance (EQA) report of a study, with everything that was not
    checked.

    `study` is a TOML file that answers the questions of the method and names datasets, audits and
    runs (an EQA file: `new_study` starts one), or the folder of a study that was run, if its file
    has the answers. A file that names paths outside its
    folder must have been allowed (`claimlab trust FILE`), unless `trust` says that it is yours.
    """
    from claimlab.evaluate.eqa.page import SIZES, eqa_report

    file = Path(study)
    file = file / "report.toml" if file.is_dir() else file
    questions = read_study(file)
    wanted = wanted_by_answers(questions, file)
    require(file, wanted, trust=trust)
    with on_behalf_of(file, wanted, trust=trust):
        questions = fetched(questions)
        home = file.absolute().parent
        named = [
            *questions.data.datasets,
            *questions.data.audits,
            *questions.data.contamination,
            *questions.data.defences,
            *(run.path for run in questions.runs),
            *(run.review for run in questions.runs if run.review is not None),
        ]
        reads = [file, *(home / path for path in named)]
        with Run("report", None, output, kind=KIND, reads=reads, force=force) as run:
            evidence = gather(questions, home)
            gaps = limits(evidence)
            parts = [Chapter(a, i, alarms_only=True) for i, a in enumerate(evidence.every_audit())]
            content = Assurance(assured(evidence, gaps))
            more: Blocks = []
            if checklist is not None:
                sentences = [gap.sentence for gap in gaps]
                content.content["checklist"] = venue_checklist(checklist, evidence, sentences)
                more = [checklist_section(content["checklist"])]
            pages = (eqa_report(evidence, gaps, parts, size, more) for size in SIZES)
            run.fill(
                lambda folder: fill(Contents(KIND, pages, data={FILE: content.to_json()}), folder)
            )
    return content


def assured(evidence: StudyEvidence, gaps: list[Limit]) -> JsonObject:
    """Formulation, quality and limits, as data."""
    evaluation = {} if evidence.evaluation is None else evidence.evaluation.to_json()
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
            "runs": [run.to_json() for run in evidence.runs],
            "contamination": [report.to_json() for report in evidence.contamination],
            "defences": evidence.defences,
            "together": {name: evaluation.get(name, []) for name in TOGETHER},
            "inspection": evidence.study.inspection.model_dump(),
        },
        "limits": [
            {"kind": m.kind, "about": m.about or None, "sentence": m.sentence} for m in gaps
        ],
    }
