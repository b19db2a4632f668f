"""Run a recipe over a dataset: every record leaves as kept, dropped with a reason, or doubtful, and
counts add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from claimlab.clean.recipe import Recipe, RecipeStep
from claimlab.clean.statistics import DOMAINS, TEXTS, Statistics, describe
from claimlab.clean.step import Outcome, Supplies, labels
from claimlab.clean.steps.decisions import read_decisions
from claimlab.clean.steps.fact_checks import ratings_of_evidence, ratings_table
from claimlab.core.dataset import Dataset, Lineage, belonging
from claimlab.core.digest import digest_table
from claimlab.core.journal import Journal
from claimlab.core.progress import progress
from claimlab.core.record import to_side_table, validate
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several

# Tables that grow from run to run, since what left a dataset must stay findable; all others are of
# this run.
LOGS = ("dropped", "doubtful", "changes")
CHANGES = ("id", "step", "column", "before", "after", "reason")
COUNTS = ("dropped", "doubtful", "changed")
STAGES = {
    "number": pl.Int32,
    **dict.fromkeys(("step", "status"), pl.String),
    **dict.fromkeys(("in", "kept", *COUNTS), pl.Int64),
    "note": pl.String,
}
FEWEST_OF_CLASS, MOST_CLASSES = 20, 10  # records of a class, classes that a note compares
UNEVEN = 0.2  # by which the shares that a stage takes from two classes differ
OURS = (*LOGS, "stages", TEXTS, DOMAINS)
WEIGHTS = "weights"  # how many records each one stands for whose copies were dropped
LEFT = ("dropped", "doubtful")  # the tables of records that a stage takes out


_NONE = pl.DataFrame(schema={"step": pl.String, "label": pl.String})


@dataclass(frozen=True, repr=False)
class Cleaned(Shown):
    """The cleaned dataset and its stage table."""

    dataset: Dataset
    stages: pl.DataFrame

    @property
    def table(self) -> pl.DataFrame:
        return self.stages

    @cached_property
    def statistics(self) -> Statistics:
        """What the texts are like, per label."""
        return describe(self.dataset)

    def headline(self) -> str:
        left = ", ".join(f"{self.total(name):,} {name}" for name in COUNTS)
        return f"'{self.dataset.name}': {several(len(self.dataset), 'record')} kept, {left}"

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write the cleaned dataset."""
        self.dataset.write(folder, force=force)

    def total(self, column: str) -> int:
        return int(self.stages[column].sum())

    @cached_property
    def taken(self) -> pl.DataFrame:
        """What each stage takes from each class: step, label, records of the class before it, and
        taken by it."""
        kept = labels(self.dataset.records).value_counts(name="n").rows()
        left = [self.dataset.tables[name] for name in LEFT if name in self.dataset.tables]
        rows = pl.concat([table.select("step", label=labels(table)) for table in left] or [_NONE])
        here = self.stages.filter(pl.col("dropped") + pl.col("doubtful") > 0)["step"]
        by_step = rows.filter(pl.col("step").is_in(here.implode())).drop_nulls("label")
        counts = {label: n for label, n in kept if label is not None}
        table = []
        for step in reversed(here.to_list()):
            gone = dict(by_step.filter(step=step)["label"].value_counts().rows())
            counts = {
                label: counts.get(label, 0) + gone.get(label, 0) for label in {**counts, **gone}
            }
            table += [(step, label, counts[label], gone.get(label, 0)) for label in sorted(counts)]
        schema = {"step": pl.String, "label": pl.String, "before": pl.Int64, "taken": pl.Int64}
        return pl.DataFrame(table[::-1], schema=schema, orient="row")


@dataclass(frozen=True)
class State:
    """Everything that the stages so far have made: the records, the side tables, and a row for each
    stage.
    """

    records: pl.DataFrame
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    stages: list[JsonObject] = field(default_factory=list)


@dataclass(frozen=True)
class Shields:
    """The ids that no stage takes out: what people decided to keep, and what a protected part of
    the split was published with.
    """

    decided: frozenset[str]
    published: frozenset[str]


@dataclass(frozen=True)
class ExtraTables:
    """Tables that steps read besides the dataset."""

    decisions: pl.DataFrame | None = None
    claimreviews: pl.DataFrame | None = None

    def digests(self) -> dict[str, str]:
        named = {"decisions": self.decisions, "claimreviews": self.claimreviews}
        return {name: digest_table(table) for name, table in named.items() if table is not None}


