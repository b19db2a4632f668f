"""Evaluate runs: every score with its interval and baselines, by every trait asked for, and run
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
from typing import Unpack

import numpy as np

from claimlab.claims.contamination.result import Contamination
from claimlab.core.errors import DataError, UsageError
from claimlab.core.progress import progress
from claimlab.core.stats.chance import corrected
from claimlab.core.stats.interval import DRAWS, Resampling, interval
from claimlab.core.stats.scores import Floats, f1_per_class, majority_f1, stratified_f1
from claimlab.core.threads import side_by_side
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evaluate.abstentions import abstentions
from claimlab.evaluate.answers import Answers
from claimlab.evaluate.board import rank_runs
from claimlab.evaluate.ceiling import ceiling_of, votes_of
from claimlab.evaluate.chance import against_chance
from claimlab.evaluate.common_draws import draw_metric, families
from claimlab.evaluate.compare import Comparison, compare_all
from claimlab.evaluate.confusion import confusion, table_interval
from claimlab.evaluate.explained import explain
from claimlab.evaluate.measures import measure
from claimlab.evaluate.memorised import STATUS_COLUMN, beside, mark
from claimlab.evaluate.metric import TableMetric, metrics, table_metrics
from claimlab.evaluate.result import Baseline, Evaluation, Intervals, RunResult
from claimlab.evaluate.scored_run import Runs, ScoredRun
from claimlab.evaluate.siblings import drops, join_seeds
from claimlab.evaluate.slices import slice_run
from claimlab.evaluate.sufficiency import LEAST_RECORDS, cautions, thin_classes, unmeasured
from claimlab.evaluate.traits import USUAL
from claimlab.evaluate.units import considered, in_one_unit

LEFT_OUT = ("strangers", "unlabelled", "repeated", "untouched")


Step = Callable[[str], None]  # told the name of what is done next


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
    unit: str | None = None,
    **how: Unpack[Resampling],
) -> Evaluated:
    """The evaluation of runs that are open; `contamination` is shown next to those of language
    models, and `unit` names what varies independently.
    """
    opened = named_apart(runs)
    alike = {run.name: run for family in families(opened) for run in in_one_unit(family, unit)}
    opened = [alike[run.name] for run in opened]
    if contamination is not None:
        opened = [mark(run, contamination) for run in opened]
    step = steps(opened, by)
    # resampling leaves the interpreter free
    results = side_by_side(lambda run: evaluate_run(run, by=by, step=step, **how), opened)
    chances = corrected([result.chance for result in results])
    memories = [
        None if contamination is None else beside(run, contamination, **how) for run in opened
    ]
    results = [
        replace(result, chance=chance, contamination=memory)
        for result, chance, memory in zip(results, chances, memories, strict=True)
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
            f" gives a label ({several(run.unlabelled, 'record')} without one).",
            "Check `task`. If the gold is hidden, score the run on the dataset that has it.",
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
        groups=run.units.count,
        units=run.units.words,
        considered=[column.to_json() for column in considered(run)],
        baselines=baselines(run),
        slices=slices,
        abstentions=abstentions(run, **how),
        left_out={name: getattr(run, name) for name in LEFT_OUT},
        per_thousand=spent(run),
        cautions=[*cautions(answers), *asked_and_read(run)],
        chance=chance,
        ceiling=ceiling_of(answers, votes_of(run.annotations, run.table), how.get("seed", 0)),
    )


def asked_and_read(run: ScoredRun) -> list[str]:
    """What the user must say of the scores, and how a file that was made elsewhere was read."""
    notes = run.about.notes if run.about.detector is None else ()
    return [*([] if run.question is None else [run.question]), *notes]


def spent(run: ScoredRun) -> dict[str, float]:
    """What 1,000 answers cost (in dollars) and take (in seconds), where the run says so and it is
    not nothing."""
    return {
        name: 1_000 * float(run.table[name].mean())  # type: ignore[arg-type]
        for name in ("cost", "seconds")
        if name in run.table.columns and run.table[name].sum() > 0
    }


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
                drawn.draws[:, 0], drawn.effective, point=float(drawn.scores[0])
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
    return (
        [*names, STATUS_COLUMN]
        if STATUS_COLUMN in run.table.columns and STATUS_COLUMN not in names
        else names
    )


def telling(run: ScoredRun) -> list[str]:
    """The usual traits of which these records have several values, two of them often enough to be
    shown.
    """
    return [
        name
        for name in USUAL
        if (run.trait(name)["value"].value_counts()["count"] >= LEAST_RECORDS).sum() >= 2
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


def refuse_missing(runs: bool, predictions: bool, data: bool) -> None:
    if not runs and not predictions:
        raise UsageError(
            "There is nothing to evaluate.", "Pass `runs`, or `predictions` with `data`."
        )
    if predictions != data:
        raise UsageError(
            "`predictions` and `data` go together.",
            "Pass the table and the dataset that it is about.",
        )
