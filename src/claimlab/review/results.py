"""What each item comes to, as a table: the outcome, how it came about, and what a reliability model
would say.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl

from claimlab.core.stats.agreement import dawid_skene
from claimlab.review.tables import event, item, person, sa
from claimlab.review.task import Task
from claimlab.review.votes import Outcome, Votes, code

SCHEMA = {
    "item": pl.String,
    "record_id": pl.String,
    "other_id": pl.String,
    "value": pl.String,
    "how": pl.String,
    "votes": pl.Int64,
    "agreement": pl.Float64,
    "estimate": pl.String,
    "probability": pl.Float64,
    "annotators": pl.String,
    "comments": pl.String,
    "batch": pl.Int32,
}


def results(
    connection: sa.Connection, task: Task, outcomes: Mapping[str, tuple[Votes, Outcome]]
) -> pl.DataFrame:
    """A row for each item under review. `agreement` is the share of votes for the commonest answer;
    `estimate` is Dawid and Skene's answer, of annotators only, with its probability."""
    likely = estimates(task, {i: votes for i, (votes, _) in outcomes.items()})
    places = connection.execute(
        sa.select(item.c.id, item.c.record_id, item.c.other_id, item.c.batch)
    )
    about = {r.id: r for r in places}
    rows = []
    for name, (votes, outcome) in outcomes.items():
        people = votes.people()
        tally = Counter(code(task, b.value) for b in people)
        answer, probability = likely.get(name, (None, None))
        rows.append(
            {
                "item": name,
                "record_id": about[name].record_id,
                "other_id": about[name].other_id,
                "value": written(outcome.value),
                "how": outcome.how,
                "votes": len(people),
                "agreement": max(tally.values()) / len(people) if people else None,
                "estimate": answer,
                "probability": probability,
                "annotators": ", ".join(b.name for b in people) or None,
                "comments": (
                    "; ".join(f"{b.name}: {b.comment}" for b in votes.every() if b.comment) or None
                ),
                "batch": about[name].batch,
            }
        )
    return pl.DataFrame(rows, schema=SCHEMA)


def estimates(task: Task, votes: Mapping[str, Votes]) -> dict[str, tuple[str, float]]:
    """Dawid and Skene's answers where answers are choices."""
    if not task.choices or task.kind == "span":
        return {}
    return dawid_skene({i: {b.name: str(b.value) for b in v.people()} for i, v in votes.items()})


def written(value: Any) -> str | None:
    """A value as text: a choice or a note as it is, everything else as JSON."""
    return (
        value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    )


def events(connection: sa.Connection) -> pl.DataFrame:
    """The history, oldest first: who, what, when."""
    query = sa.select(event, person.c.name).join(
        person, person.c.id == event.c.person, isouter=True
    )
    rows = [
        {
            "id": r.id,
            "at": r.at,
            "who": r.name,
            "kind": r.kind,
            "item": r.item,
            "detail": written(r.detail),
        }
        for r in connection.execute(query.order_by(event.c.id))
    ]
    texts = dict.fromkeys(("who", "kind", "item", "detail"), pl.String)
    return pl.DataFrame(rows, schema={"id": pl.Int64, "at": pl.Datetime("us"), **texts})
