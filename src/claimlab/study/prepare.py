"""`cl.prepare`: apply what an audit advises and nothing else, audit again, and show both.

    prepared = cl.prepare("data", output="fair")
    print(prepared)

Each step says what it takes out of which class before it does so; one that would take out too much
of a class is refused, with what to do instead. A given split stays as it was published.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Unpack

import polars as pl

from claimlab.audit.advice import name_of
from claimlab.audit.advice_rules import ALARMS
from claimlab.audit.diff import FindingChange, changes
from claimlab.audit.fix import Repaired, given_parts
from claimlab.audit.front import audit as audited_by
from claimlab.audit.remedy import SuggestedCall, split_name
from claimlab.audit.result import Audit, read_audits
from claimlab.audit.run import Audited
from claimlab.audit.subject import Subject
from claimlab.audit.views.page import REPORT, both
from claimlab.core.call import repeatable
from claimlab.core.choices import each_of, one_of
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.finding import VERDICTS
from claimlab.core.options import (
    Argument,
    DataOptions,
    Force,
    InPython,
    Option,
    OptionalFolder,
    Place,
    Sample,
    Seed,
    columns_of,
)
from claimlab.core.places import named
from claimlab.core.progress import progress
from claimlab.core.run import Run, Source, folders_of
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.pages.blocks import Table, excerpt
from claimlab.pages.folder import fill
from claimlab.study.prepare_steps import (
    AGAIN,
    MASKING,
    NAMES,
    Bench,
    StepName,
    StepPlan,
    label_column,
    planned,
)

MOST_LOST = 50.0  # percent of a class that a step may take out
STAYS, NEW = "stays", "new"  # of a finding that fails or warns after the steps: before them, or not


@dataclass(frozen=True, repr=False)
class Prepared(Shown):
    """The prepared dataset, what each step did, and the audits before and after; `after` is null
    where only the plan was asked for."""

    dataset: Dataset
    steps: tuple[StepPlan, ...]
    before: Audit
    after: Audited | None

    @property
    def table(self) -> pl.DataFrame:
        """A row for each step and class: what it takes out."""
        rows = [
            {
                "step": step.name,
                "outcome": step.outcome,
                "class": label,
                "records": n,
                "removed": step.removes.get(label, 0),
                "why": step.why,
            }
            for step in self.steps
            for label, n in step.of.items()
        ]
        return pl.DataFrame(rows)

    @property
    def refused(self) -> tuple[StepPlan, ...]:
        return tuple(step for step in self.steps if step.outcome == "refused")

    @property
    def changes(self) -> list[tuple[str, str, str]]:
        """What failed or warned before: the finding, its result before, and its result after."""
        if self.after is None:
            return []
        split_of = {name_of(finding): split_name(finding) for finding in self.before.findings}
        alarms = [
            change
            for change in changes(self.before, self.after)
            if change.before in ALARMS or change.after in ALARMS
        ]
        # a check that names its finding otherwise once less is found
        renamed = {change.check for change in alarms if change.after is None}
        return [
            (
                _called(change),
                _result(change.before, change.score_before),
                self._after(change, split_of.get(_called(change)), renamed),
            )
            for change in sorted(alarms, key=_turn)
        ]

    def _after(self, change: FindingChange, held_out: str | None, renamed: set[str]) -> str:
        grounds = None if self.after is None else self.after.grounds
        trial = None if grounds is None else grounds.split_by(held_out)
        if trial is not None and trial.done and change.after in ALARMS:
            return "held out by the split"
        words = _result(change.after, change.score_after)
        if change.after not in ALARMS:
            return words
        alarmed = change.before in ALARMS or (change.before is None and change.check in renamed)
        return f"{words}, {STAYS if alarmed else NEW}"

    def side_by_side(self) -> Table:
        """The findings before and after."""
        return Table(["Fails or warns", "Before", "After"], [list(row) for row in self.changes])

    @property
    def remains(self) -> str:
        """What to do about what stays and what the steps brought, in a sentence or two; nothing
        where all is settled."""
        stays = any(after.endswith(STAYS) for _, _, after in self.changes)
        new = [name for name, _, after in self.changes if after.endswith(NEW)]
        sentences = ["Report what stays beside every score."] if stays else []
        if new:
            names = ", ".join(new)
            sentences.append(
                f"New in what the steps made: {names}. Report {verb(len(new), 'it', 'them')}, too."
            )
        return " ".join(sentences)

    @property
    def next_step(self) -> SuggestedCall | None:
        """A detector on the fair split, or a look at the column that is the label; null for a
        plan."""
        if self.after is None:
            return None
        place = "OUT" if self.dataset.path is None else named(str(self.dataset.path))
        if self.after.conclusion.verdict.name == "not usable":
            return self.after.next_step(place)
        if "train" in self.dataset.records["split"].unique():
            return SuggestedCall("detect", place, {"output": f"{place}-run"})
        return self.after.next_step(place)

    def headline(self) -> str:
        removed = sum(sum(step.removes.values()) for step in self.applied)
        names = ", ".join(step.name for step in self.applied) or "nothing"
        left = f"of '{self.dataset.name}': {names} applied, {several(removed, 'record')} removed"
        return left if self.after is None else f"{left}; {self.after.conclusion.usable}"

    @property
    def applied(self) -> tuple[StepPlan, ...]:
        return tuple(step for step in self.steps if step.outcome == "applied")

    def to_json(self) -> JsonObject:
        return {
            "steps": [
                {
                    "step": step.name,
                    "outcome": step.outcome,
                    "why": step.why,
                    "removes": dict(step.removes),
                    "of": dict(step.of),
                    "instead": step.instead and step.instead.shell,
                }
                for step in self.steps
            ],
            "before": self.before.conclusion.verdict.to_json(),
            "after": self.after and self.after.conclusion.verdict.to_json(),
            "findings": [
                {"finding": finding, "before": before, "after": after}
                for finding, before, after in self.changes
            ],
            "next": self.next_step and self.next_step.shell,
        }


@repeatable("dry_run", "on_step")
def prepare(  # noqa: PLR0913
    data: Annotated[Source, Argument("A claimlab dataset folder.")],
    *,
    output: OptionalFolder = None,
    audit: Annotated[
        Place | None, Option("Report folder of its audit; without one, it is audited first.")
    ] = None,
    steps: Annotated[
        Sequence[str],
        Option(
            "Apply only this step: masks, leaks, copies, contradictions, split or words; may be"
            " repeated."
        ),
    ] = (),
    max_lost: Annotated[
        float, Option("Percent of a class that one step may remove at most.", least=0, most=100)
    ] = MOST_LOST,
    change_test: Annotated[
        bool,
        Option("Let steps change a given test part: mask its texts, or draw a new split."),
    ] = False,
    target: Annotated[
        str | None, Option("A task or any column; what the labels are about, by default.")
    ] = None,
    dry_run: Annotated[
        bool, Option("Say what each step would remove from which class, and write nothing.")
    ] = False,
    seed: Seed = 0,
    limit: Sample = None,
    force: Force = False,
    on_step: Annotated[
        Callable[[StepPlan], None] | None,
        InPython("Is told what a step removes before it is applied."),
    ] = None,
    **columns: Unpack[DataOptions],
) -> Prepared:
    """Apply what an audit advises and nothing else, and audit again.

    In this order: ways of typing and URLs that give the label away are masked; training records
    with a copy in a held-out part leave train; one record of each text stays; contradicting labels
    are set aside for review; the dataset is split by what gives the label away; one-sided words of
    train are masked, and what became equal leaves likewise. A step that would take more than
    `max_lost` percent out of a class is refused. A given split stays as it was published, unless
    `change_test`. With `output`, the dataset is written there, with both audits in `report`.
    """
    names = _chosen(steps)
    to = None if dry_run else output
    with Run(
        "prepare", data, to, reads=folders_of(audit), force=force, seed=seed, **columns_of(columns)
    ) as run:
        dataset = run.dataset.sampled(limit, seed)
        before = _before(dataset, audit, target, seed)
        bench = Bench(
            before,
            before.place or "DIR",
            before.target,
            change_test,
            seed,
            change_test and "split" in names and label_column(before) is None,
        )
        original = Subject.of(dataset, before.target).class_counts
        plans: list[StepPlan] = []
        removed: dict[str, str] = {}
        current, turns = dataset, list(names)
        for turn, name in enumerate(turns):  # grows where words are masked
            progress(f"prepare: {name}", turn, len(turns))
            plan, change = planned(name, current, bench, original, max_lost)
            if turn >= len(names) and plan.outcome == "not needed":
                continue
            plans.append(plan)
            if on_step is not None:
                on_step(plan)
            if change is None:
                continue
            if name in MASKING:
                bench = replace(bench, unmasked=current)
            if name == "words":
                bench = replace(bench, redraws=False)
                turns += [each for each in AGAIN if each in names]
            current = change.dataset
            removed |= change.removed
        if dry_run:
            return Prepared(current, tuple(plans), before, None)
        after = audited_by(current, target=before.target, seed=seed)
        sides = dict(dataset.records.select("id", "split").iter_rows())
        lines = [*(step.sentence for step in plans), *_kept(dataset, current)]
        figures = {"records before": len(dataset), "after": len(current), "removed": len(removed)}
        repaired = Repaired(current, figures, lines, removed, sides)
        run.finish(current, lambda folder: fill(both(repaired, before, after), folder / REPORT))
    if current.path is not None:
        after.place = named(str(current.path))
    return Prepared(current, tuple(plans), before, after)


def _chosen(steps: Sequence[str]) -> list[StepName]:
    words = [word.strip() for entry in each_of(steps) for word in entry.split(",")]
    wanted = {one_of(NAMES, word, "steps") for word in words}
    return [name for name in NAMES if not wanted or name in wanted]


def _before(dataset: Dataset, saved: Place | None, target: str | None, seed: int) -> Audited:
    """The audit that advises: the one that was saved, or a new one."""
    if saved is None:
        return audited_by(dataset, target=target, seed=seed)
    for entry in read_audits(Path(saved)):
        if entry.digest == dataset.digest() and target in (None, entry.target):
            before = Audited(**vars(entry))
            before.place = None if dataset.path is None else named(str(dataset.path))
            return before
    raise DataError(
        f"The audit in '{saved}' is not of '{dataset.name}' as it is now.",
        "Leave out `audit`, and a new one is made.",
    )


def _kept(before: Dataset, after: Dataset) -> list[str]:
    """What of a given split stayed as it was published."""
    old, new = (data.records.select("id", "text", "split") for data in (before, after))
    lines = []
    for side in given_parts(before.records):
        part = old.filter(split=side)
        if part.join(new, on=["id", "text", "split"], how="semi").height == part.height:
            lines.append(f"{several(part.height, f'{side} record')} kept as published")
    return lines


def _called(change: FindingChange) -> str:
    same = change.feature is None or change.feature == change.check
    return change.check if same else f"{change.check} ({excerpt(change.feature or '', 60)})"


def _turn(change: FindingChange) -> tuple[int, float]:
    """What failed before first, the highest score before the others."""
    gravity = len(VERDICTS) if change.before is None else VERDICTS.index(change.before)
    return gravity, -(change.score_before or 0.0)


def _result(verdict: str | None, score: float | None) -> str:
    """A finding in a cell: its score and its verdict."""
    if verdict is None:
        return "not there"
    return verdict if score is None else f"{100 * score:.1f} {verdict}"
