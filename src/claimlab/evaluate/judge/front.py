"""`cl.judge` and `claimlab judge`: hold the rationales of a run against fact-checking articles, and
the judge against annotators.

Judge the reasons of a run, hold the judge against people where there are any, and keep all of it
in annotations.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeAlias, Unpack, get_args

import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.estimate import costs_nothing
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError, UsageError
from claimlab.core.options import (
    Argument,
    BatchOptions,
    Force,
    ModelName,
    Option,
    OutputFolder,
    Place,
    Profile,
    PromptFiles,
    Setting,
)
from claimlab.core.record import SIDE_TABLES, meta_json, to_side_table
from claimlab.core.run import Run, Stored
from claimlab.core.settings import one_of
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.detect.open import open_handles
from claimlab.evaluate.judge.opinions import (
    Contradiction,
    Judge,
    LexicalJudge,
    NoJudge,
    Scale,
    family_of,
    padded,
)
from claimlab.evaluate.judge.people import (
    DEFAULT,
    OPEN,
    QUESTION,
    Articles,
    Case,
    Fit,
    Verdicts,
    agreement_between,
    agreement_in_words,
    articles_in,
    as_annotations,
    changed,
    consensus,
    fit,
    left_out,
    length_bias,
    measured,
    people_in,
    rates,
    read_articles,
    read_cases,
    read_people,
    score_band,
    verdict,
)
from claimlab.evaluate.judge.views import JudgedCase, page
from claimlab.evaluate.scored_run import ABSTENTIONS, OwnTask, about_of, task_of
from claimlab.llm.estimate import estimate
from claimlab.llm.judge import Opinion, agreement_of_runs, failures_of
from claimlab.llm.prompts import Prompts, read_prompts
from claimlab.pages.folder import Contents, fill
from claimlab.tasks import Task, open_task
from claimlab.tasks.table import VERACITY

SCORE = (  # the question that a judge's own value answers; its verdict answers QUESTION
    "contradiction"
)
FILE = "judge.json"
REPORT = "judge-report"
AnyOpinion: TypeAlias = Opinion[Any]

UNVALIDATED = "unvalidated: it was not compared with annotators"
UNPROBED = "unvalidated: order, length and wording were not probed (`probes`)"


@dataclass(frozen=True, repr=False)
class Judged(Shown):
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
) -> Judged:
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
    judging = _Judging(judge, cases, everyone, settled, opinions, threshold, probed, model)
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
    known = [case for case in open_cases if case.record_id in {*opinions, *settled}]
    return Judged(judged, summary, [judging.row(case) for case in known])


def _by_case(opinions: Iterable[AnyOpinion]) -> dict[str, AnyOpinion]:
    return {opinion.case: opinion for opinion in opinions}


def _probed(judge: Judge, cases: list[Case]) -> dict[str, dict[str, AnyOpinion]]:
    """What the judge says of cases with places exchanged, a longer rationale, and other words."""
    reworded = judge.reworded(cases) if isinstance(judge, Contradiction) else []
    return {
        "exchanged": _by_case(judge.judge(cases, exchanged=True)),
        "padded": _by_case(judge.judge([padded(one) for one in cases])),
        "reworded": _by_case(judge.judge(reworded)),
    }


def _before(run: Dataset, judge: Judge) -> dict[str, str]:
    """What the same judge said of these records when the run was judged before."""
    table = run.tables.get("annotations", pl.DataFrame(schema=SIDE_TABLES["annotations"]))
    mine = table.filter(annotator=judge.name, question=QUESTION).drop_nulls("value")
    return dict(mine.select("record_id", "value").iter_rows())


def _first(cases: list[Case], limit: int | None) -> list[Case]:
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


def _abstained(cases: Sequence[Case], kind: str) -> dict[str, int]:
    """An abstention is neither right nor wrong; where a fact-check exists, there was something to
    be found.
    """
    mine = [c for c in cases if c.left_out == kind]
    return {"n": len(mine), "with_article": sum(bool((c.article or "").strip()) for c in mine)}


@dataclass(frozen=True)
class _Judging:
    """What a judge and annotators said of the cases of a run; `settled` is one verdict a record,
    `given` the threshold that was set, `probed` its opinions on changed cases, and `asked` the
    model that the run asked."""

    judge: Judge
    cases: Sequence[Case]
    people: Verdicts
    settled: Mapping[str, str]
    opinions: Mapping[str, AnyOpinion]
    given: float | None
    probed: Mapping[str, Mapping[str, AnyOpinion]] = field(default_factory=dict)
    asked: object = None

    @cached_property
    def fitted(self) -> Fit | None:
        """The threshold of a score, from the cases that people called wrong or not wrong; null
        where there is nothing to fit or it was set. Open cases are left out, as people could not
        say either."""
        known = {i: o.value for i, o in self.opinions.items() if o.value is not None}
        both = [i for i in known if self.settled.get(i, OPEN) != OPEN]
        if self.judge.scale != "score" or self.given is not None or not both:
            return None
        return fit([float(known[i]) for i in both], [self.settled[i] for i in both])

    @property
    def threshold(self) -> float:
        if self.fitted is not None:
            return self.fitted.chosen
        return DEFAULT if self.given is None else self.given

    @cached_property
    def verdicts(self) -> dict[str, str]:
        return self._verdicts(self.opinions)

    def _verdicts(self, opinions: Mapping[str, AnyOpinion]) -> dict[str, str]:
        return {
            i: o.value if isinstance(o.value, str) else verdict(float(o.value), self.threshold)
            for i, o in opinions.items()
            if o.value is not None
        }

    @cached_property
    def probes(self) -> dict[str, JsonObject]:
        """How far the verdicts depend on the order, length and wording of what the judge reads."""
        changes = {
            name: changed(self.verdicts, self._verdicts(more)) for name, more in self.probed.items()
        }
        return {name: one for name, one in changes.items() if one is not None}

    @property
    def same_family(self) -> str | None:
        """The family of the judge, where the model that it judges is of the same one."""
        mine = family_of(self.judge.parameters().get("model"))
        return mine if mine is not None and mine == family_of(self.asked) else None

    @property
    def against_people(self) -> JsonObject | None:
        """The judge held against annotators, where they called a case wrong or not wrong."""
        if self.fitted is not None:
            return self.fitted.held_out
        both = [i for i in self.verdicts if self.settled.get(i, OPEN) != OPEN]
        answers, truth = [self.verdicts[i] for i in both], [self.settled[i] for i in both]
        return measured(answers, truth) if both else None

    @property
    def standing(self) -> str:
        if isinstance(self.judge, NoJudge):
            return self.judge.standing
        worth = UNVALIDATED
        if self.against_people is not None:
            worth = f"in agreement with annotators on {agreement_in_words(self.against_people)}"
        parts = [self.judge.standing, worth]
        if self.same_family is not None:
            parts.append(f"of the same family ({self.same_family}) as the run: use another model")
        if isinstance(self.judge, Contradiction) and not self.probes:
            parts.append(UNPROBED)
        return "; ".join(part for part in parts if part)

    @property
    def validated(self) -> bool:
        """Whether it was compared with annotators, and a model was probed."""
        probed = bool(self.probes) or not isinstance(self.judge, Contradiction)
        return self.against_people is not None and probed

    @property
    def cost(self) -> float | None:
        """What all opinions cost; null where that is not known of one."""
        costs = [opinion.cost for opinion in self.opinions.values()]
        known = [cost for cost in costs if cost is not None]
        return round(sum(known), 9) if len(known) == len(costs) else None

    def summary(self, before: Mapping[str, str]) -> JsonObject:
        cases, verdicts, settled = self.cases, self.verdicts, self.settled
        correct = {c.record_id: c.correct for c in cases if c.correct is not None}
        opinions = list(self.opinions.values())
        return {
            "judge": self.judge.name,
            "settings": self.judge.parameters(),
            "standing": self.standing,
            "validated": self.validated,
            "predictions": len(cases),
            "judged": len(verdicts),
            "failed": failures_of(opinions),
            "left_out": left_out(cases),
            "abstained": {kind: _abstained(cases, kind) for kind in ABSTENTIONS},
            "threshold": self.threshold if self.judge.scale == "score" else None,
            "threshold_fit": self.fitted and asdict(self.fitted),
            "verdicts": dict(sorted(Counter(verdicts.values()).items())),
            "agreement_with_people": self.against_people,
            "agreement_between_people": agreement_between(self.people),
            "length_bias": length_bias(cases, verdicts, settled),
            "agreement_of_runs": agreement_of_runs(opinions),
            "probes": self.probes,
            "drift": changed(before, verdicts),
            "same_family": self.same_family,
            "score_band": score_band(
                list(correct.values()), rates(settled or verdicts, correct)["false_incorrect"]
            ),
            "by_judge": rates(verdicts, correct) if verdicts else None,
            "by_people": rates(settled, correct) if settled else None,
            "people_on_other_records": len(set(settled) - {c.record_id for c in cases}),
            "cost": self.cost,
        }

    def annotations(self, standing: str) -> list[JsonObject]:
        """The judge's own value and its verdict."""
        rows: list[JsonObject] = []
        for record, opinion in self.opinions.items():
            meta = {
                "runs": opinion.runs,
                "failures": opinion.failures or None,
                "cost": opinion.cost,
                "standing": standing,
            }
            base = {
                "record_id": record,
                "annotator": self.judge.name,
                "annotator_kind": "model",
                "meta": meta_json(meta),
            }
            value = None if opinion.value is None else str(opinion.value)
            rows.append({**base, "question": SCORE, "value": value, "rationale": opinion.rationale})
            known = self.verdicts.get(record)
            rows.append({**base, "question": QUESTION, "value": known, "rationale": None})
        return rows

    def row(self, case: Case) -> JudgedCase:
        """What the page shows of a case that the judge or people had something to say on."""
        opinion: AnyOpinion = self.opinions.get(case.record_id, Opinion(""))
        return JudgedCase(
            **vars(case),
            value=opinion.value,
            verdict=self.verdicts.get(case.record_id),
            people=self.settled.get(case.record_id),
            analysis=opinion.rationale,
        )


