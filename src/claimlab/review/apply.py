"""Write decisions back: a new dataset folder in which labels are corrected, records removed or
taken back, and every vote is an annotation. The lineage says under which guideline; the table
`decisions` says who decided what, and when.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.dataset import MANIFEST, Dataset, Lineage, belonging, read_manifest
from claimlab.core.digest import digest_table
from claimlab.core.errors import ClaimlabError, DataError
from claimlab.core.options import OUTPUT, Force, Option, Place
from claimlab.core.record import SIDE_TABLES, meta_json, to_side_table, validate
from claimlab.core.run import Run, Source
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.review.batches import ACCEPTED, DISCARDED
from claimlab.review.review import AnyReview, Review
from claimlab.review.status import written
from claimlab.review.votes import Outcomes

STEP = "review"
RESOLUTION = "resolution"  # the annotator's name under which a final decision speaks for all
SAID = ("id", "other_id", "task", "item", "who", "role", "round", "value", "comment")
DECISIONS: dict[str, pl.DataType] = {
    **dict.fromkeys(SAID, pl.String()),
    "at": pl.Datetime("us"),
    "guideline": pl.String(),
}


@dataclass
class Effects:
    """What the outcomes do to the records."""

    labels: dict[str, str] = field(default_factory=dict)
    drops: dict[str, str] = field(default_factory=dict)  # with the reason
    keeps: set[str] = field(default_factory=set)
    doubts: dict[str, str] = field(default_factory=dict)


@repeatable()
def review_apply(
    review: AnyReview,
    output: Annotated[Place, OUTPUT],
    data: Annotated[
        Source | None, Option("The dataset of the review, if it is not next to it.")
    ] = None,
    *,
    force: Force = False,
) -> Dataset:
    """Write the decisions back: a new dataset with labels corrected, records removed, and every
    vote kept.

    Items that are open or disputed change nothing, and are counted in the dataset's notes.
    """
    opened = Review.of(review)
    source = data if data is not None else find_source(opened)
    with Run(STEP, source, output, reads=[opened.folder], force=force) as run:
        if run.dataset.fingerprint() != opened.project.origin.fingerprint:
            name = run.dataset.name
            problem = f"'{name}' is not the dataset, as it was, that this review was made of."
            raise DataError(problem, "Pass that one; decisions on other records cannot be applied.")
        if not any(votes.every() for votes, _ in opened.outcomes().values()):
            name = opened.task.name
            problem = f"Nothing is decided in the review '{name}': there is nothing to apply."
            raise DataError(problem, "Let annotators answer first, or import their answers.")
        applied = _apply(run.dataset, opened)
        run.finish(applied)
    return applied


def find_source(review: Review) -> Path:
    """The folder beside the review, or below that, which holds the dataset that it was made of."""
    origin = review.project.origin
    around = review.folder.resolve().parent
    for place in [around, *sorted(around.glob("*")), *sorted(around.glob("*/*"))]:
        if (place / MANIFEST).is_file():
            with contextlib.suppress(ClaimlabError):
                if read_manifest(place).fingerprint() == origin.fingerprint:
                    return place
    raise DataError(
        f"The dataset '{origin.dataset}' of this review is not beside it.", "Pass `data`."
    )


def _apply(dataset: Dataset, review: Review) -> Dataset:
    outcomes = review.outcomes()
    effects = _effects(review, outcomes)
    records, tables, counts = _changed(dataset, review, effects)
    ballots = [b for votes, _ in outcomes.values() for b in votes.every()]
    same = {"task": review.task.name, "guideline": review.task.guideline_hash()}
    rows = [
        {**vars(b), **same, "id": b.record_id, "who": b.name, "value": written(b.value)}
        for b in ballots
    ]
    decisions = pl.DataFrame(rows, schema=DECISIONS)
    votes = pl.DataFrame(_answers(review, outcomes), schema=SIDE_TABLES["annotations"])
    answers = votes.join(
        records, left_on="record_id", right_on="id", how="semi", maintain_order="left"
    )
    before = tables.get("annotations")
    tables["annotations"] = answers if before is None else _merged(before, answers)
    tables["decisions"] = _under(tables.get("decisions"), decisions)
    settled = dict(Counter(sorted(outcome.how for _, outcome in outcomes.values())))
    step = Lineage(
        step=STEP,
        parameters={
            "task": review.task.name,
            "kind": review.task.kind,
            "question": review.task.question,
            "guideline": review.task.guideline,
            "guideline_sha256": review.task.guideline_hash(),
            "writes": review.task.writes,
            "chosen": review.project.origin.chosen,
            "items": settled,
            "annotators": sorted({b.name for b in ballots if not b.model}),
            "models": sorted({b.name for b in ballots if b.model}),
        },
        seed=review.project.seed,
        inputs={
            "records": dataset.digest(),
            "items": review.project.items,
            "decisions": digest_table(decisions),
        },
        counts={
            "in": len(dataset),
            "records": records.height,
            "decisions": decisions.height,
            **counts,
        },
    )
    out = dataset.derive(records, step, tables)
    if rest := settled.get("open", 0) + settled.get("disputed", 0):
        out.notes.append(
            f"The review '{review.task.name}' was applied with {several(rest, 'item')} open or"
            " disputed."
        )
    return out


def _effects(review: Review, outcomes: Outcomes) -> Effects:
    effects, about = Effects(), review.about()
    for name, (_, outcome) in outcomes.items():
        choice = review.task.choice(outcome.value)
        if choice is None:
            continue
        record, other = about[name].record_id, about[name].other_id
        targets = {"record": [record], "other": [other], "both": [record, other], None: []}
        reason = f"{review.task.name}: {choice.label}"
        effects.drops |= dict.fromkeys(targets[choice.drops], reason)
        effects.keeps |= {record, other} - {None}
        if choice.sets is not None:
            effects.labels[record] = choice.sets
    if review.task.batches is not None:
        _judge_batches(review, effects)
    effects.keeps -= effects.drops.keys()
    for record in effects.doubts.keys() & effects.drops.keys():
        del effects.doubts[record]
    return effects


def _judge_batches(review: Review, effects: Effects) -> None:
    """Records of discarded batches are dropped; those of batches not accepted yet are in doubt."""
    batches = review.batches()
    states = dict(batches.table.select("batch", "state").iter_rows())
    for record, batch in batches.members.select("record_id", "batch").iter_rows():
        reason = f"{review.task.name}: batch {batch} {states[batch]}"
        if states[batch] == DISCARDED:
            effects.drops[record] = reason
        elif states[batch] != ACCEPTED:
            effects.doubts[record] = reason


def _changed(
    dataset: Dataset, review: Review, effects: Effects
) -> tuple[pl.DataFrame, dict[str, pl.DataFrame], dict[str, int]]:
    """The records and tables afterwards. A doubtful record that is kept comes back; one that is
    removed is dropped.
    """
    before, doubtful = dataset.records, dataset.tables.get("doubtful")
    outside = before.clear() if doubtful is None else doubtful.select(before.columns)
    outside = outside.join(before, on="id", how="anti", maintain_order="left")
    outside = outside.unique("id", keep="last", maintain_order=True)
    reviewed, back = pl.concat([before, outside]), outside.filter(_among(effects.keeps))
    label = pl.col("id").replace_strict(effects.labels, default=None, return_dtype=pl.String)
    everything = pl.concat([before, back]).with_columns(decided=label)
    labels = pl.col("decided")
    relabelled = everything.filter(labels.is_not_null() & labels.ne_missing(pl.col("veracity")))
    left = {"dropped": effects.drops, "doubtful": effects.doubts}
    records = everything.with_columns(veracity=pl.coalesce(labels, "veracity")).drop("decided")
    records = records.filter(~_among([*effects.drops, *effects.doubts]))
    validate(records)
    tables = belonging(dataset.tables, records["id"])
    if doubtful is not None:
        tables["doubtful"] = doubtful.filter(~_among([*effects.keeps, *effects.drops]))
    counts = {"relabelled": relabelled.height, "dropped": 0, "returned": back.height}
    for name, why in left.items():
        gone = reviewed.filter(_among(why))
        counts[name] = gone.height
        if gone.height:
            reason = pl.col("id").replace_strict(why, return_dtype=pl.String)
            rows = gone.with_columns(step=pl.lit(STEP), reason=reason)
            tables[name] = _under(tables.get(name), to_side_table(name, rows))
    if relabelled.height:
        changes = relabelled.select(
            "id",
            step=pl.lit(STEP),
            column=pl.lit("veracity"),
            before=pl.col("veracity"),
            after=labels,
            reason=pl.lit(f"{review.task.name}: decided by review"),
        )
        tables["changes"] = _under(tables.get("changes"), changes)
    return records, {name: table for name, table in tables.items() if table.height}, counts


def _among(ids: Iterable[str]) -> pl.Expr:
    return pl.col("id").is_in(list(ids))


def _answers(review: Review, outcomes: Outcomes) -> list[JsonObject]:
    """A row for each annotator's vote as it is now, under the question that checks read, and one
    for a final decision, whose annotator is "resolution"."""
    rows = []
    for votes, _ in outcomes.values():
        first = {b.person: b.value for b in votes.first}
        for ballot in [*votes.people(), *votes.models(), *votes.final]:
            final = ballot.round == "final"
            changed = first.get(ballot.person) if ballot.round == "second" else None
            rows.append(
                {
                    "record_id": ballot.record_id,
                    "annotator": RESOLUTION if final else ballot.name,
                    "annotator_kind": "model" if ballot.model else "human",
                    "question": review.task.writes,
                    "value": written(ballot.value),
                    "rationale": ballot.comment,
                    "meta": meta_json(
                        {
                            "task": review.task.name,
                            "round": ballot.round,
                            "at": ballot.at.isoformat(timespec="seconds"),
                            "by": ballot.name if final else None,
                            "before": written(changed),
                            "other_id": ballot.other_id,
                            "guideline": review.task.guideline_hash(),
                        }
                    ),
                }
            )
    return rows


def _merged(before: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """The old answers, then the new; an old answer of the same annotator to the same question is
    replaced.
    """
    keys = ["record_id", "annotator", "question"]
    others = before.join(new, on=keys, how="anti", nulls_equal=True, maintain_order="left")
    return pl.concat([others, new], how="diagonal_relaxed")


def _under(before: pl.DataFrame | None, new: pl.DataFrame) -> pl.DataFrame:
    return new if before is None else pl.concat([before, new], how="diagonal_relaxed")
