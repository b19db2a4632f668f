"""Evaluate runs: every score with its interval and baselines, by every trait asked for, and run
against run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock

import numpy as np

from claimlab.core.errors import DataError
from claimlab.core.machine import side_by_side
from claimlab.core.progress import Progress, silent
from claimlab.core.stats.chance import corrected
from claimlab.core.stats.interval import DRAWS, Interval, interval, kinds
from claimlab.core.stats.scores import (
    Floats,
    f1_per_class,
    majority_f1,
    stratified_f1,
)
from claimlab.evaluate.answers import SMALLEST, Answers, cautions, thin_classes, unmeasured
from claimlab.evaluate.board import rank_runs
from claimlab.evaluate.chance import against_chance
from claimlab.evaluate.compare import compare_all, draw_metric, drops, join_seeds
from claimlab.evaluate.contamination.result import COLUMN, Contamination, beside, mark
from claimlab.evaluate.metric import (
    ScoreMetric,
    confusion,
    metrics,
    table_interval,
    table_metrics,
)
from claimlab.evaluate.result import Baseline, Evaluation, RunResult, abstentions, measure
from claimlab.evaluate.scored_run import ScoredRun
from claimlab.evaluate.slices import slice_run
from claimlab.evaluate.traits import USUAL

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
    runs: Sequence[ScoredRun],
    *,
    by: Sequence[str] | None = None,
    every_pair: bool = False,
    contamination: Contamination | None = None,
    seed: int = 0,
    draws: int = DRAWS,
    progress: Progress = silent,
) -> Evaluated:
    """The evaluation of runs that are open; `contamination` is shown next to those of language
    models.
    """
    opened = named_apart(runs)
    if contamination is not None:
        opened = [mark(run, contamination) for run in opened]

    def one(run: ScoredRun, step: Step) -> RunResult:
        result = evaluate_run(run, by=by, seed=seed, draws=draws, step=step)
        if contamination is None:
            return result
        return replace(result, contamination=beside(run, contamination, seed=seed, draws=draws))

    step = steps(opened, by, progress)
    results = side_by_side(
        lambda run: one(run, step), opened
    )  # resampling leaves the interpreter free
    chances = corrected([result.chance for result in results])
    results = [
        replace(result, chance=chance) for result, chance in zip(results, chances, strict=True)
    ]
    compared = compare_all(opened, every_pair=every_pair, seed=seed, draws=draws, progress=progress)
    progress("ranks", 0, 1)
    boards, pairs = rank_runs(opened, seed=seed, draws=draws)
    return Evaluated(
        results,
        [replace(c, p_ranks=pairs.get((c.first, c.second))) for c in compared],
        join_seeds(opened, seed=seed, draws=draws),
        drops(opened, seed=seed, draws=draws),
        seed,
        draws,
        boards,
    )


def steps(runs: Sequence[ScoredRun], by: Sequence[str] | None, progress: Progress) -> Step:
    """Counts the steps of all runs together, whichever thread takes them."""
    total = sum(4 + len(subgroups_of(run, by)) for run in runs)
    lock, numbers = Lock(), iter(range(total))

    def step(name: str) -> None:
        with lock:
            progress(f"scores: {name}", next(numbers), total)

    return step


def evaluate_run(
    run: ScoredRun,
    *,
    by: Sequence[str] | None = None,
    seed: int = 0,
    draws: int = DRAWS,
    step: Step = lambda _: None,
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
    intervals, class_intervals = _table_intervals(answers, seed=seed, draws=draws)
    step(f"{run.name}, chance")
    (chance,) = corrected([against_chance([run], seed=seed, draws=draws)])
    step(f"{run.name}, AUROC")
    intervals |= _score_intervals(run, seed=seed, draws=draws)
    slices = []
    for name in subgroups_of(run, by):
        step(f"{run.name}, by {name}")
        slices.append(slice_run(run, name, seed=seed, draws=draws))
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
        scores=measure(answers, run.task.positive),
        confusion=confusion(answers).tolist(),
        intervals={m.key: intervals[m.key] for m in metrics() if m.key in intervals},
        class_intervals=class_intervals,
        groups=kinds(answers.cluster, answers.cell, answers.cells).groups,
        baselines=baselines(run),
        slices=slices,
        abstentions=abstentions(run, seed=seed, draws=draws),
        left_out={name: getattr(run, name) for name in LEFT_OUT},
        cautions=cautions(answers),
        chance=chance,
    )


def _table_intervals(
    answers: Answers, *, seed: int, draws: int
) -> tuple[dict[str, Interval | None], dict[str, Interval | None]]:
    """The intervals of the metrics that are made of the confusion table, and of the F1 of each
    class, from the same resamples. A class of a handful of records leaves accuracy alone."""
    tables = table_metrics()

    def figures(counts: Floats) -> Floats:
        columns = [metric.figure(counts)[:, None] for metric in tables]
        return np.concatenate([*columns, f1_per_class(counts)], axis=1)

    drawn = table_interval(answers, figures, seed=seed, draws=draws)
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


def _score_intervals(run: ScoredRun, *, seed: int, draws: int) -> dict[str, Interval | None]:
    """Those of the metrics that are made of scores."""
    out: dict[str, Interval | None] = {}
    for metric in metrics():
        if isinstance(metric, ScoreMetric) and metric.counted is not None:
            drawn = draw_metric([run], metric, seed=seed, draws=draws)
            out[metric.key] = (
                None
                if drawn is None
                else interval(drawn.draws[:, 0], drawn.groups, point=float(drawn.scores[0]))
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
    out = []
    for name in USUAL:
        counts = run.trait(name)["value"].value_counts()["count"]
        if (counts >= SMALLEST).sum() >= 2:
            out.append(name)
    return out


def named_apart(runs: Sequence[ScoredRun]) -> list[ScoredRun]:
    """Two runs of one name would be one line: the later ones are numbered."""
    seen: dict[str, int] = {}
    out = []
    for run in runs:
        seen[run.name] = seen.get(run.name, 0) + 1
        out.append(
            run if seen[run.name] == 1 else replace(run, name=f"{run.name} ({seen[run.name]})")
        )
    return out
