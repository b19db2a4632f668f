"""`cl.evaluate`: open runs and predictions, evaluate them, and write the report.

Evaluate runs: every score with its interval and baselines, by every trait asked for, and run
against run.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Annotated, TypeGuard, Unpack

import numpy as np

from claimlab.claims.contamination.result import Contamination, read_contamination
from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.core.machine import side_by_side
from claimlab.core.options import Argument, Force, Option, OptionalFolder, Place, Seed, TaskOfRun
from claimlab.core.progress import progress
from claimlab.core.run import Run, Source, Stored, folders_of
from claimlab.core.settings import each_of
from claimlab.core.stats.chance import corrected
from claimlab.core.stats.interval import DRAWS, Resampling, interval
from claimlab.core.stats.scores import Floats, f1_per_class, majority_f1, stratified_f1
from claimlab.core.types import JsonObject
from claimlab.evaluate.ceiling import ceiling_of, votes_of
from claimlab.evaluate.chance import against_chance
from claimlab.evaluate.compare import (
    Comparison,
    compare_all,
    draw_metric,
    drops,
    explain,
    join_seeds,
    rank_runs,
)
from claimlab.evaluate.items import rank_items
from claimlab.evaluate.metric import (
    SMALLEST,
    Answers,
    TableMetric,
    cautions,
    confusion,
    metrics,
    table_interval,
    table_metrics,
    thin_classes,
    unmeasured,
)
from claimlab.evaluate.result import (
    Baseline,
    Evaluation,
    Intervals,
    RunResult,
    abstentions,
    measure,
)
from claimlab.evaluate.scored_run import USUAL, Runs, ScoredRun, open_foreign, open_runs
from claimlab.evaluate.slices import COLUMN, beside, mark, slice_run
from claimlab.pages.folder import fill

Step = Callable[[str], None]  # told the name of what is done next
LEFT_OUT = ("strangers", "unlabelled", "repeated", "untouched")


class Evaluated(Evaluation):
    """An evaluation that was just made; it can write its report."""

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write the report: `evaluation.json`, and the same as tables, HTML, Markdown, LaTeX and
        figures.
        """
        from claimlab.evaluate.views import contents
        from claimlab.pages.folder import write_report

        write_report(contents(self), Path(folder), force=force)


def evaluate_runs(
    runs: Runs,
    *,
    by: Sequence[str] | None = None,
    every_pair: bool = False,
    contamination: Contamination | None = None,
    **how: Unpack[Resampling],
) -> Evaluated:
    """The evaluation of runs that are open; `contamination` is shown next to those of language
    models.
    """
    opened = named_apart(runs)
    if contamination is not None:
        opened = [mark(run, contamination) for run in opened]
    step = steps(opened, by)
    # resampling leaves the interpreter free
    results = side_by_side(lambda run: evaluate_run(run, by=by, step=step, **how), opened)
    chances = corrected([result.chance for result in results])
    known = [None if contamination is None else beside(run, contamination, **how) for run in opened]
    results = [
        replace(result, chance=chance, contamination=one)
        for result, chance, one in zip(results, chances, known, strict=True)
    ]
    compared = compare_all(opened, every_pair=every_pair, **how)
    progress("ranks", 0, 1)
    return Evaluated(
        results,
        seed=how.get("seed", 0),
        draws=how.get("draws", DRAWS),
        explained=explain(opened, **how),
        **together(opened, compared, **how),
    )


def together(runs: Runs, compared: Sequence[Comparison], **how: Unpack[Resampling]) -> JsonObject:
    """What an evaluation says of several runs: ranks, with which comparisons are corrected, seeds
    and drops."""
    boards, pairs = rank_runs(runs, **how)
    return {
        "comparisons": [replace(c, p_ranks=pairs.get((c.first, c.second))) for c in compared],
        "seeds": join_seeds(runs, **how),
        "drops": drops(runs, **how),
        "boards": boards,
    }


def steps(runs: Runs, by: Sequence[str] | None) -> Step:
    """Counts the steps of all runs together, whichever thread takes them."""
    total, numbers, lock = sum(4 + len(subgroups_of(run, by)) for run in runs), count(), Lock()

    def step(name: str) -> None:
        with lock:
            progress(f"scores: {name}", next(numbers), total)

    return step


def evaluate_run(
    run: ScoredRun,
    *,
    by: Sequence[str] | None = None,
    step: Step = lambda _: None,
    **how: Unpack[Resampling],
) -> RunResult:
    """One run by itself."""
    if not run.table.height:
        raise DataError(
            f"The run '{run.name}' has no prediction for a record that the task '{run.task.name}'"
            " gives a label.",
            "Check `task`, and that the predictions carry the ids of the dataset.",
        )
    step(f"{run.name}, intervals")
    answers = run.answers
    intervals, class_intervals = _table_intervals(answers, **how)
    step(f"{run.name}, chance")
    (chance,) = corrected([against_chance([run], **how)])
    step(f"{run.name}, AUROC")
    intervals |= _score_intervals(run, **how)
    slices = []
    for name in subgroups_of(run, by):
        step(f"{run.name}, by {name}")
        slices.append(slice_run(run, name, **how))
    step(f"{run.name}, abstentions")
    ids = "\n".join(run.table["id"].sort().to_list())
    return RunResult(
        name=run.name,
        dataset=run.dataset,
        digest=run.digest,
        records=hashlib.sha256(ids.encode()).hexdigest()[:16],
        task=run.task.name,
        split=run.split,
        about=run.about,
        scores=measure(answers),
        confusion=confusion(answers).tolist(),
        intervals={m.key: intervals[m.key] for m in metrics() if m.key in intervals},
        class_intervals=class_intervals,
        groups=len(np.unique(answers.cluster)),
        baselines=baselines(run),
        slices=slices,
        abstentions=abstentions(run, **how),
        left_out={name: getattr(run, name) for name in LEFT_OUT},
        cautions=cautions(answers),
        chance=chance,
        ceiling=ceiling_of(answers, votes_of(run.annotations, run.table), how.get("seed", 0)),
    )


