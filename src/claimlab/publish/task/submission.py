"""A submission, read as every file of predictions is: every id of the test once, none of another
record, classes that the task has. Nothing of the gold is needed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import polars as pl

from claimlab.core.call import in_storage
from claimlab.core.errors import ClaimlabError, DataError, UnreadableFile
from claimlab.core.options import Argument, Option, Place
from claimlab.core.plain import one_line
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.detect.strict.asked import Asked
from claimlab.detect.strict.read import StrictPredictions, read_answers
from claimlab.publish.task.layout import MOST_BYTES, read_task

SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".txt", ".parquet", ".xlsx", ".zip")
EXAMPLES = 3  # of the records without an answer
CHARACTERS = 60  # of an id that is quoted


@dataclass(frozen=True, repr=False)
class Submission(Shown):
    """What a file answers, and what is wrong with it. `answers` has the class of each id; `gaps`
    are the ids without an answer, `declined` those whose answer is outside the classes ("not enough
    info").
    `notes` say how the file was read.
    """

    file: str
    sha256: str
    answers: dict[str, str]
    records: int
    problems: tuple[str, ...]
    gaps: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

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
        answered = len(self.answers) + len(self.declined)
        return f"'{self.file}' {good}: {answered:,} of {self.records:,} answered"

    def lines(self) -> list[str]:
        """What is wrong, a line each; what counts as wrong is said last."""
        out = list(self.problems)
        for ids, what in (
            (self.gaps, "of the test without an answer"),
            (self.declined, "with an answer outside the classes"),
        ):
            if ids:
                some = ", ".join(f"'{one_line(i)[:CHARACTERS]}'" for i in ids[:EXAMPLES])
                out.append(f"{several(len(ids), 'record')} {what} ({some}): each counts as wrong.")
        return out

    def to_json(self) -> JsonObject:
        return {
            "file": self.file,
            "sha256": self.sha256,
            "fits": self.is_complete,
            "answered": len(self.answers) + len(self.declined),
            "records": self.records,
            "classes": dict(self.table.iter_rows()),
            "problems": self.lines(),
            "notes": list(self.notes),
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
    return read_submission(Path(file), read_task(Path(task))[1])


def read_submission(file: Path, asked: Asked) -> Submission:
    """What `file` answers; what is wrong is listed, not guessed away."""
    digest, records = _digest(file), asked.rows.height
    try:
        strict, problems = read_answers(asked, file)
    except UnreadableFile:
        raise
    except DataError as error:
        return Submission(file.name, digest, {}, records, (problem_of(error),))
    several_runs = strict.predictions["run"].n_unique()
    if several_runs > 1:
        problems.sentences.append(f"it holds {several_runs} runs: send a file for each")
    sentences = tuple(f"{s[0].upper()}{one_line(s)[1:]}." for s in problems.collected())
    if problems.of_classes:
        sentences += (f"The classes are {asked.words.listed()}.",)
    return _submission(strict, asked.words.classes, digest, sentences)


def _submission(
    strict: StrictPredictions, classes: tuple[str, ...], digest: str, problems: tuple[str, ...]
) -> Submission:
    rows = strict.predictions.unique("record_id", keep="none", maintain_order=True)
    chosen = pl.col("label").is_in(classes).fill_null(value=False)
    declined = pl.col("label").is_not_null() | pl.col("meta").str.contains('"abstained"')
    declined = declined.fill_null(value=False)
    return Submission(
        strict.file,
        digest,
        dict(rows.filter(chosen).select("record_id", "label").iter_rows()),
        strict.records.height,
        problems,
        tuple(rows.filter(~chosen & ~declined)["record_id"]),
        tuple(rows.filter(~chosen & declined)["record_id"]),
        tuple(strict.notes),
    )


def _digest(file: Path) -> str:
    """The sha256 of a file of a stranger."""
    try:
        if file.is_symlink() or not file.is_file():
            raise UnreadableFile(f"'{file}' is not a plain file.", "Name the submission.")
        if file.stat().st_size > MOST_BYTES:
            raise UnreadableFile(
                f"'{file.name}' has more than {MOST_BYTES >> 20} MB.", "Leave out other columns."
            )
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise UnreadableFile(f"'{file}' cannot be read: {error}.", "Check the path.") from None


def problem_of(error: ClaimlabError) -> str:
    return one_line(error.problem)
