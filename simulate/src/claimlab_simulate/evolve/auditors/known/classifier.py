"""Trained auditors: bags of words and characters, linear, fitted when the run starts on examples
that the user names.

Three views, so that a majority is more than one opinion: words and characters together, characters,
words. The figures (`python bench/evolve_run.py auditor`) are from folds that keep everything made
of one claim together.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.core.types import JsonObject
from claimlab.text.linear import fit_svm, margins
from claimlab.text.ngrams import Characters, TfIdf, Words, beside
from claimlab_simulate.evolve.auditor import Auditor, Question, Vote
from claimlab_simulate.evolve.claims.model import Target, steerable
from claimlab_simulate.evolve.contracts import ActorSettings

FEWEST = 5  # examples of a value; with less there is nothing to learn
VIEWS = ("words-and-characters", "characters", "words")
STRENGTH = 0.5
TERMS = 300_000  # words and pairs of words, or runs of characters, at most
MARKS = {mark: f"mark{number}" for number, mark in enumerate("!?—–;,")}


@dataclass(frozen=True)
class Examples:
    """`groups` keep what came from one claim together."""

    texts: NDArray[np.object_]
    values: NDArray[np.object_]
    groups: NDArray[np.object_]

    def take(self, rows: Any) -> Examples:
        return Examples(self.texts[rows], self.values[rows], self.groups[rows])


def examples(dataset: Dataset, dimension: str) -> Examples:
    """Every record of `dataset` that is an example of a value of `dimension`."""
    rows = dataset.records.select("id", "text", "label_raw", "group", "meta").iter_rows()
    examples = [
        (text, target.value, group or record_id)
        for record_id, text, label, group, meta in rows
        if text is not None and (target := _target(meta, label, dimension)) is not None
    ]
    counts = {
        value: sum(v == value for _, v, _ in examples) for value in steerable()[dimension].values
    }
    if few := [f"{value} ({n})" for value, n in counts.items() if n < FEWEST]:
        raise DataError(
            f"'{dataset.name}' has too few examples of {dimension}: {', '.join(few)}.",
            f"Give at least {FEWEST} of each value, such as: claimlab load evolved-claims FILE"
            " -o DIR",
        )
    columns = [np.array(column, dtype=object) for column in zip(*examples, strict=True)]
    return Examples(*columns)


@lru_cache(maxsize=1 << 16)  # every fold of a judge reads the same records
def _target(meta: str | None, label: str | None, dimension: str) -> Target | None:
    """What a run brought a text to, else what its last change aimed at, else its label."""
    values = json.loads(meta) if meta else {}
    goal = values.get("dimension"), values.get("target_value")
    if all(goal):
        pair = goal if values.get("status") == "success" else (None, None)
    else:
        change = _last_change(values)
        pair = change.get("dimension"), change.get("value")
        pair = pair if all(pair) else (dimension, label)
    if not all(pair):
        return None
    try:
        target = Target.of(str(pair[0]), str(pair[1]))
    except UsageError:
        return None
    return target if target.dimension == dimension else None


def _last_change(meta: JsonObject) -> JsonObject:
    note = meta.get("synthetic")
    changes = note.get("changes") if isinstance(note, dict) else None
    return changes[-1] if changes and isinstance(changes[-1], dict) else {}


class View:
    """One classifier of one dimension."""

    def __init__(self, view: str, seed: int) -> None:
        self.view, self.seed = view, seed

    def fit(self, data: Examples) -> View:
        words, characters = TfIdf(Words(), most=TERMS), TfIdf(Characters(), most=TERMS)
        parts = {
            "words-and-characters": [words, characters],
            "characters": [characters],
            "words": [words],
        }
        self._parts = parts[self.view]
        texts = _readable(data.texts)
        counts = [part.fit(texts) for part in self._parts]
        matrix = beside(self._parts, [texts], counts)
        self._model = fit_svm(matrix, data.values, STRENGTH, seed=self.seed, balance=False)
        return self

    def predict(self, texts: Sequence[str] | NDArray[np.object_]) -> list[str]:
        matrix = beside(self._parts, [_readable(texts)])
        best = margins(self._model, matrix, np.arange(matrix.shape[0])).argmax(axis=1)
        return [str(value) for value in self._model.classes[best]]


def _readable(texts: Sequence[str] | NDArray[np.object_]) -> pl.Series:
    """The texts in lower case, with marks as words: a dash or an exclamation mark says much about
    style."""
    lowered = pl.Series(list(texts), dtype=pl.String).str.to_lowercase()
    return lowered.str.replace_many(list(MARKS), [f" {mark} " for mark in MARKS.values()])


class Classifier(Auditor):
    def __init__(self, view: str, fitted: dict[str, View], learned_from: JsonObject) -> None:
        self.name = f"classifier-{view}"
        self._fitted, self._learned_from = fitted, learned_from
        self.reads = lru_cache(maxsize=4096)(
            self._reads
        )  # bystanders pass a text on as it is: it reads the same

    def _reads(self, dimension: str, text: str) -> str:
        """The value that a text has in this auditor's eyes."""
        return self._fitted[dimension].predict([text])[0]

    async def judge(self, question: Question) -> Vote:
        target = question.target
        value = self.reads(target.dimension, question.text)
        passed = value == target.value
        missing = (
            None if passed else f"The text reads as {target.dimension}={value}, not {target.value}."
        )
        return Vote(self.name, passed, f"Reads as {target.dimension}={value}.", missing)

    def describe(self) -> JsonObject:
        return {"auditor": self.name, **self._learned_from}


def fit_auditors(
    data: Dataset, dimensions: Sequence[str], count: int, seed: int
) -> list[Classifier]:
    """`count` classifiers, each with a view of its own, for every dimension asked for."""
    learned = {"data": data.name, "sha256": data.digest()}
    parts = {dimension: examples(data, dimension) for dimension in dimensions}
    auditors = []
    for number in range(count):
        view = VIEWS[number % len(VIEWS)]
        fitted = {
            dimension: View(view, seed + number).fit(part) for dimension, part in parts.items()
        }
        auditors.append(Classifier(view, fitted, learned))
    return auditors


def AUDITOR(settings: ActorSettings, count: int) -> Sequence[Classifier]:
    """Up to three classifiers, fitted on `auditor_data`."""
    if settings.data is None:
        raise UsageError(
            "The classifier has nothing to learn from.",
            "Pass `auditor_data`, such as the folder of: claimlab load evolved-claims FILE -o DIR",
        )
    dimensions = sorted({target.dimension for target in settings.targets})
    return fit_auditors(Dataset.open(settings.data), dimensions, count, settings.seed)
