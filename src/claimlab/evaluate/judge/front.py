"""`cl.judge` and `claimlab judge`: hold the rationales of a run against fact-checking articles, and
the judge against annotators."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from claimlab.core.arguments import Arguments, same_arguments
from claimlab.core.budget import Caps
from claimlab.core.call import repeatable
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.estimate import estimated
from claimlab.core.errors import UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source
from claimlab.core.types import JsonObject
from claimlab.detect.open import open_handles
from claimlab.evaluate.judge.cases import articles_in, read_articles, read_cases
from claimlab.evaluate.judge.opinions import (
    Contradiction,
    Judge,
    LexicalJudge,
    NoJudge,
    check_scale,
)
from claimlab.evaluate.judge.people import read_people
from claimlab.evaluate.judge.run import Judged, judge_run
from claimlab.evaluate.scored_run import task_of
from claimlab.llm.estimate import estimate
from claimlab.llm.prompts import Given, Prompts, read_prompts
from claimlab.tasks import open_task


@repeatable()
def judge(
    data: Source,
    *,
    output: str | Path | None = None,
    profile: str | None = None,
    offline: bool = False,
    model: str | None = None,
    scale: str | None = None,
    runs: int | None = None,
    prompts: Given = (),
    articles: str | Path | None = None,
    labels: str | Path | None = None,
    threshold: float | None = None,
    task: str | None = None,
    cache: str | Path | None = None,
    mode: str = "record",
    batch: bool = False,
    max_cost: float | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    limit: int | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Judged:
    """Judge the rationales of a run (what `detect` returned or wrote) by contradictions with
    fact-checking articles.

    The judge is the model of `profile`, asked `runs` times on `scale` ("score", "binary",
    "trinary") with the words of `prompts` (by name, a file each: claimlab llm prompts), or the weak
    lexical one (`offline`); with neither, only what annotators said is counted. `articles` is a
    table with record_id and article (by default the fact-checks among the run's evidence), `labels`
    one of what annotators said: record_id and value (wrong, open, not wrong). `limit` judges only
    the first predictions that can be judged.
    """
    _check(
        profile, offline, threshold, model=model, scale=scale, runs=runs, prompts=prompts or None
    )
    words = read_prompts(prompts, "judge")
    caps = Caps(max_cost, max_calls, max_tokens)
    with Run(
        "judge",
        data,
        output,
        force=force,
        caps=caps,
        mode=mode,
        cache=cache,
        batch=batch,
        progress=progress,
    ) as run:
        with _opened(run.calls, profile, offline, model, scale, runs, words) as chosen:
            judged = judge_run(
                run.dataset,
                chosen,
                task=open_task(task or task_of(run.dataset), run.dataset.records),
                articles=read_articles(Path(articles)) if articles is not None else None,
                people=read_people(Path(labels)) if labels is not None else None,
                threshold=threshold,
                limit=limit,
                progress=progress,
            )
        judged.dataset.report = {"judge": judged.summary, "budget": run.calls.budget.summary()}
        run.finish(judged.dataset, judged.write_more)
    return judged


@same_arguments(judge)
def estimate_judge(call: Arguments) -> JsonObject:
    """What `judge` with the same arguments would cost. No key is needed, and nothing is asked."""
    options = {
        "model": call.model,
        "scale": call.scale,
        "runs": call.runs,
        "prompts": call.prompts or None,
    }
    _check(call.profile, call.offline, call.threshold, **options)
    options["prompts"] = read_prompts(call.prompts, "judge")
    with Run(
        "judge", call.data, call.output, mode=call.mode, cache=call.cache, estimate=True
    ) as run:
        opened = open_task(call.task or task_of(run.dataset), run.dataset.records)
        with _opened(run.calls, call.profile, call.offline, **options) as chosen:
            if not isinstance(chosen, Contradiction):
                raise UsageError("No model is asked: it costs nothing.", "Leave out `estimate`.")
            texts = (
                read_articles(Path(call.articles))
                if call.articles is not None
                else articles_in(run.dataset)
            )
            cases = [c for c in read_cases(run.dataset, opened, texts) if c.left_out is None][
                : call.limit
            ]
            requests = chosen.requests(cases)
            endpoint = chosen.model.provider.profile
            parts = {
                endpoint.chosen_model(): estimate(
                    requests, endpoint, recording=run.calls.existing()
                )
            }
            return estimated(parts, facts={"cases": len(cases)})


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
            handles["model"], scale=check_scale(scale or "score"), runs=runs or 1, prompts=prompts
        )


def _check(profile: str | None, offline: bool, threshold: float | None, **options: Any) -> None:
    """Refuse what no judge would use, before anything is spent."""
    if offline and profile is not None:
        raise UsageError("Two judges are given.", "Pass `profile`, or `offline=True`, not both.")
    unused = (
        [f"`{name}`" for name, value in options.items() if value is not None]
        if profile is None
        else []
    )
    if unused:
        raise UsageError(f"{' and '.join(unused)} can only be asked of a model.", "Pass `profile`.")
    if threshold is not None and options["scale"] in ("binary", "trinary"):
        todo = 'Leave out `threshold`, or pass `scale="score"`.'
        raise UsageError(f"The scale '{options['scale']}' has no threshold.", todo)