@repeatable()
def judge(
    data: Annotated[Stored, Argument("A run: a folder that claimlab detect wrote.")],
    *,
    output: OutputFolder = None,
    profile: Profile = None,
    offline: Annotated[bool, Option("Use the weak lexical judge: no model.")] = False,
    model: ModelName = None,
    scale: Annotated[
        str | None,
        Setting("How it answers: 'score' (0 to 10, the default), 'binary' or 'trinary'."),
    ] = None,
    runs: Annotated[
        int | None,
        Setting("How often it is asked (1): mean of scores, majority.", least=1, most=25),
    ] = None,
    prompts: PromptFiles = (),
    articles: Annotated[
        Place | None,
        Setting("Table with record_id and article; else the fact-checks in the evidence."),
    ] = None,
    labels: Annotated[
        Place | None,
        Option("Table of what annotators said: record_id, value (wrong, open, not wrong)."),
    ] = None,
    threshold: Annotated[
        float | None,
        Setting("Score at which rationales count as wrong; by default fitted.", least=0, most=10),
    ] = None,
    task: OwnTask = None,
    limit: Annotated[int | None, Option("Judge only the first N predictions.", least=1)] = None,
    probes: Annotated[
        int,
        Setting("Cases to ask about again: places exchanged, padded, reworded (0).", least=0),
    ] = 0,
    force: Force = False,
    **calls: Unpack[BatchOptions],
) -> Judged:
    """Judge the rationales of a run by contradictions with fact-checking articles.

    The judge is the model of `profile`, or the weak lexical one (`offline`); with neither, only
    what annotators said is counted.
    """
    _check(
        profile, offline, threshold, model=model, scale=scale, runs=runs, prompts=prompts or None
    )
    words = read_prompts(prompts, "judge")
    with Run("judge", data, output, force=force, **calls) as run:
        opened = open_task(task or task_of(run.dataset), run.dataset.records)
        texts = read_articles(Path(articles)) if articles is not None else None
        with _opened(run.calls, profile, offline, model, scale, runs, words) as chosen:
            if run.estimate:
                known = articles_in(run.dataset) if texts is None else texts
                cases = read_cases(run.dataset, opened, known)
                mine = [case for case in cases if case.left_out is None][:limit]
                again = mine[:probes]  # exchanged, to say in other words, and in these
                _estimate(run, chosen, [*mine, *again, *again, *again, *map(padded, again)])
            judged = judge_run(
                run.dataset,
                chosen,
                task=opened,
                articles=texts,
                people=read_people(Path(labels)) if labels is not None else None,
                threshold=threshold,
                limit=limit,
                probes=probes,
            )
        judged.dataset.report = {"judge": judged.summary, "budget": run.calls.budget.summary()}
        run.finish(judged.dataset, judged.write_more)
    return judged


