"""What `claimlab evolve drift` measures: tables in, tables out, no words and no pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.drift.attainment import (
    Ends,
    attainment,
    steps_to_target,
)
from claimlab_simulate.evolve.drift.coverage import contexts, coverage
from claimlab_simulate.evolve.drift.curve import Curve, curve, unrelated_drift
from claimlab_simulate.evolve.drift.hops import by_topic, read_hops
from claimlab_simulate.evolve.drift.influence import influence, together
from claimlab_simulate.evolve.drift.judged import Inquiry, Judges, entailed, judge_levels
from claimlab_simulate.evolve.drift.lite import TOTAL, drift_lite
from claimlab_simulate.evolve.drift.noise import NOISE, beyond, survival, with_noise
from claimlab_simulate.evolve.drift.result import Drift
from claimlab_simulate.evolve.drift.scores import Judged, judge_pairs, means
from claimlab_simulate.evolve.drift.verdicts import (
    verdict_moves,
    verdict_shares,
    verdicts_by_hop,
    with_verdicts,
)

SPLIT_BY = ("run", "topology", "topic", "home")
NOISE_DRIFT = "noise_drift"
HOP_KEY = ["run", "trace_id", "hop"]


def measure(
    datasets: Sequence[Dataset],
    *,
    groups: Mapping[str, str] | None = None,
    judges: Judges | None = None,
    independent: Callable[[pl.DataFrame], tuple[Ends | None, Ends | None]] | None = None,
    seed: int = 0,
) -> Drift:
    """Measure the traces of `datasets`; `groups` tells agents' groups, `judges` are asked only if
    there are any, `independent` says where claims and the null model's texts ended.
    """
    sources = {k: v for d in datasets for k, v in contexts(d).items()}
    hops = with_noise(read_hops(datasets, groups), seed)
    ends = independent(hops) if independent else (None, None)
    pairs = hops["base"].to_list(), hops["output"].to_list()
    hops = hops.with_columns(drift_lite(*pairs))
    noise = drift_lite(hops["base"].to_list(), hops[NOISE].to_list())
    hops = hops.with_columns(noise[TOTAL].alias(NOISE_DRIFT))
    stated = pl.when(pl.col("verdict").is_not_null()).then(pl.lit("traces or annotators"))
    hops = _with_verdicts(hops, datasets).with_columns(
        verdict_rationale=pl.lit(None, dtype=pl.String), verdict_by=stated
    )
    by_model: JsonObject = {}
    if judges is not None and judges.providers:
        drawn = judges.drawn(hops, seed)
        inquiries = judges.questions(drawn, sources)
        *scorers, levels, facts = inquiries.values()
        by_model["fuse"] = _fuse(drawn, judge_pairs(scorers, judges.reading))
        by_model["fuse"].groups = means(by_model["fuse"], seed)
        hops = _with_levels(hops, drawn, levels)
        by_model["model_coverage"] = _stated(drawn, sources, facts)
        by_model["tallies"] = {
            name: inquiries[name].judge.tally.summary() for name in ("verdicts", "coverage")
        }
    judged, shares = hops["verdict"].null_count() < hops.height, {}
    if judged:
        shares = {
            by: verdict_shares(by_topic(hops) if by == "topic" else hops, by) for by in SPLIT_BY
        }
        shares["hop"] = verdicts_by_hop(hops)
    covered, attained = coverage(hops, sources), attainment(hops, *ends)
    unmeasured = {
        "Verdict drift is not measured: the traces state no verdicts and no model was asked"
        " (`judge`).": not judged,
        "FUSE-EVAL is not measured: it needs a model (`judge`). drift-lite is another"
        " measure.": judges is None,
        "Coverage is not measured: the records have no context in the table 'evidence'.": (
            covered["coverage"].null_count() == covered.height
        ),
        "Attainment is not measured: no trace had a target.": not attained.height,
    }
    return Drift(
        hops=hops,
        curves=_curves(hops, seed),
        details=survival(hops, seed),
        coverage=covered,
        attainment=attained,
        steps=steps_to_target(hops),
        influence=influence(hops),
        together=together(hops),
        verdict_shares=shares,
        verdict_moves=verdict_moves(hops if judged else hops.clear()),
        notes=[note for note, missing in unmeasured.items() if missing],
        **by_model,
    )


def _curves(hops: pl.DataFrame, seed: int) -> dict[tuple[str, str], Curve]:
    far = unrelated_drift(hops["base"].drop_nulls().to_list(), seed=seed)
    keyed = hops.with_columns(trace_id=pl.col("run") + "\n" + pl.col("trace_id"))
    out = {("all", ""): _curve(keyed, far, seed)}
    for by in SPLIT_BY:
        parts = by_topic(keyed) if by == "topic" else keyed
        for value in parts[by].drop_nulls().unique().sort().to_list():
            out[by, value] = _curve(parts.filter(pl.col(by) == value), far, seed)
    return out


def _curve(hops: pl.DataFrame, unrelated: float | None, seed: int) -> Curve:
    """The curve of some traces, with that of the null model."""
    noise = curve(hops.with_columns(pl.col(NOISE_DRIFT).alias(TOTAL)), seed=seed)
    return replace(
        curve(hops, unrelated=unrelated, seed=seed),
        noise=noise.mean,
        noise_end=noise.end,
        beyond=beyond(hops, TOTAL, NOISE_DRIFT, seed),
    )


def _with_verdicts(hops: pl.DataFrame, datasets: Sequence[Dataset]) -> pl.DataFrame:
    """Run by run: an annotation names a trace, and runs over the same claims share the names."""
    runs = hops["run"].unique(maintain_order=True).to_list()
    parts = [
        with_verdicts(hops.filter(pl.col("run") == run), dataset.tables.get("annotations"))
        for run, dataset in zip(runs, datasets, strict=True)
    ]
    return pl.concat(parts)


def _fuse(drawn: pl.DataFrame, judged: Judged) -> Judged:
    """With the scores beside the hops; drift-lite's of the same name are not meant."""
    scored = drawn.with_row_index("pair").with_columns(pl.col("pair").cast(pl.Int64))
    scored = scored.drop(judged.reading.dimensions, strict=False)
    return replace(judged, hops=scored.join(judged.means(), on="pair", how="left"))


