"""Everything that `claimlab evolve drift` measures, in one object: tables in, tables out, no words
and no pictures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.progress import Progress, silent
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.evolve.drift import attainment as attain
from claimlab.evolve.drift import lite, producers, verdicts
from claimlab.evolve.drift.coverage import contexts, coverage
from claimlab.evolve.drift.curve import Curve, curve, unrelated_drift
from claimlab.evolve.drift.features import Reader
from claimlab.evolve.drift.fuse import Judged, Reading, judge_pairs
from claimlab.evolve.drift.fuse_tables import means, scores
from claimlab.evolve.drift.grouping import by_topic, grouped
from claimlab.evolve.drift.hops import read_hops
from claimlab.evolve.drift.judged import (
    entailed,
    judge_levels,
    level_judge,
    sample_hops,
    stated_judge,
)
from claimlab.llm.prompts import Prompts
from claimlab.llm.provider import Provider

BY = ("run", "topology", "topic", "home")


@dataclass(frozen=True)
class Judges:
    """The models to ask, and how much: pairs are drawn at random, whole traces at a time."""

    providers: Sequence[Provider]
    reading: Reading = field(default_factory=Reading)
    runs: int = 1
    sample: int = 200
    prompts: Prompts = field(default_factory=Prompts)


@dataclass(repr=False)
class Drift(Shown):
    """What was found. A table with no rows was not measured; `notes` say why."""

    hops: pl.DataFrame  # with drift-lite beside each hop
    curves: dict[
        tuple[str, str], Curve
    ]  # (what it is split by, value) -> curve; ("all", "") is the whole
    coverage: pl.DataFrame
    attainment: pl.DataFrame
    steps: pl.DataFrame
    influence: pl.DataFrame
    together: pl.DataFrame
    verdict_shares: dict[str, pl.DataFrame]
    verdict_moves: pl.DataFrame
    fuse: Judged | None = None
    fuse_hops: pl.DataFrame | None = None  # the judged hops, with the mean of their scores
    fuse_scores: pl.DataFrame | None = None  # every score, by hop, judge and repeat
    fuse_means: pl.DataFrame | None = None  # by step, network, group and topic
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
        return self.hops.drop("votes", strict=False)

    def headline(self) -> str:
        return ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in self.counts.items())

    @property
    def counts(self) -> dict[str, int]:
        return {
            "traces": self.hops.select("run", "trace_id").n_unique(),
            "hops": self.hops.height,
            "failed_hops": int(self.hops["failure"].is_not_null().sum()),
            "unmeasured_hops": self.hops[lite.TOTAL].null_count(),
        }

    def to_json(self) -> JsonObject:
        """Every figure of the report; no text of a claim."""
        rows = {
            "attainment": self.attainment,
            "steps_to_target": self.steps,
            "influence": self.influence,
            "co_occurrence": self.together,
            "coverage": coverage_means(self.coverage, "dimension"),
            "coverage_by_run": coverage_means(self.coverage, "run"),
            "decomposition": decomposition(self.hops, "topic"),
            "verdict_moves": self.verdict_moves,
            "one_against_three": attain.one_against_three(self.attainment),
        }
        fuse = self.fuse and {
            "means": self.fuse_means.to_dicts() if self.fuse_means is not None else [],
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
            "measure": {"name": "drift-lite", "dimensions": [d.__dict__ for d in lite.DIMENSIONS]},
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


def measure(
    datasets: Sequence[Dataset],
    *,
    groups: Mapping[str, str] | None = None,
    judges: Judges | None = None,
    independent: attain.Ends | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Drift:
    """Measure the traces of `datasets`; `groups` tells agents' groups, `judges` are asked only if
    there are any.
    """
    hops = read_hops(datasets, groups)
    sources = {k: v for d in datasets for k, v in contexts(d).items()}
    notes: list[str] = []
    tallies: dict[str, JsonObject] = {}
    reader = Reader()
    lite_scores = lite.drift_lite(
        hops["base"].to_list(), hops["output"].to_list(), reader=reader, progress=progress
    )
    hops = _with_verdicts(hops.with_columns(lite_scores), datasets)
    stated = pl.when(pl.col("verdict").is_not_null()).then(pl.lit("traces or annotators"))
    hops = hops.with_columns(
        pl.lit(None, dtype=pl.String).alias("verdict_rationale"), stated.alias("verdict_by")
    )
    fuse = fuse_hops = model_coverage = None
    if judges is not None and judges.providers:
        drawn = sample_hops(hops, judges.sample, seed)
        fuse, fuse_hops = _fuse(drawn, judges, progress)
        hops, model_coverage = _other_judgements(hops, drawn, sources, judges, tallies, progress)
    if not verdicts.measured(hops):
        notes.append(
            "Verdict drift is not measured: the traces state no verdicts and no model was asked"
            " (`judge`)."
        )
    if judges is None:
        notes.append(
            "FUSE-EVAL is not measured: it needs a model (`judge`). drift-lite is another measure."
        )
    covered = coverage(hops, sources, reader)
    if covered["coverage"].null_count() == covered.height:
        notes.append(
            "Coverage is not measured: the records have no context in the table 'evidence'."
        )
    attained = attain.attainment(hops, independent)
    if not attained.height:
        notes.append("Attainment is not measured: no trace had a target.")
    known = verdicts.measured(hops)
    return Drift(
        hops=hops,
        curves=_curves(hops, reader, seed),
        coverage=covered,
        attainment=attained,
        steps=attain.steps_to_target(hops),
        influence=producers.influence(hops),
        together=producers.together(hops),
        verdict_shares=(
            {
                **{by: verdicts.shares(by_topic(hops) if by == "topic" else hops, by) for by in BY},
                "hop": verdicts.by_hop(hops),
            }
            if known
            else {}
        ),
        verdict_moves=verdicts.moves(hops) if known else verdicts.moves(hops.clear()),
        fuse=fuse,
        fuse_hops=fuse_hops,
        fuse_scores=None if fuse is None or fuse_hops is None else scores(fuse, fuse_hops),
        fuse_means=(
            None
            if fuse is None or fuse_hops is None
            else means(fuse_hops, fuse.reading.dimensions, seed)
        ),
        model_coverage=model_coverage,
        notes=notes,
        tallies=tallies,
    )


def decomposition(hops: pl.DataFrame, by: str) -> pl.DataFrame:
    """The six dimensions at the last hop of each trace, mean for each value of `by`."""
    last = grouped(hops.filter(pl.col("hop") == pl.col("hops")), by)
    means = [pl.col(name).mean() for name in (*lite.NAMES, lite.TOTAL)]
    return last.group_by(by, maintain_order=True).agg(pl.len().alias("traces"), *means).sort(by)


def coverage_means(covered: pl.DataFrame, by: str) -> pl.DataFrame:
    columns = ("seed_coverage", "coverage", "seed_length", "length")
    return (
        covered.with_columns(pl.col(by).fill_null("none"))
        .group_by(by, maintain_order=True)
        .agg(pl.len().alias("traces"), *(pl.col(c).mean() for c in columns))
        .sort(by)
    )


def _curves(hops: pl.DataFrame, reader: Reader, seed: int) -> dict[tuple[str, str], Curve]:
    far = unrelated_drift(hops["base"].drop_nulls().to_list(), seed=seed, reader=reader)
    keyed = hops.with_columns((pl.col("run") + "\n" + pl.col("trace_id")).alias("trace_id"))
    out = {("all", ""): curve(keyed, unrelated=far, seed=seed)}
    for by in BY:
        parts = by_topic(keyed) if by == "topic" else keyed
        for value in parts[by].drop_nulls().unique().sort().to_list():
            out[by, value] = curve(parts.filter(pl.col(by) == value), unrelated=far, seed=seed)
    return out


def _with_verdicts(hops: pl.DataFrame, datasets: Sequence[Dataset]) -> pl.DataFrame:
    """Run by run: an annotation names a trace, and runs over the same claims share the names."""
    runs = hops["run"].unique(maintain_order=True).to_list()
    parts = [
        verdicts.with_verdicts(hops.filter(pl.col("run") == run), dataset.tables.get("annotations"))
        for run, dataset in zip(runs, datasets, strict=True)
    ]
    return pl.concat(parts)


def _fuse(drawn: pl.DataFrame, judges: Judges, progress: Progress) -> tuple[Judged, pl.DataFrame]:
    pairs = list(drawn.select("base", "output").iter_rows())
    judged = judge_pairs(
        pairs,
        judges.providers,
        reading=judges.reading,
        runs=judges.runs,
        prompts=judges.prompts,
        progress=progress,
    )
    scored = drawn.with_row_index("pair").with_columns(pl.col("pair").cast(pl.Int64))
    same = [
        name for name in judged.reading.dimensions if name in scored.columns
    ]  # drift-lite's, which is not meant
    return judged, scored.drop(same).join(judged.means(), on="pair", how="left")


def _other_judgements(
    hops: pl.DataFrame,
    drawn: pl.DataFrame,
    sources: Mapping[str, str],
    judges: Judges,
    tallies: dict[str, JsonObject],
    progress: Progress,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Verdicts and entailed coverage of the drawn hops, by the first judge; without a context the
    base is compared.
    """
    rows = list(drawn.select("record_id", "base", "output").iter_rows())
    first = judges.providers[0]
    judge = level_judge(first, judges.prompts)
    levels, why = judge_levels(
        [(now, sources.get(i) or base) for i, base, now in rows], judge, progress=progress
    )
    tallies["verdicts"] = judge.tally.summary()
    key = ["run", "trace_id", "hop"]
    judged = drawn.select(key).with_columns(
        pl.Series("level", levels, dtype=pl.String), pl.Series("rationale", why, dtype=pl.String)
    )
    joined = hops.join(judged, on=key, how="left", maintain_order="left")
    by_model = pl.col("verdict").is_null() & pl.col("level").is_not_null()
    hops = joined.with_columns(
        pl.coalesce("verdict", "level").alias("verdict"),
        pl.when(by_model).then(pl.col("rationale")).alias("verdict_rationale"),
        pl.when(by_model)
        .then(pl.lit(first.profile.chosen_model()))
        .otherwise("verdict_by")
        .alias("verdict_by"),
    ).drop("level", "rationale")
    known = [(now, sources[i]) if i in sources else None for i, _, now in rows]
    reader = stated_judge(first, judges.prompts)
    shares = entailed([k for k in known if k is not None], reader, progress=progress)
    tallies["coverage"] = reader.tally.summary()
    answers = iter(shares)
    column = [next(answers) if k is not None else None for k in known]
    return hops, drawn.select(*key, "topic").with_columns(
        pl.Series("entailed", column, dtype=pl.Float64)
    )
