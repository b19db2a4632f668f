"""What `claimlab evolve drift` found: its tables, and every figure of them as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.drift.attainment import (
    one_against_three,
)
from claimlab_simulate.evolve.drift.curve import Curve
from claimlab_simulate.evolve.drift.hops import grouped
from claimlab_simulate.evolve.drift.lite import DIMENSIONS, NAMES, TOTAL
from claimlab_simulate.evolve.drift.noise import NOISE
from claimlab_simulate.evolve.drift.scores import Judged


@dataclass(repr=False)
class Drift(Shown):
    """What was found. A table with no rows was not measured; `notes` say why."""

    hops: pl.DataFrame  # with drift-lite beside each hop, and the null model's text and drift
    curves: dict[
        tuple[str, str], Curve
    ]  # (what it is split by, value) -> curve; ("all", "") is the whole
    details: pl.DataFrame  # what became of the details of the base claims, by kind and step
    coverage: pl.DataFrame
    attainment: pl.DataFrame
    steps: pl.DataFrame
    influence: pl.DataFrame
    together: pl.DataFrame
    verdict_shares: dict[str, pl.DataFrame]
    verdict_moves: pl.DataFrame
    fuse: Judged | None = None
    model_coverage: pl.DataFrame | None = None
    notes: list[str] = field(default_factory=list)
    tallies: dict[str, JsonObject] = field(default_factory=dict)
    stages: dict[str, dict[str, int]] = field(
        default_factory=dict
    )  # folders of the stages that were written
    prompts: JsonObject = field(
        default_factory=dict
    )  # the words that judges were asked with: version and hash

    @property
    def table(self) -> pl.DataFrame:
        """Every hop, with its drift from the base."""
        return self.hops.drop("votes", NOISE, strict=False)

    def headline(self) -> str:
        return ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in self.counts.items())

    @property
    def counts(self) -> dict[str, int]:
        return {
            "traces": self.hops.select("run", "trace_id").n_unique(),
            "hops": self.hops.height,
            "failed_hops": int(self.hops["failure"].is_not_null().sum()),
            "unmeasured_hops": self.hops[TOTAL].null_count(),
        }

    def to_json(self) -> JsonObject:
        """Every figure of the report; no text of a claim."""
        rows = {
            "details": self.details,
            "attainment": self.attainment,
            "steps_to_target": self.steps,
            "influence": self.influence,
            "co_occurrence": self.together,
            "coverage": coverage_means(self.coverage, "dimension"),
            "coverage_by_run": coverage_means(self.coverage, "run"),
            "decomposition": decomposition(self.hops, "topic"),
            "verdict_moves": self.verdict_moves,
            "one_against_three": one_against_three(self.attainment),
        }
        fuse = self.fuse and {
            "means": self.fuse.groups.to_dicts(),
            "scale": self.fuse.reading.scale,
            "pd": self.fuse.reading.pd,
            "pairs": self.fuse.table["pair"].n_unique(),
            "null_answers": self.fuse.nulls,
            "agreement": self.fuse.agreement(),
            "tallies": self.fuse.tallies,
            "validated": False,
        }
        return {
            "counts": self.counts,
            "measure": {"name": "drift-lite", "dimensions": [d.__dict__ for d in DIMENSIONS]},
            "curves": [
                {"by": by, "value": value, **c.to_json()} for (by, value), c in self.curves.items()
            ],
            **{name: frame.to_dicts() for name, frame in rows.items()},
            "verdicts": {by: frame.to_dicts() for by, frame in self.verdict_shares.items()},
            "fuse_eval": fuse or None,
            "prompts": self.prompts,
            "tallies": self.tallies,
            "notes": self.notes,
        }


def decomposition(hops: pl.DataFrame, by: str) -> pl.DataFrame:
    """The six dimensions at the last hop of each trace, mean for each value of `by`."""
    last = grouped(hops.filter(pl.col("hop") == pl.col("hops")), by)
    means = [pl.col(name).mean() for name in (*NAMES, TOTAL)]
    return last.group_by(by, maintain_order=True).agg(pl.len().alias("traces"), *means).sort(by)


def coverage_means(covered: pl.DataFrame, by: str) -> pl.DataFrame:
    columns = ("seed_coverage", "coverage", "seed_length", "length")
    return (
        covered.with_columns(pl.col(by).fill_null("none"))
        .group_by(by, maintain_order=True)
        .agg(pl.len().alias("traces"), *(pl.col(c).mean() for c in columns))
        .sort(by)
    )
