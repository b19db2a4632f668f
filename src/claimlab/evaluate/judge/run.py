"""Judge the reasons of a run, hold the judge against people where there are any, and keep all of it in annotations."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.atomic import atomic_folder
from claimlab.core.dataset import Dataset, Lineage, Manifest, refuse_overwrite
from claimlab.core.errors import DataError
from claimlab.core.progress import Progress, silent
from claimlab.core.record import meta_json, to_side_table
from claimlab.evaluate.judge.cases import Case, articles_in, left_out, read_cases
from claimlab.evaluate.judge.opinions import Judge, Opinion
from claimlab.evaluate.judge.people import (
    OPEN,
    QUESTION,
    Said,
    agreement_between,
    consensus,
    people_in,
    rates,
)
from claimlab.evaluate.judge.threshold import DEFAULT, Fit, fit, measured, verdict
from claimlab.tasks.known.veracity import TASK as VERACITY
from claimlab.tasks.task import Task

SCORE = "contradiction"  # the question that a judge's own value answers; its verdict answers QUESTION
FILE = "judge.json"
ABSTENTIONS = ("no-evidence", "insufficient-evidence")
UNVALIDATED = "unvalidated: it was not compared with people"


@dataclass(frozen=True)
class Judged:
    """The run with the judge's annotations, and what came out, JSON-safe."""

    dataset: Dataset
    summary: dict[str, Any]

    def write(self, folder: Path, *, force: bool = False) -> Manifest:
        """The folder of the run with the annotations, and the summary beside them."""
        refuse_overwrite(folder, force)
        with atomic_folder(folder) as building:
            manifest = self.dataset.write_into(building)
            text = json.dumps(self.summary, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
            (building / FILE).write_text(text, encoding="utf-8")
        return manifest


def judge_run(
    run: Dataset,
    judge: Judge,
    *,
    task: Task = VERACITY,
    articles: Mapping[str, str] | None = None,
    people: Said | None = None,
    threshold: float | None = None,
    progress: Progress = silent,
) -> Judged:
    """`articles` maps a record to its fact-checking article (null: the fact-checks among the run's evidence); `people`
    is what people said of the reasons (null: the run's own annotations). `threshold` sets the score from which on
    reasons count as wrong, instead of fitting it."""
    found = articles if articles is not None else articles_in(run)
    cases = read_cases(run, task, found)
    open_cases = [c for c in cases if c.left_out is None]
    if not open_cases:
        why = ", ".join(f"{reason} {n}" for reason, n in left_out(cases).items())
        raise DataError(
            f"No prediction of '{run.name}' can be judged ({why}).",
            "A judge needs reasons (an llm detector gives them) and fact-checking articles (--articles FILE).",
        )
    opinions = {o.record_id: o for o in judge.judge(open_cases, progress=progress)}
    said = people if people is not None else people_in(run)
    settled = consensus(said)
    fitted = _fit(judge, opinions, settled, threshold)
    at = fitted.chosen if fitted is not None else DEFAULT if threshold is None else threshold
    verdicts = {i: _verdict(o, at) for i, o in opinions.items() if o.value is not None}
    summary = _summary(judge, cases, opinions, verdicts, settled, said, fitted, at)
    step = Lineage(
        step="judge",
        parameters={"judge": judge.name, "settings": judge.parameters(), "threshold": summary["threshold"]},
        inputs={run.name: run.digest()},
        counts={"predictions": len(cases), "judged": len(verdicts)},
    )
    tables = {**run.tables, "annotations": _annotations(run, judge, opinions, verdicts, summary["standing"])}
    judged = run.derive(run.records, step, tables)
    judged.notes.append(f"The judge '{judge.name}' is {summary['standing']}.")
    return Judged(judged, summary)


def _fit(
    judge: Judge, opinions: Mapping[str, Opinion], settled: Mapping[str, str], threshold: float | None
) -> Fit | None:
    """The threshold of a score, from the cases that people called wrong or not wrong; null where there is nothing to
    fit or it was set. Open cases are left out, as people could not say either."""
    both = [i for i, o in opinions.items() if o.value is not None and settled.get(i, OPEN) != OPEN]
    if judge.scale != "score" or threshold is not None or not both:
        return None
    scores = [float(opinions[i].value) for i in both]  # type: ignore[arg-type]
    return fit(scores, [settled[i] for i in both])


def _verdict(opinion: Opinion, threshold: float) -> str:
    return opinion.value if isinstance(opinion.value, str) else verdict(float(opinion.value or 0.0), threshold)


def _summary(
    judge: Judge,
    cases: Sequence[Case],
    opinions: Mapping[str, Opinion],
    verdicts: Mapping[str, str],
    settled: Mapping[str, str],
    said: Said,
    fitted: Fit | None,
    threshold: float,
) -> dict[str, Any]:
    known = [i for i in verdicts if settled.get(i, OPEN) != OPEN]
    against = fitted.held_out if fitted is not None else None
    if against is None and known:
        against = measured([verdicts[i] for i in known], [settled[i] for i in known])
    correct = {c.record_id: c.correct for c in cases if c.correct is not None}
    costs = [o.cost for o in opinions.values()]
    return {
        "judge": judge.name,
        "settings": judge.parameters(),
        "standing": "; ".join(filter(None, [judge.standing, UNVALIDATED if against is None else _validated(against)])),
        "validated": against is not None,
        "predictions": len(cases),
        "judged": len(verdicts),
        "failed": dict(sorted(Counter(f for o in opinions.values() for f in o.failures).items())),
        "left_out": left_out(cases),
        "abstained": {kind: _abstained(cases, kind) for kind in ABSTENTIONS},
        "threshold": threshold if judge.scale == "score" else None,
        "threshold_fit": fitted.as_json() if fitted is not None else None,
        "verdicts": dict(sorted(Counter(verdicts.values()).items())),
        "agreement_with_people": against,
        "agreement_between_people": agreement_between(said),
        "by_judge": rates(verdicts, correct),
        "by_people": rates(settled, correct) if settled else None,
        "cost": round(sum(c for c in costs if c is not None), 9) if None not in costs else None,
    }


def _validated(against: Mapping[str, Any]) -> str:
    kappa = "" if against["kappa"] is None else f", kappa {against['kappa']:.2f}"
    return f"in agreement with people on {100 * against['agreement']:.0f} % of {against['n']} cases{kappa}"


def _abstained(cases: Sequence[Case], kind: str) -> dict[str, int]:
    """An abstention is neither right nor wrong; where a fact-check exists, there was something to be found."""
    mine = [c for c in cases if c.left_out == kind]
    return {"n": len(mine), "with_article": sum(bool((c.article or "").strip()) for c in mine)}


def _annotations(
    run: Dataset, judge: Judge, opinions: Mapping[str, Opinion], verdicts: Mapping[str, str], standing: str
) -> pl.DataFrame:
    """The judge's rows behind those that stood there; rows of an earlier pass of the same judge are replaced."""
    rows: list[dict[str, Any]] = []
    for record, opinion in opinions.items():
        meta = {"runs": opinion.runs, "failures": opinion.failures or None, "cost": opinion.cost, "standing": standing}
        base = {"record_id": record, "annotator": judge.name, "annotator_kind": "model", "meta": meta_json(meta)}
        value = None if opinion.value is None else str(opinion.value)
        rows.append({**base, "question": SCORE, "value": value, "rationale": opinion.analysis})
        rows.append({**base, "question": QUESTION, "value": verdicts.get(record), "rationale": None})
    new = to_side_table("annotations", pl.DataFrame(rows, infer_schema_length=None))
    before = run.tables.get("annotations")
    if before is None:
        return new
    others = before.filter(pl.col("annotator").is_null() | (pl.col("annotator") != judge.name))
    return pl.concat([others, new], how="diagonal_relaxed")
