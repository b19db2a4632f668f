"""How much of a run the best shortcut of its data explains, beside a control for difficulty.

The shortcut is chosen and fitted on training rows alone: of the properties of a text that need no
reading, the one that answers best for training rows that were held out. Records on which it fails
may just be harder. So the same difference is shown among the records that an independent model gets
right, and among those that it gets wrong: a model of the characters of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np
import polars as pl

from claimlab.core.errors import DataError
from claimlab.core.progress import progress
from claimlab.core.stats.attribution import Attribution
from claimlab.core.stats.codes import codes_of
from claimlab.core.stats.deal import deal
from claimlab.core.stats.interval import Resampling
from claimlab.core.stats.scores import Flags, macro_f1_of
from claimlab.detect.detector import Part
from claimlab.detect.detectors.shortcut import Shortcut
from claimlab.detect.linear import Linear
from claimlab.evaluate.defend.contrast import difference_among
from claimlab.evaluate.defend.result import FEATURES, Copied, Difference, Segment
from claimlab.evaluate.explained import SHORTCUT, explained_by
from claimlab.evaluate.scored_run import ScoredRun
from claimlab.evaluate.sufficiency import LEAST_RECORDS
from claimlab.text.ngrams import Characters, TfIdf

MOST_TERMS, CHARACTERS_READ = (
    20_000,
    1_500,
)  # of the control: sequences of characters, and characters of a text
ALWAYS_RIGHT = "the shortcut is right on every test record, so nothing tells it from the label"
HELD_OUT_SHARE = 0.25  # of the training rows, whole groups, on which the shortcut is chosen
MOST_TRAINING_ROWS = 20_000  # training rows; a property as simple as these needs no more


def copied(
    run: ScoredRun,
    train: Part,
    feature: str | None,
    **how: Unpack[Resampling],
) -> Copied:
    """What `feature`, or else the best shortcut of the training rows, explains of `run`."""
    if len(set(train.labels)) < 2:
        return Copied(why="the training records are of fewer than two classes")
    seed = how.get("seed", 0)
    rows = np.zeros(len(train.labels), np.bool_)
    rows[np.random.default_rng(seed).permutation(len(rows))[:MOST_TRAINING_ROWS]] = True
    train = _part(train, rows)
    progress("shortcut", 0, 3)
    feature = feature or best_feature(train, seed)
    if feature is None:
        return Copied(why="no property of the training records could be fitted")
    progress("shortcut", 1, 3)
    records = run.table.select(train.records.columns)
    shortcuts = shortcuts_of(run, train, feature, seed)
    shortcut = shortcuts[feature]
    right = shortcut.answers.right
    explained = explained_by(run, [shortcut], **how)
    if explained is None:
        few = "the test records are too few to tell a shortcut from own signal"
        return Copied(feature, float(right.mean()), why=ALWAYS_RIGHT if right.all() else few)
    progress("shortcut", 2, 3)
    together = explained_by(run, list(shortcuts.values()), **how) if len(shortcuts) > 1 else None
    easy = _answering(run, _read(train, records, seed)).answers.right
    return Copied(
        feature,
        float(right.mean()),
        explained.shares,
        tuple(shortcuts) if together else (),
        together.shares if together else None,
        differences(run, right, easy, **how),
        segments(run, shortcut, explained.shares),
    )


def shortcuts_of(run: ScoredRun, train: Part, first: str, seed: int) -> dict[str, ScoredRun]:
    """The answers of every property, `first` at the head. One that differs from an earlier one, or
    from the labels, on fewer than 30 records cannot be told from it, and is left out, and so is one
    that always gives the same answer."""
    records = run.table.select(train.records.columns)
    out = {first: _answering(run, _answers(train, records, first, seed))}
    for feature in FEATURES:
        try:
            candidate = _answering(run, _answers(train, records, feature, seed))
        except DataError:  # the training rows do not have it
            continue
        guess = candidate.answers.guess
        others = [run.answers.truth, *(shortcut.answers.guess for shortcut in out.values())]
        if np.ptp(guess) and all((guess != other).sum() >= LEAST_RECORDS for other in others):
            out[feature] = candidate
    return out


def best_feature(train: Part, seed: int) -> str | None:
    """The property with the highest macro-F1 on held-out training rows; null where none fits."""
    labels = pl.Series(train.labels)
    cells, groups = codes_of(labels), codes_of(train.records["group"])
    on_held_out = deal(cells, groups, [1 - HELD_OUT_SHARE, HELD_OUT_SHARE], seed) == 1
    train_part, held_out = _part(train, ~on_held_out), _part(train, on_held_out)
    if len(set(train_part.labels)) < 2 or not held_out.labels:
        return None
    place = {name: i for i, name in enumerate(sorted(set(train.labels)))}
    truth = np.array([place[name] for name in held_out.labels])
    scores: dict[str, float] = {}
    for feature in FEATURES:
        try:
            answers = _answers(train_part, held_out.records, feature, seed)
        except DataError:  # the training rows do not have it
            continue
        guess = np.array([place[name] for name in answers])
        scores[feature] = macro_f1_of(truth, guess)
    return max(scores, key=lambda feature: scores[feature], default=None)


def differences(
    run: ScoredRun, right: Flags, easy: Flags, **how: Unpack[Resampling]
) -> list[Difference]:
    """Where the shortcut is `right`, and where not: of all records, of those that the control finds
    `easy`, and of the others."""
    hit, cluster = run.answers.right, run.answers.cluster
    strata = {"all records": np.ones_like(easy), "control right": easy, "control wrong": ~easy}
    return [
        difference_among(name, hit[rows], right[rows], cluster[rows], **how)
        for name, rows in strata.items()
    ]


def segments(run: ScoredRun, shortcut: ScoredRun, shares: Attribution) -> list[Segment]:
    """The accuracy in parts: guesses, what repeating the shortcut adds to them, and what own signal
    adds. A rest that the model does not fit is a part of its own."""
    answers, other = run.answers, shortcut.answers
    classes = len(answers.classes)
    both = (answers.guess < classes) & (other.guess < classes)
    covered, guess = float(both.mean()), 1 / classes
    right = float(other.right[both].mean())
    parts = {
        "guessing": covered * guess,
        "shortcut": covered * shares.shortcuts[0][0] * (right - guess),
        "own signal": covered * shares.own[0] * (1 - guess),
    }
    rest = float(answers.right.mean()) - sum(parts.values())
    if abs(rest) >= 0.005:
        parts["not fitted"] = rest
    return [Segment(name, share) for name, share in parts.items()]


def _answering(run: ScoredRun, labels: Sequence[str]) -> ScoredRun:
    """The same records with other answers."""
    table = run.table.with_columns(
        pl.Series("said", labels, dtype=pl.String), abstained=pl.lit(None, pl.String), scores=None
    )
    return replace(run, name=SHORTCUT, table=table)


def _read(train: Part, records: pl.DataFrame, seed: int) -> list[str]:
    """The answers of the control: a linear model of characters."""
    terms, model = TfIdf(Characters(), most=MOST_TERMS), Linear("svm", strength=1.0)
    beginning = pl.col("text").fill_null("").str.head(CHARACTERS_READ)
    training_texts, test_texts = (
        table.select(beginning)["text"] for table in (train.records, records)
    )
    model.fit(terms.fit_transform(training_texts), train.labels, seed=seed)
    answers = model.predict(terms.transform(test_texts))
    return [answer.label or "" for answer in answers]


def _answers(train: Part, records: pl.DataFrame, feature: str, seed: int) -> list[str]:
    """The answers of one property."""
    detector = Shortcut(feature=feature)
    detector.fit(train, Part(train.records.clear(), []), seed=seed)
    return [prediction.label or "" for prediction in detector.predict(records)]


def _part(part: Part, rows: Flags) -> Part:
    chosen = pl.Series(rows)
    return Part(part.records.filter(chosen), pl.Series(part.labels).filter(chosen).to_list())
