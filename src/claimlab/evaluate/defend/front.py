"""`cl.defend` and `claimlab defend`: what the score of a run is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Unpack

from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError, DataError
from claimlab.core.options import Argument, Force, Option, OptionalFolder, Place, Seed, Setting
from claimlab.core.progress import progress
from claimlab.core.run import Run, Source, Stored, folders_of
from claimlab.core.stats.interval import DRAWS, Resampling
from claimlab.core.stats.ranks import foreseen
from claimlab.detect.detector import Part
from claimlab.evaluate.board import Board, by_metric
from claimlab.evaluate.common_draws import on_shared_records
from claimlab.evaluate.defend.citations import citations
from claimlab.evaluate.defend.page import KIND, contents
from claimlab.evaluate.defend.result import (
    Copied,
    Defence,
    SeenBefore,
)
from claimlab.evaluate.defend.seen import known_from, seen_before
from claimlab.evaluate.defend.shortcut import copied
from claimlab.evaluate.defend.subgroups import search
from claimlab.evaluate.evaluation import evaluate_run
from claimlab.evaluate.metric import metrics
from claimlab.evaluate.scored_run import OwnTask, ScoredRun, open_runs
from claimlab.evaluate.units import in_one_unit
from claimlab.pages.folder import fill, write_report

MOST_FOLDERS_BESIDE = 50  # folders that are looked at for other runs
NO_TRAINING = "the dataset with the training records was not passed in (`data`)"


class Defended(Defence):
    """A defence that was just made; it can write its report."""

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write the report: JSON, the page, the paragraph and one row of a table."""
        write_report(contents(self), Path(folder), force=force)


@repeatable()
def defend(  # noqa: PLR0913
    run: Annotated[Stored, Argument("A run folder that claimlab detect wrote.")],
    *,
    output: OptionalFolder = None,
    data: Annotated[
        Source | None,
        Option("The dataset folder that the run was made on: it has the training records."),
    ] = None,
    shortcut: Annotated[
        str | None,
        Option(
            "The property to take as the shortcut: a feature of the detector shortcut, or any"
            " column. Default: the best of length, surface, keywords, giveaways and url."
        ),
    ] = None,
    overlap: Annotated[
        Place | None,
        Setting("A folder that claimlab overlap wrote about these records: what was seen where."),
    ] = None,
    task: OwnTask = None,
    draws: Annotated[int, Setting("Resamples behind each interval.", least=200)] = DRAWS,
    seed: Seed = 0,
    force: Force = False,
) -> Defended:
    """Say what a score is made of: chance, a shortcut, own signal, records seen before.

    Also what the score could be at most, in which subgroups the run fails, and its rank among the
    runs in the same folder. Without `data`, what needs the training records is not measured.
    """
    reads = folders_of(run, data)
    with Run("defend", None, output, kind=KIND, reads=reads, force=force, seed=seed) as job:
        runs = open_runs(run, task=task)
        if len(runs) > 1:
            names = ", ".join(f"'{scored_run.name}'" for scored_run in runs[:3])
            raise DataError(
                f"The folder holds {len(runs)} runs: {names}.",
                "Defend a folder that holds one run.",
            )
        (scored,) = in_one_unit(runs)
        train = training(scored, Dataset.of(run if data is None else data), named=data is not None)
        progress("scores", 0, None)
        how: Resampling = {"seed": seed, "draws": draws}
        shallow, seen = Copied(why=NO_TRAINING), [SeenBefore(why=NO_TRAINING)]
        if train:
            shallow = copied(scored, train, shortcut, **how)
            seen = seen_before(scored, train, **how)
        seen_elsewhere, alarms = known_from(scored, Path(overlap), **how) if overlap else ([], None)
        defence = Defended(
            evaluate_run(scored, by=[], **how),
            foreseen(scored.answers.truth, scored.answers.cluster, seed=seed),
            shallow,
            seen[0],
            search(scored, seed=seed),
            seed,
            ranked_beside(scored, run, **how),
            (*seen[1:], *seen_elsewhere),
            alarms,
            citations(Dataset.of(run), scored.unit),
        )
        job.fill(lambda folder: fill(contents(defence), folder))
    return defence


def training(run: ScoredRun, dataset: Dataset, *, named: bool) -> Part | None:
    """The labelled training records, less those that the run answered; null where there are none.
    A dataset that was named must be the one of the run."""
    records = dataset.records
    answered = records["id"].is_in(run.table["id"].implode())
    if named and not answered.any():
        raise DataError(
            f"'{dataset.name}' has none of the records of the run '{run.name}'.",
            "Pass as `data` the dataset that the run was made on.",
        )
    labels = run.task.labels(records)
    chosen = (records["split"] == "train").fill_null(False) & labels.is_not_null() & ~answered
    if named and not chosen.any():
        raise DataError(
            f"'{dataset.name}' has no labelled training records.",
            "Pass as `data` a dataset with a split, or leave `data` out.",
        )
    return Part(records.filter(chosen), labels.filter(chosen).to_list()) if chosen.any() else None


def ranked_beside(run: ScoredRun, place: Stored, **how: Unpack[Resampling]) -> Board | None:
    """The run among the others on the same dataset in the folder that its own folder is in; null
    where there are none."""
    folder = place.path if isinstance(place, Dataset) else Path(place)
    if folder is None:
        return None
    beside = sorted(folder.resolve().parent.glob("*/predictions.parquet"))[:MOST_FOLDERS_BESIDE]
    others: list[ScoredRun] = []
    for file in beside:
        if file.parent == folder.resolve():
            continue
        try:
            others += open_runs(file.parent, task=run.task.name)
        except ClaimlabError:
            continue  # a folder that is no run of this task is not compared
    same = [other for other in others if other.dataset == run.dataset and other.answers.answered]
    if not same:
        return None
    board, _ = by_metric(in_one_unit(on_shared_records([run, *same])), metrics()[0], **how)
    return board if len(board.standings) > 1 else None
