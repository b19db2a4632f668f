"""What annotators said about feasibility, and how their answers are combined and compared.

Where annotators resolved their disagreements, the answer that they agreed on is the answer; single
votes from before then say only between which bounds it could lie.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from claimlab.audit.judge import ALONE, Reading
from claimlab.audit.subject import Subject
from claimlab.core.labels import fold
from claimlab.core.stats.agreement import kappa
from claimlab.core.stats.consensus import bounds
from claimlab.core.stats.scores import Floats

MIN_COMPARED = 30  # records
# kappa from which a judge counts as agreeing with annotators (Landis and Koch, 1977)
MODERATE = 0.4
QUESTION = "feasibility"
AGREED = f"{QUESTION} (agreed)"  # after annotators resolved their disagreements
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


@dataclass(frozen=True)
class Combined:
    """Per record: whether most annotators find it feasible, a tie read as no (`lower`) and as yes
    (`upper`), or what they agreed on; and whether every one of them did, and any.
    """

    ids: list[str]
    lower: Floats
    upper: Floats
    every: Floats
    any: Floats

    @property
    def average(self) -> Floats:
        return (self.lower + self.upper) / 2

    def means(self) -> tuple[float, float, float]:
        """The share that every annotator finds feasible, that most do, and that any does."""
        return float(self.every.mean()), float(self.average.mean()), float(self.any.mean())

    def settled(self) -> dict[str, bool]:
        """The records without a tie."""
        rows = zip(self.ids, self.lower.tolist(), self.upper.tolist(), strict=True)
        return {record: low == 1.0 for record, low, high in rows if low == high}


@dataclass(frozen=True)
class JudgeAgreement:
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


def votes_of(subject: Subject, question: str = QUESTION) -> pl.DataFrame | None:
    """record_id, annotator, answer (feasible | search | no) from the annotation table; null when
    there are none. With `AGREED`, what annotators agreed on.
    """
    table = subject.table("annotations")
    if table is None:
        return None
    here = pl.col("record_id").is_in(subject.dataset.records["id"].implode())
    answers = table.filter(here, question=question, annotator_kind="human")
    spellings = {v: ANSWERS.get(fold(v)) for v in answers["value"].drop_nulls().unique()}
    votes = answers.with_columns(
        answer=pl.col("value").replace_strict(spellings, default=None, return_dtype=pl.String)
    ).drop_nulls("answer")
    return votes.select("record_id", "annotator", "answer") if votes.height else None


def combine(
    votes: pl.DataFrame, reading: Reading | None = None, agreed: pl.DataFrame | None = None
) -> Combined:
    """Of the records that annotators agreed on, where they did, else of those with a vote. Both
    kinds of feasible count, but for the reading without search."""
    feasible = pl.col("answer") == "feasible" if reading == ALONE else pl.col("answer") != "no"
    of_votes = votes.group_by("record_id").agg(share=feasible.mean()).sort("record_id")
    settled = of_votes
    if agreed is not None:
        settled = agreed.group_by("record_id").agg(share=feasible.mean()).sort("record_id")
    vote = settled.select("record_id").join(of_votes, on="record_id", how="left")
    share = vote.sort("record_id")["share"].fill_null(settled["share"]).to_numpy()
    return Combined(
        settled["record_id"].to_list(),
        *bounds(settled["share"].to_numpy()),
        every=(share == 1).astype(float),
        any=(share > 0).astype(float),
    )


def agreement_of(votes: pl.DataFrame) -> dict[str, float | int] | None:
    """Plain agreement and Cohen's kappa over all pairs of annotators who judged the same record."""
    groups = votes.sort("record_id", "annotator").group_by("record_id", maintain_order=True)
    pairs = [
        pair for _, group in groups for pair in combinations((group["answer"] != "no").to_list(), 2)
    ]
    if not pairs:
        return None
    first, second = (list(answers) for answers in zip(*pairs, strict=True))
    agree = float(np.mean([a == b for a, b in pairs]))
    # Which of two annotators comes first means nothing: each pair counts both ways round.
    beyond = kappa(first + second, second + first)
    return {"pairs": len(pairs), "agreement": agree, "kappa": 1.0 if beyond is None else beyond}


def compare(
    judged: Mapping[str, bool],
    votes: pl.DataFrame | None,
    reading: Reading,
    agreed: pl.DataFrame | None = None,
) -> JudgeAgreement:
    """The judge beside annotators, on records where they agreed or do not tie."""
    settled = combine(votes, reading, agreed).settled() if votes is not None else {}
    both = [(judged[record], settled[record]) for record in sorted(judged) if record in settled]
    if not both:
        return JudgeAgreement(0, None, None)
    first, second = (list(answers) for answers in zip(*both, strict=True))
    return JudgeAgreement(
        len(both), float(np.mean([a == b for a, b in both])), kappa(first, second)
    )


def agreement_words(agreement: dict[str, float | int] | None) -> str:
    if agreement is None:
        return "Each record has one annotator, so agreement is not known."
    return (
        f"Annotators agree on {100 * agreement['agreement']:.0f}% of pairs (kappa"
        f" {agreement['kappa']:.2f})."
    )
