"""A submission, read strictly: every id of the test once, none of another record, classes that the
task has. Nothing of the gold is needed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import polars as pl

from claimlab.core.call import in_storage
from claimlab.core.errors import ClaimlabError, UnreadableFile
from claimlab.core.options import Argument, Option, Place
from claimlab.core.plain import one_line
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.files.predictions import GivenPredictions, read_predictions
from claimlab.publish.task.layout import MOST_BYTES, TaskFile, read_task

EXAMPLES = 3  # of each problem
CHARACTERS = 60  # of a word or id that is quoted


@dataclass(frozen=True, repr=False)
class Submission(Shown):
    """What a file answers, and what is wrong with it. `answers` has the class of each id that has
    exactly one known answer; `gaps` are the ids without one.
    """

    file: str
    sha256: str
    answers: dict[str, str]
    records: int
    problems: tuple[str, ...]
    gaps: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        return not self.problems and not self.gaps

    @property
    def table(self) -> pl.DataFrame:
        counts = Counter(self.answers.values())
        return pl.DataFrame(
            {"class": sorted(counts), "answers": [counts[name] for name in sorted(counts)]},
            schema={"class": pl.String, "answers": pl.Int64},
        )

    def headline(self) -> str:
        good = "fits the task" if self.is_complete else "does not fit the task"
        return f"'{self.file}' {good}: {len(self.answers):,} of {self.records:,} answered"

    def lines(self) -> list[str]:
        """What is wrong, a line each; a gap is said last."""
        if not self.gaps:
            return list(self.problems)
        some = ", ".join(map(_quoted, self.gaps[:EXAMPLES]))
        gap = f"{several(len(self.gaps), 'record')} of the test without an answer ({some})"
        return [*self.problems, f"{gap}: each counts as wrong."]

    def to_json(self) -> JsonObject:
        return {
            "file": self.file,
            "sha256": self.sha256,
            "fits": self.is_complete,
            "answered": len(self.answers),
            "records": self.records,
            "classes": dict(self.table.iter_rows()),
            "problems": self.lines(),
        }


@in_storage()
def publish_task_check(
    file: Annotated[Place, Argument("Your submission: a table with id and label.")],
    *,
    task: Annotated[
        Place, Option("The folder that the organiser published.", metavar="DIR")
    ] = "public",
) -> Submission:
    """Check a submission to a shared task: format, ids and classes. No gold is needed."""
    opened, ids = read_task(Path(task))
    return read_submission(Path(file), opened, ids)


def read_submission(file: Path, task: TaskFile, ids: Sequence[str]) -> Submission:
    """What `file` answers; what is wrong is listed, not guessed away."""
    table, digest = _read(file)
    if table.ids is None or table.labels is None:
        has = ", ".join(map(_quoted, table.columns))
        lacking = "id" if table.ids is None else "label"
        problem = f"No column '{lacking}' (it has: {has})."
        return Submission(file.name, digest, {}, len(ids), (problem,), ())
    given, words = table.ids.to_list(), table.labels.to_list()
    known, times = set(ids), Counter(given)
    problems = [
        _problem("id more than once", [i for i, n in times.items() if n > 1 and i is not None]),
        _problem("row without an id", ["" for i in given if not i], "rows without an id"),
        _problem(
            "id that is not of the test",
            [i for i in times if i and i not in known],
            "ids that are not of the test",
        ),
        _problem(
            "answer outside the classes",
            [word for word in dict.fromkeys(words) if word and task.meaning(word) is None],
            "answers outside the classes",
            more=f"; the classes are {', '.join(task.classes)}",
        ),
    ]
    answers = {
        i: meaning
        for i, word in zip(given, words, strict=True)
        if i in known and times[i] == 1 and word and (meaning := task.meaning(word)) is not None
    }
    gaps = tuple(i for i in ids if i not in answers and times[i] < 2)
    found = tuple(problem for problem in problems if problem)
    return Submission(file.name, digest, answers, len(ids), found, gaps)


def _read(file: Path) -> tuple[GivenPredictions, str]:
    """What a file of a stranger says, and its sha256."""
    try:
        if file.is_symlink() or not file.is_file():
            raise UnreadableFile(f"'{file}' is not a plain file.", "Name the submission.")
        if file.stat().st_size > MOST_BYTES:
            raise UnreadableFile(
                f"'{file.name}' has more than {MOST_BYTES >> 20} MB.", "Leave out other columns."
            )
        return read_predictions(file), hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise UnreadableFile(f"'{file}' cannot be read: {error}.", "Check the path.") from None


def _problem(one: str, examples: Sequence[str], many: str | None = None, more: str = "") -> str:
    """A problem with its count and examples; nothing where there is none."""
    if not examples:
        return ""
    some = ", ".join(map(_quoted, filter(None, dict.fromkeys(examples[:EXAMPLES]))))
    counted = several(len(examples), one, many or one.replace("id ", "ids ", 1))
    return f"{counted}{f' ({some}{more})' if some else ''}."


def _quoted(word: str) -> str:
    return f"'{one_line(word)[:CHARACTERS]}'"


def problem_of(error: ClaimlabError) -> str:
    return one_line(error.problem)
