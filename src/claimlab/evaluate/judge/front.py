"""`cl.judge` and `claimlab judge`: hold the rationales of a run against fact-checking articles, and
the judge against annotators.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn, Unpack, get_args

from claimlab.core.call import repeatable
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.estimate import costs_nothing
from claimlab.core.choices import one_of
from claimlab.core.errors import UsageError
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
from claimlab.core.run import Run, Stored
from claimlab.detect.open import open_handles
from claimlab.evaluate.judge.cases import RationaleCase, articles_in, read_articles, read_cases
from claimlab.evaluate.judge.judged_run import JudgedRun, judge_run
from claimlab.evaluate.judge.opinions import (
    Contradiction,
    Judge,
    LexicalJudge,
    NoJudge,
    Scale,
    padded,
)
from claimlab.evaluate.judge.people import read_people
from claimlab.evaluate.scored_run import OwnTask, task_of
from claimlab.llm.estimate import estimate
from claimlab.llm.prompts import Prompts, read_prompts
from claimlab.tasks import open_task


@repeatable()
def judge(  # noqa: PLR0913
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
) -> JudgedRun:
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
                article_of = articles_in(run.dataset) if texts is None else texts
                cases = read_cases(run.dataset, opened, article_of)
                judged_cases = [case for case in cases if case.left_out is None][:limit]
                again = judged_cases[:probes]  # exchanged, to say in other words, and in these
                _estimate(run, chosen, [*judged_cases, *again, *again, *again, *map(padded, again)])
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


def _estimate(run: Run, judge: Judge, cases: list[RationaleCase]) -> NoReturn:
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
