"""Macro-F1 and accuracy from confusion counts; each equals scikit-learn's.

A confusion table has a row per class, truth in rows. It may have more columns than classes: answers
that are none of them, and no answer at all. These are gaps. A gap is wrong, and costs at least as
much as any wrong answer would: in F1 it is a false positive of every class that it is not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

UNANSWERED = "not measured: no record was answered"  # what a score is where every prediction failed
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Floats32 = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.integer] | npt.NDArray[np.floating]


def confusion(truth: Ints, guess: Ints, classes: int, *, extra: int = 0) -> Ints:
    """Counts with truth in rows and answers in columns; `extra` columns are for answers outside the
    classes.
    """
    (counts,) = confusions(truth[None], guess, classes, extra=extra)
    return np.asarray(counts)


def confusions(truths: Ints, guess: Ints, classes: int, *, extra: int = 0) -> Ints:
    """One table for each row of `truths`, all beside the same answers."""
    draws, width = len(truths), classes + extra
    first = classes * width * np.arange(draws)[:, None]  # the first cell of each table
    cell = first + truths * width + guess
    counts = np.bincount(cell.ravel(), minlength=draws * classes * width)
    return counts.reshape(draws, classes, width)


def accuracy(counts: Counts) -> Floats:
    """Share of right answers of tables (..., K, K or more); NaN of nothing."""
    hits = np.diagonal(counts, axis1=-2, axis2=-1).sum(axis=-1).astype(np.float64)
    return ratio(hits, counts.sum(axis=(-2, -1)), nothing=np.nan)


def gaps(counts: Counts) -> Floats:
    """The records of each class without an answer, or with one that is none of the classes."""
    return np.asarray(counts[..., counts.shape[-2] :].sum(axis=-1), dtype=np.float64)


def taken_for(counts: Counts) -> Floats:
    """How many records each class was the answer to; a gap is one to every class but its own."""
    k = counts.shape[-2]
    if counts.shape[-1] == k:
        return np.asarray(counts.sum(axis=-2), dtype=np.float64)
    open_records = gaps(counts)
    others = open_records.sum(axis=-1, keepdims=True) - open_records
    return np.asarray(counts[..., :k].sum(axis=-2) + others, dtype=np.float64)


def filled(counts: Counts) -> Floats:
    """The tables (..., K, K) with each gap answered by the most frequent other class: of two
    classes, by the wrong one."""
    k = counts.shape[-2]
    table = np.array(counts[..., :k], dtype=np.float64)
    if k < 2:
        return table
    frequent = np.argsort(-counts.sum(axis=-1), axis=-1, kind="stable")
    own = np.arange(k)
    first, second = frequent[..., :1], frequent[..., 1:2]
    answer = np.where(own == first, second, first)  # of each class, by its gaps
    at_answer = own == answer[..., None]
    return np.asarray(table + at_answer * gaps(counts)[..., None])


def f1_per_class(counts: Counts) -> Floats:
    """F1 of each class; NaN for a class that is neither true nor answered."""
    hits = np.diagonal(counts, axis1=-2, axis2=-1).astype(np.float64)
    return ratio(2 * hits, counts.sum(axis=-1) + taken_for(counts), nothing=np.nan)


def macro_f1(counts: Counts) -> Floats:
    """Mean F1 over the classes that a table holds, as true or as an answer; NaN of nothing."""
    f1 = f1_per_class(counts)
    defined = ~np.isnan(f1)
    return ratio(np.where(defined, f1, 0.0).sum(axis=-1), defined.sum(axis=-1), nothing=np.nan)


def measured_macro_f1(counts: Counts) -> float | None:
    """Macro-F1 of one table; null where the truth holds fewer than two classes: of one class alone,
    answering with it every time would score 100."""
    return float(macro_f1(counts)) if (counts.sum(axis=-1) > 0).sum() > 1 else None


def macro_f1_of(truth: Sequence[int] | Ints, guess: Sequence[int] | Ints) -> float:
    """The same of two columns of class numbers; 0 of nothing."""
    y, answers = np.asarray(truth, dtype=np.int64), np.asarray(guess, dtype=np.int64)
    if not len(y):
        return 0.0
    return float(macro_f1(confusion(y, answers, int(max(y.max(), answers.max())) + 1)))


def majority_f1(counts: Counts) -> Floats:
    """Macro-F1 of always answering the most frequent class, from rows per class (..., K)."""
    present = (counts > 0).sum(axis=-1)
    share = ratio(counts.max(axis=-1), counts.sum(axis=-1), nothing=np.nan)
    return np.asarray(2 * share / (1 + share) / np.maximum(present, 1), dtype=np.float64)


def stratified_f1(counts: Counts) -> float:
    """Expected macro-F1 of drawing answers from the label distribution: precision = recall = share,
    so 1/K.
    """
    return float(1 / (counts > 0).sum())


def ratio(above: Counts, below: Counts, *, nothing: float) -> Floats:
    """`above` / `below`, and `nothing` where there is nothing below."""
    below = np.asarray(below, dtype=np.float64)
    out: Floats = np.divide(above, below, out=np.full(below.shape, nothing), where=below > 0)
    return out
