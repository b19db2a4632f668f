"""FUSE-EVAL: a model scores how far a text has moved from its base claim, in six dimensions.

The paper and its code differ, so both readings are here by name: the scale (`1-10` in the paper,
`0-10` in the code) and what PD stands for (`paraphrasing degree` in the paper, `perspective
deviation` in the code). An answer that cannot be read is null and counted; the code makes it 0,
which would read as "nothing moved".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from pydantic import Field, create_model

from claimlab.core.errors import UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.stats.agreement import Scores, krippendorff
from claimlab.core.stats.interval import unit_interval
from claimlab.core.types import JsonObject
from claimlab.evolve.drift.hops import LEAST, grouped
from claimlab.llm.judge import ModelJudge
from claimlab.llm.messages import untrusted
from claimlab.llm.opinion import Case, Reasoned
from claimlab.llm.prompts import Prompt, Prompts
from claimlab.llm.provider import Provider

# Do judges agree? Krippendorff's alpha and the intraclass correlation, for scores with gaps.  Alpha
# takes any number of judges and skips what one of them left out. ICC(2,1) (two-way random, absolute
# agreement, one judge) needs every judge for every unit, so it is taken over the units that all
# judged.


def icc(scores: Scores) -> float | None:
    """ICC(2,1) over the units that every judge scored; null with fewer than two units or judges, or
    no variance.
    """
    full = scores[:, ~np.isnan(scores).any(axis=0)].T
    n, k = full.shape
    if n < 2 or k < 2:
        return None
    grand = full.mean()
    rows = k * ((full.mean(axis=1) - grand) ** 2).sum() / (n - 1)
    columns = n * ((full.mean(axis=0) - grand) ** 2).sum() / (k - 1)
    total = ((full - grand) ** 2).sum()
    error = (total - rows * (n - 1) - columns * (k - 1)) / ((n - 1) * (k - 1))
    below = rows + (k - 1) * error + k * (columns - error) / n
    return float((rows - error) / below) if below > 1e-12 else None


def agreement(scores: Scores) -> JsonObject:
    """Both, with how many units they rest on."""
    shared = int(((~np.isnan(scores)).sum(axis=0) >= 2).sum())
    return {
        "judges": len(scores),
        "units": shared,
        "alpha": krippendorff(scores),
        "icc": icc(scores),
    }


SCALES = {"1-10": (1, 10), "0-10": (0, 10)}
FIVE = (
    "sentiment_shift",
    "new_information",
    "certainty_shift",
    "stylistic_shift",
    "temporal_shift",
)
PRESETS = {"paper": ("1-10", "paraphrasing-degree"), "released": ("0-10", "perspective-deviation")}
TOTAL = "total_deviation"
READ = 2_000  # characters of a text
MAX_TOKENS = 500
PROMPT = "fuse-eval"


@dataclass(frozen=True)
class Reading:
    """One way to read the definition of FUSE-EVAL."""

    scale: str = "1-10"
    pd: str = "paraphrasing-degree"

    @classmethod
    def named(cls, name: str) -> Reading:
        if name not in PRESETS:
            raise UsageError(
                f"There is no reading of FUSE-EVAL named '{name}'.",
                f"Use one of: {', '.join(PRESETS)}.",
            )
        return cls(*PRESETS[name])

    @property
    def dimensions(self) -> tuple[str, ...]:
        return (*FIVE, self.pd.replace("-", "_"))

    @property
    def bounds(self) -> tuple[int, int]:
        return SCALES[self.scale]


@dataclass
class Judged:
    """Scores of each judge, pair by pair; `table` has pair, judge, run, the six dimensions and the
    total.
    """

    reading: Reading
    table: pl.DataFrame
    tallies: dict[str, JsonObject] = field(default_factory=dict)

    @property
    def nulls(self) -> int:
        return self.table[TOTAL].null_count()

    def means(self) -> pl.DataFrame:
        """One row per pair: the mean over judges and runs that answered, and how many did."""
        columns = [pl.col(c).mean() for c in (*self.reading.dimensions, TOTAL)]
        return (
            self.table.group_by("pair", maintain_order=True)
            .agg(*columns, pl.col(TOTAL).count().alias("answers"))
            .sort("pair")
        )

    def agreement(self) -> dict[str, JsonObject]:
        """Per dimension and for the total: how far judges (or the runs of one judge) agree."""
        out = {}
        for name in (*self.reading.dimensions, TOTAL):
            wide = self.table.with_columns(
                (pl.col("judge") + "#" + pl.col("run").cast(pl.String)).alias("who")
            ).pivot(on="who", index="pair", values=name)
            scores = wide.drop("pair").cast(pl.Float64).fill_null(float("nan")).to_numpy().T
            out[name] = agreement(np.asarray(scores, dtype=np.float64))
        return out


@cache
def schema_of(reading: Reading) -> type[Reasoned]:
    low, high = reading.bounds
    fields: JsonObject = {name: (int, Field(ge=low, le=high)) for name in reading.dimensions}
    return create_model(
        f"FuseEval_{reading.scale}_{reading.pd}".replace("-", "_"), __base__=Reasoned, **fields
    )


def judge_of(
    provider: Provider, reading: Reading, runs: int = 1, prompts: Prompts | None = None
) -> ModelJudge[Any]:
    return ModelJudge(
        provider,
        (prompts or Prompts())[PROMPT],
        schema_of(reading),
        value=lambda reply: _total(reply, reading),
        runs=runs,
        max_tokens=MAX_TOKENS,
    )


def case_of(name: str, base: str, now: str, reading: Reading, prompt: Prompt) -> Case:
    low, high = reading.bounds
    lines = "\n".join(
        f"- {dimension}: {prompt.text(dimension)}" for dimension in reading.dimensions
    )
    system = prompt.text("system", low=low, high=high, questions=lines)
    return Case(
        name, system, f"{untrusted(base[:READ], 'original')}\n\n{untrusted(now[:READ], 'current')}"
    )


def judge_pairs(
    pairs: Sequence[tuple[str, str]],
    providers: Sequence[Provider],
    *,
    reading: Reading | None = None,
    runs: int = 1,
    prompts: Prompts | None = None,
    progress: Progress = silent,
) -> Judged:
    """Every pair (base, now), scored by every judge in every run."""
    reading = reading or Reading()
    rows: list[JsonObject] = []
    tallies: dict[str, JsonObject] = {}
    nothing = dict.fromkeys((*reading.dimensions, TOTAL))
    for number, provider in enumerate(providers):
        judge = judge_of(provider, reading, runs, prompts)
        name = judge.model if judge.model not in tallies else f"{judge.model} ({number + 1})"
        cases = [
            case_of(str(i), base, now, reading, judge.prompt) for i, (base, now) in enumerate(pairs)
        ]
        opinions = judge.judge(cases, progress=progress, label=f"Judging ({name})")
        for pair, opinion in enumerate(opinions):
            for run, reply in enumerate(opinion.replies):
                scores = (
                    nothing if reply is None else {d: getattr(reply, d) for d in reading.dimensions}
                )
                total = None if reply is None else _total(reply, reading)
                rows.append({"pair": pair, "judge": name, "run": run, **scores, TOTAL: total})
        tallies[name] = judge.tally.summary()
    schema = {"pair": pl.Int64, "judge": pl.String, "run": pl.Int64}
    kinds = {**schema, **dict.fromkeys(reading.dimensions, pl.Int64), TOTAL: pl.Float64}
    return Judged(reading, pl.DataFrame(rows, schema=kinds).sort("judge", "run", "pair"), tallies)


def _total(reply: Any, reading: Reading) -> float:
    return float(np.mean([getattr(reply, dimension) for dimension in reading.dimensions]))


# FUSE-EVAL in tables: every score by hop and judge, and its means by step, network, group and
# topic.  The means have a row for each group and step (null: the last judged hop of each trace):
# its traces, the mean of each dimension and of the total, and the 95% interval of the total over
# traces. An interval needs 20 traces.


BY = ("all", "topology", "home", "topic", "run")
KEY = ("run", "trace_id", "hop", "depth", "topic", "topology", "home")


def scores(judged: Judged, hops: pl.DataFrame) -> pl.DataFrame:
    """One row per judged hop, judge and repeat: the six dimensions and the total, null where no
    answer was read.
    """
    where = hops.select("pair", *KEY)
    repeats = judged.table.rename({"run": "repeat"})
    names = ("judge", "repeat", *judged.reading.dimensions, TOTAL)
    return (
        where.join(repeats, on="pair", how="left")
        .sort("pair", "judge", "repeat")
        .select(*KEY, *names)
    )


def means(hops: pl.DataFrame, dimensions: Sequence[str], seed: int = 0) -> pl.DataFrame:
    """By network, group, topic and run: the means at each judged step, and at the last judged hop
    of each trace.
    """
    known = (
        hops.drop_nulls(TOTAL).sort("run", "trace_id", "hop").with_columns(pl.lit("").alias("all"))
    )
    rows: list[JsonObject] = []
    for by in BY:
        parts = grouped(known, by)
        for value in parts[by].unique().sort().to_list():
            part = parts.filter(pl.col(by) == value)
            for step in part["depth"].unique().sort().to_list():
                rows.append(
                    _row(by, value, step, part.filter(pl.col("depth") == step), dimensions, seed)
                )
            last = part.group_by("run", "trace_id", maintain_order=True).last()
            rows.append(_row(by, value, None, last, dimensions, seed))
    numbers = dict.fromkeys((*dimensions, TOTAL, "low", "high"), pl.Float64)
    return pl.DataFrame(
        rows,
        schema={
            "by": pl.String,
            "value": pl.String,
            "step": pl.Int32,
            "traces": pl.Int64,
            **numbers,
        },
    )


def _row(
    by: str, value: str, step: int | None, part: pl.DataFrame, dimensions: Sequence[str], seed: int
) -> JsonObject:
    # In a cascade a trace may have several texts at one depth: a trace counts once.
    traces = part.group_by("run", "trace_id", maintain_order=True).agg(
        pl.col(*dimensions, TOTAL).mean()
    )
    totals = traces[TOTAL].to_numpy()
    interval = (
        unit_interval(len(totals), lambda at: float(totals[at].mean()), seed=seed)
        if len(totals) >= LEAST
        else None
    )
    mean = {name: float(np.mean(traces[name].to_numpy())) for name in (*dimensions, TOTAL)}
    low, high = interval or (None, None)
    return {
        "by": by,
        "value": value,
        "step": step,
        "traces": len(totals),
        **mean,
        "low": low,
        "high": high,
    }
