"""Protocol `cdl`: the keyword and time checks as the guide's authors' own scripts run them, so that
published numbers can be checked. Its flaws are listed in `data/protocols.toml`, and printed
wherever its figures are.

A forest as R's randomForest grows it with `maxnodes`: breadth-first, a bounded number of leaves,
hard vote.

The guide's keyword figures come from such forests. scikit-learn's `max_leaf_nodes` grows
best-first: stronger trees; on CoAID's engagements it scores 65.6 where this scores 61.5 and the
paper prints 60.9. No Python library offers the other order, so it is written here, for yes/no
features only.

With yes/no features most rows repeat each other. Rows are packed into bits and folded into distinct
patterns with class counts; a bootstrap sample is then a multinomial draw over patterns, and the
cost hardly grows with the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.audit.rule import CDL_FLAG
from claimlab.audit.subject import Subject
from claimlab.core.finding import Baselines, Finding
from claimlab.core.stats.scores import (
    Flags,
    Floats,
    Ints,
    confusion,
    macro_f1,
    majority_f1,
    stratified_f1,
)
from claimlab.text.snowflake import first_digits
from claimlab.text.tokens import cdl_count_tokens, cdl_presence_tokens

SEED = 42
TEST_SHARE = 0.25
TREES, LEAVES = 100, 20
HELD_OUT = {"cdl-holdout": " with a hold-out"}
MANY_CELLS = 10_000
# rows that can be drawn one by one in the time of one cell of a multinomial draw
DRAWS_PER_CELL = 16


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
    matrix: npt.NDArray[np.uint8], y: Ints, classes: int, split_seed: int = SEED
) -> float:
    """The macro-F1 of one stratified 75/25 split; the scripts know no other seed than 42."""
    train, test = stratified_quarter(y, split_seed)
    guess = vote(matrix[train], y[train], matrix[test], classes)
    return float(macro_f1(confusion(y[test], guess, classes)))


def stratified_quarter(y: Ints, seed: int) -> tuple[Index, Index]:
    """The rows to learn from and the quarter to test on, with the classes in the same shares: the
    draws are those of scikit-learn's `train_test_split`, which the scripts call.
    """
    rng, size = np.random.RandomState(seed), np.bincount(y)
    tested = int(np.ceil(TEST_SHARE * len(y)))
    to_train = _shared_out(size, len(y) - tested, rng)
    to_test = _shared_out(size - to_train, tested, rng)
    train, test = [], []
    for k, rows in enumerate(np.split(np.argsort(y, kind="stable"), np.cumsum(size)[:-1])):
        shuffled = rows[rng.permutation(len(rows))]
        train.append(shuffled[: to_train[k]])
        test.append(shuffled[to_train[k] : to_train[k] + to_test[k]])
    return rng.permutation(np.concatenate(train)), rng.permutation(np.concatenate(test))


def _shared_out(size: Ints, rows: int, rng: np.random.RandomState) -> Ints:
    """How many of `rows` each class gets by its size; those left over go to the largest remainders,
    and among equal ones at random.
    """
    share = size / size.sum() * rows
    whole = np.floor(share)
    left = int(rows - whole.sum())
    for remainder in np.unique(share - whole)[::-1]:
        if not left:
            break
        (classes,) = np.nonzero(share - np.floor(share) == remainder)
        taken = min(len(classes), left)
        whole[rng.choice(classes, taken, replace=False)] += 1
        left -= taken
    return np.asarray(whole, np.int64)


def quarter(rows: int, seed: int) -> tuple[Index, Index]:
    """The same without regard to classes."""
    order = np.random.RandomState(seed).permutation(rows)
    tested = int(np.ceil(TEST_SHARE * rows))
    return order[tested:], order[:tested]


def has_forest() -> bool:
    """Whether scikit-learn is installed, whose forest the scripts fit."""
    return find_spec("sklearn") is not None


def most_frequent(texts: pl.Series, top: int) -> list[str]:
    """The `top` most frequent words over every record, stop words out; ties by alphabet."""
    occurrences = pl.LazyFrame({"word": cdl_count_tokens(texts)}).explode("word").drop_nulls("word")
    counts = occurrences.group_by("word").len().collect(engine="streaming")
    return counts.sort(["len", "word"], descending=[True, False])["word"].head(top).to_list()


def presence(texts: pl.Series, words: list[str]) -> npt.NDArray[np.uint8]:
    """Binary presence after the scripts' second, harsher cleaning: a top word such as "19" is an
    all-zero column.
    """
    occurrences = pl.DataFrame({"row": np.arange(texts.len()), "word": cdl_presence_tokens(texts)})
    columns = pl.DataFrame({"word": words, "column": range(len(words))})
    hits = occurrences.explode("word").join(columns, on="word")
    matrix = np.zeros((texts.len(), len(words)), np.uint8)
    matrix[hits["row"].to_numpy(), hits["column"].to_numpy()] = 1
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

    y = subject.y[values.is_not_null().to_numpy()]
    matrix = values.drop_nulls().to_numpy().astype(np.float32)[:, None]
    if len(y) < 4:
        return []
    classes, scores, forest = len(subject.classes), [], None
    for seed in split_seeds:
        train, test = quarter(len(y), seed)
        if hold_out or forest is None:
            grown = RandomForestClassifier(max_depth=20, random_state=0, n_jobs=-1)
            forest = grown.fit(matrix[train], y[train]) if hold_out else grown.fit(matrix, y)
        guess = forest.predict(matrix[test]).astype(np.int64)
        scores.append(float(macro_f1(confusion(y[test], guess, classes))))
    return scores


def finding(
    check: str, score: float, subject: Subject, what: str, feature: str, **more: object
) -> Finding:
    protocol = subject.context.protocol
    return Finding.model_validate(
        {
            "check": check,
            "protocol": protocol,
            "verdict": "fail" if score >= CDL_FLAG else "pass",
            "why": (
                f"{what} scores macro-F1 {100 * score:.1f} under the published scripts'"
                f" protocol{HELD_OUT.get(protocol, '')} (flagged from {100 * CDL_FLAG:.0f}); that"
                " protocol has no interval and no shuffled control."
            ),
            "score": score,
            "baselines": Baselines(
                majority=float(majority_f1(subject.sizes)), stratified=stratified_f1(subject.sizes)
            ),
            "n": subject.n,
            "classes": subject.class_counts,
            "feature": feature,
            **more,
        }
    )


Bits = npt.NDArray[np.uint8]  # rows by features, 0 or 1
Packed = npt.NDArray[
    np.uint64
]  # words of 64 features by rows, the first feature in the highest bit
Counts = Floats  # classes by patterns
Index = Ints


@dataclass(frozen=True)
class Leaf:
    """Rows whose bits under `mask` are `value` get `label`."""

    mask: Packed
    value: Packed
    label: int

    def holds(self, patterns: Packed) -> Flags:
        flags = np.ones(patterns.shape[1], np.bool_)
        for word, mask, value in zip(patterns, self.mask, self.value, strict=True):
            flags &= (word & mask) == value
        return flags


@dataclass
class Node:
    """A part of the sample while a tree grows: its patterns, their class weights, and the bits that
    led here.
    """

    patterns: Packed
    weight: Counts
    total: Counts
    mask: Packed
    value: Packed


def vote(
    train: Bits,
    y: Index,
    test: Bits,
    classes: int,
    *,
    trees: int = TREES,
) -> Index:
    """Fit on `train` and return the majority answer of the trees for each row of `test`; ties go to
    the first class.
    """
    patterns, counts = fold(train, y, classes)
    distinct, back = _unique(pack(test))
    rng = np.random.default_rng(SEED)
    sample = Bootstrap(counts)
    votes = np.zeros((classes, distinct.shape[1]), np.int32)
    for _ in range(trees):
        for leaf in grow(patterns, sample.draw(rng), LEAVES, train.shape[1], rng):
            votes[leaf.label] += leaf.holds(distinct)
    answers: Index = votes.argmax(axis=0)[back]
    return answers


class Bootstrap:
    """As many rows as there are, drawn with replacement and counted by class and pattern.

    A multinomial draw over patterns costs nothing that grows with the rows. Where there are many
    patterns that hardly repeat, drawing rows one by one is cheaper. Both have the same
    distribution.
    """

    def __init__(self, counts: Counts) -> None:
        self.shape = counts.shape
        self.n = int(counts.sum())
        self.share = (counts / counts.sum()).T.ravel()
        cells = np.flatnonzero(counts)
        one_by_one = (
            len(cells) > MANY_CELLS
            and len(cells) * DRAWS_PER_CELL > self.n < np.iinfo(np.int32).max
        )
        self.cell_of_row = (
            np.repeat(cells, counts.ravel()[cells].astype(np.int64)) if one_by_one else None
        )

    def draw(self, rng: np.random.Generator) -> Counts:
        if self.cell_of_row is not None:
            rows = self.cell_of_row[rng.integers(0, self.n, self.n, dtype=np.int32)]
            counts = np.bincount(rows, minlength=self.shape[0] * self.shape[1])
            return counts.reshape(self.shape).astype(np.float64)
        drawn = rng.multinomial(self.n, self.share).reshape(self.shape[::-1])
        return np.ascontiguousarray(drawn.T, dtype=np.float64)


def pack(rows: Bits) -> Packed:
    """Rows of 0 and 1 as words of 64 bits: comparing and counting rows becomes comparing
    numbers.
    """
    width = -(-rows.shape[1] // 64) * 8
    packed = np.packbits(rows, axis=1)
    padded = np.zeros((len(rows), width), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return np.ascontiguousarray(padded.view(">u8").astype(np.uint64).T)


def fold(rows: Bits, y: Index, classes: int) -> tuple[Packed, Counts]:
    """Distinct rows, and how often each has each class."""
    patterns, back = _unique(pack(rows))
    n = patterns.shape[1]
    return patterns, np.bincount(y * n + back, minlength=n * classes).reshape(classes, n).astype(
        np.float64
    )


def grow(
    patterns: Packed, weight: Counts, leaves: int, width: int, rng: np.random.Generator
) -> list[Leaf]:
    """Nodes are split in the order they were made, on the best of sqrt(features) drawn at random,
    until the leaves are used up; a node that is pure, or whose drawn features do not divide it,
    stays a leaf."""
    tried = max(1, int(np.sqrt(width)))
    drawn = np.flatnonzero(weight.sum(axis=0))
    nothing = np.zeros(len(patterns), np.uint64)
    nodes = [Node(patterns[:, drawn], weight[:, drawn], weight.sum(axis=1), nothing, nothing)]
    split: set[int] = set()
    at = 0
    while at < len(nodes) and len(nodes) < 2 * leaves - 1:
        chosen = best_split(nodes[at], rng.choice(width, tried, replace=False), rng)
        if chosen is not None:
            split.add(at)
            nodes += _children(nodes[at], *chosen)
        at += 1
    # Of every node, as the draws of a tie are in this order.
    every = [Leaf(node.mask, node.value, _largest(node.total, rng)) for node in nodes]
    return [leaf for i, leaf in enumerate(every) if i not in split]


def best_split(node: Node, features: Index, rng: np.random.Generator) -> tuple[int, Counts] | None:
    """The feature with the purest two sides (Gini), and the class weights of those that have it;
    null when the node is pure or no feature divides it."""
    if (node.total > 0).sum() < 2:
        return None
    bits = np.uint64(1) << (63 - features % 64).astype(np.uint64)
    has_feature = (node.patterns[features // 64] & bits[:, None]) != 0
    yes = has_feature.astype(np.float64) @ node.weight.T
    no = node.total - yes
    yes_size, no_size = yes.sum(axis=1), no.sum(axis=1)
    divides = (yes_size > 0) & (no_size > 0)
    if not divides.any():
        return None
    parts = ((yes, yes_size), (no, no_size))
    purity = sum((side**2).sum(axis=1) / np.maximum(size, 1) for side, size in parts)
    best = _largest(np.where(divides, purity, -np.inf), rng)
    return int(features[best]), yes[best]


def _children(node: Node, feature: int, having: Counts) -> list[Node]:
    """The two sides of a split: without the feature, then with it."""
    bit = np.zeros_like(node.mask)
    bit[feature // 64] = np.uint64(1) << np.uint64(63 - feature % 64)
    hit = (node.patterns[feature // 64] & bit[feature // 64]) != 0
    without, having_it = np.flatnonzero(~hit), np.flatnonzero(hit)
    parts = ((without, node.total - having, node.value), (having_it, having, node.value | bit))
    return [
        Node(
            node.patterns.take(side, axis=1),
            node.weight.take(side, axis=1),
            total,
            node.mask | bit,
            value,
        )
        for side, total, value in parts
    ]


def _unique(packed: Packed) -> tuple[Packed, Index]:
    """Distinct rows in order, and which of them each row is. One word is compared as a number, the
    common case.
    """
    one_word = len(packed) == 1
    rows, axis = (packed[0], None) if one_word else (packed, 1)
    values, back = np.unique(rows, axis=axis, return_inverse=True)
    return values[None] if one_word else values, back.ravel()


def _largest(values: Floats, rng: np.random.Generator) -> int:
    """Where the largest value is; of several, one at random."""
    (best,) = np.nonzero(values == values.max())
    return int(best[0]) if len(best) == 1 else int(rng.choice(best))
