"""The scores of FUSE-EVAL that judges gave, and their means by step, network, group and topic.

The means have a row for each group and step (null: the last judged hop of each trace): its traces,
the mean of each dimension and of the total, and the 95% interval of the total over traces. An
interval needs 20 traces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.drift.agreement import agreement
from claimlab_simulate.evolve.drift.fuse import TOTAL, FuseReading, dimension_scores, mean_score
from claimlab_simulate.evolve.drift.hops import grouped, mean_interval
from claimlab_simulate.evolve.drift.judged import Inquiry

RUN_AND_TOPIC = "run and topic"  # people's chains beside agents' (table 27)
MEANS_BY = ("all", "topology", "home", "topic", "run")
HOP_COLUMNS = ("run", "trace_id", "hop", "depth", "topic", "topology", "home")


@dataclass
class Judged:
    """Scores of each judge, pair by pair; `table` has pair, judge, run, the six dimensions and the
    total. `hops` are the judged hops with the mean of their scores, `groups` the means by step,
    network, group and topic.
    """

    reading: FuseReading
    table: pl.DataFrame
    tallies: dict[str, JsonObject] = field(default_factory=dict)
    hops: pl.DataFrame = field(default_factory=pl.DataFrame)
    groups: pl.DataFrame = field(default_factory=pl.DataFrame)

    @property
    def nulls(self) -> int:
        return self.table[TOTAL].null_count()

    @property
    def names(self) -> tuple[str, ...]:
        """The six dimensions, and the total."""
        return (*self.reading.dimensions, TOTAL)

    def means(self) -> pl.DataFrame:
        """One row per pair: the mean over judges and runs that answered, and how many did."""
        means = pl.col(self.names).mean()
        pairs = self.table.group_by("pair", maintain_order=True)
        return pairs.agg(means, answers=pl.col(TOTAL).count()).sort("pair")

    def agreement(self) -> dict[str, JsonObject]:
        """Per dimension and for the total: how far judges (or the runs of one judge) agree."""
        who = self.table.with_columns(who=pl.col("judge") + "#" + pl.col("run").cast(pl.String))
        out = {}
        for name in self.names:
            wide = who.pivot(on="who", index="pair", values=name).drop("pair")
            scores = wide.cast(pl.Float64).fill_null(float("nan")).to_numpy().T
            out[name] = agreement(np.asarray(scores, dtype=np.float64))
        return out


def judge_pairs(
    questions: Sequence[Inquiry],
    reading: FuseReading,
) -> Judged:
    """The scores that every judge gives every pair in every run."""
    rows: list[JsonObject] = []
    tallies: dict[str, JsonObject] = {}
    for number, (judge, cases) in enumerate(questions, 1):
        name = judge.model if judge.model not in tallies else f"{judge.model} ({number})"
        opinions = judge.judge(cases, label=f"Judging ({name})")
        for pair, opinion in enumerate(opinions):
            for run, reply in enumerate(opinion.replies):
                scores = (
                    {} if reply is None else {**dimension_scores(reply), TOTAL: mean_score(reply)}
                )
                rows.append({"pair": pair, "judge": name, "run": run, **scores})
        tallies[name] = judge.tally.summary()
    schema = {"pair": pl.Int64, "judge": pl.String, "run": pl.Int64}
    kinds = {**schema, **dict.fromkeys(reading.dimensions, pl.Int64), TOTAL: pl.Float64}
    return Judged(reading, pl.DataFrame(rows, schema=kinds).sort("judge", "run", "pair"), tallies)


def scores(judged: Judged) -> pl.DataFrame:
    """One row per judged hop, judge and repeat: the six dimensions and the total, null where no
    answer was read.
    """
    repeats = judged.table.rename({"run": "repeat"})
    each = judged.hops.select("pair", *HOP_COLUMNS).join(repeats, on="pair", how="left")
    return each.sort("pair", "judge", "repeat").select(
        *HOP_COLUMNS, "judge", "repeat", *judged.names
    )


def means(judged: Judged, seed: int = 0) -> pl.DataFrame:
    """By network, group, topic and run, and by topic in each of several runs: the means at each
    judged step, and at the last judged hop of each trace.
    """
    scored = judged.hops.drop_nulls(TOTAL).sort("run", "trace_id", "hop")
    scored = scored.with_columns(all=pl.lit(""), step="depth")
    rows: list[JsonObject] = []
    groups = {by: (by, pl.col(by)) for by in MEANS_BY}
    if scored["run"].n_unique() > 1:
        groups[RUN_AND_TOPIC] = "topic", pl.concat_str("run", "topic", separator=": ")
    for by, (column, value) in groups.items():
        steps = grouped(scored, column).with_columns(value=value)
        ends = steps.group_by("value", "run", "trace_id", maintain_order=True).last()
        ends = ends.with_columns(step=pl.lit(None, dtype=pl.Int32)).select(steps.columns)
        both = pl.concat([steps, ends]).sort("value", "step", nulls_last=True, maintain_order=True)
        for (group, step), part in both.group_by("value", "step", maintain_order=True):
            # In a cascade a trace may have several texts at one depth: a trace counts once.
            traces = part.group_by("run", "trace_id", maintain_order=True)
            figures = traces.agg(pl.col(judged.names).mean()).select(judged.names)
            low, high = mean_interval(figures[TOTAL].to_numpy(), seed) or (None, None)
            mean = {column.name: float(np.mean(column.to_numpy())) for column in figures}
            row = {"by": by, "value": group, "step": step, "traces": figures.height}
            rows.append({**row, **mean, "low": low, "high": high})
    schema = {"by": pl.String, "value": pl.String, "step": pl.Int32, "traces": pl.Int64}
    numbers = dict.fromkeys((*judged.names, "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema={**schema, **numbers})