def run_stages(
    dataset: Dataset,
    recipe: Recipe,
    inputs: ExtraTables,
    seed: int,
    journal: Journal,
    protected: Sequence[str] = (),
) -> Cleaned:
    """Put the records through the stages that `journal` does not hold yet. Of the parts of the
    split that are `protected`, a person's decision alone takes a record out.
    """
    supplies, notes = _supplies(dataset, inputs)
    supplies = replace(supplies, work=journal.place)
    state = _resumed(journal, len(recipe.stages)) or State(dataset.records)
    shields = Shields(
        _shielded(recipe, supplies),
        frozenset(dataset.records.filter(pl.col("split").is_in(list(protected)))["id"]),
    )
    for number in range(len(state.stages), len(recipe.stages)):
        stage = recipe.stages[number]
        progress(f"clean: {stage.step}", number, len(recipe.stages))
        state = _advance(state, stage, dataset.name, supplies, seed, shields)
        journal.write_tables(
            _shard_name(number + 1), state.stages, {"records": state.records, **state.tables}
        )
        journal.forget(_shard_name(number))  # each state holds all before it
    progress("clean: write", len(recipe.stages), len(recipe.stages))
    validate(state.records)
    return _finish(dataset, recipe, state, inputs, seed, notes)


def _resumed(journal: Journal, stages: int) -> State | None:
    """The state after the latest stage that was finished; null when none was."""
    for number in range(stages, 0, -1):
        saved = journal.read_tables(_shard_name(number))
        if saved is not None:
            rows, tables = saved
            return State(tables.pop("records"), tables, rows)
    return None


def _shard_name(number: int) -> str:
    return f"{number:03d}"


def _advance(
    state: State,
    stage: RecipeStep,
    dataset: str,
    supplies: Supplies,
    seed: int,
    shields: Shields,
) -> State:
    """The state after one more stage, run or not."""
    before = state.records
    row = {"number": len(state.stages) + 1, "step": stage.step, "in": before.height}
    missing = stage.missing(supplies, dataset)
    if missing is not None:
        blank = {"status": "not run", "kept": before.height, **dict.fromkeys(COUNTS, 0)}
        more = {"note": missing, "parameters": stage.parameters}
        return State(before, state.tables, [*state.stages, row | blank | more])
    step = stage.make(supplies, seed)
    outcome = step.apply(before)
    outcome.account(before, stage.step)
    outcome, spared = _spare(outcome, before, shields.decided)
    of_part = shields.published if stage.step != "decisions" else frozenset[str]()
    outcome, published = _spare(outcome, before, of_part)
    tables, named = dict(state.tables), pl.lit(stage.step).alias("step")
    for name in ("dropped", "doubtful"):
        left = before.join(getattr(outcome, name), on="id", maintain_order="left")
        _append(tables, name, to_side_table(name, left.with_columns(named)))
    changed = outcome.changed.with_columns(named).select(*CHANGES)
    for name, table in {"changes": changed, **outcome.tables}.items():
        _append(tables, name, table)
    shielding = [f"{several(spared, 'record')} kept by a person's decision"] if spared else []
    if published:
        shielding.append(f"{several(published, 'record')} of a protected part kept as published")
    shielding += _uneven(before, outcome.kept)
    counts = {
        "status": "run",
        "kept": outcome.kept.height,
        "dropped": outcome.dropped.height,
        "doubtful": outcome.doubtful.height,
        "changed": outcome.changed["id"].n_unique(),
        "note": "; ".join([*outcome.notes, *shielding]) or None,
        "parameters": step.parameters(),
    }
    return State(outcome.kept, tables, [*state.stages, row | counts])


def _uneven(before: pl.DataFrame, kept: pl.DataFrame) -> list[str]:
    """What a stage took from each class, where it took much more of one than of another."""
    stays = before.select("id", label=labels(before)).with_columns(
        gone=~pl.col("id").is_in(kept["id"].implode())
    )
    by_class = stays.drop_nulls("label").group_by("label").agg(pl.len(), pl.col("gone").sum())
    by_class = by_class.filter(pl.col("len") >= FEWEST_OF_CLASS).with_columns(
        share=pl.col("gone") / pl.col("len")
    )
    shares = by_class.sort("share", "label", descending=[True, False])
    if not 2 <= shares.height <= MOST_CLASSES or shares["share"][0] - shares["share"][-1] < UNEVEN:
        return []
    of_classes = [
        f"{gone:,} of {n:,} '{label}' ({100 * share:.0f}%)"
        for label, n, gone, share in shares.select("label", "len", "gone", "share").iter_rows()
    ]
    return [f"takes {', '.join(of_classes)}: the shares of the classes change"]


