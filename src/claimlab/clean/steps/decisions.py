"""What people decided about single records: removed, relabelled or kept, each with its reason.

Decisions made by people, as a table: id (or row), decision, reason.

A decision is `keep`, `remove` or `relabel VERDICT`. A row number is the 0-based row of the
published file where the records carry it (`meta.row`), and otherwise the row of the dataset that is
being cleaned.
"""

from __future__ import annotations

import re

import polars as pl

from claimlab.clean.step import CleanStep, Outcome
from claimlab.core.errors import DataError
from claimlab.core.record import VERACITIES
from claimlab.core.words import several

SCHEMA = {"id": pl.String, "decision": pl.String, "label": pl.String, "reason": pl.String}

_DECISION = re.compile(r"(keep|remove)|relabel\s+(\w+)", re.IGNORECASE)


def read_decisions(table: pl.DataFrame, records: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Decisions with the ids they are about (id, decision, label, reason), and what could not be
    placed.

    A row without a decision (of an inspection table that is not filled in yet) is passed over.
    """
    key = next((c for c in ("id", "record_id", "row") if c in table.columns), None)
    if key is None or "decision" not in table.columns:
        raise DataError(
            f"The table of decisions has the columns {', '.join(table.columns) or 'none'}.",
            "It needs 'decision', and 'id' or 'row'; 'reason' says why.",
        )
    ids = _ids(table[key].cast(pl.String), key, records)
    named = pl.DataFrame(schema={"reason": pl.String})
    reasons = pl.concat([named, table], how="diagonal_relaxed")["reason"].cast(pl.String)
    rows, lost = [], []
    for name, i, decision, reason in zip(
        table[key], ids, table["decision"].cast(pl.String), reasons, strict=True
    ):
        if decision is None or not decision.strip():
            continue
        kind, label = _parse(decision, name)
        if i is None:
            lost.append(str(name))
            continue
        rows.append((i, kind, label, reason))
    decisions = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    _refuse_contradictions(decisions)
    return decisions, lost


def _ids(keys: pl.Series, kind: str, records: pl.DataFrame) -> list[str | None]:
    if kind != "row":
        ids = set(records["id"])
        return [key if key in ids else None for key in keys]
    own = records["meta"].str.json_path_match("$.row")
    numbers = own.to_list() if not own.null_count() else [str(n) for n in range(records.height)]
    at = dict(zip(numbers, records["id"], strict=True))
    return [at.get(key) for key in keys]


def _parse(decision: str, where: object) -> tuple[str, str | None]:
    match = _DECISION.fullmatch(decision.strip())
    label = match[2].lower() if match and match[2] else None
    if match is None or (label is not None and label not in VERACITIES):
        raise DataError(
            f"The decision '{decision}' for '{where}' is not a valid decision.",
            f"Write keep, remove, or relabel with one of: {', '.join(VERACITIES)}.",
        )
    return (match[1].lower(), None) if match[1] else ("relabel", label)


def _refuse_contradictions(decisions: pl.DataFrame) -> None:
    several_of_one = pl.struct("decision", "label").n_unique().over("id") > 1
    torn = decisions.filter(several_of_one)["id"].unique().sort()
    if torn.len():
        raise DataError(
            f"The table of decisions gives different decisions for {several(torn.len(), 'record')},"
            f" such as '{torn[0]}'.",
            "Keep one decision for each record.",
        )


class DecisionsStep(CleanStep):
    """`keep` also shields a record from every other step of the recipe: the runner sees to that."""

    name = "decisions"
    summary = (
        "Applies the annotators' decisions (keep, remove, relabel); `only` and `without` select"
        " them by reason."
    )
    needs = ("decisions",)

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    decisions: pl.DataFrame | None = None

    def apply(self, records: pl.DataFrame) -> Outcome:
        assert self.decisions is not None  # the runner hands it in
        chosen = self.decisions.filter(~pl.col("reason").is_in(self.without).fill_null(False))
        chosen = chosen.filter(pl.col("reason").is_in(self.only)) if self.only else chosen
        here = records.select("id", "veracity").join(
            chosen.unique("id", keep="first", maintain_order=True), on="id", maintain_order="left"
        )
        removed, changed, new = {}, [], {}
        for i, veracity, decision, label, reason in here.iter_rows():
            why = f"decided by a person: {reason or 'no reason given'}"
            if decision == "remove":
                removed[i] = why
            elif decision == "relabel" and label != veracity:
                changed.append((i, "veracity", veracity, label, why))
                new[i] = label
        column = [new.get(i, v) for i, v in records.select("id", "veracity").iter_rows()]
        gone = chosen["id"].n_unique() - here.height
        note = f"{several(gone, 'decision')} on records that were removed before"
        return Outcome.of(
            records,
            kept=records.with_columns(pl.Series("veracity", column, dtype=pl.String)),
            dropped=removed,
            changed=changed,
            notes=(note,) if gone else (),
        )


STEP = DecisionsStep
