"""Write decisions back: a new dataset folder in which labels are corrected, records removed or
taken back, and every vote is an annotation. The lineage says under which guideline; the table
`decisions` says who decided what, and when.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.dataset import MANIFEST, Dataset, Lineage, belonging, read_manifest
from claimlab.core.digest import digest_json, digest_table
from claimlab.core.errors import ClaimlabError, DataError
from claimlab.core.options import OUTPUT, Force, Option, Place
from claimlab.core.record import SIDE_TABLES, meta_json, to_side_table, validate
from claimlab.core.run import Run, Source
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.review.batches import ACCEPTED, DISCARDED
from claimlab.review.review import AnyReview, Review
from claimlab.review.status import written
from claimlab.review.store import StoredRow
from claimlab.review.votes import Ballot, Outcome, Votes

STEP = "review"
RESOLUTION = "resolution"  # the annotator's name under which a final decision speaks for all
SAID = ("id", "other_id", "task", "item", "who", "role", "round", "value", "comment")
DECISIONS: dict[str, pl.DataType] = {
    **dict.fromkeys(SAID, pl.String()),
    "at": pl.Datetime("us"),
    "guideline": pl.String(),
}
LABELS = {"id": pl.String, "decided": pl.String}
CHANGES = ("id", "step", "column", "before", "after", "reason")


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
        _refuse_other(run.dataset, opened)
        _refuse_empty(opened)
        applied = _apply(run.dataset, opened)
        run.finish(applied)
    return applied


def _refuse_empty(review: Review) -> None:
    if not any(votes.every() for votes, _ in review.outcomes().values()):
        problem = (
            f"Nothing is decided in the review '{review.task.name}': there is nothing to apply."
        )
        raise DataError(problem, "Let annotators answer first, or import their answers.")


def find_source(review: Review) -> Path:
    """The folder beside the review, or below that, which holds the dataset that it was made of."""
    origin = review.project.origin
    around = review.folder.resolve().parent
    for place in [around, *sorted(around.glob("*")), *sorted(around.glob("*/*"))]:
        if (place / MANIFEST).is_file():
            try:
                manifest = read_manifest(place)
            except ClaimlabError:
                continue
            named = {
                n: d for n, d in manifest.files.items() if n.endswith(".parquet") and "/" not in n
            }
            if digest_json([manifest.name, named]) == origin.fingerprint:
                return place
    raise DataError(
        f"The dataset '{origin.dataset}' of this review is not beside it.", "Pass `data`."
    )


def _refuse_other(dataset: Dataset, review: Review) -> None:
    if dataset.fingerprint() != review.project.origin.fingerprint:
        problem = f"'{dataset.name}' is not the dataset, as it was, that this review was made of."
        raise DataError(problem, "Pass that one; decisions on other records cannot be applied.")


def _apply(dataset: Dataset, review: Review) -> Dataset:
    outcomes, about = review.outcomes(), review.about()
    effects = _effects(review, outcomes, about)
    records, tables, counts = _changed(dataset, review, effects)
    ballots = [b for votes, _ in outcomes.values() for b in votes.every()]
    decisions = _decisions(review, ballots, about)
    votes = pl.DataFrame(_answers(review, outcomes, about), schema=SIDE_TABLES["annotations"])
    answers = votes.join(
        records.select(pl.col("id").alias("record_id")),
        on="record_id",
        how="semi",
        maintain_order="left",
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


def _effects(
    review: Review, outcomes: Mapping[str, tuple[Votes, Outcome]], about: Mapping[str, StoredRow]
) -> Effects:
    effects = Effects()
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
    doubtful = dataset.tables.get("doubtful")
    outside = doubtful if doubtful is not None else dataset.records.clear()
    outside = outside.join(
        dataset.records.select("id"), on="id", how="anti", maintain_order="left"
    ).unique("id", keep="last", maintain_order=True)
    back = outside.filter(pl.col("id").is_in(list(effects.keeps))).select(dataset.records.columns)
    reviewed = pl.concat([dataset.records, outside.select(dataset.records.columns)])
    answers = pl.DataFrame(
        {"id": list(effects.labels), "decided": list(effects.labels.values())}, schema=LABELS
    )
    everything = pl.concat([dataset.records, back]).join(
        answers, on="id", how="left", maintain_order="left"
    )
    labels = pl.col("decided")
    relabelled = everything.filter(labels.is_not_null() & labels.ne_missing(pl.col("veracity")))
    changes = relabelled.select(
        "id",
        pl.lit(STEP).alias("step"),
        pl.lit("veracity").alias("column"),
        pl.col("veracity").alias("before"),
        labels.alias("after"),
        pl.lit(f"{review.task.name}: decided by review").alias("reason"),
    )
    dropped, unsure = (
        pl.col("id").is_in(list(reasons)) for reasons in (effects.drops, effects.doubts)
    )
    relabel = pl.coalesce(labels, "veracity").alias("veracity")
    records = everything.with_columns(relabel).drop("decided").filter(~dropped & ~unsure)
    validate(records)
    tables = belonging(dataset.tables, records["id"])
    if doubtful is not None:
        tables["doubtful"] = doubtful.filter(~pl.col("id").is_in([*effects.keeps, *effects.drops]))
    for name, why in (("dropped", effects.drops), ("doubtful", effects.doubts)):
        left = reviewed.filter(pl.col("id").is_in(list(why)))
        if left.height:
            reason = pl.col("id").replace_strict(why, return_dtype=pl.String).alias("reason")
            tables[name] = _under(
                tables.get(name),
                to_side_table(name, left.with_columns(pl.lit(STEP).alias("step"), reason)),
            )
    if changes.height:
        tables["changes"] = _under(tables.get("changes"), changes.select(*CHANGES))
    counts = {
        "relabelled": relabelled.height,
        "dropped": int(reviewed.filter(dropped).height),
        "returned": back.height,
        "doubtful": int(reviewed.filter(unsure).height),
    }
    return records, {name: table for name, table in tables.items() if table.height}, counts


def _answers(
    review: Review, outcomes: Mapping[str, tuple[Votes, Outcome]], about: Mapping[str, StoredRow]
) -> list[JsonObject]:
    """A row for each annotator's vote as it is now, under the question that checks read, and one
    for a final decision, whose annotator is "resolution"."""
    rows = []
    for name, (votes, _) in outcomes.items():
        first = {b.person: b.value for b in votes.first}
        for ballot in [*votes.people(), *votes.models(), *votes.final]:
            final = ballot.round == "final"
            changed = first.get(ballot.person) if ballot.round == "second" else None
            rows.append(
                {
                    "record_id": about[name].record_id,
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
                            "other_id": about[name].other_id,
                            "guideline": review.task.guideline_hash(),
                        }
                    ),
                }
            )
    return rows


def _decisions(
    review: Review, ballots: Iterable[Ballot], about: Mapping[str, StoredRow]
) -> pl.DataFrame:
    rows = [
        {
            "id": about[b.item].record_id,
            "other_id": about[b.item].other_id,
            "task": review.task.name,
            "item": b.item,
            "who": b.name,
            "role": b.role,
            "round": b.round,
            "value": written(b.value),
            "comment": b.comment,
            "at": b.at,
            "guideline": review.task.guideline_hash(),
        }
        for b in ballots
    ]
    return pl.DataFrame(rows, schema=DECISIONS)


def _merged(before: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """The old answers, then the new; an old answer of the same annotator to the same question is
    replaced.
    """
    keys = ["record_id", "annotator", "question"]
    others = before.join(new, on=keys, how="anti", nulls_equal=True, maintain_order="left")
    return pl.concat([others, new], how="diagonal_relaxed")


def _under(before: pl.DataFrame | None, new: pl.DataFrame) -> pl.DataFrame:
    return new if before is None else pl.concat([before, new], how="diagonal_relaxed")
