"""Predictions from a file, read strictly: each id once, ids of the records that were asked about,
classes that the task knows. Nothing is scored where one of these does not hold.

Everything that takes predictions made elsewhere reads them here. Which records were asked about is
known before the file is opened: those of the split named `part`, else of the test. Each of them has
an answer in the result; that of a record which the file leaves out is a failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.labels import fold
from claimlab.core.record import meta_json, to_side_table
from claimlab.core.types import JsonObject
from claimlab.core.words import several, several_of
from claimlab.detect.own_words import ABSTAINED_AS, OwnWords
from claimlab.detect.strict.asked import Asked, asked_of
from claimlab.detect.strict.place import placed
from claimlab.detect.strict.problems import Problems
from claimlab.detect.strict.scores import highest, scores_in, written
from claimlab.files.predictions import GivenPredictions, read_predictions
from claimlab.tasks import Task

NO_ANSWER = "no answer in the file"  # the failure of a record that a file leaves out
SCORE_OF = "score_of"  # in `meta`: the class that a column `score` was taken to be of
WORDS_SHOWN = 12  # of a mapping, in a note


@dataclass(frozen=True)
class StrictPredictions:
    """The predictions of `file`, one for each of `records` and each run, in the order of the
    records. `part` is their split; null: all records of the dataset, or those that annotators were
    given."""

    file: str
    part: str | None
    records: pl.DataFrame
    predictions: pl.DataFrame
    words: Mapping[str, str | None]  # of the file, as classes; null: of none of the task's
    left_out: int  # rows about records of other parts
    positive: str | None  # the class that a ranking looks for
    score_of: str | None  # the class that a column `score` was taken to be of
    notes: list[str] = field(default_factory=list)

    @property
    def answered(self) -> int:
        """Records with an answer of every run."""
        answers = self.predictions.select(
            "record_id",
            answer=pl.col("label").is_not_null() | pl.col("meta").str.contains('"abstained"'),
        )
        complete = answers.group_by("record_id").agg(pl.col("answer").fill_null(False).all())
        return int(complete["answer"].sum())

    def stated(self) -> JsonObject:
        """What decides how the file was read, for the lineage of a run."""
        mapped = {word: name for word, name in self.words.items() if word != name}
        return {
            **({} if self.score_of is None else {SCORE_OF: self.score_of}),
            **({"words": mapped} if mapped else {}),
        }

    def to_json(self) -> JsonObject:
        """What was asked and answered, as plain values."""
        return {
            "part": self.part,
            "asked": self.records.height,
            "answered": self.answered,
            "left_out": self.left_out,
            "positive": self.positive,
            **self.stated(),
        }


def read_strictly(
    data: Dataset, file: Path, task: Task, part: str | None = None
) -> StrictPredictions:
    """The predictions in `file` for records of `data`. With `part` named, those for other parts are
    left out and counted; else they are an error."""
    asked = asked_of(data, task, part)
    strict, problems = read_answers(asked, file)
    problems.raise_any(asked.words)
    total = strict.records.height
    if (answered := strict.answered) < total:
        of = several_of(answered, total, f"{asked.part} record" if asked.part else "record")
        strict.notes.append(f"Answered {of}; one without an answer counts as wrong.")
    return strict


def read_answers(asked: Asked, file: Path) -> tuple[StrictPredictions, Problems]:
    """What `file` answers, and all that is wrong with it."""
    problems = Problems(file.name, asked.name)
    place = placed(read_predictions(file), asked, problems)
    given, ids, wanted = place.given, place.ids, asked.rows
    of_annotators = given.of_annotators and not asked.leaves_out
    if of_annotators:
        wanted = wanted.filter(pl.col("id").is_in(ids.implode()))
    inside = _inside(ids, asked, wanted, problems)
    scores, score_of, unread = scores_in(given, asked.words, problems)
    table, notes, meanings = _answers(given, asked.words, problems, scores, score_of)
    notes += [f"Not read: {', '.join(unread)}."] if unread else []
    rows = table.with_columns(record_id=ids, run=given.runs).filter(inside)
    problems.repeated(rows)
    left_out = int((~inside).sum()) if asked.leaves_out else 0
    notes = [*place.notes, *notes]
    if left_out:
        notes.append(f"Left out: {several(left_out, 'answer')} for records of other parts.")
    if of_annotators:
        notes.append(f"The records are the {wanted.height:,} that annotators answered.")
    strict = StrictPredictions(
        file=file.name,
        part=asked.part,
        records=wanted,
        predictions=_complete(rows, wanted),
        words=meanings,
        left_out=left_out,
        positive=asked.words.task.positive,
        score_of=score_of,
        notes=notes,
    )
    return strict, problems


def _inside(ids: pl.Series, asked: Asked, wanted: pl.DataFrame, problems: Problems) -> pl.Series:
    """Which rows are about records that are asked about. Those of other parts are a problem, or
    left out; ids that the dataset does not have are one always."""
    records = asked.records
    inside = ids.is_in(wanted["id"].implode())
    known = ids.is_in(records["id"].implode())
    if (strange := ids.filter(~known)).len():
        what = f"id is not in '{problems.data}'", f"ids are not in '{problems.data}'"
        problems.count(strange.len(), *what, strange.to_list())
        problems.todo.append(f"Write the ids of the dataset, such as {records['id'][0]!r}.")
    if asked.leaves_out:
        return inside
    others = pl.DataFrame({"id": ids.filter(known & ~inside)}).join(
        records.select("id", "split"), on="id", maintain_order="left"
    )
    for part in others["split"].unique().sort():
        there = others.filter(pl.col("split").eq_missing(part))["id"].to_list()
        of = f"of the split '{part}'" if part is not None else "of no split"
        what = f"answer is for a record {of}", f"answers are for records {of}"
        problems.count(len(there), *what, there)
        todo = f"With `split='{asked.part}'`, answers for other records are left out and counted."
        problems.todo.append(todo)
    return inside


def _answers(
    given: GivenPredictions,
    words: OwnWords,
    problems: Problems,
    scores: Mapping[str, pl.Series],
    score_of: str | None,
) -> tuple[pl.DataFrame, list[str], dict[str, str | None]]:
    """Label, scores, rationale and `meta` of each row, what a reader must know of them, and what
    the words of the file mean."""
    labels = given.labels
    if labels is None:
        if not scores or score_of is not None:
            raise DataError(
                f"'{given.file}' has no column 'label' (it has: {', '.join(given.columns)}).",
                "Give at least the columns id and label, or id and a score for each class.",
            )
        labels = highest(scores)
    meanings, notes = _meanings(labels, words, problems)
    kinds = {word: ABSTAINED_AS.get(fold(word)) for word, name in meanings.items() if name is None}
    spelled = {w: name or (None if kinds[w] else w) for w, name in meanings.items()}
    stated = {} if score_of is None else {SCORE_OF: score_of}
    metas = {word: meta_json({**stated, "abstained": kinds.get(word)}) for word in meanings}
    silent = meta_json({**stated, "failure": NO_ANSWER})
    table = pl.DataFrame(
        {
            "label": labels.replace_strict(spelled, default=None, return_dtype=pl.String),
            "scores": written(scores, given.height),
            "rationale": given.rationales,
            "meta": labels.replace_strict(metas, default=None, return_dtype=pl.String).set(
                labels.is_null(), silent
            ),
        },
        schema=dict.fromkeys(("label", "scores", "rationale", "meta"), pl.String),
    )
    if score_of is not None:
        notes.append(
            f"`score` is read as the score of {score_of}; a column score_CLASS says which it is."
        )
    return table, notes, meanings


def _meanings(
    labels: pl.Series, words: OwnWords, problems: Problems
) -> tuple[dict[str, str | None], list[str]]:
    """The class of each word of the file, null for none of them, and a note on those that are in
    other words."""
    counts: dict[str, int] = dict(
        labels.drop_nulls().alias("word").value_counts(name="n").sort("n", "word").iter_rows()
    )
    meanings = {word: words.meaning(word) for word in reversed(counts)}
    unknown = [word for word, meaning in meanings.items() if not meaning.known]
    if unknown:
        what = "answer is none of the classes", "answers are none of the classes"
        problems.count(sum(counts[word] for word in unknown), *what, unknown)
        problems.of_classes = True
        problems.todo.append("Write the classes, or the words that the data has for them.")
    mapped = [
        f"{word!r} as {meaning.name or 'no class of the task'} ({counts[word]:,})"
        for word, meaning in meanings.items()
        if meaning.known and meaning.name != word
    ]
    more = f" and {len(mapped) - WORDS_SHOWN} more" if len(mapped) > WORDS_SHOWN else ""
    notes = [f"Read {', '.join(mapped[:WORDS_SHOWN])}{more}."] if mapped else []
    return {word: meaning.name for word, meaning in meanings.items()}, notes


def _complete(rows: pl.DataFrame, asked: pl.DataFrame) -> pl.DataFrame:
    """A prediction for each record and run, in the order of the records."""
    parts = []
    for run in rows["run"].unique(maintain_order=True):
        own = rows.filter(pl.col("run").eq_missing(run)).with_columns(given=pl.lit(True))
        whole = asked.select(record_id="id").join(
            own, on="record_id", how="left", maintain_order="left"
        )
        absent = pl.col("given").is_null()
        failed = pl.lit(meta_json({"failure": NO_ANSWER}))
        parts.append(
            whole.with_columns(
                run=pl.lit(run, pl.String),
                meta=pl.when(absent).then(failed).otherwise(pl.col("meta")),
            ).drop("given")
        )
    return to_side_table("predictions", pl.concat(parts))
