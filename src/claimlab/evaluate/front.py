"""`cl.evaluate`: open runs and predictions, evaluate them, and write the report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.run import Run, Source, folders_of
from claimlab.core.stats.interval import DRAWS
from claimlab.evaluate.contamination.result import Contamination, read_contamination
from claimlab.evaluate.run import Evaluated, evaluate_runs
from claimlab.evaluate.scored_run import ScoredRun, open_foreign, open_runs
from claimlab.evaluate.views import KIND, contents
from claimlab.pages.folder import fill


@repeatable()
def evaluate(
    runs: Source | ScoredRun | Sequence[Source | ScoredRun] = (),
    *,
    output: str | Path | None = None,
    predictions: str | Path | Sequence[str | Path] = (),
    data: Source | None = None,
    by: Sequence[str] | None = None,
    task: str | None = None,
    split: str | None = None,
    every_pair: bool = False,
    contamination: str | Path | Contamination | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    force: bool = False,
    progress: Progress = silent,
) -> Evaluated:
    """Evaluate runs: scores with intervals and baselines, by language, author, model, date and
    more.

    `runs` are folders that `detect` wrote (or the datasets it returned); `predictions` are tables
    made elsewhere (id, label and, optionally, score), about the dataset `data`. `by` names the
    columns to score by; null takes the usual ones that tell the records apart. `split` scores every
    labelled record of that split: one without an answer is wrong. `every_pair` compares every pair
    of runs, not only each with the best. `contamination`, what the function of that name returned
    or wrote, is shown next to the scores of language models. With `output`, a report is written
    there.
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
        opened: list[ScoredRun] = []
        for one in folders:
            opened += (
                [one] if isinstance(one, ScoredRun) else open_runs(one, task=task, split=split)
            )
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
        run.fill(lambda folder: fill(contents(done), folder))
    return done
