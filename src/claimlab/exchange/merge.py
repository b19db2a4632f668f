"""Several datasets as one: ids kept apart, the origin of every record noted, and what they share
counted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from typing import Annotated

import numpy as np
import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import UsageError
from claimlab.core.options import Argument, Force, Option, OutputFolder
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source, folders_of
from claimlab.core.words import several_of, verb
from claimlab.text.near import ASIDE, NEAR, claims_of

ORIGIN = "merged_from"


@repeatable()
def merge(
    datasets: Annotated[
        Sequence[Source], Argument("The claimlab dataset folders to join, two or more.")
    ],
    *,
    output: OutputFolder = None,
    name: Annotated[str | None, Option("Name of the new dataset.  [the names joined by +]")] = None,
    force: Force = False,
    progress: Progress = silent,
) -> Dataset:
    """Join datasets: ids kept apart, the origin of each record noted, near-duplicates between them
    counted.

    Ids and groups get the name of their dataset in front, so that none collide; `meta` of every
    record says where it comes from. Splits are dropped: a training record of one dataset may be a
    copy of a test record of another. How many records have the same text or a near-duplicate in
    another dataset is in the notes.
    """
    with Run(
        "merge", None, output, force=force, reads=folders_of(*datasets), progress=progress
    ) as run:
        parts = [Dataset.of(source) for source in datasets]
        names = [part.name for part in parts]
        if len(parts) < 2:
            raise UsageError("One dataset alone cannot be merged.", "Name at least two.")
        if twice := sorted({n for n in names if names.count(n) > 1}):
            raise UsageError(f"Two of the datasets are called '{twice[0]}'.", "Rename one of them.")
        tables = sorted({table for part in parts for table in part.tables})
        records = pl.concat([_renamed(part) for part in parts], how="vertical")
        merged = Dataset.build(
            name or "+".join(names),
            records,
            {
                t: pl.concat([_apart(p, t) for p in parts if t in p.tables], how="diagonal")
                for t in tables
            },
        )
        step = Lineage(
            step="merge",
            parameters={"datasets": names, "name": merged.name},
            inputs={part.name: part.digest() for part in parts},
            counts={part.name: part.records.height for part in parts},
        )
        merged.lineage = [step]
        merged.synthetic = any(part.synthetic for part in parts)
        merged.licence = (
            "; ".join(dict.fromkeys(f"{p.name}: {p.licence}" for p in parts if p.licence)) or None
        )
        merged.notes = [
            *(f"{part.name}: {note}" for part in parts for note in part.notes),
            *_shared(parts, progress),
        ]
        return run.finish(merged)


def _renamed(part: Dataset) -> pl.DataFrame:
    origin = [
        json.dumps({**json.loads(m or "{}"), ORIGIN: part.name}, ensure_ascii=False)
        for m in part.records["meta"]
    ]
    return part.records.with_columns(
        id=pl.lit(f"{part.name}/") + pl.col("id"),
        group=pl.lit(f"{part.name}/") + pl.col("group"),
        split=pl.lit(None, dtype=pl.String),
        meta=pl.Series(origin, dtype=pl.String),
    )


def _apart(part: Dataset, table: str) -> pl.DataFrame:
    frame = part.tables[table]
    ids = [c for c in ("record_id", "evidence_id", "group") if c in frame.columns]
    lists = [c for c in ("evidence_ids",) if c in frame.columns]
    front = pl.lit(f"{part.name}/")
    return frame.with_columns(
        *((front + pl.col(c)).alias(c) for c in ids),
        *(pl.col(c).list.eval(front + pl.element()) for c in lists),
    )


def _shared(parts: Sequence[Dataset], progress: Progress) -> list[str]:
    """What every two datasets have in common: copies across them would leak between the sides of a
    later split.
    """
    owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    claims = claims_of(
        pl.concat([part.records["text"] for part in parts]), near=NEAR, progress=progress
    )
    same, near = (c.held(owner, len(parts)) for c in (claims.only_same(), claims))
    notes = []
    for a, b in combinations(range(len(parts)), 2):
        mine = owner == b
        n, copies = (int(held[mine, a].sum()) for held in (near, same))
        notes.append(
            f"{several_of(n, len(parts[b]), 'record')} of '{parts[b].name}'"
            f" {verb(n, 'has', 'have')} the same text or a near-duplicate in '{parts[a].name}':"
            f" {copies:,} the same text ({ASIDE}), {n - copies:,} only nearly."
        )
    return notes
