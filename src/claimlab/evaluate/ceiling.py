"""The noise ceiling of a run: what a perfect detector would score on labels that are partly wrong
(`core/stats/ceiling`), from what several annotators said of the same records.

Either the labels are the majority of these answers, and the answers are compared with each other;
or the answers are second labels, and each is compared with the label. Answers that repeat the label
on every record, and answers to another question, say nothing about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from claimlab.core.labels import fold
from claimlab.core.stats.agreement import kappa
from claimlab.core.stats.ceiling import FEWEST_UNITS, LabelQuality, by_agreement, ceiling
from claimlab.core.stats.codes import codes_of
from claimlab.core.stats.consensus import majority
from claimlab.core.stats.interval import Interval
from claimlab.core.stats.scores import Counts, Floats
from claimlab.core.words import several
from claimlab.evaluate.answers import Answers
from claimlab.evaluate.metric import metrics, table_metrics

LEAST_KNOWN_SHARE = 0.9  # of the answers to a question about the label are classes
SAME_LABELS_SHARE = 0.99  # of the labels are the majority of the answers that they were made of
LEAST_KAPPA = 0.2  # of second labels with the labels: below, the question is another one
NO_ANSWERS = "no record has labels by several annotators"


@dataclass(frozen=True)
class AnnotatorVotes:
    """What annotators said of records: one row each with its `truth` (the label that is scored
    against), its `cluster` and its `answers`, spelled like the classes."""

    table: pl.DataFrame
    question: str


@dataclass(frozen=True)
class Ceiling:
    """The score of a perfect detector and its band, by the key of the metric; `source` says where
    it comes from, and `why` what was missing."""

    scores: dict[str, tuple[float, Interval]] = field(default_factory=dict)
    source: str = ""
    why: str | None = None

    def exceeded(self, key: str, score: float | None) -> bool:
        """Whether a score is above the whole band."""
        return score is not None and key in self.scores and score > self.scores[key][1][1]

    def sentence(self) -> str:
        if self.why is not None:
            return f"Noise ceiling: not measured, because {self.why}."
        first = next(metric for metric in metrics() if metric.key in self.scores)
        value, (low, high) = self.scores[first.key]
        return (
            f"Noise ceiling: a perfect detector would score a {first.title} of {100 * value:.1f}"
            f" ({100 * low:.1f} to {100 * high:.1f}) on these labels. {self.source}"
        )


def votes_of(table: pl.DataFrame | None, labelled: pl.DataFrame) -> AnnotatorVotes | None:
    """The answers of annotators to the question that the labels answer, from the table of all
    annotations; `labelled` are the records with their `truth` and `label_raw`. Null where there is
    no such question."""
    if table is None or not table.height:
        return None
    people = table.filter(pl.col("annotator_kind").fill_null("human") == "human")
    people = people.drop_nulls(["record_id", "value"])
    meaning = {fold(name): name for name in labelled["truth"].unique().sort()}
    raw = labelled.drop_nulls("label_raw").group_by("label_raw").agg(pl.col("truth").unique())
    for word, truths in raw.iter_rows():
        if len(truths) == 1:
            meaning.setdefault(fold(word), truths[0])
    candidates: list[AnnotatorVotes] = []
    for answers in people.partition_by("question", maintain_order=True):
        spelling = {word: meaning.get(fold(word)) for word in answers["value"].unique()}
        spelled = answers.select(
            id="record_id",
            answer=pl.col("value").replace_strict(spelling, return_dtype=pl.String),
        )
        if spelled["answer"].count() < LEAST_KNOWN_SHARE * spelled.height:
            continue
        per_record = spelled.drop_nulls().group_by("id").agg(answers="answer")
        joined = labelled.select("id", "truth", "group").join(
            per_record, on="id", maintain_order="left"
        )
        unit = pl.coalesce(pl.format("group {}", "group"), pl.format("record {}", "id"))
        named = str(answers["question"][0] or "label")
        candidates.append(AnnotatorVotes(joined.with_columns(cluster=unit), named))
    return max(candidates, key=lambda votes: votes.table.height, default=None)


def ceiling_of(answers: Answers, votes: AnnotatorVotes | None, seed: int = 0) -> Ceiling:
    """The ceiling of a run on its records: every metric of the confusion table."""
    if len(answers.classes) < 2:
        return Ceiling(why="the records are of one class")
    quality, source = _quality(votes, len(answers.classes), seed)
    if quality is None:
        return Ceiling(why=source)
    labels = np.bincount(answers.truth, minlength=len(answers.classes))
    scores = {
        metric.key: ceiling(labels, quality, _padded(metric.figure), seed=seed)
        for metric in table_metrics()
    }
    return Ceiling(scores, source)


def _padded(figure: Callable[[Counts], Floats]) -> Callable[[Counts], Floats]:
    """The figure of tables without the columns of other answers and of none."""
    return lambda tables: figure(
        np.concatenate([tables, np.zeros((*tables.shape[:-1], 2))], axis=-1)
    )


def _quality(
    votes: AnnotatorVotes | None, classes: int, seed: int
) -> tuple[LabelQuality | None, str]:
    """How good the labels are, and where that is known from; or null, and why not."""
    if votes is None:
        return None, NO_ANSWERS
    table = votes.table
    twice = table.filter(pl.col("answers").list.len() > 1)
    if twice.height >= FEWEST_UNITS and _are_majority(twice):
        pairs = np.array([_equal_pairs(answers) for answers in twice["answers"]])
        divided = [list(Counter(answers).values()) for answers in table["answers"]]
        quality = by_agreement(pairs, codes_of(twice["cluster"]), classes, divided, seed=seed)
        agreement = f"{100 * pairs.mean():.0f}% of pairs of annotators agree"
    else:
        truths, answers = table["truth"].to_list(), table["answers"].to_list()
        shares = zip(answers, truths, strict=True)
        pairs = np.array([cast.count(label) / len(cast) for cast, label in shares])
        if (pairs == 1).all():
            return None, NO_ANSWERS
        alike = kappa(truths, table["answers"].list.first().to_list())
        if (alike or 0.0) < LEAST_KAPPA:
            return None, f"the answers to '{votes.question}' are not about these labels"
        quality = by_agreement(pairs, codes_of(table["cluster"]), classes, seed=seed)
        agreement = f"{100 * pairs.mean():.0f}% of second labels are the same"
    about = f"on {several(len(pairs), 'record')} ('{votes.question}')"
    if quality is None:
        return None, f"{agreement} {about}, which is too little to tell"
    return quality, f"{agreement} {about}; so about {100 * quality.share:.0f}% of labels are right."


def _are_majority(twice: pl.DataFrame) -> bool:
    """Whether the labels were made of the answers: they are what most said."""
    rows = twice.select("truth", "answers").iter_rows()
    decided = [(truth, most) for truth, cast in rows if (most := majority(cast)) is not None]
    same = sum(truth == most for truth, most in decided)
    return bool(decided) and same >= SAME_LABELS_SHARE * len(decided)


def _equal_pairs(answers: Collection[str]) -> float:
    """The share of pairs of answers to one record that are equal."""
    n = len(answers)
    return sum(k * (k - 1) for k in Counter(answers).values()) / (n * (n - 1))
