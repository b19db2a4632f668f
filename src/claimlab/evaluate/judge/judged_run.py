"""Judge the rationales of a run, hold the judge against annotators where there are any, and keep
all of it in annotations.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

import polars as pl

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError
from claimlab.core.record import SIDE_TABLES, to_side_table
from claimlab.core.run import Run
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evaluate.judge.cases import Articles, RationaleCase, articles_in, left_out, read_cases
from claimlab.evaluate.judge.judging import AnyOpinion, RunJudging
from claimlab.evaluate.judge.opinions import Contradiction, Judge, NoJudge, padded
from claimlab.evaluate.judge.people import QUESTION, Verdicts, as_annotations, consensus, people_in
from claimlab.evaluate.judge.views import JudgedCase, page
from claimlab.evaluate.scored_run import about_of
from claimlab.pages.folder import Contents, fill
from claimlab.tasks import Task
from claimlab.tasks.table import VERACITY

FILE = "judge.json"
REPORT = "judge-report"


@dataclass(frozen=True, repr=False)
class JudgedRun(Shown):
    """The run with the judge's annotations, what came out, JSON-safe, and the cases for the
    page.
    """

    dataset: Dataset
    summary: JsonObject
    rows: list[JudgedCase] = field(default_factory=list)

    @property
    def table(self) -> pl.DataFrame:
        """The judged cases: what was said, by whom, and the verdicts on it."""
        rows = [
            {**vars(row), "value": None if row.value is None else str(row.value)}
            for row in self.rows
        ]
        names = (field.name for field in fields(JudgedCase))
        return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String)).drop("left_out")

    def headline(self) -> str:
        return (
            f"'{self.dataset.name}' by {self.summary['judge']}: {self.summary['judged']:,} of "
            + f"{several(self.summary['predictions'], 'prediction')}; {self.summary['standing']}"
        )

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write the run with the annotations and the report."""
        with Run("judge", None, folder, force=force) as run:
            run.finish(self.dataset, self.write_more)

    def write_more(self, folder: Path) -> None:
        """The summary and the report, beside the tables in `folder`."""
        text = json.dumps(self.summary, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
        (folder / FILE).write_text(text, "utf-8")
        fill(
            Contents("judge report", [page(self.dataset.name, self.summary, self.rows)]),
            folder / REPORT,
        )


def judge_run(
    run: Dataset,
    judge: Judge,
    *,
    task: Task = VERACITY,
    articles: Articles | None = None,
    people: Verdicts | None = None,
    threshold: float | None = None,
    limit: int | None = None,
    probes: int = 0,
) -> JudgedRun:
    """`articles` maps a record to its fact-checking article (null: the fact-checks among the run's
    evidence); `people` has the annotators' verdicts on the rationales (null: the run's own
    annotations); with `NoJudge` only these count. `threshold` is the score at which rationales
    count as wrong, instead of fitting it. `limit` is on the cases that can be judged: the
    predictions after the last of them are left out. The first `probes` cases are asked again with
    places exchanged, with a longer rationale, and with a paraphrase of it by the same model."""
    cases = _first(read_cases(run, task, articles or articles_in(run)), limit)
    everyone = people_in(run) if people is None else people
    settled = consensus(everyone)
    _refuse_empty(run, judge, cases, settled)
    open_cases = [case for case in cases if case.left_out is None]
    opinions = _by_case(judge.judge(open_cases))
    answered = [case for case in open_cases if case.record_id in opinions]
    probed = _probed(judge, answered[:probes])
    model = about_of(run.lineage).settings.get("model")
    judging = RunJudging(judge, cases, everyone, settled, opinions, threshold, probed, model)
    summary, verdicts = judging.summary(_before(run, judge)), judging.verdicts
    step = Lineage(
        step="judge",
        parameters={
            "judge": judge.name,
            "settings": judge.parameters(),
            "threshold": summary["threshold"],
            **({"limit": limit} if limit is not None else {}),
        },
        inputs={run.name: run.digest()},
        counts={"predictions": len(cases), "judged": len(verdicts)},
    )
    rows = [*as_annotations(people or {}), *judging.annotations(summary["standing"])]
    table = _behind(run.tables.get("annotations"), rows)
    judged = run.derive(run.records, step, {**run.tables, "annotations": table})
    judged.notes += [f"The judge '{judge.name}' is {summary['standing']}."] if opinions else []
    shown_cases = [case for case in open_cases if case.record_id in {*opinions, *settled}]
    return JudgedRun(judged, summary, [judging.row(case) for case in shown_cases])


def _by_case(opinions: Iterable[AnyOpinion]) -> dict[str, AnyOpinion]:
    return {opinion.case: opinion for opinion in opinions}


def _probed(judge: Judge, cases: list[RationaleCase]) -> dict[str, dict[str, AnyOpinion]]:
    """What the judge says of cases with places exchanged, a longer rationale, and other words."""
    reworded = judge.reworded(cases) if isinstance(judge, Contradiction) else []
    return {
        "exchanged": _by_case(judge.judge(cases, exchanged=True)),
        "padded": _by_case(judge.judge([padded(case) for case in cases])),
        "reworded": _by_case(judge.judge(reworded)),
    }


def _before(run: Dataset, judge: Judge) -> dict[str, str]:
    """What the same judge said of these records when the run was judged before."""
    table = run.tables.get("annotations", pl.DataFrame(schema=SIDE_TABLES["annotations"]))
    earlier = table.filter(annotator=judge.name, question=QUESTION).drop_nulls("value")
    return dict(earlier.select("record_id", "value").iter_rows())


def _first(cases: list[RationaleCase], limit: int | None) -> list[RationaleCase]:
    """The cases up to the last of the first `limit` that can be judged."""
    if limit is None:
        return cases
    ends = [number for number, case in enumerate(cases, 1) if case.left_out is None][:limit]
    return cases[: ends[-1]] if ends else []


def _behind(before: pl.DataFrame | None, rows: list[JsonObject]) -> pl.DataFrame:
    """The new rows behind those that stood there; what the same annotator had said to the same
    question is replaced.
    """
    empty = pl.DataFrame(schema=SIDE_TABLES["annotations"])
    new = (
        to_side_table("annotations", pl.DataFrame(rows, infer_schema_length=None))
        if rows
        else empty
    )
    if before is None:
        return new
    others = before.join(new, on=["annotator", "question"], how="anti", nulls_equal=True)
    return pl.concat([others, new], how="diagonal_relaxed")


def _refuse_empty(
    run: Dataset, judge: Judge, cases: Sequence[RationaleCase], settled: Mapping[str, str]
) -> None:
    """Say what is missing before anything is asked."""
    if isinstance(judge, NoJudge):
        if not {c.record_id for c in cases} & set(settled):
            raise DataError(
                f"No prediction of '{run.name}' was judged by annotators, and no judge was given.",
                "Pass `profile` or `offline=True` for a judge, or `labels` with what annotators"
                " said.",
            )
    elif all(c.left_out for c in cases):
        why = ", ".join(f"{reason} {n}" for reason, n in left_out(cases).items())
        raise DataError(
            f"No prediction of '{run.name}' can be judged ({why}).",
            "A judge needs rationales (llm detectors give them) and fact-checks of the same claims:"
            " pass `articles`.",
        )
