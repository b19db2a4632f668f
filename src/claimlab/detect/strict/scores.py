"""The scores in a file of predictions, by class: from columns that name their class, or from one
that does not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from claimlab.detect.own_words import OwnWords
from claimlab.detect.strict.problems import Problems
from claimlab.files.predictions import GivenPredictions, class_in, numbers


def scores_in(
    given: GivenPredictions, words: OwnWords, problems: Problems
) -> tuple[dict[str, pl.Series], str | None, list[str]]:
    """The scores by class; the class that `score` was taken to be of, where that was all there is;
    and the columns that were not read."""
    scores: dict[str, pl.Series] = {}
    unread = []
    for column, values in given.scores.items():
        name = words.meaning(class_in(column)).name
        if name is not None:
            scores[name] = numbers(values, given.file)
        elif column.lower().startswith("score_"):
            problems.sentences.append(f"the column '{column}' names none of the classes")
            problems.of_classes = True
        else:
            unread.append(column)
    for column, values in given.others.items():
        name = words.meaning(column).name if not given.scores else None
        if name is not None and _are_numbers(values):
            scores[name] = numbers(values, given.file)
        else:
            unread.append(column)
    score_of = None
    if given.score is not None and not scores and len(words.classes) == 2:
        positive = words.task.positive
        score_of = positive if positive in words.classes else words.classes[1]
        assert score_of is not None
        scores[score_of] = numbers(given.score, given.file)
    elif given.score is not None:
        unread.append("score")
    missing = [name for name in words.classes if name not in scores]
    if scores and len(words.classes) == 2:
        scores = _of_both(scores, words.classes)
    elif scores and missing:
        problems.sentences.append(f"there is no score of {', '.join(missing)}")
    return scores, score_of, unread


def _are_numbers(values: pl.Series) -> bool:
    read = values.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    return read.null_count() < len(read) and read.null_count() == values.null_count()


def _of_both(scores: Mapping[str, pl.Series], classes: Sequence[str]) -> dict[str, pl.Series]:
    """The scores of both classes; what one lacks is what the other leaves. A score outside 0 to 1
    still ranks: the other class then gets its negative."""
    out = {}
    for name, other in (classes, reversed(classes)):
        own, rest = scores.get(name), scores.get(other)
        if rest is not None and (own is None or own.null_count()):
            shares = bool(rest.is_between(0, 1).all())
            left = _remainders(rest) if shares else -rest
            left = left.set(rest.is_null(), None)
            own = left if own is None else pl.select(pl.coalesce(own, left)).to_series()
        assert own is not None
        out[name] = own
    return {name: out[name] for name in dict.fromkeys([*scores, *classes])}


def highest(scores: Mapping[str, pl.Series]) -> pl.Series:
    """The class with the highest score of each row, the first of equal ones; null without one."""
    table = np.stack([column.to_numpy() for column in scores.values()], axis=1)
    missing = np.isnan(table).any(axis=1)
    best = np.where(missing, 0, np.nan_to_num(table, nan=-np.inf).argmax(axis=1))
    return pl.Series(list(scores), dtype=pl.String).gather(best).set(pl.Series(missing), None)


def written(scores: Mapping[str, pl.Series], height: int) -> pl.Series:
    """Scores as a run keeps them: a JSON object per record; null where a number is missing."""
    if not scores:
        return pl.Series([None], dtype=pl.String).new_from_index(0, height)
    parts: list[pl.Expr] = []
    for number, (name, values) in enumerate(scores.items()):
        parts += [pl.lit(f"{', ' if number else '{'}{json.dumps(name)}: "), pl.lit(_digits(values))]
    return pl.select(pl.concat_str([*parts, pl.lit("}")])).to_series()


def _digits(values: pl.Series) -> pl.Series:
    """Each number as Python writes it: in one go where Polars writes it alike, one by one
    elsewhere.
    """
    size = values.abs()
    alike = ((size >= 1e-4) & (size < 1e16)) | (size == 0) | size.is_null()
    rows = (~alike).arg_true()
    return values.cast(pl.String).scatter(
        rows, [repr(number) for number in values.gather(rows).to_list()]
    )


def _remainders(shares: pl.Series) -> pl.Series:
    """`round(1 - share, 12)` of each, in one go; one by one only where the last digit is in
    doubt.
    """
    rest = 1 - shares.fill_null(0.0).to_numpy()
    scaled = rest * 1e12
    out = np.rint(scaled) / 1e12
    for row in np.flatnonzero(np.abs(scaled - np.floor(scaled) - 0.5) < 1e-2).tolist():
        out[row] = round(float(rest[row]), 12)
    return pl.Series(out)
