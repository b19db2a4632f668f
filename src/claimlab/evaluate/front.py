"""`cl.evaluate`: open runs and predictions, evaluate them, and write the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeGuard

from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.options import (
    Argument,
    Force,
    Option,
    OptionalFolder,
    Place,
    Seed,
    TaskOfRun,
)
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source, Stored, folders_of
from claimlab.core.stats.interval import DRAWS
from claimlab.evaluate.contamination.result import Contamination, read_contamination
from claimlab.evaluate.items import rank_items
from claimlab.evaluate.run import Evaluated, evaluate_runs
from claimlab.evaluate.scored_run import ScoredRun, open_foreign, open_runs
from claimlab.evaluate.views import KIND, contents
from claimlab.pages.folder import fill


@repeatable()
def evaluate(
    runs: Annotated[
        Stored | ScoredRun | Sequence[Stored | ScoredRun],
        Argument(
            "Run folders that claimlab detect wrote; or files with results of others, item by item"
            " (CSV, JSON Lines, Inspect, lm-evaluation-harness, HELM, SWE-bench)."
        ),
    ] = (),
    *,
    output: OptionalFolder = None,
    predictions: Annotated[
        Place | Sequence[Place],
        Option("Predictions made elsewhere: a table with id, label and, optionally, score."),
    ] = (),
    data: Annotated[
        Source | None, Option("The dataset folder that `predictions` are about.")
    ] = None,
    by: Annotated[
        Sequence[str] | None,
        Option(
            "Score by this property (language, family, script, word-order, resource, authorship,"
            " model, technique, degree, kind, topic, source, year, month) or any column or meta"
            " key; may be repeated. Default: every one of these with more than one value."
        ),
    ] = None,
    task: TaskOfRun = None,
    split: Annotated[
        str | None,
        Option("Score every labelled record of this split: one without an answer is wrong."),
    ] = None,
    every_pair: Annotated[
        bool,
        Option("Compare every pair of runs, not only each with the best.", flag="--compare"),
    ] = False,
    contamination: Annotated[
        Place | Contamination | None,
        Option(
            "A folder that claimlab contamination wrote: shown next to runs of language models."
        ),
    ] = None,
    draws: Annotated[int, Option("Resamples behind each interval.", least=200)] = DRAWS,
    seed: Seed = 0,
    force: Force = False,
    progress: Progress = silent,
) -> Evaluated:
    """Evaluate runs: scores with intervals and baselines, by language, author, model, date and
    more.

    `runs` may be the datasets that `detect` returned, too, and `contamination` what the function of
    that name returned.
    """
    folders = [runs] if isinstance(runs, Dataset | ScoredRun | str | Path) else list(runs)
    files = [
        Path(f) for f in ([predictions] if isinstance(predictions, str | Path) else predictions)
    ]
    if not folders and not files:
        raise UsageError(
            "There is nothing to evaluate.", "Pass `runs`, or `predictions` with `data`."
        )
    if bool(files) != (data is not None):
        raise UsageError(
            "`predictions` and `data` go together.",
            "Pass the table and the dataset that it is about.",
        )
    known = (
        read_contamination(contamination)
        if isinstance(contamination, str | Path)
        else contamination
    )
    reads = [*folders_of(*(r for r in folders if not isinstance(r, ScoredRun)), data), *files]
    with Run(
        "evaluate", None, output, kind=KIND, reads=reads, force=force, seed=seed, progress=progress
    ) as run:
        results = [Path(one) for one in folders if _is_file(one)]
        boards = [rank_items(results, seed=seed, draws=draws)] if results else []
        opened = _opened([one for one in folders if not _is_file(one)], task, split)
        if data is not None:
            about = Dataset.of(data)
            for file in files:
                opened += open_foreign(file, about, task=task or "veracity", split=split)
        done = evaluate_runs(
            opened,
            by=by,
            every_pair=every_pair,
            contamination=known,
            seed=seed,
            draws=draws,
            progress=progress,
        )
        done = replace(done, boards=[*done.boards, *boards])
        run.fill(lambda folder: fill(contents(done), folder))
    return done


def _is_file(source: Stored | ScoredRun) -> TypeGuard[str | Path]:
    return isinstance(source, str | Path) and Path(source).is_file()


def _opened(
    sources: Sequence[Stored | ScoredRun], task: str | None, split: str | None
) -> list[ScoredRun]:
    runs: list[ScoredRun] = []
    for one in sources:
        runs += [one] if isinstance(one, ScoredRun) else open_runs(one, task=task, split=split)
    return runs
