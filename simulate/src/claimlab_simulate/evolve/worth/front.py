"""The Python twin of `claimlab evolve worth`.

scored = cl.worth("claims", judge="openai", background="time_node=sensitive", output="scored")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Unpack

import numpy as np
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
from claimlab.core.run import Run, Source
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.files.read import user_table
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.judge import ModelJudge
from claimlab.llm.open import open_provider
from claimlab.llm.prompts import read_prompts
from claimlab.pages.blocks import Block, Figure, Report, Section, Table, Text, Tiles, excerpt
from claimlab.pages.charts import heatmap
from claimlab.pages.folder import Contents, fill
from claimlab_simulate.evolve.society.open import RELEASED_AGENTS, open_network, open_population
from claimlab_simulate.evolve.worth.score import (
    ALL,
    DIMENSIONS,
    Background,
    Circumstances,
    Condition,
    Perspective,
    Rating,
    Society,
    against_people,
    case_of,
    conditions,
    judge_of,
    score_claims,
    wasserstein,
    weights_of,
)

# Check-worthiness on a page: distributions under the stated conditions, next to what the
# conditions allow.

FEW = 5  # bands; with fewer, each is halved
TOPICS = 8  # in one chart
FEWEST_CLAIMS = 20  # claims of a topic that is shown by itself; the others are pooled
TOP = 10  # claims that are listed
QUARTILES = ("Lower quartile", "Median", "Upper quartile")
TABLE, REPORT, FILE = "worth", "worth-report", "worth.json"


@dataclass(repr=False)
class Worth(Shown):
    """The scores (id, topic, the six values, content, depth, size, propagation, score) and what
    they rest on.
    """

    scores: pl.DataFrame
    setting: Circumstances
    society: Society
    method: str  # the model that played the users
    where: dict[str, str] = field(default_factory=dict)  # attributes that users had to have
    by: str | None = None  # the condition that was varied, with its scores
    conditions: pl.DataFrame | None = None
    people: JsonObject | None = None
    tally: JsonObject | None = None
    untold: int = 0  # records without a text, which cannot be scored
    dataset: Dataset | None = None  # the input with the scores beside its records

    @property
    def table(self) -> pl.DataFrame:
        return self.scores

    @property
    def perspective(self) -> Perspective:
        return self.setting.perspective

    def headline(self) -> str:
        return f"of {self.scores['score'].count():,} claims, scored by {self.method}"

    @property
    def ceiling(self) -> float:
        """The greatest score that the bounds on spreading leave possible."""
        most = self.perspective.ceiling(self.society.population.size)
        return self.perspective.combined(1.0, most)

    @property
    def worthy(self) -> int | None:
        """Claims at or above the threshold; null where there is none."""
        return int(self.scores["worthy"].sum()) if "worthy" in self.scores.columns else None

    @property
    def unscored(self) -> int:
        return self.scores["score"].null_count() + self.untold

    def to_json(self) -> JsonObject:
        return {
            "method": self.method,
            "measure": "score",
            "background": asdict(self.setting.background),
            "users": {
                "where": self.where,
                "count": self.society.population.size,
                "network": self.society.network.kind,
            },
            "perspective": asdict(self.perspective),
            "ceiling": self.ceiling,
            "claims": self.scores.height + self.untold,
            "unscored": self.unscored,
            "worthy": self.worthy,
            "by_topic": summary(self.scores, "topic").to_dicts(),
            "by": self.by,
            "conditions": (
                None if self.conditions is None else distances(self.conditions).to_dicts()
            ),
            "people": self.people,
            "tally": self.tally,
        }


def summary(scores: pl.DataFrame, by: str) -> pl.DataFrame:
    """Per value of `by`: how many, mean, spread and quartiles of the score."""
    score = pl.col("score")
    return (
        scores.with_columns(pl.col(by).fill_null("not stated"))
        .group_by(by, maintain_order=True)
        .agg(
            claims=pl.len(),
            mean=score.mean(),
            spread=score.std(),
            lower=score.quantile(0.25),
            median=score.median(),
            upper=score.quantile(0.75),
        )
        .sort(by)
    )


def distances(scores: pl.DataFrame) -> pl.DataFrame:
    """Per condition: claims, mean, quartiles, and how far its scores lie from those without the
    condition.
    """
    scored = scores.select("condition", "score")
    whole = scored.filter(condition=ALL)["score"].drop_nulls()
    rows = []
    for (name,), part in scored.group_by("condition", maintain_order=True):
        values = part["score"].drop_nulls()
        quartiles = [values.quantile(q) for q in (0.25, 0.5, 0.75)]
        comparable = len(values) and len(whole)
        far = wasserstein(values.to_numpy(), whole.to_numpy()) if comparable else None
        rows.append((name, len(values), values.mean(), *quartiles, far))
    numbers = dict.fromkeys(("mean", "lower", "median", "upper", "distance"), pl.Float64())
    schema: dict[str, pl.DataType] = {"condition": pl.String(), "claims": pl.Int64(), **numbers}
    return pl.DataFrame(rows, schema=schema, orient="row")


def by_topic(scored: Worth) -> pl.DataFrame:
    """The summary of each topic, largest first; those with few claims are pooled in the last
    row.
    """
    sizes = scored.scores["topic"].fill_null("not stated").value_counts(name="size")
    small = sizes.filter(pl.col("size") < FEWEST_CLAIMS)["topic"].to_list()
    rest = f"other ({len(small)} topics with fewer than {FEWEST_CLAIMS} claims)"
    pool = small if len(small) > 1 else []
    pooled = pl.col("topic").fill_null("not stated")
    scores = scored.scores.with_columns(
        topic=pl.when(pooled.is_in(pool)).then(pl.lit(rest)).otherwise(pooled)
    )
    return summary(scores, "topic").sort(
        pl.col("topic") == rest, "claims", "topic", descending=[False, True, False]
    )


def top_claims(scored: Worth, most: int = TOP) -> list[tuple[float, str, str]]:
    """The claims with the highest scores: score, id and text."""
    best = (
        scored.scores.drop_nulls("score").sort(["score", "id"], descending=[True, False]).head(most)
    )
    texts = {} if scored.dataset is None else dict(scored.dataset.records["id", "text"].rows())
    return [
        (score, id, excerpt(texts.get(id) or "", 160)) for id, score in best["id", "score"].rows()
    ]


def page(worth: Worth) -> Report:
    who = ", ".join(f"{k} = {v}" for k, v in worth.where.items()) or "all"
    conditions = (
        f"Background: {worth.setting.background}. Users: {who}"
        f" ({worth.society.population.size:,}). Method: {worth.method}."
    )
    caution = (
        "A score is valid under these conditions only, and depends on a model that was not compared"
        " with annotators."
    )
    best = Table(["Score", "Id", "Text"], top_claims(worth))
    blocks: list[Block] = [
        Text(conditions),
        tiles(worth),
        Section("Most check-worthy claims", [best]),
        *distributions(worth),
        table(worth),
        _people(worth),
        Text(caution, "note"),
    ]
    return Report("Check-worthiness", f"{worth.scores.height + worth.untold:,} claims", blocks)


def tiles(worth: Worth) -> Tiles:
    scored = worth.scores["score"].drop_nulls()
    mean = f"{float(scored.sum()) / scored.len():.3f}" if scored.len() else "–"
    worthy = "no threshold set" if worth.worthy is None else f"{worth.worthy:,}"
    return Tiles(
        [
            ("mean score", mean, "plain"),
            ("highest possible", f"{worth.ceiling:.3f}", "plain"),
            ("above the threshold", worthy, "plain"),
            ("without a score", f"{worth.unscored:,}", "warn" if worth.unscored else "plain"),
        ]
    )


def distributions(worth: Worth) -> list[Figure]:
    """Figures 8, 13 and 14 of the paper: how scores spread, by topic (highest first) and by
    condition (in order).
    """
    scored = worth.scores.with_columns(pl.col("topic").fill_null("not stated")).drop_nulls("score")
    largest = (
        scored["topic"]
        .value_counts()
        .sort(["count", "topic"], descending=[True, False])["topic"]
        .head(TOPICS)
    )
    middle = pl.col("score").median()
    topics = (
        scored.filter(pl.col("topic").is_in(largest))
        .group_by("topic")
        .agg(middle)
        .sort("score", "topic")
    )
    out = _bands(
        scored,
        "topic",
        topics["topic"].reverse().to_list(),
        "under these conditions, by topic",
    )
    if worth.conditions is not None:
        varied, words = worth.conditions.drop_nulls("score"), (worth.by or "").replace("_", " ")
        order = varied["condition"].unique(maintain_order=True).to_list()
        out += _bands(varied, "condition", order, f"of the same claims by {words}")
    return out


def _bands(scored: pl.DataFrame, by: str, order: list[str], title: str) -> list[Figure]:
    """Share of the claims in each band of scores, a row for each value of `by`; bands beyond all
    are left out.
    """
    if not scored.height:
        return []
    values = scored.filter(pl.col(by).is_in(order))["score"].to_numpy()
    bins = next(n for n in (10, 20, 50) if n == 50 or len(np.unique(np.floor(values * n))) >= FEW)
    first, last = int(values.min() * bins), min(int(values.max() * bins), bins - 1)
    edges = np.arange(first, last + 2) / bins
    digits = 1 if bins == 10 else 2
    names = [f"{a:.{digits}f}–{b:.{digits}f}" for a, b in pairwise(edges.tolist())]
    rows, cells = [excerpt(value, 40) for value in order], []
    for value, row in zip(order, rows, strict=True):
        group_scores = scored.filter(pl.col(by) == value)["score"].to_numpy()
        shares = 100 * np.histogram(group_scores, edges)[0] / len(group_scores)
        cells += [
            {by: row, "score": n, "share": s}
            for n, s in zip(names, shares.tolist(), strict=True)
            if s
        ]
    chart = heatmap(
        cells,
        row=by,
        column="score",
        value="share",
        title="% of the claims",
        order=rows,
        columns=names,
    )
    caption = f"Check-worthiness {title}: share of the claims in each band of scores. Empty: none."
    return [Figure(chart, caption, f"Heat map of check-worthiness by {by}", f"worth-by-{by}")]


def table(worth: Worth) -> Section:
    means = worth.scores.select([*DIMENSIONS, "content", "depth", "size", "propagation"]).mean()
    parts = [(name.replace("_", " "), value) for name, value in means.row(0, named=True).items()]
    columns = ["Topic", "Claims", "Mean", "Spread", *QUARTILES]
    blocks = [
        Table(columns, by_topic(worth).rows(), "The score by topic."),
        Table(["Part", "Mean"], parts, "What the score is made of."),
    ]
    if worth.conditions is not None:
        caption = "The same claims by condition; the distance (Wasserstein) is from the first row."
        columns = ["Condition", "Claims", "Mean", *QUARTILES, "Distance"]
        blocks.append(Table(columns, distances(worth.conditions).rows(), caption))
    return Section("Under these conditions", blocks)


def _people(worth: Worth) -> Text:
    people = worth.people
    if people is None:
        return Text("Not compared with annotators: pass 'people'.", "note")
    rank = "not known" if people["spearman"] is None else f"{people['spearman']:.2f}"
    ends = (
        " (95% interval {:.3f} to {:.3f})".format(*people["interval"]) if people["interval"] else ""
    )
    return Text(
        f"Compared with annotators on {several(people['claims'], 'claim')}: Wasserstein distance"
        f" {people['wasserstein']:.3f}{ends}, rank correlation {rank}."
    )


class Scoring(CallOptions, total=False):
    """Under which conditions claims are scored, and what counts."""

    reading: Annotated[
        str, Setting("'free' (ours, unrounded), 'paper' or 'released'.", default="free")
    ]
    background: Annotated[
        str | None,
        Setting("Such as time_node=sensitive,regulatory_pressure=high,trust_climate=low."),
    ]
    user: Annotated[
        Sequence[str],
        Setting("ATTRIBUTE=VALUE that users must have; may be repeated.", default=()),
    ]
    perspective: Annotated[
        str | None,
        Setting("Content values that count, optionally with weights: controversy=2,novelty."),
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
        str | int,
        Setting("A file of users, or how many to draw.", kind=str, default=RELEASED_AGENTS),
    ]
    network: Annotated[str, Setting("A file, or a kind of network.", default="dunbar")]
    by: Annotated[
        str | None,
        Setting("Score under each value of this attribute or part of the background, too."),
    ]


@repeatable(recorded="claimlab.evolve.worth.front.worth")
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
    perspective = chosen["perspective"]
    circumstances = Circumstances(
        Background.parse(chosen["background"]),
        Perspective.named(
            chosen["reading"],
            dimensions=None if perspective is None else weights_of(perspective),
            content=chosen["content_weight"],
            propagation=chosen["propagation_weight"],
            threshold=chosen["threshold"],
            depth=chosen["depth"],
            fan_out=chosen["fan_out"],
        ),
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
        for user in range(min(under.perspective.most_reached, among.population.size))
    )
    recording = run.calls.existing()
    return estimate_calls(requests, rater.provider.profile, recording=recording)


def _score(
    run: Run, rater: ModelJudge[Rating], table: Sequence[Condition], by: str | None
) -> Worth:
    stated = run.dataset.records.drop_nulls("text")
    claims = list(stated.select("id", "text").iter_rows())
    scores = {name: score_claims(claims, among, rater, under) for name, among, under in table}
    _, society, circumstances = table[0]
    conditioned = pl.concat(
        part.select(pl.lit(name).alias("condition"), "id", "score") for name, part in scores.items()
    )
    return Worth(
        scores=scores[ALL].join(stated.select("id", "topic"), on="id", maintain_order="left"),
        setting=circumstances,
        society=society,
        method=f"agents played by {rater.provider.profile.chosen_model()}",
        tally=rater.tally.summary(),
        by=by,
        untold=run.dataset.records.height - stated.height,
        conditions=None if by is None else conditioned,
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
    table = scored.scores.drop("topic").rename({"id": "record_id"})
    return data.derive(data.records, step, {**data.tables, TABLE: table})


def _scores_of(file: Path) -> pl.DataFrame:
    try:
        return user_table(file, "id", "score").select("id", pl.col("score").cast(pl.Float64))
    except pl.exceptions.PolarsError as error:
        todo = "Give a table with the columns id and score."
        raise DataError(f"'{file}' cannot be read as scores: {error}.", todo) from None


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(
            f"'{text}' names no value.",
            "Write ATTRIBUTE=VALUE, such as 'education=higher education'.",
        )
    return name.strip(), value.strip()
