"""Attainment in the eyes of an auditor that took no part in a run.

A classifier is never asked about a claim that it has learned from: claims are dealt to folds, and
the texts of a fold are judged by one that was fitted on the examples of all other claims. An
example belongs to a claim by its `group`, or because it has the same text as the seed or the end of
a trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.run import Run
from claimlab.core.stats.streams import stream_seed
from claimlab.llm.prompts import Prompts
from claimlab_simulate.evolve.auditor import AUDITORS, Auditor
from claimlab_simulate.evolve.auditors.known.classifier import fit_auditors
from claimlab_simulate.evolve.claims.model import Target
from claimlab_simulate.evolve.contracts import ActorSettings
from claimlab_simulate.evolve.drift.attainment import Ends, judge_ends, last_hops
from claimlab_simulate.evolve.drift.noise import NOISE

FOLDS = 5
CLASSIFIER = "classifier"


def independent_ends(
    hops: pl.DataFrame,
    opened: Sequence[Dataset],
    auditor: str | None,
    data: str | Path | None,
    judges: Sequence[str],
    prompts: Prompts,
    run: Run,
) -> tuple[Ends | None, Ends | None]:
    """The auditor's word on where the claims of `opened` ended, and on where the null model would
    have taken them (a model is not asked about that); null without an auditor or a target. `hops`
    have the texts of both.
    """
    if auditor is None:
        return None, None
    if auditor == "model" and not judges:
        raise UsageError("No model was named to audit.", "Pass `judge`; see: claimlab llm profiles")
    targets = _targets(last_hops(hops))
    if not targets:
        return None, None
    settings = ActorSettings(
        data=data, targets=targets, profiles=tuple(judges), calls=run.calls, prompts=prompts
    )
    if auditor == CLASSIFIER and data is not None:
        return _by_folds(opened, hops, replace(settings, seed=run.seed or 0))
    (chosen,) = AUDITORS.get(auditor)(settings, 1)
    return judge_ends(hops, chosen), None if auditor == "model" else _noise_ends(hops, chosen)


def _noise_ends(hops: pl.DataFrame, auditor: Auditor) -> Ends:
    return judge_ends(hops.with_columns(output=pl.col(NOISE)), auditor)


def _by_folds(
    opened: Sequence[Dataset], hops: pl.DataFrame, settings: ActorSettings
) -> tuple[Ends, Ends]:
    assert settings.data is not None
    examples = Dataset.open(settings.data)
    last = last_hops(hops)
    runs = hops["run"].unique(maintain_order=True)
    claims = pl.concat(
        dataset.records.select(
            pl.lit(run).alias("run"), record_id="id", claim=pl.coalesce("group", "id")
        )
        for run, dataset in zip(runs, opened, strict=True)
    )
    dealt = last.join(
        claims, on=["run", "record_id"], how="left", maintain_order="left"
    ).with_columns(pl.coalesce("claim", "base"))
    folds = [stream_seed(0, claim, "fold") % FOLDS for claim in dealt["claim"]]
    dealt = dealt.with_columns(fold=pl.Series(folds, dtype=pl.Int64))
    ends: dict[tuple[str, str], bool | None] = {}
    noise = ends.copy()
    for part in dealt.partition_by("fold"):
        texts = {text for name in ("base", "output", NOISE) for text in part[name].drop_nulls()}
        others = other_claims(examples, set(part["claim"]), texts)
        dimensions = sorted({target.dimension for target in _targets(part)})
        (judge,) = fit_auditors(others, dimensions, 1, settings.seed)
        ends |= judge_ends(part, judge)
        noise |= _noise_ends(part, judge)
    return ends, noise


def other_claims(examples: Dataset, claims: set[str], texts: set[str]) -> Dataset:
    """The examples that come from none of these claims: neither by their group, nor by their text
    or base text.
    """
    own_texts = [
        pl.col("text"),
        pl.col("meta").str.json_path_match("$.synthetic.origin.base_claim"),
    ]
    own = pl.coalesce("group", "id").is_in(sorted(claims))
    for text in own_texts:
        own |= text.is_in(sorted(texts)).fill_null(False)
    left = examples.records.filter(~own)
    return replace(examples, records=left, tables={}, path=None)


def _targets(last: pl.DataFrame) -> tuple[Target, ...]:
    goals = last.select("dimension", "target").unique().drop_nulls()
    return tuple(sorted({Target.of(*goal) for goal in goals.iter_rows()}))
