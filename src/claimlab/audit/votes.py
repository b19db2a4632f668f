"""What annotators said about feasibility, and how their answers are combined and compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from claimlab.audit.asking import ALONE, Reading
from claimlab.audit.subject import Subject
from claimlab.core.labels import fold
from claimlab.core.stats.agreement import bounds, kappa
from claimlab.core.types import JsonObject

QUESTION = "feasibility"
# How datasets and annotators spell the three answers; LIAR-New calls them possible, hard and
# impossible.
ANSWERS = {
    "feasible": "feasible",
    "possible": "feasible",
    "yes": "feasible",
    "feasible with web search": "search",
    "feasible with search": "search",
    "hard": "search",
    "not feasible": "no",
    "infeasible": "no",
    "impossible": "no",
    "no": "no",
}
WORDS = {"feasible": "feasible", "search": "feasible with web search", "no": "not feasible"}
MODERATE = (
    0.4  # kappa from which a judge counts as agreeing with annotators (Landis and Koch, 1977)
)
MIN_COMPARED = 30


@dataclass(frozen=True)
class Combined:
    """Per record: share of feasible votes turned into the lower, upper and average reading."""

    ids: list[str]
    lower: np.ndarray[Any, np.dtype[np.float64]]
    upper: np.ndarray[Any, np.dtype[np.float64]]

    @property
    def average(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        return (self.lower + self.upper) / 2

    def means(self) -> tuple[float, float, float]:
        """The lower bound, the average and the upper bound of the feasible share."""
        return float(self.lower.mean()), float(self.average.mean()), float(self.upper.mean())

    def settled(self) -> dict[str, bool]:
        """The records without a tie."""
        rows = zip(self.ids, self.lower.tolist(), self.upper.tolist(), strict=True)
        return {record: low == 1.0 for record, low, high in rows if low == high}


@dataclass(frozen=True)
class Comparison:
    """A judge beside annotators, on the records that both answered for."""

    records: int
    agreement: float | None
    kappa: float | None

    @property
    def validated(self) -> bool:
        return self.records >= MIN_COMPARED and self.kappa is not None and self.kappa >= MODERATE

    def sentence(self) -> str:
        if self.records < MIN_COMPARED:
            return (
                f"The judge is unvalidated: it could be compared with annotators on {self.records}"
                f" records, and {MIN_COMPARED} are needed."
            )
        beyond = "not defined" if self.kappa is None else f"{self.kappa:.2f}"
        numbers = (
            f"{100 * (self.agreement or 0.0):.0f}% agreement with annotators on {self.records}"
            f" records, kappa {beyond}"
        )
        if self.validated:
            return f"The judge was compared: {numbers}."
        return f"The judge is unvalidated: {numbers}, and at least {MODERATE} is needed."


def votes_of(subject: Subject) -> pl.DataFrame | None:
    """record_id, annotator, answer (feasible | search | no) from the annotation table; null when
    there are none.
    """
    table = subject.table("annotations")
    if table is None:
        return None
    answers = table.filter(
        (pl.col("question") == QUESTION) & (pl.col("annotator_kind") == "human")
    ).join(
        subject.dataset.records.select(record_id="id"),
        on="record_id",
        how="semi",
        maintain_order="left",
    )
    known = {v: ANSWERS.get(fold(v)) for v in answers["value"].drop_nulls().unique().to_list()}
    votes = answers.with_columns(
        pl.col("value").replace_strict(known, default=None, return_dtype=pl.String).alias("answer")
    ).drop_nulls("answer")
    return votes.select("record_id", "annotator", "answer") if votes.height else None


def combine(votes: pl.DataFrame, reading: Reading | None = None) -> Combined:
    """A tie goes down for the lower bound and up for the upper. Both kinds of feasible count, but
    for the reading without search."""
    feasible = pl.col("answer") == "feasible" if reading == ALONE else pl.col("answer") != "no"
    grouped = votes.group_by("record_id").agg(feasible.mean().alias("share")).sort("record_id")
    return Combined(grouped["record_id"].to_list(), *bounds(grouped["share"].to_numpy()))


def agreement_of(votes: pl.DataFrame) -> dict[str, float | int] | None:
    """Plain agreement and Cohen's kappa over all pairs of annotators who judged the same record."""
    pairs = []
    for _, group in votes.sort("record_id", "annotator").group_by("record_id", maintain_order=True):
        pairs += list(combinations([a != "no" for a in group["answer"].to_list()], 2))
    if not pairs:
        return None
    one, other = (list(answers) for answers in zip(*pairs, strict=True))
    agree = float(np.mean([a == b for a, b in pairs]))
    # Which of two annotators comes first means nothing: each pair counts both ways round.
    beyond = kappa(one + other, other + one)
    return {"pairs": len(pairs), "agreement": agree, "kappa": 1.0 if beyond is None else beyond}


def compare(judged: Mapping[str, bool], votes: pl.DataFrame | None, reading: Reading) -> Comparison:
    """The judge beside annotators, on records where they do not tie."""
    settled = combine(votes, reading).settled() if votes is not None else {}
    both = [(judged[record], settled[record]) for record in sorted(judged) if record in settled]
    if not both:
        return Comparison(0, None, None)
    one, other = (list(answers) for answers in zip(*both, strict=True))
    return Comparison(len(both), float(np.mean([a == b for a, b in both])), kappa(one, other))


def agreement_words(agreement: dict[str, float | int] | None) -> str:
    if agreement is None:
        return "Each record has one annotator, so agreement is not known."
    return (
        f"Annotators agree on {100 * agreement['agreement']:.0f}% of pairs (kappa"
        f" {agreement['kappa']:.2f})."
    )


def answer_counts(votes: pl.DataFrame) -> list[JsonObject]:
    tally = dict(votes["answer"].value_counts().iter_rows())
    return [{"answer": WORDS[k], "votes": int(tally.get(k, 0))} for k in WORDS]
