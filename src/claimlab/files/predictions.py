"""Predictions made elsewhere as a table: files with id and label, as a person writes them and as
shared tasks take them (CheckThat!, FEVER, AVeriTeC); shares with a header of classes, as of
predict_proba; the JSON of a Hugging Face pipeline; logs of Inspect, samples of
lm-evaluation-harness.

The two harnesses keep what `claimlab export --to inspect` (or lm-eval) gave them: the id of a
record, and its classes in the order in which they were offered. An answer that is none of the
letters is an answer that is missing. What the words and numbers mean is not decided here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from claimlab.core.errors import DataError
from claimlab.core.types import JsonObject
from claimlab.files.encoding import read_text
from claimlab.files.harness_logs import inspect_log, lm_eval_samples
from claimlab.files.read import user_table

# Names of columns, the surest first, capitals aside: a file with the true labels beside the
# predictions has them under `label`.
IDS = ("id", "record_id", "sentence_id", "claim_id", "tweet_id", "example_id", "item_id")
TEXTS = ("text", "claim", "sentence", "statement", "tweet_text", "tweet", "content")
LABELS = (
    *("prediction", "predicted", "predicted_label", "pred_label", "pred", "y_pred"),
    *("class_label", "label", "answer", "value", "verdict"),
)
RUNS = ("run", "run_id", "annotator")
ANNOTATOR = "annotator"  # the decisions of a review: each annotator is a run
SCORE, RATIONALE = "score", "rationale"
PREFIXES = ("score_", "prob_", "proba_")  # of a column with the score of a class
ANSWERS = {"id": pl.String, "label": pl.String, "run": pl.String, "rationale": pl.String}
Answer = tuple[str, str | None, str, str | None]


@dataclass(frozen=True)
class GivenPredictions:
    """The rows of `file`, null where it has no such column. `scores` are the columns that name a
    class (see `class_in`); `score` names none; `others` are columns of other names."""

    file: str
    ids: pl.Series | None
    texts: pl.Series | None
    labels: pl.Series | None
    runs: pl.Series
    rationales: pl.Series
    scores: Mapping[str, pl.Series] = field(default_factory=dict)
    score: pl.Series | None = None
    others: Mapping[str, pl.Series] = field(default_factory=dict)
    of_annotators: bool = False
    columns: tuple[str, ...] = ()

    @property
    def height(self) -> int:
        return len(self.runs)

    def take(self, rows: list[int]) -> GivenPredictions:
        """Some of the rows, in this order."""

        def taken(column: pl.Series | None) -> pl.Series | None:
            return None if column is None else column.gather(rows)

        return replace(
            self,
            ids=taken(self.ids),
            texts=taken(self.texts),
            labels=taken(self.labels),
            runs=self.runs.gather(rows),
            rationales=self.rationales.gather(rows),
            scores={name: column.gather(rows) for name, column in self.scores.items()},
            score=taken(self.score),
            others={name: column.gather(rows) for name, column in self.others.items()},
        )


def read_predictions(file: Path) -> GivenPredictions:
    """What `file` says of which record, and under which name of a run."""
    table = _of_inspect(file)
    if table is None:
        table = _of_lm_eval(file)
    if table is None and (pipeline := _of_pipeline(file)) is not None:
        return pipeline
    if table is None:
        table = user_table(file, *IDS, *LABELS, *TEXTS, SCORE, *RUNS)
    names = {name.strip().lower(): name for name in reversed(table.columns)}
    ids, texts, labels, runs = (_first(names, known) for known in (IDS, TEXTS, LABELS, RUNS))
    scores = {name: table[name] for name in table.columns if name.lower().startswith(PREFIXES)}
    columns = {ids, texts, labels, runs, names.get(SCORE), names.get(RATIONALE), *scores}
    own_name = pl.Series([file.stem], dtype=pl.String).new_from_index(0, table.height)
    nothing = pl.Series([None], dtype=pl.String).new_from_index(0, table.height)
    return GivenPredictions(
        file.name,
        _stripped(table, ids),
        _stripped(table, texts),
        _stripped(table, labels),
        own_name if runs is None else table[runs].cast(pl.String),
        table[names[RATIONALE]].cast(pl.String) if RATIONALE in names else nothing,
        scores,
        table[names[SCORE]] if SCORE in names else None,
        {name: table[name] for name in table.columns if name not in columns},
        runs is not None and runs.strip().lower() == ANNOTATOR,
        tuple(table.columns),
    )


def class_in(column: str) -> str:
    """The word for a class in the name of a column with its scores: score_true is of true."""
    return column.partition("_")[2]


def _first(names: Mapping[str, str], known: Sequence[str]) -> str | None:
    return next((names[name] for name in known if name in names), None)


def _stripped(table: pl.DataFrame, column: str | None) -> pl.Series | None:
    """The words of a column; null where a cell is empty."""
    if column is None:
        return None
    words = table[column].cast(pl.String).str.strip_chars()
    return words.set(words == "", None)


def numbers(values: pl.Series, file: str) -> pl.Series:
    """Null where there is no number, or none that is finite."""
    words = values.cast(pl.String)
    read = words.str.strip_chars().cast(pl.Float64, strict=False)
    strange = values.filter(read.is_null() & words.is_not_null() & (words != ""))
    if len(strange):
        raise DataError(
            f"Column '{values.name}' of '{file}' holds {strange[0]!r}, which is not a number.",
            "Fix the file.",
        )
    return read.set(~read.is_finite(), None)


def _of_pipeline(file: Path) -> GivenPredictions | None:
    """The JSON of a Hugging Face text classification: an object with label and score for each text,
    or a list of these with one for each class. It has no ids, so that its order counts."""
    if file.suffix.lower() != ".json":
        return None
    text, _, _ = read_text(file.read_bytes(), file.name, None)
    try:
        rows = json.loads(text)
    except ValueError:
        return None
    if not isinstance(rows, list) or not rows or not all(map(_is_scored, rows)):
        return None
    each = [{str(a["label"]): float(a["score"]) for a in _listed(row)} for row in rows]
    words = dict.fromkeys(word for row in each for word in row)
    return GivenPredictions(
        file.name,
        None,
        None,
        pl.Series([max(row, key=row.__getitem__) for row in each], dtype=pl.String),
        pl.Series([file.stem] * len(each), dtype=pl.String),
        pl.Series([None] * len(each), dtype=pl.String),
        {
            f"score_{word}": pl.Series(word, [row.get(word) for row in each], pl.Float64)
            for word in words
        },
    )


def _is_scored(row: object) -> bool:
    answers = _listed(row)
    return bool(answers) and all(
        isinstance(a, dict)
        and a.keys() == {"label", "score"}
        and isinstance(a["score"], int | float)
        for a in answers
    )


def _listed(row: object) -> list[JsonObject]:
    return row if isinstance(row, list) else [row]  # type: ignore[list-item]


def _of_inspect(file: Path) -> pl.DataFrame | None:
    """The predictions in an Inspect log; null where the file is something else."""
    log = inspect_log(file)
    if log is None:
        return None
    model = log.model or file.stem
    return _table(file, (_inspect_row(sample, model) for sample in log.samples))


def _inspect_row(sample: JsonObject, model: str) -> Answer:
    epoch = sample.get("epoch", 1)
    scores = sample.get("scores") or {}
    answer = next((score.get("answer") for score in scores.values() if score.get("answer")), None)
    completion = (sample.get("output") or {}).get("completion") or None
    run = model if epoch == 1 else f"{model} ({epoch})"
    return str(sample["id"]), of_letter(answer, sample["metadata"]["classes"]), run, completion


def _of_lm_eval(file: Path) -> pl.DataFrame | None:
    """The predictions in the samples of lm-evaluation-harness; null where the file is something
    else.
    """
    samples = lm_eval_samples(file, "filtered_resps")
    if samples is None:
        return None
    return _table(file, (_lm_eval_row(sample, file.stem) for sample in samples))


def _lm_eval_row(sample: JsonObject, run: str) -> Answer:
    response = sample["filtered_resps"]
    while isinstance(response, list) and response:
        response = response[0]
    doc = sample["doc"]
    letter = response if isinstance(response, str) else None
    return str(doc["id"]), of_letter(letter, doc["metadata"]["classes"]), run, None


def _table(file: Path, rows: Iterator[Answer]) -> pl.DataFrame:
    try:
        return pl.DataFrame(list(rows), schema=ANSWERS, orient="row")
    except (KeyError, TypeError, AttributeError):
        raise DataError(
            f"'{file.name}' does not hold the samples of a claimlab export.",
            "Run a task that claimlab exported for Inspect or lm-evaluation-harness.",
        ) from None


def of_letter(answer: object, classes: Sequence[object]) -> str | None:
    """The class that a letter stands for, A for the first; null for anything else."""
    letter = str(answer or "").strip().strip("().").upper()
    place = ord(letter) - ord("A") if len(letter) == 1 else -1
    return str(classes[place]) if 0 <= place < len(classes) else None
