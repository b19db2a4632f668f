"""Attainment in the eyes of an auditor that took no part in a run.

A classifier is never asked about a claim that it has learned from: claims are dealt to folds, and
the texts of a fold are judged by one that was fitted on the examples of all other claims. An
example belongs to a claim by its `group`, or because it has the same text as the seed or the end of
a trace.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.run import Run
from claimlab.core.stats.streams import stream_seed
from claimlab.evolve.auditors.auditor import AUDITORS, Settings
from claimlab.evolve.auditors.known.classifier import fit_auditors
from claimlab.evolve.claims.model import Target
from claimlab.evolve.drift.attainment import Ends, judge_ends, last_hops
from claimlab.evolve.drift.hops import read_hops
from claimlab.llm.prompts import Prompts

FOLDS = 5
CLASSIFIER = "classifier"


def independent_ends(
    opened: Sequence[Dataset],
    auditor: str,
    data: str | Path | None,
    judges: Sequence[str],
    prompts: Prompts,
    run: Run,
) -> Ends | None:
    """The auditor's word on where the claims of `opened` ended; null where no trace had a
    target.
    """
    if auditor == "model" and not judges:
        raise UsageError("No model was named to audit.", "Pass `judge`; see: claimlab llm profiles")
    opens, hops = AUDITORS.get(auditor), read_hops(opened)
    goals = (
        last_hops(hops)
        .select("dimension", "target")
        .unique()
        .sort("dimension", "target")
        .drop_nulls()
    )
    targets = tuple(sorted({Target.of(d, v) for d, v in goals.iter_rows()}))
    if not targets:
        return None
    learned = None if data is None else Path(data)
    settings = Settings(
        data=learned, targets=targets, profiles=tuple(judges), calls=run.calls, prompts=prompts
    )
    if auditor == CLASSIFIER and learned is not None:
        return _by_folds(opened, hops, replace(settings, seed=run.seed or 0), run)
    (chosen,) = opens(settings, 1)
    return judge_ends(hops, chosen, progress=run.progress)


def _by_folds(opened: Sequence[Dataset], hops: pl.DataFrame, settings: Settings, run: Run) -> Ends:
    assert settings.data is not None
    examples = Dataset.open(settings.data)
    last = last_hops(hops)
    claims = _claims(opened)
    keys = [
        claims.get((r, i), base)
        for r, i, base in last.select("run", "record_id", "base").iter_rows()
    ]
    fold = pl.Series("fold", [stream_seed(0, key, "fold") % FOLDS for key in keys], dtype=pl.Int64)
    dealt = last.with_columns(fold, pl.Series("claim", keys, dtype=pl.String))
    ends: dict[tuple[str, str], bool | None] = {}
    for number in range(FOLDS):
        part = dealt.filter(pl.col("fold") == number)
        if not part.height:
            continue
        others = other_claims(
            examples, set(part["claim"]), {*part["base"], *part["output"].drop_nulls()}
        )
        goals = part.select("dimension", "target").unique().drop_nulls().iter_rows()
        dimensions = sorted({Target.of(dimension, value).dimension for dimension, value in goals})
        (judge,) = fit_auditors(others, dimensions, 1, settings.seed)
        ends |= judge_ends(part.drop("fold", "claim"), judge, progress=run.progress)
    return ends


def other_claims(examples: Dataset, claims: set[str], texts: set[str]) -> Dataset:
    """The examples that come from none of these claims: neither by their group, nor by their text
    or base text.
    """
    bases = [_base(meta) for meta in examples.records["meta"].to_list()]
    records = examples.records.with_columns(pl.Series("base", bases, dtype=pl.String))
    group = pl.coalesce("group", "id")
    own = (
        group.is_in(sorted(claims))
        | pl.col("text").is_in(sorted(texts))
        | pl.col("base").is_in(sorted(texts))
    )
    left = records.filter(~own.fill_null(False)).drop("base")
    return replace(examples, records=left, tables={}, path=None)


def _claims(opened: Sequence[Dataset]) -> Mapping[tuple[str, str], str]:
    """(run, record) to the claim that it came from."""
    runs = [read_hops([dataset])["run"][0] for dataset in opened]
    if len(set(runs)) < len(runs):
        runs = [f"{i + 1}: {run}" for i, run in enumerate(runs)]
    return {
        (run, record): group or record
        for run, dataset in zip(runs, opened, strict=True)
        for record, group in dataset.records.select("id", "group").iter_rows()
    }


def _base(meta: str | None) -> str | None:
    note = (json.loads(meta) if meta else {}).get("synthetic") or {}
    origin = note.get("origin") if isinstance(note, dict) else None
    base = origin.get("base_claim") if isinstance(origin, dict) else None
    return str(base) if base else None
