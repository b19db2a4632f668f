"""The Python twin of `claimlab evolve worth`.

scored = cl.worth("claims", judge="openai", background="time_node=sensitive", output="scored")
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from claimlab.core.arguments import Arguments, same_arguments
from claimlab.core.budget import Caps
from claimlab.core.call import repeatable
from claimlab.core.calls.estimate import estimated
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError, UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source
from claimlab.core.types import JsonObject
from claimlab.evolve.society.build import open_network, open_population
from claimlab.evolve.worth.score import (
    ALL,
    Background,
    Bounds,
    Perspective,
    Rating,
    Setting,
    Society,
    Values,
    against_people,
    case_of,
    conditions,
    judge_of,
    score_claims,
)
from claimlab.evolve.worth.views import Worth, page
from claimlab.files.read import user_table
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.judge import ModelJudge
from claimlab.llm.open import open_provider
from claimlab.llm.prompts import Given, read_prompts
from claimlab.pages.folder import Contents, fill

TABLE, REPORT, FILE = "worth", "worth-report", "worth.json"


@repeatable()
def worth(
    data: Source,
    *,
    output: str | Path | None = None,
    reading: str = "free",
    background: str | None = None,
    user: Sequence[str] = (),
    perspective: str | None = None,
    content_weight: float | None = None,
    propagation_weight: float | None = None,
    threshold: float | None = None,
    depth: int | None = None,
    fan_out: int | None = None,
    population: str | int = 90,
    network: str = "dunbar",
    values: str | Path | None = None,
    by: str | None = None,
    people: str | Path | None = None,
    judge: str | None = None,
    prompts: Given = (),
    cache: str | Path | None = None,
    mode: str = "record",
    max_cost: float | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    seed: int = 0,
    limit: int | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Worth:
    """Score how check-worthy the claims of `data` are, given the social background, the users and
    the perspective.

    `reading` is "free" (ours, unrounded), "paper" or "released". `background`
    ("time_node=sensitive"), `user` ("education=higher education") and `perspective`
    ("controversy=2,novelty") set the conditions; `by` takes each value of one of them. `judge`
    names the model profile that plays the users. `people` is a table (id, score) to compare with.
    `output` takes dataset and report.
    """
    view = Perspective.named(
        reading,
        dimensions=_weights(perspective),
        content=content_weight,
        propagation=propagation_weight,
        threshold=threshold,
        bounds=Bounds(depth or 3, fan_out or 3),
    )
    setting = Setting(
        Background.parse(background),
        view,
        Values.read(None if values is None else Path(values)),
        read_prompts(prompts, "evolve worth"),
        seed,
    )
    profile, where = _needed(judge), dict(map(_pair, user))
    with Run(
        "evolve worth",
        data,
        output,
        limit=limit,
        force=force,
        seed=seed,
        caps=Caps(max_cost, max_calls, max_tokens),
        mode=mode,
        cache=cache,
        progress=progress,
    ) as run:
        agents = open_population(str(population), seed)
        society = Society.of(agents, open_network(network, agents, seed), where)
        rater = judge_of(open_provider(profile, calls=run.calls), setting.prompts)
        scored = _score(run, society, rater, setting, by)
        scored.where = where
        if people is not None:
            scored.people = against_people(scored.scores, _scores_of(Path(people)), seed=seed)
        report = Contents("worth report", [page(scored)], data={FILE: scored.to_json()})
        scored.dataset = run.finish(
            _dataset(run.dataset, scored, seed), lambda folder: fill(report, folder / REPORT)
        )
    return scored


def _needed(judge: str | None) -> str:
    if judge is None:
        raise UsageError(
            "Check-worthiness needs a model profile: a model plays the users who rate a claim.",
            "Pass `judge`; see: claimlab llm profiles",
        )
    return judge


@same_arguments(worth)
def estimate_worth(call: Arguments) -> JsonObject:
    """What `worth` with the same words would cost at most: all users that depth and fan-out allow
    hear every claim, under every condition.
    """
    setting = Setting(
        Background.parse(call.background),
        Perspective(bounds=Bounds(call.depth or 3, call.fan_out or 3)),
        Values.read(None if call.values is None else Path(call.values)),
        read_prompts(call.prompts, "evolve worth"),
    )
    with Run(
        "evolve worth",
        call.data,
        call.output,
        limit=call.limit,
        mode=call.mode,
        cache=call.cache,
        estimate=True,
    ) as run:
        rater = judge_of(open_provider(_needed(call.judge), calls=run.calls), setting.prompts)
        agents = open_population(str(call.population), call.seed)
        everyone = Society.of(agents, open_network(call.network, agents, call.seed))
        claims = run.dataset.records.drop_nulls("text").select("id", "text").rows()
        requests = (
            rater.request(case_of(claim, among.population.profile(user), under, rater.prompt))
            for _, among, under in conditions(everyone, setting, call.by)
            for claim in claims
            for user in range(min(setting.perspective.bounds.most_reached, among.population.size))
        )
        recording = run.calls.existing()
        users = estimate_calls(requests, rater.provider.profile, recording=recording)
        return estimated({"users": users})


def _score(
    run: Run, society: Society, rater: ModelJudge[Rating], setting: Setting, by: str | None
) -> Worth:
    stated = run.dataset.records.drop_nulls("text")
    claims = list(stated.select("id", "text").iter_rows())
    scores = {
        name: score_claims(claims, among, rater, under, run.progress)
        for name, among, under in conditions(society, setting, by)
    }
    topics = stated.select("id", "topic")
    return Worth(
        scores=scores[ALL].join(topics, on="id", maintain_order="left"),
        setting=setting,
        society=society,
        method=f"agents played by {rater.provider.profile.chosen_model()}",
        tally=rater.tally.summary(),
        by=by,
        untold=run.dataset.records.height - stated.height,
        conditions=None if by is None else _stacked(scores),
        dataset=run.dataset,
    )


def _stacked(scores: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """`condition`, id and score of all conditions."""
    return pl.concat(
        part.select(pl.lit(name).alias("condition"), "id", "score") for name, part in scores.items()
    )


def _dataset(data: Dataset, scored: Worth, seed: int) -> Dataset:
    """`data` with the table `worth` beside its records."""
    figures = scored.to_json()
    step = Lineage(
        step="evolve worth",
        parameters={k: figures[k] for k in ("method", "background", "users", "perspective")},
        seed=seed,
        inputs={"records.parquet": data.digest()},
        counts={"claims": figures["claims"], "unscored": figures["unscored"]},
    )
    table = scored.scores.drop("topic").rename({"id": "record_id"})
    return data.derive(data.records, step, {**data.tables, TABLE: table})


def _scores_of(file: Path) -> pl.DataFrame:
    try:
        return user_table(file, "id", "score").select("id", pl.col("score").cast(pl.Float64))
    except pl.exceptions.PolarsError as error:
        todo = "Give a table with the columns id and score."
        raise DataError(f"'{file}' cannot be read as scores: {error}.", todo) from None


def _weights(text: str | None) -> dict[str, float] | None:
    """`controversy=2,novelty`: what has no number weighs 1."""
    if text is None:
        return None
    weights = {}
    for part in text.split(","):
        name, _, weight = (p.strip() for p in part.partition("="))
        try:
            weights[name] = float(weight) if weight else 1.0
        except ValueError:
            raise UsageError(
                f"'{weight}' is not a valid weight.", "Write NAME=NUMBER, such as controversy=2."
            ) from None
    return weights


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(
            f"'{text}' names no value.",
            "Write ATTRIBUTE=VALUE, such as 'education=higher education'.",
        )
    return name.strip(), value.strip()