def _table_intervals(answers: Answers, **how: Unpack[Resampling]) -> tuple[Intervals, Intervals]:
    """The intervals of the metrics that are made of the confusion table, and of the F1 of each
    class, from the same resamples. A class of a handful of records leaves accuracy alone."""
    tables = table_metrics()

    def figures(counts: Floats) -> Floats:
        columns = [metric.figure(counts)[:, None] for metric in tables]
        return np.concatenate([*columns, f1_per_class(counts)], axis=1)

    drawn = table_interval(answers, figures, **how)
    thin, unclear = thin_classes(answers), unmeasured(answers) is not None
    whole = {
        metric.key: None
        if not answers.answered or (metric.needs_classes and (thin or unclear))
        else ends
        for metric, ends in zip(tables, drawn, strict=False)
    }
    classes = {
        name: None if name in thin or unclear else ends
        for name, ends in zip(answers.classes, drawn[len(tables) :], strict=True)
    }
    return whole, classes


def _score_intervals(run: ScoredRun, **how: Unpack[Resampling]) -> Intervals:
    """Those of the metrics that are made of scores."""
    out: Intervals = {}
    for metric in metrics():
        if not isinstance(metric, TableMetric):
            drawn = draw_metric([run], metric, **how)
            out[metric.key] = drawn and interval(
                drawn.draws[:, 0], drawn.groups, point=float(drawn.scores[0])
            )
    return out


def baselines(run: ScoredRun) -> list[Baseline]:
    """From the labels of the scored records: a detector below them has learnt nothing."""
    sizes = np.bincount(run.answers.truth)
    shares, alone = sizes / sizes.sum(), len(run.answers.classes) < 2
    return [
        Baseline("majority", None if alone else float(majority_f1(sizes)), float(shares.max())),
        Baseline("stratified", None if alone else stratified_f1(sizes), float((shares**2).sum())),
    ]


def subgroups_of(run: ScoredRun, by: Sequence[str] | None) -> list[str]:
    """What a run is scored by: as asked, or the traits that tell its records apart."""
    names = telling(run) if by is None else list(by)
    return [*names, COLUMN] if COLUMN in run.table.columns and COLUMN not in names else names


def telling(run: ScoredRun) -> list[str]:
    """The usual traits of which these records have several values, two of them often enough to be
    shown.
    """
    return [
        name
        for name in USUAL
        if (run.trait(name)["value"].value_counts()["count"] >= SMALLEST).sum() >= 2
    ]


def named_apart(runs: Runs) -> list[ScoredRun]:
    """Two runs of one name would be one line: the later ones are numbered."""
    seen: Counter[str] = Counter()
    out = []
    for run in runs:
        seen[run.name] += 1
        number = f" ({seen[run.name]})" if seen[run.name] > 1 else ""
        out.append(replace(run, name=f"{run.name}{number}") if number else run)
    return out


def _refuse_missing(runs: bool, predictions: bool, data: bool) -> None:
    if not runs and not predictions:
        raise UsageError(
            "There is nothing to evaluate.", "Pass `runs`, or `predictions` with `data`."
        )
    if predictions != data:
        raise UsageError(
            "`predictions` and `data` go together.",
            "Pass the table and the dataset that it is about.",
        )


@repeatable()
def evaluate(
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
            "A folder that claimlab overlap wrote with a corpus, cut-off or model: shown next to"
            " runs of language models."
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
    folders = [_ranking(one) for one in named]
    files = each_of(predictions)
    _refuse_missing(bool(folders), bool(files), data is not None)
    if isinstance(contamination, str | Path):
        contamination = read_contamination(contamination)
    stored = [one for one in folders if not isinstance(one, ScoredRun)]
    reads = [*folders_of(*stored, data), *map(Path, files)]
    from claimlab.evaluate.views import KIND, contents

    with Run("evaluate", None, output, kind=KIND, reads=reads, force=force, seed=seed) as run:
        results = [Path(one) for one in folders if _is_file(one)]
        boards = rank_items(results, seed=seed, draws=draws) if results else []
        opened = _opened([one for one in folders if not _is_file(one)], task, split)
        if data is not None:
            about = Dataset.of(data)
            for file in files:
                opened += open_foreign(Path(file), about, task=task, split=split)
        done = evaluate_runs(
            opened,
            by=by,
            every_pair=every_pair,
            contamination=contamination,
            seed=seed,
            draws=draws,
        )
        done = replace(done, boards=[*done.boards, *boards])
        run.fill(lambda folder: fill(contents(done), folder))
    return done


def _ranking(source: Stored | ScoredRun) -> Stored | ScoredRun:
    """The file with the rankings of a folder that `match` wrote; anything else as it is."""
    if isinstance(source, str | Path) and (Path(source) / "run.trec").is_file():
        return Path(source) / "run.trec"
    return source


def _is_file(source: Stored | ScoredRun) -> TypeGuard[str | Path]:
    return isinstance(source, str | Path) and Path(source).is_file()


def _opened(
    sources: Sequence[Stored | ScoredRun], task: str | None, split: str | None
) -> list[ScoredRun]:
    runs: list[ScoredRun] = []
    for one in sources:
        runs += [one] if isinstance(one, ScoredRun) else open_runs(one, task=task, split=split)
    return runs
