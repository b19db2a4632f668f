"""Cleaning as a user calls it: a dataset and a recipe in, a cleaned dataset and its report out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Unpack

import polars as pl

from claimlab.clean.recipe import DEFAULT, Recipe, load_recipe, masking, protecting
from claimlab.clean.run import Cleaned, ExtraTables, run_stages
from claimlab.clean.views import KIND, write_cleaning
from claimlab.core.atomic import atomic_text
from claimlab.core.call import repeatable
from claimlab.core.choices import each_of, one_of
from claimlab.core.guard import refuse_file, refuse_taken
from claimlab.core.options import (
    Argument,
    DataOptions,
    Engine,
    Force,
    Limit,
    Option,
    OutputFolder,
    Place,
    Seed,
    Setting,
)
from claimlab.core.record import SIDES
from claimlab.core.run import Run, Source, folders_of
from claimlab.core.version import __version__
from claimlab.files.cells import escape_cells
from claimlab.files.read import user_table
from claimlab.tasks import own_task

Table = pl.DataFrame | Place | None
NO_PART = "none"
SIGN = "step"  # near the start of every list of ids


@repeatable("report", "ids")
def clean(  # noqa: PLR0913
    data: Annotated[Source, Argument("A claimlab dataset folder.")],
    recipe: Annotated[
        Recipe | str, Option("A built-in recipe, or a recipe file (.toml).")
    ] = DEFAULT,
    *,
    output: OutputFolder = None,
    decisions: Annotated[
        Table, Option("Table of your decisions: id or row, decision, reason.")
    ] = None,
    claimreviews: Annotated[
        Table, Setting("Table of fact-checks: rating, and record_id or claim.")
    ] = None,
    mask: Annotated[
        str | Sequence[str],
        Option(
            "Take out of texts what gives labels away: giveaways, keywords, urls, punctuation,"
            " digits, case, typography or whitespace; may be repeated."
        ),
    ] = (),
    protect: Annotated[
        str | Sequence[str] | None,
        Option(
            "Part of a given split that stays as published: what copies it is removed from train;"
            " 'none' protects no part; may be repeated. Default: what the recipe says, else test."
        ),
    ] = None,
    task: Annotated[
        str | None, Setting("With `mask=giveaways`: whose labels, a task or any column.")
    ] = None,
    report: Annotated[
        Place | None, Option("Folder for an HTML page with stages and statistics.")
    ] = None,
    ids: Annotated[
        Place | None,
        Option("File for the ids to leave out, with step and reason: .csv or .json."),
    ] = None,
    seed: Seed = 0,
    limit: Limit = None,
    force: Force = False,
    engine: Engine = None,
    **columns: Unpack[DataOptions],
) -> Cleaned:
    """Clean a dataset with a recipe: each record is kept, dropped with a reason, or doubtful.

    A given split is kept: no record moves, and the records of `protect` leave only by `decisions`;
    what copies them leaves train. The tables may be data frames, too. A run that was killed goes on
    from its last stage when it is called again.
    """
    chosen = load_recipe(recipe) if isinstance(recipe, str) else recipe
    inputs = ExtraTables(_table(decisions), _table(claimreviews))
    if report is not None:
        refuse_taken(Path(report), force=force, kind=KIND, reads=folders_of(data))
    if ids is not None:
        one_of([".csv", ".json"], Path(ids).suffix, "ids")
        refuse_file(Path(ids), force=force, kind="list of ids", sign=SIGN)
    with Run(
        "clean",
        data,
        output,
        limit=limit,
        force=force,
        seed=seed,
        engine=engine,
        **columns,
    ) as run:
        chosen = masking(chosen, each_of(mask), own_task(run.dataset, task))
        named = chosen.protect if protect is None else each_of(protect)
        parts = protected_parts(run.dataset.records, named)
        chosen = protecting(chosen, parts)
        journal = run.journal(recipe=chosen.fingerprint(), inputs=inputs.digests())
        cleaned = run_stages(run.dataset, chosen, inputs, seed, journal, parts)
        run.finish(cleaned.dataset)
    if report is not None:
        write_cleaning(cleaned, Path(report), force=force)
    if ids is not None:
        atomic_text(Path(ids), left_out(cleaned, Path(ids).suffix))
    return cleaned


def protected_parts(records: pl.DataFrame, named: Sequence[str]) -> list[str]:
    """The parts of `named` that the given split has beside train; none where it has no train."""
    here = records["split"].drop_nulls().unique().to_list()
    unknown = [part for part in named if part not in (NO_PART, *SIDES, *here)]
    if unknown or (NO_PART in named and len(named) > 1):
        one_of([NO_PART, *SIDES], unknown[0] if unknown else ", ".join(named), "protect")
    return [part for part in dict.fromkeys(named) if part in here and "train" in here]


def left_out(cleaned: Cleaned, suffix: str) -> str:
    """The ids of the records that are not kept, with decision, step and reason, as CSV or JSON:
    others leave them out of their own copy, and no record has to be passed on.
    """
    tables = [
        cleaned.dataset.tables[name].select("id", pl.lit(name).alias("decision"), "step", "reason")
        for name in ("dropped", "doubtful")
        if name in cleaned.dataset.tables
    ]
    schema = dict.fromkeys(("id", "decision", "step", "reason"), pl.String)
    table = pl.concat([pl.DataFrame(schema=schema), *tables])
    if suffix == ".csv":
        return table.with_columns(escape_cells(pl.all())).write_csv()
    content = {
        "dataset": cleaned.dataset.name,
        "tool": f"claimlab {__version__}",
        "leave_out": table.to_dicts(),
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _table(source: Table) -> pl.DataFrame | None:
    columns = ("id", "record_id", "row", "decision", "reason", "claim", "rating", "url")
    return (
        source
        if source is None or isinstance(source, pl.DataFrame)
        else user_table(Path(source), *columns)
    )