def _estimate(run: Run, judge: Judge, cases: list[Case]) -> NoReturn:
    """What the questions about `cases` would cost."""
    if not isinstance(judge, Contradiction):
        raise costs_nothing()
    endpoint = judge.model.provider.profile
    part = estimate(judge.requests(cases), endpoint, recording=run.calls.existing())
    run.estimated({endpoint.chosen_model(): part}, facts={"cases": len(cases)})


@contextmanager
def _opened(
    calls: Calls,
    profile: str | None,
    offline: bool,
    model: str | None,
    scale: str | None,
    runs: int | None,
    prompts: Prompts,
) -> Iterator[Judge]:
    if profile is None:
        yield LexicalJudge() if offline else NoJudge()
        return
    with open_handles(calls, profile=profile, model=model) as handles:
        yield Contradiction(
            handles["model"],
            scale=one_of(get_args(Scale), scale or "score", "scale"),
            runs=runs or 1,
            prompts=prompts,
        )


def _check(profile: str | None, offline: bool, threshold: float | None, **options: Any) -> None:
    """Refuse what no judge would use, before anything is spent."""
    if offline and profile is not None:
        raise UsageError("Two judges are given.", "Pass `profile`, or `offline=True`, not both.")
    unused = [f"`{name}`" for name, value in options.items() if value is not None]
    if unused and profile is None:
        raise UsageError(f"{' and '.join(unused)} can only be asked of a model.", "Pass `profile`.")
    if threshold is not None and options["scale"] in ("binary", "trinary"):
        todo = 'Leave out `threshold`, or pass `scale="score"`.'
        raise UsageError(f"The scale '{options['scale']}' has no threshold.", todo)
