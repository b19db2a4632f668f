"""Cleaning as a user calls it: a dataset and a recipe in, a cleaned dataset and its report out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from claimlab.clean.recipe import DEFAULT, Recipe, load_recipe, masking
from claimlab.clean.run import Cleaned, Inputs, run_stages
from claimlab.clean.views import KIND, write_cleaning
from claimlab.core.call import repeatable
from claimlab.core.guard import refuse_taken
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source, folders_of
from claimlab.core.settings import each_of
from claimlab.files.read import user_table


@repeatable("report")
def clean(
    data: Source,
    recipe: Recipe | str = DEFAULT,
    *,
    output: str | Path | None = None,
    decisions: pl.DataFrame | str | Path | None = None,
    claimreviews: pl.DataFrame | str | Path | None = None,
    mask: str | Sequence[str] = (),
    task: str = "veracity",
    report: str | Path | None = None,
    seed: int = 0,
    limit: int | None = None,
    force: bool = False,
    engine: str | None = None,
    progress: Progress = silent,
) -> Cleaned:
    """Put the records of `data` through the stages of `recipe`: each is kept, dropped with a
    reason, or doubtful.

    `decisions` are annotators' decisions (id or row, decision, reason), `claimreviews` fact-checks
    (rating, and record_id or claim): tables or files. `mask` names what is taken out of texts at
    the end because it gives labels away: "giveaways" (words one-sided by the labels of `task`),
    "keywords", "urls", "punctuation", "digits", "case", "typography", "whitespace". With `output`,
    the result is written there, and a run that was killed goes on from its last stage when it is
    called again. `report` is a folder for a page with the stages and statistics. `engine` says who
    does the work that can be shared: "local", "local:N", "dask", "dask://HOST:PORT" or "shared".
    """
    chosen = load_recipe(recipe) if isinstance(recipe, str) else recipe
    chosen = masking(chosen, each_of(mask), task)
    inputs = Inputs(_table(decisions), _table(claimreviews))
    if report is not None:
        refuse_taken(Path(report), force=force, kind=KIND, reads=folders_of(data))
    with Run(
        "clean", data, output, limit=limit, force=force, seed=seed, engine=engine, progress=progress
    ) as run:
        journal = run.journal(recipe=chosen.fingerprint(), inputs=inputs.digests())
        cleaned = run_stages(run.dataset, chosen, inputs, seed, journal, progress)
        run.finish(cleaned.dataset)
    if report is not None:
        write_cleaning(cleaned, Path(report), force=force)
    return cleaned


def _table(source: pl.DataFrame | str | Path | None) -> pl.DataFrame | None:
    columns = ("id", "record_id", "row", "decision", "reason", "claim", "rating", "url")
    return (
        source
        if source is None or isinstance(source, pl.DataFrame)
        else user_table(Path(source), *columns)
    )
