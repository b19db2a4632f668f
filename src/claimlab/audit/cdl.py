"""Protocol `cdl`: the keyword and time checks as the guide's authors' own scripts run them, so that published numbers
can be checked. What is wrong with it is told in `protocols.py`, and printed wherever its figures are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.audit.breadth_first import vote
from claimlab.audit.subject import Subject
from claimlab.core.finding import Baselines, Finding
from claimlab.core.stats.scores import confusion, macro_f1, majority_f1, stratified_f1
from claimlab.text.snowflake import first_digits
from claimlab.text.tokens import cdl_count_tokens, cdl_presence_tokens

SEED = 42
TEST_SHARE = 0.25
TREES, LEAVES = 100, 20
FLAG = 0.60


@dataclass(frozen=True)
class KeywordCheck:
    """What the keyword check did: its macro-F1, its words, and which row holds which of them."""

    score: float
    words: list[str]
    presence: npt.NDArray[np.uint8]


def cannot_split(subject: Subject) -> str | None:
    """Why a stratified 75/25 split is not possible, or null."""
    rarest = min(subject.class_counts.values(), default=0)
    if rarest < 2 or int(TEST_SHARE * subject.n) < len(subject.classes):
        return f"A stratified 75/25 split needs more rows: the rarest class has {rarest} of {subject.n}."
    return None


def keywords(subject: Subject, *, top: int = 40) -> KeywordCheck | None:
    """The most frequent words over all records, binary presence, a hundred trees of at most 20 leaves grown
    breadth-first, hard vote. Null when no word is left once stop words are out."""
    from sklearn.model_selection import train_test_split

    words = most_frequent(subject.dataset.records["text"], top)
    if not words:
        return None
    matrix = presence(subject.rows["text"], words)
    x_train, x_test, y_train, y_test = train_test_split(
        matrix, subject.y, test_size=TEST_SHARE, random_state=SEED, stratify=subject.y
    )
    guess = vote(x_train, y_train, x_test, len(subject.classes), trees=TREES, leaves=LEAVES, seed=SEED)
    return KeywordCheck(float(macro_f1(confusion(y_test, guess, len(subject.classes)))), words, matrix)


def most_frequent(texts: pl.Series, top: int) -> list[str]:
    """The `top` most frequent words over every record, stop words out; ties by alphabet."""
    held = pl.LazyFrame({"word": cdl_count_tokens(texts)}).explode("word").drop_nulls("word")
    counts = held.group_by("word").len().collect(engine="streaming")
    return counts.sort(["len", "word"], descending=[True, False])["word"].head(top).to_list()


def presence(texts: pl.Series, words: list[str]) -> npt.NDArray[np.uint8]:
    """Binary presence after the scripts' second, harsher cleaning: a top word such as "19" is an all-zero column."""
    column = {w: i for i, w in enumerate(words)}
    tokens = pl.DataFrame({"row": np.arange(texts.len()), "word": cdl_presence_tokens(texts)}).explode("word")
    hits = tokens.filter(pl.col("word").is_in(words))
    matrix = np.zeros((texts.len(), len(words)), np.uint8)
    columns = hits["word"].replace_strict(column, default=0, return_dtype=pl.Int64).to_numpy()
    matrix[hits["row"].to_numpy(), columns] = 1
    return matrix


def time_by_date(subject: Subject) -> float | None:
    """Integer days since the first date; null without dates."""
    dates = subject.rows["date"]
    if dates.null_count() == dates.len():
        return None
    keep = dates.is_not_null().to_numpy()
    days = (dates.drop_nulls() - dates.min()).dt.total_days().to_numpy()
    return _fit_on_all(days.astype(np.float32)[:, None], subject.y[keep], len(subject.classes))


def time_by_tweet_id(subject: Subject) -> float | None:
    """The integer of the first three digits of the tweet id; null without tweet ids."""
    digits = first_digits(subject.rows["tweet_id"], 3)
    if digits.null_count() == digits.len():
        return None
    keep = digits.is_not_null().to_numpy()
    return _fit_on_all(
        digits.drop_nulls().to_numpy().astype(np.float32)[:, None], subject.y[keep], len(subject.classes)
    )


def _fit_on_all(matrix: npt.NDArray[np.float32], y: npt.NDArray[np.int64], classes: int) -> float:
    """Split 75/25, then fit on all rows and score the quarter: it trains on its test rows, as the scripts do."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split

    _, x_test, _, y_test = train_test_split(matrix, y, test_size=TEST_SHARE, random_state=SEED)
    forest = RandomForestClassifier(max_depth=20, random_state=0, n_jobs=-1).fit(matrix, y)
    return float(macro_f1(confusion(y_test, forest.predict(x_test).astype(np.int64), classes)))


def finding(check: str, score: float, subject: Subject, *, what: str, feature: str, **more: object) -> Finding:
    counts = np.bincount(subject.y, minlength=len(subject.classes))
    return Finding.model_validate(
        {
            "check": check,
            "protocol": "cdl",
            "verdict": "fail" if score >= FLAG else "pass",
            "why": f"{what} scores macro-F1 {100 * score:.1f} under the published scripts' protocol "
            f"(flagged from {100 * FLAG:.0f}); that protocol has no interval and no shuffled control.",
            "score": score,
            "baselines": Baselines(majority=float(majority_f1(counts)), stratified=stratified_f1(counts)),
            "n": subject.n,
            "classes": subject.class_counts,
            "feature": feature,
            **more,
        }
    )
