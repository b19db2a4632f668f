"""One shortcut alone: what a detector would score that looks at nothing but length, source, date or
another trait.

On a leaderboard it is the row that a detector must clear before its score says anything of reading.
Numbers and the presence of words go to a small decision tree; categories answer with the class that
is over-represented among training rows of the same value; a column of texts (or of names that
hardly recur) goes to a linear model of its characters. What an audit measures is here under the
same name, from the same code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from claimlab.core.columns import column_values, filled_columns
from claimlab.core.errors import DataError
from claimlab.core.stats.scores import Flags, Floats, Floats32, Ints
from claimlab.core.types import JsonObject
from claimlab.detect.detector import Detector, Part, Prediction
from claimlab.detect.detectors.stratified import drawn
from claimlab.detect.learned import Learned
from claimlab.detect.linear import Linear
from claimlab.detect.tree import ArrayTree
from claimlab.text.ngrams import Characters, TfIdf
from claimlab.text.snowflake import tweet_time
from claimlab.text.telling import held_words, keywords, one_sided_words, presence
from claimlab.text.traits import PATTERNS, as_numbers, lengths, links, shares, sites
from claimlab.text.urls import find_urls

COLUMNS = {"event": "group"}  # what audits call differently
WORD_FEATURES = ("keywords", "giveaways")
HOST = r"(?i)^\s*(?:https?://)?[^/?#]*"  # what is before the path of a URL
CLOCK: dict[str, Callable[[pl.Series], pl.Series]] = {
    "hour": lambda times: times.dt.hour(),
    "weekday": lambda times: times.dt.weekday(),
}


class Shortcut(Detector):
    name = "shortcut"
    summary = (
        "One property alone (length, keywords, giveaways, punctuation, source, missing, any"
        " column): what a shortcut achieves."
    )
    quick = True
    from_scratch = True
    reads_evidence = True  # as a property of its own, never behind the text

    def __init__(self, *, feature: str = "length") -> None:
        self.feature = feature
        self.words: tuple[str, ...] = ()  # what is looked for, chosen on the training rows
        self.columns: tuple[str, ...] = ()

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        self.classes, self.seed = sorted(set(train.labels)), seed
        y = np.array([self.classes.index(label) for label in train.labels])
        self._choose(train.records, y)
        values = self._values(train.records, numeric=None)
        self.kind = _kind(values)
        if self.kind == "numbers":
            self.features, self.tree = (
                values.shape[1],
                ArrayTree.grown(values, y, len(self.classes)),
            )
            self.silent = _shares(
                y[~values.any(axis=1)] if self.feature == "giveaways" else y, len(self.classes)
            )
            return
        if values.null_count() == values.len():
            raise DataError(
                f"No training record has a value in '{self.feature}'.", "Choose another feature."
            )
        if self.kind == "texts":
            self.terms, self.linear = TfIdf(Characters(), most=100_000), Linear("logistic")
            self.linear.fit(self.terms.fit_transform(values.fill_null("")), train.labels, seed=seed)
        else:
            self._count(values, y)

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        values = self._values(records, numeric=self.kind == "numbers")
        if self.kind == "texts":
            return self.linear.predict(self.terms.transform(values.fill_null("")))
        if self.kind == "numbers":
            scores: Floats = self.tree.predict(values)
        else:
            rows = [self.shares.get(v, self.usual) for v in values]
            scores = np.stack(rows) if rows else np.empty((0, len(self.classes)))
        answers = scores.argmax(axis=1)
        if self.feature == "giveaways":
            answers, scores = self._of_silent(records, ~values.any(axis=1), answers, scores)
        return [
            Prediction(
                self.classes[int(answer)], dict(zip(self.classes, map(float, row), strict=True))
            )
            for answer, row in zip(answers, scores, strict=True)
        ]

    def learned(self) -> JsonObject:
        chosen = {"words": list(self.words), "columns": list(self.columns)}
        selected = {name: names for name, names in chosen.items() if names}
        common = {"classes": self.classes, "seed": self.seed, "kind": self.kind, **selected}
        if self.kind == "numbers":
            return {
                **common,
                "tree": self.tree.learned(),
                "features": self.features,
                "silent": self.silent,
            }
        if self.kind == "texts":
            return {**common, "terms": self.terms.learned(), "linear": self.linear.learned()}
        values = pl.DataFrame(
            {"value": [value for value in self.shares if value is not None]}, {"value": pl.String}
        )
        shares = [self.shares[value] for value in values["value"]]
        matrix = np.array(shares, np.float64).reshape(len(shares), len(self.classes))
        missing = {"missing": self.shares[None]} if None in self.shares else {}
        return {**common, "values": values, "shares": matrix, "usual": self.usual, **missing}

    def recall(self, learned: Learned) -> None:
        self.classes, self.seed, self.kind = (
            learned.words("classes"),
            learned.whole("seed"),
            learned.word("kind"),
        )
        self.words = tuple(learned.words("words")) if "words" in learned else ()
        self.columns = tuple(learned.words("columns")) if "columns" in learned else ()
        width = len(self.classes)
        if self.kind == "numbers":
            self.features = learned.whole("features")
            self.tree = ArrayTree.recalled(learned.part("tree"), width, self.features)
            self.silent = learned.array("silent", np.float64, [width])
        elif self.kind == "texts":
            self.terms, self.linear = TfIdf(Characters(), most=100_000), Linear("logistic")
            self.terms.use(learned.part("terms").table("terms", self.terms.schema))
            self.linear.recall(learned.part("linear"), width=self.terms.vocabulary.height)
        else:
            values = learned.table("values", {"value": pl.String()})["value"].to_list()
            shares = learned.array("shares", np.float64, [len(values), width])
            self.shares: dict[object, Floats] = dict(zip(values, shares, strict=True))
            if "missing" in learned:
                self.shares[None] = learned.array("missing", np.float64, [width])
            self.usual = learned.array("usual", np.float64, [width])

    def _choose(self, records: pl.DataFrame, y: Ints) -> None:
        """What is looked for, from the training rows alone: words, or columns that some records
        lack.
        """
        self.words, self.columns = (), ()
        if self.feature == "keywords":
            self.words = keywords(records["text"], records["language"])
        elif self.feature == "giveaways":
            self.words = one_sided_words(
                records["text"], y, languages=records["language"], rare=False
            )
        elif self.feature == "missing":
            self.columns = tuple(filled_columns(records).columns)
        else:
            return
        if not (self.words or self.columns):
            raise DataError(
                f"The training records have no {self.feature}.", "Choose another feature."
            )

    def _values(self, records: pl.DataFrame, *, numeric: bool | None) -> Any:
        if self.feature in WORD_FEATURES:
            return (
                presence(
                    held_words(records["text"], records["language"]), self.words, records.height
                )
                .toarray()
                .astype(np.float32)
            )
        if self.feature == "missing":
            flags = [column_values(records, name).is_not_null() for name in self.columns]
            return np.stack([flag.to_numpy() for flag in flags], axis=1).astype(np.float32)
        return trait(records, self.feature, numeric=numeric)

    def _of_silent(
        self, records: pl.DataFrame, silent: Flags, answers: Any, scores: Floats
    ) -> tuple[Any, Floats]:
        """Records without any of the words are answered at random, in the proportions of such
        records in training.
        """
        at_random = drawn(records, self.silent, self.seed)
        return np.where(silent, at_random, answers), np.where(silent[:, None], self.silent, scores)

    def _count(self, values: pl.Series, y: Ints) -> None:
        """Shares of each class per value, a rare class weighing as much as a frequent one, smoothed
        by one row.

        A value never met in training, or none at all, is answered with the usual class.
        """
        overall = np.bincount(y, minlength=len(self.classes)).astype(np.float64)
        counts: dict[object, Floats] = {}
        for value, k in zip(values, y.tolist(), strict=True):
            counts.setdefault(value, np.zeros(len(self.classes)))[k] += 1
        lifts = {value: (row + overall / overall.sum()) / overall for value, row in counts.items()}
        self.shares = {value: lift / lift.sum() for value, lift in lifts.items()}
        self.usual = overall / overall.sum()


DETECTOR = Shortcut


def trait(records: pl.DataFrame, feature: str, *, numeric: bool | None = None) -> Any:
    """The trait of each record: a matrix of numbers, or a column of categories or texts.

    `numeric` holds a column to the kind that it had in training; null lets the values decide.
    """
    if feature in MEASURED:
        return MEASURED[feature](records)
    if feature in PATTERNS:
        return shares(records["text"], feature)[1]
    if feature in CLOCK:
        times = records["date"].fill_null(tweet_time(records["tweet_id"]))
        return CLOCK[feature](times).cast(pl.Float32).fill_null(float("nan")).to_numpy()[:, None]
    values = (
        sites(records)
        if feature == "domain"
        else column_values(records, COLUMNS.get(feature, feature))
    )
    figures = as_numbers(values) if numeric is None else _figures(values) if numeric else None
    return (
        values.cast(pl.String)
        if figures is None
        else figures.to_numpy().astype(np.float32)[:, None]
    )


def _path(records: pl.DataFrame) -> pl.Series:
    cited = find_urls(records["text"]).list.first()
    addresses = pl.DataFrame({"own": records["url"], "cited": cited})
    return addresses.select(pl.coalesce("own", "cited").str.replace(HOST, "")).to_series()


def _evidence(records: pl.DataFrame) -> pl.Series:
    return records["evidence"].list.eval(pl.element().struct.field("text")).list.join("\n")


MEASURED: dict[str, Callable[[pl.DataFrame], Floats32 | pl.Series]] = {
    "length": lambda records: lengths(records["text"]),
    "surface": lambda records: np.concatenate(
        [shares(records["text"], family)[1] for family in PATTERNS], axis=1
    ),
    "url": lambda records: links(records["text"]),
    "path": _path,
    "evidence": _evidence,
}


def _kind(values: Any) -> str:
    """Numbers, categories, or texts: values of which hardly any recurs, so that they can only be
    read.
    """
    if not isinstance(values, pl.Series):
        return "numbers"
    present = values.drop_nulls()
    return "texts" if present.len() and present.n_unique() > present.len() / 2 else "categories"


def _shares(y: Ints, classes: int) -> Floats:
    counts = np.bincount(y, minlength=classes)
    return counts / counts.sum() if counts.sum() else np.full(classes, 1 / classes)


def _figures(values: pl.Series) -> pl.Series:
    """A column that was numeric in training, parsed again; anything else is missing."""
    if values.dtype.is_temporal():
        return values.cast(pl.Datetime("us")).dt.epoch("d").cast(pl.Float64).fill_null(float("nan"))
    return values.cast(pl.Float64, strict=False).fill_null(float("nan"))
