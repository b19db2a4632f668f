"""Shares of all records from the decisions on a sample of them, with what is known of the rest: the
predictions of a run where the review was made of one, and the labels of the dataset otherwise.

The records that a review was drawn from are counted by label and prediction in `review.json`, so
that neither the dataset nor the run is read again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import polars as pl

from claimlab.core.errors import DataError, UsageError
from claimlab.core.options import Option
from claimlab.core.shown import Shown
from claimlab.core.stats.powered import FEWEST_ANNOTATED, JudgedSample, alone, needed, powered
from claimlab.core.tables import read_parquet
from claimlab.core.types import JsonObject
from claimlab.core.words import several, several_of, verb
from claimlab.review.project import ITEMS
from claimlab.review.review import AnyReview, Review
from claimlab.review.task import CHOSEN, ReviewTask

LABEL, RUN = "the label", "the run"  # who judges
POPULATION = {"label": pl.String, "said": pl.String, "records": pl.Int64}


SHARES = (
    "estimate",
    "low",
    "high",
    "always_low",
    "always_high",
    "annotators_alone",
    "alone_low",
    "alone_high",
    "judge_alone",
    "saved",
)
SCHEMA = {"share": pl.String, **dict.fromkeys(SHARES, pl.Float64), "more": pl.Int64}


@dataclass(frozen=True, repr=False)
class Estimates(Shown):
    """A row for each share, of 1: the estimate with its 95% interval (`low`, `high`), the interval
    that holds at every look (`always_low`, `always_high`), what annotators alone and the judge
    alone give, and with `width` how many `more` annotated records are needed.
    """

    name: str
    judge: str
    population: int
    annotated: int
    undecided: int
    width: float | None
    rows: pl.DataFrame
    finding: str | None = None  # of an audit, whose records were reviewed

    @property
    def table(self) -> pl.DataFrame:
        return self.rows

    @property
    def measured(self) -> bool:
        """Whether there are intervals."""
        return self.annotated >= FEWEST_ANNOTATED

    def headline(self) -> str:
        decided = several_of(self.annotated, self.population, "record")
        return f"'{self.name}': shares from {decided} annotated, with {self.judge} as the judge"

    def precision(self) -> str | None:
        """How many records of a finding have a wrong label, in a sentence; null where nothing was
        found by an audit, or where few are annotated."""
        right = self.rows.filter(share="label right").drop_nulls("low")
        if self.finding is None or not right.height:
            return None
        low, high = (100 * (1 - right[end][0]) for end in ("high", "low"))
        return (
            f"Of {several(self.population, 'record')} of the finding '{self.finding}',"
            f" {low:.0f} to {high:.0f}% have a wrong label, from {self.annotated:,} annotated."
        )

    def to_json(self) -> JsonObject:
        names = ("name", "judge", "population", "annotated", "undecided", "width", "finding")
        return {**{name: getattr(self, name) for name in names}, "shares": self.rows.to_dicts()}


def estimate(
    review: AnyReview,
    *,
    width: Annotated[
        float | None, Option("Say when every interval is this narrow, e.g. 0.1.", least=0.001)
    ] = None,
) -> Estimates:
    """Estimate shares of all records from a review of some: each answer, right labels, right
    predictions.

    The judge is the run that the review was made of, and otherwise the label of each record.
    Annotators' answers correct it, so that a biased judge widens the interval and does not move it
    (prediction-powered inference). With `width`, annotating may stop when the interval that holds
    at every look is that narrow, and not before.
    """
    opened = Review.of(review)
    task = opened.task
    if task.kind not in CHOSEN:
        raise UsageError(
            f"The answers to '{task.name}' are not a choice.",
            "Estimate the shares of a task with choices, such as 'label'.",
        )
    results = opened.results()
    population = _population(opened)
    annotated = _annotated(opened, results)
    records = int(population["records"].sum())
    rows = []
    for name, human, judge in _targets(task, population):
        judged = int(population.filter(judge)["records"].sum()) / records
        yes = annotated.select(human=human, judge=judge, chance="chance").cast(pl.Float64)
        answer, guess, chance = (column.to_numpy() for column in yes)
        rows.append(_row(name, JudgedSample(answer, guess, chance, records, judged), width))
    return Estimates(
        name=task.name,
        judge=RUN if _judged(population) else LABEL,
        population=records,
        annotated=annotated.height,
        undecided=results.height - annotated.height,
        width=width,
        rows=pl.DataFrame(rows, schema=SCHEMA),
        finding=opened.project.origin.chosen.get("finding"),
    )


def _judged(population: pl.DataFrame) -> bool:
    """Whether a run answered; otherwise the labels are the judge."""
    return population["said"].null_count() < population.height


def _targets(task: ReviewTask, population: pl.DataFrame) -> list[tuple[str, pl.Expr, pl.Expr]]:
    """Each share: its name, what annotators say of a record, and what the judge says of it."""
    meaning = {choice.value: choice.sets or choice.value for choice in task.choices}
    judged = _judged(population)
    guess = pl.col("said" if judged else "label")
    targets = [
        (value, pl.col("answer") == value, guess.eq_missing(means))
        for value, means in meaning.items()
    ]
    meant, agree = pl.col("answer").replace(meaning), pl.col("label").eq_missing(pl.col("said"))
    if population["label"].is_in(list(meaning.values())).any():
        targets.append(("label right", meant.eq_missing(pl.col("label")), agree))
    if judged:
        targets.append(("run right", meant.eq_missing(pl.col("said")), agree))
    return targets


def _row(name: str, sample: JudgedSample, width: float | None) -> JsonObject:
    """One share; without intervals where few records are annotated, and without what a judge saves
    where it says the same of all.
    """
    both, people = powered(sample), alone(sample)
    row: JsonObject = {"share": name, "estimate": both.value, "annotators_alone": people.value}
    useful = bool(np.ptp(sample.judge))
    if useful:
        row["judge_alone"] = sample.judged
    if len(sample) < FEWEST_ANNOTATED:
        return row
    row["low"], row["high"] = both.interval
    row["always_low"], row["always_high"] = both.always
    row["alone_low"], row["alone_high"] = people.interval
    if useful and people.width > 0:
        row["saved"] = max(0.0, 1 - (both.width / people.width) ** 2)
    if width is not None:
        row["more"] = max(0, needed(sample, width) - len(sample))
    return row


def _annotated(review: Review, results: pl.DataFrame) -> pl.DataFrame:
    """What annotators decided (`answer`), with label and prediction, and the chance of each."""
    items = read_parquet(review.folder / ITEMS)
    plain = items.filter(pl.col("gold").is_null(), ~pl.col("attention"))
    if "chance" not in items.columns or plain["chance"].null_count():
        raise DataError(
            "The records of this review were not drawn at random.",
            "Create a review with `sample`, of all predictions or of all records.",
        )
    waiting = int((results["how"] == "open").sum())
    if waiting and review.task.order != "random":
        raise DataError(
            f"{several(waiting, 'item')} {verb(waiting)} still open, and items are not shown in"
            " random order: what is decided so far is not a random sample.",
            "Decide the rest, or create the review with `order` 'random'.",
        )
    decided = results.filter(pl.col("value").is_not_null())
    if not decided.height:
        raise DataError("Nothing is decided yet.", "Decide some items first.")
    payload = pl.col("payload").str
    of_items = items.select(
        "id",
        "chance",
        label=payload.json_path_match("$.label"),
        said=payload.json_path_match("$.model.label"),
    )
    answers = decided.select(id="item", answer="value")
    return answers.join(of_items, on="id", maintain_order="left")


def _population(review: Review) -> pl.DataFrame:
    """How many records of each label and prediction the items were drawn from."""
    counts = review.project.origin.population
    if not counts:
        raise DataError(
            "This review does not say how many records it was drawn from.",
            "It was made by an earlier version: create it again.",
        )
    return pl.DataFrame(counts, schema=POPULATION)
