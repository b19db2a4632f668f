"""`cl.evaluate`: open runs and predictions, evaluate them, and write the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeGuard

from claimlab.claims.contamination.result import Contamination, read_contamination
from claimlab.core.call import repeatable
from claimlab.core.choices import each_of
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.options import Argument, Force, Option, OptionalFolder, Place, Seed, TaskOfRun
from claimlab.core.run import Run, Source, Stored, folders_of
from claimlab.core.stats.interval import DRAWS
from claimlab.evaluate.evaluation import Evaluated, evaluate_runs, refuse_missing
from claimlab.evaluate.every_value import pooled, splits_in
from claimlab.evaluate.items import rank_items
from claimlab.evaluate.prevalence import in_use
from claimlab.evaluate.scored_run import ScoredRun, open_foreign, open_runs
from claimlab.pages.folder import fill


@repeatable()
def evaluate(  # noqa: PLR0913
    runs: Annotated[
        Stored | ScoredRun | Sequence[Stored | ScoredRun],
        Argument(
            "Run folders that claimlab detect or match wrote; or files with results of others, item"
            " by item (CSV, JSON Lines, Inspect, lm-evaluation-harness, HELM, SWE-bench, TREC)."
        ),
    ] = (),
    *,
    output: OptionalFolder = None,
    predictions: Annotated[
        Place | Sequence[Place],
        Option(
            "Predictions made elsewhere: a table with id (or text), label and, optionally,"
            " score_CLASS (score alone is of the positive class: false, for veracity)."
        ),
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
        Option("Score this split alone (default: the test); predictions for others are left out."),
    ] = None,
    prevalence: Annotated[
        float | None,
        Option(
            "Share of the positive class in use, such as 0.03: adds precision, alarms and misses"
            " per 1,000 records at that share."
        ),
    ] = None,
    every_pair: Annotated[
        bool,
        Option("Compare every pair of runs, not only each with the best.", flag="--compare"),
    ] = False,
    contamination: Annotated[
        Place | Contamination | None,
        Option(
            "A folder that claimlab overlap wrote with a corpus, cut-off or model: shown next to"
            " runs of language models."
        ),
    ] = None,
    detector: Annotated[
        str | None,
        Option(
            "With a folder that split --all wrote: train and test this detector on each of its"
            " splits, and score all their tests together, against labels shuffled between whole"
            " units that go through the same procedure.",
            complete="detectors",
        ),
    ] = None,
    unit: Annotated[
        str | None,
        Option(
            "The column whose values vary independently (author, meta.KEY): they are resampled,"
            " and labels are permuted between them. Default: what the split held out, or group."
        ),
    ] = None,
    draws: Annotated[int, Option("Resamples behind each interval.", least=200)] = DRAWS,
    seed: Seed = 0,
    force: Force = False,
) -> Evaluated:
    """Evaluate runs: scores with intervals and baselines, by language, author, model, date and
    more.

    `runs` may be the datasets that `detect` returned, too, and `contamination` what `overlap`
    returned under that name.
    """
    named = [runs] if isinstance(runs, Dataset | ScoredRun | str | Path) else runs
    folders = [_ranking(ranking) for ranking in named]
    files = each_of(predictions)
    refuse_missing(bool(folders), bool(files), data is not None)
    if isinstance(contamination, str | Path):
        contamination = read_contamination(contamination)
    stored = [folder for folder in folders if not isinstance(folder, ScoredRun)]
    reads = [*folders_of(*stored, data), *map(Path, files)]
    from claimlab.evaluate.views import KIND, contents

    with Run("evaluate", None, output, kind=KIND, reads=reads, force=force, seed=seed) as run:
        results = [Path(folder) for folder in folders if _is_file(folder)]
        boards = rank_items(results, seed=seed, draws=draws) if results else []
        opened = _opened(
            [folder for folder in folders if not _is_file(folder)], task, split, detector, seed
        )
        if data is not None:
            about = Dataset.of(data)
            for file in files:
                opened += open_foreign(Path(file), about, task=task, split=split)
        evaluation = evaluate_runs(
            opened,
            by=by,
            every_pair=every_pair,
            contamination=contamination,
            unit=unit,
            seed=seed,
            draws=draws,
        )
        evaluation = replace(evaluation, boards=[*evaluation.boards, *boards])
        if prevalence is not None:
            at_share = [in_use(one, prevalence, seed=seed, draws=draws) for one in opened]
            evaluation = replace(
                evaluation,
                runs=[
                    replace(result, in_use=use)
                    for result, use in zip(evaluation.runs, at_share, strict=True)
                ],
            )
        run.fill(lambda folder: fill(contents(evaluation), folder))
    return evaluation


def _ranking(source: Stored | ScoredRun) -> Stored | ScoredRun:
    """The file with the rankings of a folder that `match` wrote; anything else as it is."""
    if isinstance(source, str | Path) and (Path(source) / "run.trec").is_file():
        return Path(source) / "run.trec"
    return source


def _is_file(source: Stored | ScoredRun) -> TypeGuard[str | Path]:
    return isinstance(source, str | Path) and Path(source).is_file()


def _opened(
    sources: Sequence[Stored | ScoredRun],
    task: str | None,
    split: str | None,
    detector: str | None,
    seed: int,
) -> list[ScoredRun]:
    runs: list[ScoredRun] = []
    for source in sources:
        splits = splits_in(Path(source)) if isinstance(source, str | Path) else []
        if splits and detector is None:
            raise UsageError(
                f"'{source}' is a folder of splits, not a run.",
                'Pass `detector="tfidf"` to score a detector over all of them.',
            )
        if splits and detector is not None:
            runs.append(pooled([Dataset.open(place) for place in splits], detector, seed=seed))
            continue
        runs += (
            [source] if isinstance(source, ScoredRun) else open_runs(source, task=task, split=split)
        )
    return runs
