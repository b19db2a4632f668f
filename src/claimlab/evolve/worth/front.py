"""The Python twin of `claimlab evolve worth`.

scored = cl.worth("claims", judge="openai", background="time_node=sensitive", output="scored")
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Unpack

import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.calls.estimate import Priced
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError, UsageError
from claimlab.core.options import (
    Argument,
    CallOptions,
    Force,
    Limit,
    Option,
    OutputFolder,
    Place,
    PromptFiles,
    Seed,
    Setting,
    divided,
)
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source
from claimlab.evolve.society.build import AGENTS, open_network, open_population
from claimlab.evolve.worth.score import (
    ALL,
    Background,
    Bounds,
    Circumstances,
    Condition,
    Perspective,
    Rating,
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
from claimlab.llm.prompts import read_prompts
from claimlab.pages.folder import Contents, fill

TABLE, REPORT, FILE = "worth", "worth-report", "worth.json"


class Scoring(CallOptions, total=False):
    """Under which conditions claims are scored, and what counts."""

    reading: Annotated[
        str, Setting("'free' (ours, unrounded), 'paper' or 'released'.", default="free")
    ]
    background: Annotated[
        str | None,
        Option("Such as time_node=sensitive,regulatory_pressure=high,trust_climate=low."),
    ]
    user: Annotated[
        Sequence[str],
        Option("ATTRIBUTE=VALUE that users must have; may be repeated.", default=()),
    ]
    perspective: Annotated[
        str | None,
        Option("Content values that count, optionally with weights: controversy=2,novelty."),
    ]
    content_weight: Annotated[float | None, Setting("Weight of the content value.", least=0)]
    propagation_weight: Annotated[
        float | None, Setting("Weight of the propagation ability.", least=0)
    ]
    threshold: Annotated[
        float | None, Setting("A claim with at least this score is worthy.", least=0, most=1)
    ]
    depth: Annotated[int, Setting("How deep a cascade may go.", least=1, default=3)]
    fan_out: Annotated[int, Setting("How many others a user tells at most.", least=1, default=3)]
    population: Annotated[
        str | int, Setting("A file of users, or how many to draw.", kind=str, default=AGENTS)
    ]
    network: Annotated[str, Setting("A file, or a kind of network.", default="dunbar")]
    values: Annotated[Place | None, Setting("Your own questions and backgrounds (TOML).")]
    by: Annotated[
        str | None,
        Option("Score under each value of this attribute or part of the background, too."),
    ]


@repeatable()
def worth(
    data: Annotated[Source, Argument("A claimlab dataset folder.")],
    *,
    output: OutputFolder = None,
    judge: Annotated[str | None, Option("Model profile that plays the users (needed).")] = None,
    people: Annotated[
        Place | None,
        Setting("Annotators' scores to compare with: a table with id and score."),
    ] = None,
    prompts: PromptFiles = (),
    seed: Seed = 0,
    limit: Limit = None,
    force: Force = False,
    progress: Progress = silent,
    **scoring: Unpack[Scoring],
) -> Worth:
    """Score how check-worthy claims are, given the social background, the users and the
    perspective.

    The output is the dataset with its scores and a report. An estimate takes it that all users whom
    depth and fan-out allow hear every claim, under every condition.
    """
    if judge is None:
        raise UsageError(
            "Check-worthiness needs a model profile: a model plays the users who rate a claim.",
            "Pass `judge`; see: claimlab llm profiles",
        )
    chosen, calls = divided(Scoring, scoring)
    values = chosen["values"]
    circumstances = Circumstances(
        Background.parse(chosen["background"]),
        Perspective.named(
            chosen["reading"],
            dimensions=_weights(chosen["perspective"]),
            content=chosen["content_weight"],
            propagation=chosen["propagation_weight"],
            threshold=chosen["threshold"],
            bounds=Bounds(chosen["depth"], chosen["fan_out"]),
        ),
        Values.read(None if values is None else Path(values)),
        read_prompts(prompts, "evolve worth"),
        seed,
    )
    where = dict(map(_pair, chosen["user"]))
    with Run(
        "evolve worth",
        data,
        output,
        limit=limit,
        force=force,
        seed=seed,
        progress=progress,
        **calls,
    ) as run:
        agents = open_population(chosen["population"], seed)
        society = Society.of(agents, open_network(chosen["network"], agents, seed), where)
        rater = judge_of(open_provider(judge, calls=run.calls), circumstances.prompts)
        table = conditions(society, circumstances, chosen["by"])
        if run.estimate:
            run.estimated({"users": cost(run, rater, table)})
        scored = _score(run, rater, table, chosen["by"])
        scored.where = where
        if people is not None:
            scored.people = against_people(scored.scores, _scores_of(Path(people)), seed=seed)
        report = Contents("worth report", [page(scored)], data={FILE: scored.to_json()})
        scored.dataset = run.finish(
            _dataset(run.dataset, scored, seed), lambda folder: fill(report, folder / REPORT)
        )
    return scored


def cost(run: Run, rater: ModelJudge[Rating], table: Sequence[Condition]) -> Priced:
    """All users whom depth and fan-out allow hear every claim, under every condition."""
    claims = run.dataset.records.drop_nulls("text").select("id", "text").rows()
    requests = (
        rater.request(case_of(claim, among.population.profile(user), under, rater.prompt))
        for _, among, under in table
        for claim in claims
        for user in range(min(under.perspective.bounds.most_reached, among.population.size))
    )
    recording = run.calls.existing()
    return estimate_calls(requests, rater.provider.profile, recording=recording)


def _score(
    run: Run, rater: ModelJudge[Rating], table: Sequence[Condition], by: str | None
) -> Worth:
    stated = run.dataset.records.drop_nulls("text")
    claims = list(stated.select("id", "text").iter_rows())
    scores = {
        name: score_claims(claims, among, rater, under, run.progress)
        for name, among, under in table
    }
    _, society, circumstances = table[0]
    return Worth(
        scores=scores[ALL].join(stated.select("id", "topic"), on="id", maintain_order="left"),
        setting=circumstances,
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
