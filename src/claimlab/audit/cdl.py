"""Protocol `cdl`: the keyword and time checks as the guide's authors' own scripts run them, so that
published numbers can be checked. Its flaws are listed in `protocols.py`, and printed wherever its
figures are.
"""

from __future__ import annotations

from collections.abc import Sequence
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
HELD_OUT = {"cdl-holdout": " with a hold-out"}
RULE = (
    f"Fail from a macro-F1 of {FLAG:.2f}, else pass; this protocol has no interval and no permuted"
    " control."
)


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
        return (
            f"A stratified 75/25 split needs more rows: the rarest class has {rarest} of"
            f" {subject.n}."
        )
    return None


def keywords(subject: Subject, *, top: int = 40) -> KeywordCheck | None:
    """The most frequent words over all records, binary presence, a hundred trees of at most 20
    leaves grown breadth-first, hard vote. Null when no word is left once stop words are out."""
    words = most_frequent(subject.dataset.records["text"], top)
    if not words:
        return None
    matrix = presence(subject.rows["text"], words)
    return KeywordCheck(keyword_score(matrix, subject.y, len(subject.classes)), words, matrix)


def keyword_score(
    matrix: npt.NDArray[np.uint8], y: npt.NDArray[np.int64], classes: int, split_seed: int = SEED
) -> float:
    """The macro-F1 of one stratified 75/25 split; the scripts know no other seed than 42."""
    from sklearn.model_selection import train_test_split

    x_train, x_test, y_train, y_test = train_test_split(
        matrix, y, test_size=TEST_SHARE, random_state=split_seed, stratify=y
    )
    guess = vote(x_train, y_train, x_test, classes, trees=TREES, leaves=LEAVES, seed=SEED)
    return float(macro_f1(confusion(y_test, guess, classes)))


def most_frequent(texts: pl.Series, top: int) -> list[str]:
    """The `top` most frequent words over every record, stop words out; ties by alphabet."""
    held = pl.LazyFrame({"word": cdl_count_tokens(texts)}).explode("word").drop_nulls("word")
    counts = held.group_by("word").len().collect(engine="streaming")
    return counts.sort(["len", "word"], descending=[True, False])["word"].head(top).to_list()


def presence(texts: pl.Series, words: list[str]) -> npt.NDArray[np.uint8]:
    """Binary presence after the scripts' second, harsher cleaning: a top word such as "19" is an
    all-zero column.
    """
    column = {w: i for i, w in enumerate(words)}
    tokens = pl.DataFrame(
        {"row": np.arange(texts.len()), "word": cdl_presence_tokens(texts)}
    ).explode("word")
    hits = tokens.filter(pl.col("word").is_in(words))
    matrix = np.zeros((texts.len(), len(words)), np.uint8)
    columns = hits["word"].replace_strict(column, default=0, return_dtype=pl.Int64).to_numpy()
    matrix[hits["row"].to_numpy(), columns] = 1
    return matrix


def days(subject: Subject) -> pl.Series:
    """Integer days since the first date; null without a date."""
    return subject.rows.select((pl.col("date") - pl.col("date").min()).dt.total_days()).to_series()


def id_digits(subject: Subject) -> pl.Series:
    """The integer of the first three digits of the tweet id; null without one."""
    return first_digits(subject.rows["tweet_id"], 3)


def time_score(
    subject: Subject,
    values: pl.Series,
    *,
    hold_out: bool = False,
    split_seeds: Sequence[int] = (SEED,),
) -> list[float]:
    """The macro-F1 of a forest on `values` alone, for each seed of a 75/25 split; nothing where no
    row has a value.

    The scripts split, then fit on all rows and score the quarter: they train on their test rows.
    With `hold_out` the forest is fitted on the other three quarters, as some published rows must
    have been.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split

    y = subject.y[values.is_not_null().to_numpy()]
    matrix = values.drop_nulls().to_numpy().astype(np.float32)[:, None]
    if len(y) < 4:
        return []
    classes, scores, forest = len(subject.classes), [], None
    for seed in split_seeds:
        x_train, x_test, y_train, y_test = train_test_split(
            matrix, y, test_size=TEST_SHARE, random_state=seed
        )
        if hold_out or forest is None:
            grown = RandomForestClassifier(max_depth=20, random_state=0, n_jobs=-1)
            forest = grown.fit(x_train, y_train) if hold_out else grown.fit(matrix, y)
        scores.append(
            float(macro_f1(confusion(y_test, forest.predict(x_test).astype(np.int64), classes)))
        )
    return scores


def finding(
    check: str,
    score: float,
    subject: Subject,
    *,
    what: str,
    feature: str,
    protocol: str = "cdl",
    **more: object,
) -> Finding:
    counts = np.bincount(subject.y, minlength=len(subject.classes))
    return Finding.model_validate(
        {
            "check": check,
            "protocol": protocol,
            "verdict": "fail" if score >= FLAG else "pass",
            "why": (
                f"{what} scores macro-F1 {100 * score:.1f} under the published scripts'"
                f" protocol{HELD_OUT.get(protocol, '')} (flagged from {100 * FLAG:.0f}); that"
                " protocol has no interval and no shuffled control."
            ),
            "score": score,
            "baselines": Baselines(
                majority=float(majority_f1(counts)), stratified=stratified_f1(counts)
            ),
            "n": subject.n,
            "classes": subject.class_counts,
            "feature": feature,
            **more,
        }
    )