def _with_levels(hops: pl.DataFrame, drawn: pl.DataFrame, inquiry: Inquiry) -> pl.DataFrame:
    """Verdicts of the drawn hops, where there is none yet."""
    levels, why = judge_levels(inquiry)
    answers = pl.Series(levels, dtype=pl.String), pl.Series(why, dtype=pl.String)
    judged = drawn.select(*HOP_KEY, level=answers[0], rationale=answers[1])
    by_model = pl.col("verdict").is_null() & pl.col("level").is_not_null()
    joined = hops.join(judged, on=HOP_KEY, how="left", maintain_order="left").with_columns(
        verdict=pl.coalesce("verdict", "level"),
        verdict_rationale=pl.when(by_model).then("rationale"),
        verdict_by=pl.when(by_model).then(pl.lit(inquiry.judge.model)).otherwise("verdict_by"),
    )
    return joined.drop("level", "rationale")


def _stated(drawn: pl.DataFrame, sources: Mapping[str, str], inquiry: Inquiry) -> pl.DataFrame:
    """The share of the context that each drawn hop states, null where it has none."""
    sourced = drawn.filter(pl.col("record_id").is_in(list(sources)))
    shares = entailed(inquiry, [sources[i] for i in sourced["record_id"]])
    stated = sourced.select(*HOP_KEY, entailed=pl.Series(shares, dtype=pl.Float64))
    return drawn.select(*HOP_KEY, "topic").join(
        stated, on=HOP_KEY, how="left", maintain_order="left"
    )
