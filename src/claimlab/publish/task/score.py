"""Score the submissions in the folder of a shared task, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from claimlab.core.call import repeatable
from claimlab.core.errors import DataError
from claimlab.core.options import Argument, Force, OptionalFolder, Place, Seed, Setting
from claimlab.core.run import Run
from claimlab.pages.folder import Contents, fill
from claimlab.publish.alike import PLAUSIBLE_ACCURACY
from claimlab.publish.task.layout import SUBMISSIONS, read_gold, read_task
from claimlab.publish.task.page import score_page
from claimlab.publish.task.scoring import TaskScores, scored
from claimlab.publish.task.submission import SUFFIXES

KIND = "task scores"
MOST_FILES = 2_000  # submissions of a task


@repeatable()
def publish_task_score(
    folder: Annotated[Place, Argument("The organiser's folder, with what participants sent.")],
    *,
    output: OptionalFolder = None,
    plausible: Annotated[
        float, Setting("Accuracy above which a submission is flagged.", least=0.5, most=1)
    ] = PLAUSIBLE_ACCURACY,
    seed: Seed = 0,
    force: Force = False,
) -> TaskScores:
    """Score the submissions to a shared task: one page with ranks and what to look at."""
    place = Path(folder)
    with Run("publish task", None, output, kind=KIND, reads=[place], force=force, seed=seed) as run:
        task, asked = read_task(place)
        gold = read_gold(place, task, asked)
        files = submitted(place / SUBMISSIONS)
        scores = scored(task, asked, gold, files, plausible=plausible, seed=seed)
        contents = Contents(KIND, [score_page(scores)], data={"results.json": scores.to_json()})
        run.fill(lambda building: fill(contents, building))
    return scores


def submitted(place: Path) -> list[tuple[str, str, Path]]:
    """Team, run and file of each submission: TEAM.csv, or TEAM/RUN.csv."""
    every = sorted(file for file in place.rglob("*") if file.suffix.lower() in SUFFIXES)
    files = [file for file in every if len(file.relative_to(place).parts) <= 2]
    if not 0 < len(files) <= MOST_FILES:
        what = f"has {len(files):,} submissions" if files else "has no submission"
        raise DataError(
            f"'{place}' {what}.", f"Put 1 to {MOST_FILES:,} files there: TEAM.csv or TEAM/RUN.csv."
        )
    return [
        (file.stem, "", file) if file.parent == place else (file.parent.name, file.stem, file)
        for file in files
    ]