def _spare(outcome: Outcome, before: pl.DataFrame, shielded: frozenset[str]) -> tuple[Outcome, int]:
    """Take back the records that no stage may take out; how many there were."""
    stay = pl.col("id").is_in(list(shielded))
    spared = before.filter(stay).join(
        outcome.kept.select("id"), on="id", how="anti", maintain_order="left"
    )
    if not spared.height:
        return outcome, 0
    order = before.select("id").with_row_index("row")
    rows = pl.concat([outcome.kept, spared]).join(order, on="id").sort("row").drop("row")
    left = {name: getattr(outcome, name).filter(~stay) for name in ("dropped", "doubtful")}
    return replace(outcome, kept=rows, **left), spared.height


def _finish(
    dataset: Dataset, recipe: Recipe, state: State, inputs: ExtraTables, seed: int, notes: list[str]
) -> Cleaned:
    stages = pl.DataFrame([{k: s[k] for k in STAGES} for s in state.stages], schema=STAGES)
    tables = {**_tables(dataset, state), "stages": stages}
    step = Lineage(
        step="clean",
        parameters={
            "recipe": recipe.name,
            "version": recipe.version,
            "fingerprint": recipe.fingerprint(),
            "stages": [
                {
                    "step": s["step"],
                    **({} if s["status"] == "run" else {"not_run": s["note"]}),
                    **s["parameters"],
                }
                for s in state.stages
            ],
        },
        seed=seed,
        inputs={"records": dataset.digest(), **inputs.digests()},
        counts={
            "in": dataset.records.height,
            "records": state.records.height,
            **{name: int(stages[name].sum()) for name in COUNTS},
        },
    )
    out = dataset.derive(state.records, step, tables)
    out.notes += [note for note in notes if note not in out.notes]
    return Cleaned(out, stages)


def _tables(dataset: Dataset, state: State) -> dict[str, pl.DataFrame]:
    """Side tables of the records that are left, and the logs of earlier runs with those of this."""
    others = {name: table for name, table in dataset.tables.items() if name not in OURS}
    own = {name: table for name, table in state.tables.items() if name not in LOGS}
    if WEIGHTS in others and WEIGHTS in own:  # a record stands for what every run took for it
        own[WEIGHTS] = pl.concat([others[WEIGHTS], own[WEIGHTS]])
    others |= own
    tables = belonging(others, state.records["id"])
    for name in LOGS:
        parts = [source[name] for source in (dataset.tables, state.tables) if name in source]
        merged = pl.concat(parts, how="diagonal_relaxed") if parts else pl.DataFrame()
        if merged.height:
            tables[name] = merged
    return tables


def _supplies(dataset: Dataset, inputs: ExtraTables) -> tuple[Supplies, list[str]]:
    """What steps may need, in the form they need it, and a note on decisions that no record
    fits.
    """
    decisions, notes = None, []
    if inputs.decisions is not None:
        decisions, lost = read_decisions(inputs.decisions, dataset.records)
        if lost:
            ids = ", ".join(lost[:5]) + (", …" if len(lost) > 5 else "")
            notes.append(
                f"{several(len(lost), 'decision')} for records that are not in this dataset: {ids}."
            )
    ratings = ratings_of_evidence(dataset.tables)
    if inputs.claimreviews is not None:
        ratings = ratings_table(inputs.claimreviews)
    return Supplies(decisions, ratings, dataset.records.select("id", "group")), notes


def _shielded(recipe: Recipe, supplies: Supplies) -> frozenset[str]:
    """The records that people decided to keep, where the recipe asks for people's decisions."""
    if supplies.decisions is None or not any(s.step == "decisions" for s in recipe.stages):
        return frozenset()
    return frozenset(supplies.decisions.filter(decision="keep")["id"])


def _append(tables: dict[str, pl.DataFrame], name: str, more: pl.DataFrame) -> None:
    tables[name] = pl.concat([tables.get(name, more.clear()), more], how="diagonal_relaxed")
