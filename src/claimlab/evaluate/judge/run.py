"""Judge the reasons of a run, hold the judge against people where there are any, and keep all of it
in annotations.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError
from claimlab.core.progress import Progress, silent
from claimlab.core.record import SIDE_TABLES, meta_json, to_side_table
from claimlab.core.run import Run
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evaluate.judge.cases import Articles, Case, articles_in, left_out, read_cases
from claimlab.evaluate.judge.opinions import Judge, NoJudge
from claimlab.evaluate.judge.people import (
    DEFAULT,
    OPEN,
    QUESTION,
    Fit,
    Verdicts,
    agreement_between,
    agreement_in_words,
    as_annotations,
    consensus,
    fit,
    measured,
    people_in,
    rates,
    verdict,
)
from claimlab.evaluate.judge.views import Row, page
from claimlab.llm.judge import agreement_of_runs
from claimlab.llm.opinion import Opinion
from claimlab.pages.folder import Contents, fill
from claimlab.tasks import Task
from claimlab.tasks.table import VERACITY

SCORE = (  # the question that a judge's own value answers; its verdict answers QUESTION
    "contradiction"
)
FILE = "judge.json"
REPORT = "judge-report"
AnyOpinion: TypeAlias = Opinion[Any]
ABSTENTIONS = ("no-evidence", "insufficient-evidence")
UNVALIDATED = "unvalidated: it was not compared with annotators"


@dataclass(frozen=True, repr=False)
class Judged(Shown):
    """The run with the judge's annotations, what came out, JSON-safe, and the cases for the
    page.
    """

    dataset: Dataset
    summary: JsonObject
    rows: list[Row] = field(default_factory=list)

    @property
    def table(self) -> pl.DataFrame:
        """The judged cases: what was said, by whom, and the verdicts on it."""
        rows = [
            {**vars(row), "value": None if row.value is None else str(row.value)}
            for row in self.rows
        ]
        return pl.DataFrame(rows, schema=dict.fromkeys((f.name for f in fields(Row)), pl.String))

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
        (folder / FILE).write_text(text, encoding="utf-8")
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
    progress: Progress = silent,
) -> Judged:
    """`articles` maps a record to its fact-checking article (null: the fact-checks among the run's
    evidence); `people` has the annotators' verdicts on the rationales (null: the run's own
    annotations); with `NoJudge` only these count. `threshold` is the score at which rationales
    count as wrong, instead of fitting it. `limit` is on the cases that can be judged: the
    predictions after the last of them are left out."""
    texts = articles if articles is not None else articles_in(run)
    cases = _first(read_cases(run, task, texts), limit)
    open_cases = [c for c in cases if c.left_out is None]
    verdicts_of_people = people if people is not None else people_in(run)
    settled = consensus(verdicts_of_people)
    _refuse_empty(run, judge, cases, settled)
    opinions = {o.case: o for o in judge.judge(open_cases, progress=progress)}
    fitted = _fit(judge, opinions, settled, threshold)
    at = fitted.chosen if fitted is not None else DEFAULT if threshold is None else threshold
    verdicts = {i: _verdict(o, at) for i, o in opinions.items() if o.value is not None}
    summary = _summary(judge, cases, opinions, verdicts, settled, verdicts_of_people, fitted, at)
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
    added = as_annotations(people) if people is not None else []
    added += _opinions(judge, opinions, verdicts, summary["standing"])
    tables = {**run.tables, "annotations": _behind(run.tables.get("annotations"), added)}
    judged = run.derive(run.records, step, tables)
    judged.notes += [f"The judge '{judge.name}' is {summary['standing']}."] if opinions else []
    return Judged(judged, summary, _rows(open_cases, opinions, verdicts, settled))


def _first(cases: list[Case], limit: int | None) -> list[Case]:
    """The cases up to the last of the first `limit` that can be judged."""
    if limit is None:
        return cases
    ends = [number for number, case in enumerate(cases, 1) if case.left_out is None][:limit]
    return cases[: ends[-1]] if ends else []


def _rows(
    cases: Sequence[Case],
    opinions: Mapping[str, AnyOpinion],
    verdicts: Mapping[str, str],
    settled: Mapping[str, str],
) -> list[Row]:
    """What the page shows of each case that a judge or people had something to say on."""
    silent_one: AnyOpinion = Opinion("")
    return [
        Row(
            c.record_id,
            c.statement,
            c.label,
            c.truth,
            c.rationale,
            c.article,
            opinions.get(c.record_id, silent_one).value,
            verdicts.get(c.record_id),
            settled.get(c.record_id),
            opinions.get(c.record_id, silent_one).rationale,
        )
        for c in cases
        if c.record_id in opinions or c.record_id in settled
    ]


def _refuse_empty(
    run: Dataset, judge: Judge, cases: Sequence[Case], settled: Mapping[str, str]
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


def _fit(
    judge: Judge,
    opinions: Mapping[str, AnyOpinion],
    settled: Mapping[str, str],
    threshold: float | None,
) -> Fit | None:
    """The threshold of a score, from the cases that people called wrong or not wrong; null where
    there is nothing to fit or it was set. Open cases are left out, as people could not say either.
    """
    both = [i for i, o in opinions.items() if o.value is not None and settled.get(i, OPEN) != OPEN]
    if judge.scale != "score" or threshold is not None or not both:
        return None
    scores = [float(opinions[i].value) for i in both]  # type: ignore[arg-type]
    return fit(scores, [settled[i] for i in both])


def _verdict(opinion: AnyOpinion, threshold: float) -> str:
    return (
        opinion.value
        if isinstance(opinion.value, str)
        else verdict(float(opinion.value or 0.0), threshold)
    )


def _summary(
    judge: Judge,
    cases: Sequence[Case],
    opinions: Mapping[str, AnyOpinion],
    verdicts: Mapping[str, str],
    settled: Mapping[str, str],
    people: Verdicts,
    fitted: Fit | None,
    threshold: float,
) -> JsonObject:
    against = _against(fitted, verdicts, settled)
    correct = {c.record_id: c.correct for c in cases if c.correct is not None}
    failures = Counter(chain.from_iterable(o.failures for o in opinions.values()))
    return {
        "judge": judge.name,
        "settings": judge.parameters(),
        "standing": _standing(judge, against),
        "validated": against is not None,
        "predictions": len(cases),
        "judged": len(verdicts),
        "failed": dict(sorted(failures.items())),
        "left_out": left_out(cases),
        "abstained": {kind: _abstained(cases, kind) for kind in ABSTENTIONS},
        "threshold": threshold if judge.scale == "score" else None,
        "threshold_fit": fitted.to_json() if fitted is not None else None,
        "verdicts": dict(sorted(Counter(verdicts.values()).items())),
        "agreement_with_people": against,
        "agreement_between_people": agreement_between(people),
        "agreement_of_runs": agreement_of_runs(list(opinions.values())),
        "by_judge": rates(verdicts, correct) if verdicts else None,
        "by_people": rates(settled, correct) if settled else None,
        "people_on_other_records": len(set(settled) - {c.record_id for c in cases}),
        "cost": _cost(opinions.values()),
    }


def _against(
    fitted: Fit | None, verdicts: Mapping[str, str], settled: Mapping[str, str]
) -> JsonObject | None:
    """The judge held against annotators, where they called a case wrong or not wrong."""
    if fitted is not None:
        return fitted.held_out
    known = [i for i in verdicts if settled.get(i, OPEN) != OPEN]
    return measured([verdicts[i] for i in known], [settled[i] for i in known]) if known else None


def _cost(opinions: Collection[AnyOpinion]) -> float | None:
    """What they cost together; null where it is not known of one."""
    known = [opinion.cost for opinion in opinions if opinion.cost is not None]
    return round(sum(known), 9) if len(known) == len(opinions) else None


def _standing(judge: Judge, against: JsonObject | None) -> str:
    if isinstance(judge, NoJudge):
        return judge.standing
    worth = UNVALIDATED
    if against is not None:
        worth = f"in agreement with annotators on {agreement_in_words(against)}"
    return f"{judge.standing}; {worth}" if judge.standing else worth


def _abstained(cases: Sequence[Case], kind: str) -> dict[str, int]:
    """An abstention is neither right nor wrong; where a fact-check exists, there was something to
    be found.
    """
    mine = [c for c in cases if c.left_out == kind]
    return {"n": len(mine), "with_article": sum(bool((c.article or "").strip()) for c in mine)}


def _opinions(
    judge: Judge, opinions: Mapping[str, AnyOpinion], verdicts: Mapping[str, str], standing: str
) -> list[JsonObject]:
    """The judge's own value and its verdict, as annotations."""
    rows: list[JsonObject] = []
    for record, opinion in opinions.items():
        meta = {
            "runs": opinion.runs,
            "failures": opinion.failures or None,
            "cost": opinion.cost,
            "standing": standing,
        }
        base = {
            "record_id": record,
            "annotator": judge.name,
            "annotator_kind": "model",
            "meta": meta_json(meta),
        }
        value = None if opinion.value is None else str(opinion.value)
        rows.append({**base, "question": SCORE, "value": value, "rationale": opinion.rationale})
        rows.append(
            {**base, "question": QUESTION, "value": verdicts.get(record), "rationale": None}
        )
    return rows


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
