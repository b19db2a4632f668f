"""Quality control by batches, as a closed loop (Klie et al., 2024; settings in `task.Batches`).

The records of a dataset are divided into batches, a share of each is inspected, and the share of
labels that annotators confirm decides: accepted, returned for correction, or discarded. What is
returned is labelled again outside, and a review made with `again` inspects it once more, until
every batch is accepted or discarded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from claimlab.core.errors import DataError
from claimlab.core.shown import Shown
from claimlab.core.stats.interval import wilson
from claimlab.core.stats.streams import share_of
from claimlab.core.types import JsonObject
from claimlab.review.task import Batches, ReviewTask

PENDING, ACCEPTED, RETURNED, DISCARDED = "pending", "accepted", "returned", "discarded"
MEMBERS = {"record_id": pl.String, "batch": pl.Int32, "state": pl.String, "returned": pl.Int32}
SCHEMA = {
    "batch": pl.Int32,
    **dict.fromkeys(("records", "inspected", "settled", "right"), pl.Int64),
    **dict.fromkeys(("accuracy", "low", "high"), pl.Float64),
    "state": pl.String,
    "returned": pl.Int32,
}


@dataclass(frozen=True, repr=False)
class BatchTable(Shown):
    """A row for each batch; `members` has one for each record. `returned` counts how often a batch
    was sent back.
    """

    rows: pl.DataFrame
    members: pl.DataFrame

    @property
    def table(self) -> pl.DataFrame:
        return self.rows

    def summary(self) -> dict[str, int]:
        """Records at the start, accepted at once, returned at least once, discarded, pending, and
        in the end: accepted at once or after a return."""
        state, back = pl.col("state"), pl.col("returned") > 0
        parts = {
            "initial": pl.lit(True),
            "accepted": (state == ACCEPTED) & ~back,
            "returned": back,
            "discarded": state == DISCARDED,
            "pending": state == PENDING,
            "final": state == ACCEPTED,
        }
        return {name: int(self.rows.filter(part)["records"].sum()) for name, part in parts.items()}

    def headline(self) -> str:
        return f"{len(self.rows):,} batches: " + ", ".join(
            f"{name} {n:,}" for name, n in self.summary().items()
        )

    def to_json(self) -> JsonObject:
        return {"summary": self.summary(), "batches": self.rows.to_dicts()}


def divide(records: pl.DataFrame, settings: Batches) -> pl.DataFrame:
    """The records in their order, in batches numbered from 1."""
    number = pl.int_range(pl.len()) // settings.size + 1
    members = records.select(record_id="id", batch=number.cast(pl.Int32))
    return members.with_columns(state=pl.lit(PENDING), returned=pl.lit(0, pl.Int32))


def divide_again(records: pl.DataFrame, before: BatchTable) -> pl.DataFrame:
    """The batches of an earlier review: what it returned is to be inspected again. Records that are
    gone go out.
    """
    if before.summary()["pending"]:
        raise DataError(
            "The earlier review has batches that are not inspected yet.", "Finish it first."
        )
    states = before.rows.select("batch", "state", "returned")
    members = before.members.drop("state", "returned").join(
        states, on="batch", how="left", maintain_order="left"
    )
    if not (members["state"] == RETURNED).any():
        raise DataError(
            "The earlier review returned no batch.", "There is nothing to inspect again."
        )
    here = members.join(
        records, left_on="record_id", right_on="id", how="semi", maintain_order="left"
    )
    again = pl.when(pl.col("state") == RETURNED).then(pl.lit(PENDING)).otherwise("state")
    return here.with_columns(state=again).select(*MEMBERS)


def inspected(members: pl.DataFrame, settings: Batches, seed: int) -> pl.DataFrame:
    """The records to inspect, drawn at random from every pending batch, with their batch; another
    draw each time.
    """
    waiting = members.filter(state=PENDING).select("record_id", "batch", "returned")
    draws = [share_of(seed, "inspect", back, record) for record, _, back in waiting.iter_rows()]
    ranked = waiting.with_columns(draw=pl.Series(draws, dtype=pl.Float64)).sort(
        "batch", "draw", "record_id"
    )
    size = (pl.len() * settings.share).round(mode="half_to_even").clip(1)
    taken = pl.int_range(pl.len()).over("batch") < size.over("batch")
    return ranked.filter(taken).select("record_id", "batch")


def confirms(task: ReviewTask, value: Any, label: str | None) -> bool:
    """Whether an answer confirms the label that a record has."""
    choice = task.choice(value)
    if choice is None or all(c.sets is None and c.drops is None for c in task.choices):
        return str(value) == label
    return choice.drops is None and (choice.sets is None or choice.sets == label)


def judge(
    members: pl.DataFrame, settings: Batches, items: Mapping[int, list[bool | None]]
) -> BatchTable:
    """The state of each batch. `items` is, by batch, whether each inspected label was confirmed;
    null: not settled.
    """
    rows = []
    batches = members.group_by("batch").agg(pl.len(), pl.col("state", "returned").first())
    for batch, records, state, back in batches.sort("batch").iter_rows():
        seen = items.get(batch, [])
        settled = [right for right in seen if right is not None]
        right = sum(settled)
        low, high = wilson(right, len(settled)) or (None, None)
        now, again = state, back
        if state == PENDING and seen and len(settled) == len(seen):
            now = verdict(right / len(seen), settings)
            again = back + (now == RETURNED)
        rows.append(
            {
                "batch": batch,
                "records": records,
                "inspected": len(seen),
                "settled": len(settled),
                "right": right,
                "accuracy": right / len(settled) if settled else None,
                "low": low,
                "high": high,
                "state": now,
                "returned": again,
            }
        )
    return BatchTable(pl.DataFrame(rows, schema=SCHEMA), members)


def verdict(accuracy: float, settings: Batches) -> str:
    if accuracy > settings.accept:
        return ACCEPTED
    return DISCARDED if accuracy < settings.discard else RETURNED
