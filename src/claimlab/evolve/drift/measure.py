"""Everything that `claimlab evolve drift` measures, in one object: tables in, tables out, no words
and no pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import polars as pl

from claimlab.core import packaged
from claimlab.core.dataset import Dataset
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.evolve.drift.attainment import Ends, attainment, one_against_three, steps_to_target
from claimlab.evolve.drift.hops import by_topic, grouped, read_hops
from claimlab.evolve.drift.judged import (
    Inquiry,
    Judged,
    Judges,
    contexts,
    coverage,
    entailed,
    judge_levels,
    judge_pairs,
    means,
    verdict_moves,
    verdict_shares,
    verdicts_by_hop,
    with_verdicts,
)
from claimlab.evolve.drift.lite import (
    DIMENSIONS,
    NAMES,
    TOTAL,
    Curve,
    curve,
    drift_lite,
    unrelated_drift,
)
from claimlab.evolve.drift.noise import NOISE, beyond, survival, with_noise

# Who rewrites, and what moves them: the share of producers, the attributes they name, and which go
# together.  Agents name their attributes in free words ("higher_education", "moderate ideology"): a
# table of aliases brings them to the eleven attributes of a profile. What it does not know is
# counted as `other`, never dropped.


OTHER = "other"


@cache
def _aliases() -> dict[str, str]:
    known = packaged.toml("claimlab.evolve.drift", "attributes.toml")["attributes"].items()
    return {word: name for name, words in known for word in (name, *words)}


def attribute_names() -> list[str]:
    return list(dict.fromkeys(_aliases().values()))


def attribute(word: str) -> str:
    """The attribute of a profile that `word` speaks of: by name, by alias, or by a word inside
    it.
    """
    plain = " ".join("".join(c if c.isalnum() else " " for c in word.lower()).split())
    known = _aliases()
    if plain.replace(" ", "_") in known:
        return known[plain.replace(" ", "_")]
    return next((known[part] for part in plain.split() if part in known), OTHER)


def named_attributes(hops: pl.DataFrame) -> pl.DataFrame:
    """One row per producer's hop and attribute named in it, each once: run, trace_id, hop,
    dimension, attribute.
    """
    long = hops.filter(pl.col("role") == "producer").explode("attributes").drop_nulls("attributes")
    words = {w: attribute(w) for w in long["attributes"].unique().to_list()}
    return (
        long.with_columns(
            attribute=pl.col("attributes").replace_strict(words, return_dtype=pl.String)
        )
        .select("run", "trace_id", "hop", "dimension", "attribute")
        .unique(maintain_order=True)
    )


def influence(hops: pl.DataFrame) -> pl.DataFrame:
    """Per dimension: the share of producers' hops that name an attribute (the paper's figure 5),
    and how many.
    """
    named = named_attributes(hops).with_columns(pl.col("dimension").fill_null("none"))
    acts = (
        hops.filter((pl.col("role") == "producer") & (pl.col("attributes").list.len() > 0))
        .with_columns(pl.col("dimension").fill_null("none"))
        .group_by("dimension")
        .agg(hops=pl.len())
    )
    return (
        named.group_by("dimension", "attribute")
        .agg(n=pl.len())
        .join(acts, on="dimension")
        .with_columns(share=pl.col("n") / pl.col("hops"))
        .sort("dimension", "n", "attribute", descending=[False, True, False])
    )


def together(hops: pl.DataFrame) -> pl.DataFrame:
    """How often two attributes are named in one hop (the paper's figure 19); both orders, the
    diagonal left out.
    """
    named = named_attributes(hops).select("run", "trace_id", "hop", "attribute")
    pairs = named.join(named, on=["run", "trace_id", "hop"]).filter(
        pl.col("attribute") != pl.col("attribute_right")
    )
    return (
        pairs.group_by(a=pl.col("attribute"), b=pl.col("attribute_right"))
        .agg(n=pl.len())
        .sort("a", "b")
    )


def producer_share(hops: pl.DataFrame, by: str) -> pl.DataFrame:
    """Hops, producers and their share for each value of `by`; failed hops are counted on their
    own.
    """
    return (
        hops.group_by(pl.col(by).fill_null("not stated"))
        .agg(
            hops=pl.len(),
            producers=(pl.col("role") == "producer").sum(),
            failed=(pl.col("role") == "failed").sum(),
        )
        .with_columns(share=pl.col("producers") / (pl.col("hops") - pl.col("failed")))
        .sort(by)
    )


BY = ("run", "topology", "topic", "home")
NOISE_DRIFT = "noise_drift"


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
        shares = {by: verdict_shares(by_topic(hops) if by == "topic" else hops, by) for by in BY}
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


def _curves(hops: pl.DataFrame, seed: int) -> dict[tuple[str, str], Curve]:
    far = unrelated_drift(hops["base"].drop_nulls().to_list(), seed=seed)
    keyed = hops.with_columns(trace_id=pl.col("run") + "\n" + pl.col("trace_id"))
    out = {("all", ""): _curve(keyed, far, seed)}
    for by in BY:
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


HOP = ["run", "trace_id", "hop"]


def _with_levels(hops: pl.DataFrame, drawn: pl.DataFrame, inquiry: Inquiry) -> pl.DataFrame:
    """Verdicts of the drawn hops, where there is none yet."""
    levels, why = judge_levels(inquiry)
    answers = pl.Series(levels, dtype=pl.String), pl.Series(why, dtype=pl.String)
    judged = drawn.select(*HOP, level=answers[0], rationale=answers[1])
    by_model = pl.col("verdict").is_null() & pl.col("level").is_not_null()
    joined = hops.join(judged, on=HOP, how="left", maintain_order="left").with_columns(
        verdict=pl.coalesce("verdict", "level"),
        verdict_rationale=pl.when(by_model).then("rationale"),
        verdict_by=pl.when(by_model).then(pl.lit(inquiry.judge.model)).otherwise("verdict_by"),
    )
    return joined.drop("level", "rationale")


def _stated(drawn: pl.DataFrame, sources: Mapping[str, str], inquiry: Inquiry) -> pl.DataFrame:
    """The share of the context that each drawn hop states, null where it has none."""
    known = drawn.filter(pl.col("record_id").is_in(list(sources)))
    shares = entailed(inquiry, [sources[i] for i in known["record_id"]])
    stated = known.select(*HOP, entailed=pl.Series(shares, dtype=pl.Float64))
    return drawn.select(*HOP, "topic").join(stated, on=HOP, how="left", maintain_order="left")
