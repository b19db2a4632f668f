"""Several datasets as one: ids kept apart, the origin of every record noted, and what they share
counted.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Annotated

import numpy as np
import polars as pl

from claimlab.catalog.load import DATASETS
from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import UsageError
from claimlab.core.labels import read_differently
from claimlab.core.options import Argument, Force, Option, OutputFolder
from claimlab.core.run import Run, Source, folders_of
from claimlab.core.words import several_of, verb
from claimlab.tasks import TRUTH, own_task
from claimlab.text.shared import ASIDE, NEAR_JACCARD, claims_of

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
) -> Dataset:
    """Join datasets: ids kept apart, the origin of each record noted, near-duplicates between them
    counted.

    Ids and groups get the name of their dataset in front, so that none collide; datasets that
    were made of one share its groups. `meta` of every record says where it comes from. Splits are
    dropped: a training record of one dataset may be a copy of a test record of another. How many
    records have the same text or a near-duplicate in another dataset is in the notes, and which
    labels of their sources the datasets map to different ones.
    """
    with Run("merge", None, output, force=force, reads=folders_of(*datasets)) as run:
        parts = [Dataset.of(source) for source in datasets]
        merged = _together(parts, name)
        merged.notes += [*_families(parts), *_other_maps(parts), *_shared(parts)]
        return run.finish(merged)


def _together(parts: Sequence[Dataset], name: str | None) -> Dataset:
    names = [part.name for part in parts]
    _refuse_unclear(names)
    merged = Dataset.build(
        name or "+".join(names),
        pl.concat([_renamed(part, _first(part, parts)) for part in parts]),
        _tables(parts),
    )
    tasks = {own_task(part) for part in parts}
    shared = {"task": tasks.pop()} if len(tasks) == 1 and tasks != {TRUTH} else {}
    step = Lineage(
        step="merge",
        parameters={"datasets": names, "name": merged.name, **shared},
        inputs={part.name: part.digest() for part in parts},
        counts={part.name: part.records.height for part in parts},
    )
    licences = [f"{part.name}: {part.licence}" for part in parts if part.licence]
    merged.lineage, merged.licence = [step], "; ".join(licences) or None
    merged.synthetic = any(part.synthetic for part in parts)
    merged.notes += _notes(parts, tasks)
    return merged


def _notes(parts: Sequence[Dataset], tasks: Collection[str]) -> list[str]:
    own = [f"{part.name}: {note}" for part in parts for note in part.notes]
    if len(tasks) <= 1:
        return own
    about = ", ".join(sorted(tasks))
    return [f"The labels are about different tasks ({about}): name one of them.", *own]


def _refuse_unclear(names: Sequence[str]) -> None:
    if len(names) < 2:
        raise UsageError("One dataset alone cannot be merged.", "Name at least two.")
    if twice := sorted(name for name in names if names.count(name) > 1):
        raise UsageError(f"Two of the datasets are called '{twice[0]}'.", "Rename one of them.")


def _families(parts: Sequence[Dataset]) -> list[str]:
    """What the cards say of datasets that contain rows of each other."""
    members: dict[str, list[str]] = {}
    for part in parts:
        if part.card is not None and part.card in DATASETS:
            family = DATASETS.get(part.card).card.family
            members.setdefault(family or part.name, []).append(f"'{part.name}'")
    return [
        f"{' and '.join(names)} are one family: they contain rows of each other. Keep them on one"
        " side of a split."
        for names in members.values()
        if len(names) > 1
    ]


def _other_maps(parts: Sequence[Dataset]) -> list[str]:
    """The labels that the sources of two datasets wrote alike, and whose maps differ."""
    notes = []
    for one, other in combinations(parts, 2):
        apart = read_differently(one.records, other.records)
        if apart:
            meant = ", ".join(f"'{word}' ({a} and {b})" for word, (a, b) in apart.items())
            maps = " and ".join(part.label_map or f"that of '{part.name}'" for part in (one, other))
            notes.append(
                f"'{one.name}' and '{other.name}' have other label maps, {maps}, for {meant}: load"
                " both with one map."
            )
    return notes


def _tables(parts: Sequence[Dataset]) -> dict[str, pl.DataFrame]:
    frames: dict[str, list[pl.DataFrame]] = {}
    for part in parts:
        for table in part.tables:
            frames.setdefault(table, []).append(_apart(part, table, _first(part, parts)))
    return {table: pl.concat(frames[table], how="diagonal") for table in sorted(frames)}


def _first(part: Dataset, parts: Sequence[Dataset]) -> str:
    """The name of the first dataset that began as this one did: what was made of one claim may not
    be on both sides of a later split.
    """
    began = part.lineage[:1]
    return next(
        earlier.name
        for earlier in parts
        if earlier is part or (began and earlier.lineage[:1] == began)
    )


def _renamed(part: Dataset, groups: str) -> pl.DataFrame:
    origin = [
        json.dumps({**json.loads(m or "{}"), ORIGIN: part.name}, ensure_ascii=False)
        for m in part.records["meta"]
    ]
    return part.records.with_columns(
        id=pl.lit(f"{part.name}/") + pl.col("id"),
        group=pl.lit(f"{groups}/") + pl.col("group"),
        split=pl.lit(None, dtype=pl.String),
        meta=pl.Series(origin, dtype=pl.String),
    )


def _apart(part: Dataset, table: str, groups: str) -> pl.DataFrame:
    frame = part.tables[table]
    front = pl.lit(f"{part.name}/")
    fronts = dict.fromkeys(("id", "record_id", "evidence_id"), front)
    fronts["group"] = pl.lit(f"{groups}/")
    lists = [c for c in ("evidence_ids",) if c in frame.columns]
    return frame.with_columns(
        *((fronts[c] + pl.col(c)).alias(c) for c in fronts if c in frame.columns),
        *(pl.col(c).list.eval(front + pl.element()) for c in lists),
    )


def _shared(parts: Sequence[Dataset]) -> list[str]:
    """What every two datasets have in common: copies across them would leak between the sides of a
    later split.
    """
    owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    claims = claims_of(pl.concat([part.records["text"] for part in parts]), near=NEAR_JACCARD)
    same, near = (c.held(owner, len(parts)) for c in (claims.only_same(), claims))
    notes = []
    for a, b in combinations(range(len(parts)), 2):
        of_second = owner == b
        n, copies = (int(held_by[of_second, a].sum()) for held_by in (near, same))
        notes.append(
            f"{several_of(n, len(parts[b]), 'record')} of '{parts[b].name}'"
            f" {verb(n, 'has', 'have')} the same text or a near-duplicate in '{parts[a].name}':"
            f" {copies:,} the same text ({ASIDE}), {n - copies:,} only nearly."
        )
    return notes
