"""A look at files before they are imported: what each column would become, what each label would
mean, the first records, and the question that is still open. Nothing is written.

It is what a page shows that lets a person change the choices; `import_files` then makes the same
of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

import polars as pl

from claimlab.core.errors import ClaimlabError
from claimlab.core.labels import LabelMap, is_blank
from claimlab.exchange.importer import ImportColumns, guess_files
from claimlab.exchange.importing.make import (
    ImportWishes,
    make,
    refuse_unknown_labels,
    understood_of,
)
from claimlab.exchange.importing.meanings import nearest
from claimlab.exchange.importing.plan import ImportPlan, shown, tally
from claimlab.exchange.importing.profile import cells_of, verdict_of
from claimlab.exchange.importing.propose import ASIDE, ROLES

RECORDS_SHOWN = 10
EXAMPLES_SHOWN, EXAMPLE_CHARACTERS = 3, 200  # values of a column, and characters of one
VALUES_SEARCHED = 1_000  # values among which examples are looked for


@dataclass(frozen=True)
class ColumnRole:
    """The column that a role would get, what speaks for it, and the next likely one."""

    name: str
    column: str | None = None
    value: str | None = None  # a constant instead of a column, such as a language
    why: str = ""
    evidence: tuple[tuple[str, float], ...] = ()
    runner_up: str | None = None
    given: bool = False
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class LabelMeaning:
    """A label as it is written, in how many rows, and what it means: null where no map knows it,
    with the known word that it is like, if there is one."""

    value: str
    rows: int
    verdict: str | None
    like: tuple[str, str] | None = None


@dataclass(frozen=True)
class Look:
    """What was seen; `doubt` is what an import would stop at."""

    files: str
    rows: int
    columns: list[str]
    kind: str
    roles: list[ColumnRole]
    meta: list[str]
    meanings: list[LabelMeaning]
    records: pl.DataFrame
    understood: list[str]
    doubt: ClaimlabError | None


def look_at_files(
    paths: Sequence[Path],
    *,
    map: Mapping[str, str] | str | None = None,
    only: Sequence[str] = (),
    **columns: Unpack[ImportColumns],
) -> Look:
    """Look at files; options as of `import_files`. Raises where they cannot be read at all."""
    plan, doubt = _planned(paths, map, only, columns)
    has_key = plan.column("text") or plan.column("tweet_id") or plan.column("url")
    records = _first(plan) if has_key else pl.DataFrame()
    doubt = doubt or _unknown_labels(plan)
    hidden = plan.gathered.hidden({})
    return Look(
        files=plan.gathered.describe(),
        rows=plan.gathered.frame.height,
        columns=[name for name in plan.gathered.frame.columns if name not in hidden],
        kind=plan.kind,
        roles=[_role(plan, name) for name in ROLES if name not in ASIDE],
        meta=plan.meta,
        meanings=_meanings(plan),
        records=records,
        understood=understood_of(plan) if has_key and doubt is None else [],
        doubt=doubt,
    )


def _planned(
    paths: Sequence[Path],
    map: Mapping[str, str] | str | None,
    only: Sequence[str],
    columns: ImportColumns,
) -> tuple[ImportPlan, ClaimlabError | None]:
    """The plan, and what it would ask; a question does not keep the rest from being shown."""
    try:
        return guess_files(list(paths), map=map, only=only, **columns), None
    except ClaimlabError as doubt:
        return guess_files(list(paths), map=map, only=only, ask=False, **columns), doubt


def _first(plan: ImportPlan) -> pl.DataFrame:
    """The first records, as they would be."""
    dataset, _ = make(plan, "preview", ImportWishes(unmapped="unknown", limit=RECORDS_SHOWN))
    return dataset.records


def _unknown_labels(plan: ImportPlan) -> ClaimlabError | None:
    try:
        refuse_unknown_labels(plan)
    except ClaimlabError as error:
        return error
    return None


def _role(plan: ImportPlan, name: str) -> ColumnRole:
    pick = plan.picks.get(name)
    if pick is None:
        return ColumnRole(name)
    written = plan.written(name)
    values = (
        pl.Series(dtype=pl.String)
        if written is None
        else written.drop_nulls().head(VALUES_SEARCHED)
    )
    return ColumnRole(
        name,
        pick.column,
        pick.value,
        pick.why,
        pick.evidence,
        plan.runner_up(name),
        pick.given,
        tuple(
            shown(value, EXAMPLE_CHARACTERS)
            for value in values.unique(maintain_order=True)[:EXAMPLES_SHOWN]
        ),
    )


def _meanings(plan: ImportPlan) -> list[LabelMeaning]:
    raw = plan.written("label")
    if raw is None or "veracity" in plan.picks or plan.verdicts.task is not None:
        return []
    counts: dict[str, int] = dict(tally(raw).iter_rows())
    cells = cells_of(list(counts), plan.verdicts)
    return [
        _meaning(value, n, cells[value].verdict if value in cells else None, plan.verdicts)
        for value, n in counts.items()
        if not is_blank(value)
    ]


def _meaning(value: str, n: int, of_parts: str | None, verdicts: LabelMap) -> LabelMeaning:
    verdict = verdict_of(value, verdicts) or of_parts
    return LabelMeaning(value, n, verdict, None if verdict else nearest(value, verdicts))
