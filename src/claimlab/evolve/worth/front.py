"""The Python twin of `claimlab evolve worth`.

scored = cl.worth("claims", background="time_node=sensitive", output="scored")
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from claimlab.core.arguments import Arguments, same_arguments
from claimlab.core.budget import Caps
from claimlab.core.call import repeatable
from claimlab.core.calls.estimate import Priced, estimated
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError, UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source
from claimlab.core.types import JsonObject
from claimlab.evolve.society.open import open_network, open_population
from claimlab.evolve.worth.agents import case_of, judge_of, worth_by_agents
from claimlab.evolve.worth.compare import against_people, conditional
from claimlab.evolve.worth.score import Perspective, Society, by_features
from claimlab.evolve.worth.spread import Bounds, most_reached
from claimlab.evolve.worth.values import Background, Values
from claimlab.evolve.worth.views import FEATURES, Worth, page
from claimlab.files.read import user_table
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.open import open_provider
from claimlab.llm.prompts import Given, Prompts, read_prompts
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
    starts: int | None = None,
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
    names a model profile that plays the users; without one, features put the claims in order
    (column `index`, not a score). `people` is a table (id, score) to compare with. `output` takes
    dataset and report.
    """
    words = _refuse_useless(
        judge, by, caps := Caps(max_cost, max_calls, max_tokens), prompts, threshold
    )
    view = Perspective.named(
        reading,
        dimensions=_weights(perspective),
        content=content_weight,
        propagation=propagation_weight,
        threshold=threshold,
        bounds=Bounds(depth or 3, fan_out or 3),
        starts=starts,
    )
    where = dict(map(_pair, user))
    setting: JsonObject = {
        "background": Background.parse(background),
        "perspective": view,
        "seed": seed,
        "progress": progress,
        "values": Values.read(None if values is None else Path(values)),
    }
    with Run(
        "evolve worth",
        data,
        output,
        limit=limit,
        force=force,
        seed=seed,
        caps=caps,
        mode=mode,
        cache=cache,
        progress=progress,
    ) as run:
        agents = open_population(str(population), seed)
        society = Society.of(agents, open_network(network, agents, seed), where)
        scored = _score(run, society, judge, by, where, setting, words)
        if people is not None:
            scored.compare(against_people(scored.scores, _scores_of(Path(people)), seed=seed))
        report = Contents("worth report", [page(scored)], data={FILE: scored.to_json()})
        scored.dataset = run.finish(
            _dataset(run.dataset, scored, seed), lambda folder: fill(report, folder / REPORT)
        )
    return scored


def _refuse_useless(
    judge: str | None, by: str | None, caps: Caps, prompts: Given, threshold: float | None
) -> Prompts:
    if judge is None and threshold is not None:
        raise UsageError(
            "A threshold needs scores, and features only put claims in order.", "Pass `judge`."
        )
    if judge is None and prompts:
        raise UsageError("A prompt was given, but no model to ask.", "Pass `judge`.")
    if judge is None and caps != Caps():
        raise UsageError("A cap was set, but without a model nothing is spent.", "Pass `judge`.")
    if judge is not None and by is not None:
        raise UsageError(
            "`by` scores every claim several times, by features.", "Leave out `judge` or `by`."
        )
    return read_prompts(prompts, "evolve worth")


@same_arguments(worth)
def estimate_worth(call: Arguments) -> JsonObject:
    """What `worth` with the same words would cost at most: all users that depth and fan-out allow
    hear every claim.
    """
    parts: dict[str, Priced] = {}
    with Run(
        "evolve worth",
        call.data,
        call.output,
        limit=call.limit,
        mode=call.mode,
        cache=call.cache,
        estimate=True,
    ) as run:
        if call.judge is not None:
            agents, times = (
                open_population(str(call.population), call.seed),
                Background.parse(call.background),
            )
            known = Values.read(None if call.values is None else Path(call.values))
            users = range(
                min(most_reached(Bounds(call.depth or 3, call.fan_out or 3)), agents.size)
            )
            rater = judge_of(
                open_provider(call.judge, calls=run.calls),
                read_prompts(call.prompts, "evolve worth"),
            )
            claims = run.dataset.records.drop_nulls("text").select("id", "text").rows()
            requests = (
                rater.request(case_of(text, agents.profile(user), times, known, name, rater.prompt))
                for name, text in claims
                for user in users
            )
            parts["users"] = estimate_calls(
                requests, rater.provider.profile, recording=run.calls.existing()
            )
        return estimated(parts)


def _score(
    run: Run,
    society: Society,
    judge: str | None,
    by: str | None,
    where: dict[str, str],
    setting: JsonObject,
    prompts: Prompts,
) -> Worth:
    stated = run.dataset.records.drop_nulls("text")
    claims = list(stated.select("id", "text").iter_rows())
    tally = None
    if judge is None:
        scores, method = by_features(claims, society, **setting), FEATURES
    else:
        provider = open_provider(judge, calls=run.calls)
        scores, answers = worth_by_agents(claims, society, provider, prompts=prompts, **setting)
        method, tally = f"agents played by {provider.profile.chosen_model()}", answers.summary()
    return Worth(
        scores=scores.join(stated.select("id", "topic"), on="id", maintain_order="left"),
        background=setting["background"],
        perspective=setting["perspective"],
        society=society,
        method=method,
        where=where,
        tally=tally,
        by=by,
        untold=run.dataset.records.height - stated.height,
        conditions=conditional(claims, society, by, **setting) if by is not None else None,
        dataset=run.dataset,
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
    table = scored.scores.drop("topic").rename(
        {"id": "record_id", **({"score": "index"} if scored.order_only else {})}
    )
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
