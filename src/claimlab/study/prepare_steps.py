"""The steps of `prepare`: each says what it would take out of a dataset, of which class and why,
before it does so, and gives the dataset after it.

A step is made of what the rooms below have: which records an audit points at (`audit/fix`), the
split that an audit made dry, and the masks of cleaning. What masks make equal is looked for in the
masked texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import polars as pl

from claimlab.audit.advice import name_of
from claimlab.audit.advice_rules import ALARMS
from claimlab.audit.fix import conflicting, copies, given_parts, labels_of, leaking, without
from claimlab.audit.ladder import SplitTrial
from claimlab.audit.remedy import SuggestedCall
from claimlab.audit.rule import Context
from claimlab.audit.run import Audited
from claimlab.audit.subject import Subject
from claimlab.audit.trial import made_dry
from claimlab.clean.front import clean
from claimlab.clean.recipe import Recipe
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab.core.types import Json
from claimlab.core.words import several
from claimlab.split.run import split
from claimlab.tasks import TRUTH
from claimlab.text.mask import WORD_LISTS

StepName = Literal["masks", "leaks", "copies", "contradictions", "split", "words"]
NAMES: tuple[StepName, ...] = get_args(StepName)  # in the order in which they are applied
MASKING: tuple[StepName, ...] = ("masks", "words")  # these change texts
AGAIN: tuple[StepName, ...] = ("leaks", "copies", "contradictions")  # after words are masked
Outcome = Literal["applied", "refused", "not needed"]
CONTRADICTIONS = ("identical-texts", "url-conflicts")
# What to do instead of a step that would take out too much, and the split that does it
OTHERWISE: Mapping[StepName, tuple[str, str]] = {
    "leaks": ("Test on other data, or draw a new split", "near-duplicates"),
    "copies": ("Keep the copies, on one side of a split", "near-duplicates"),
    "contradictions": (
        "If these are pairs with opposite labels, keep them and split by group",
        "group",
    ),
    "split": ("Keep copies and groups on one side instead", "near-duplicates"),
    "masks": ("Keep the texts as they are, and copies on one side", "near-duplicates"),
    "words": ("Keep the texts as they are, and copies on one side", "near-duplicates"),
}
FALLBACK = "near-duplicates"  # the split where nothing has to be held out
NO_MASK = Recipe("prepare", 1, ())  # cleaning does nothing but mask
Reasons = Callable[[Dataset], Mapping[str, str]]  # id -> why a record is to leave


@dataclass(frozen=True)
class StepPlan:
    """What one step of `prepare` does, or why it does nothing. `removes` and `of` count records by
    class; `instead` is what to do where it was refused."""

    name: StepName
    outcome: Outcome
    why: str
    removes: Mapping[str, int] = field(default_factory=dict)
    of: Mapping[str, int] = field(default_factory=dict)
    instead: SuggestedCall | None = None

    def share(self, label: str) -> float:
        """The share of a class that it takes out, in percent."""
        return 100 * self.removes.get(label, 0) / max(1, self.of[label])

    @property
    def largest(self) -> float:
        """The largest share that it takes out of any class, in percent."""
        return max(map(self.share, self.of), default=0.0)

    @property
    def lost(self) -> str:
        """How many records it takes out of each class, in words."""
        return ", ".join(
            f"{self.removes.get(label, 0):,} of {n:,} '{label}' ({self.share(label):.0f}%)"
            for label, n in self.of.items()
        )

    @property
    def sentence(self) -> str:
        """The step in a line: what it takes out, and why; or why it does nothing."""
        if self.outcome == "not needed":
            return f"{self.name}: not needed, {self.why}"
        verb = "removes" if self.outcome == "applied" else "refused, would remove"
        if self.outcome == "refused" and not self.removes:
            return f"{self.name}: refused, {self.why}"
        loses = bool(sum(self.removes.values()))
        return (
            f"{self.name}: {verb} {self.lost}; {self.why}" if loses else f"{self.name}: {self.why}"
        )


@dataclass(frozen=True)
class Change:
    """A dataset after a step, and why records left it: id -> reason."""

    dataset: Dataset
    why: str
    removed: Mapping[str, str] = field(default_factory=dict)
    unused: Sequence[str] = ()  # ids that stay, but on no side of the split


@dataclass(frozen=True)
class Bench:
    """What all steps of one run share: the audit that advises, and what was asked for."""

    audit: Audited
    place: str  # the dataset, as a command names it
    target: str
    change_test: bool
    seed: int
    redraws: bool = False  # whether a new split takes the place of the given one
    unmasked: Dataset | None = None  # as it was before its texts were masked, if they were

    @property
    def masked(self) -> bool:
        return self.unmasked is not None

    @property
    def task(self) -> dict[str, Json]:
        return {} if self.target == TRUTH else {"task": self.target}

    @property
    def alarms(self) -> Sequence[str]:
        """The findings that fail or warn, by name."""
        every = [finding for each in self.audit.findings for finding in each.every]
        return [name_of(finding) for finding in every if finding.verdict in ALARMS]

    def about(self, *names: str) -> list[str]:
        """The findings that fail or warn whose names begin so."""
        return [alarm for alarm in self.alarms if alarm.startswith(names)]

    def asked(self, data: Dataset, reasons: Reasons, *names: str) -> Mapping[str, str]:
        """The records that a step takes out: all where the audit found such, and otherwise those
        that came with the masks."""
        after = dict(reasons(data))
        if self.about(*names) or self.unmasked is None:
            return after
        before = reasons(self.unmasked)
        return {record: why for record, why in after.items() if record not in before}

    def beside(self, function: str, name: str, **options: Json) -> SuggestedCall:
        """A command on the dataset that writes to a folder of this name beside it."""
        return SuggestedCall(function, self.place, {"output": f"{self.place}-{name}", **options})


class NotNeeded(Exception):
    """Nothing in the audit calls for a step."""


class Refused(Exception):
    """A step cannot be carried out; `instead` is what to do."""

    def __init__(self, why: str, instead: SuggestedCall | None = None) -> None:
        super().__init__(why)
        self.instead = instead


def leaks(data: Dataset, bench: Bench) -> Change:
    """Training records with a copy in a held-out part leave train."""
    kept = given_parts(data.records)
    if not kept:
        raise NotNeeded("no split is given")
    if bench.redraws:
        raise NotNeeded("the split is drawn anew")
    about = "near-duplicates (across the given"
    if not bench.masked and not bench.about(about):
        raise NotNeeded("the audit finds no test record in train")
    removed = bench.asked(data, lambda each: leaking(each.records, list(kept)), about)
    parts = " and ".join(f"the {n:,} {side} records" for side, n in kept.items())
    stay = "stay" if bench.change_test else "stay as published"
    return Change(
        without(data, "leaks", removed, "dropped", bench.seed),
        f"copies of held-out records leave train; {parts} {stay}",
        removed,
    )


def copied(data: Dataset, bench: Bench) -> Change:
    """One of each text stays; a part that is held out stays as it is."""
    about = ("copies", "near-duplicates")
    if not bench.masked and not bench.about(*about):
        raise NotNeeded("the audit finds no copies that matter")

    def later(each: Dataset) -> dict[str, str]:
        labels = labels_of(Subject.of(each, bench.target))
        return copies(each.records.with_columns(labels))

    removed = _loose(data, bench.asked(data, later, *about), bench)
    return Change(
        without(data, "copies", removed, "dropped", bench.seed),
        f"the first record of each {'masked ' if bench.masked else ''}text stays",
        removed,
    )


def contradicting(data: Dataset, bench: Bench) -> Change:
    """Records whose text, near text or URL has several labels are set aside for review."""
    about = (*CONTRADICTIONS, "near-duplicates (under")
    if not bench.masked and not bench.about(*about):
        raise NotNeeded("the audit finds no contradicting labels")
    reasons = bench.asked(data, lambda each: conflicting(Subject.of(each, bench.target)), *about)
    removed = _loose(data, reasons, bench)
    return Change(
        without(data, "contradictions", removed, "doubtful", bench.seed),
        "contradicting labels are set aside for review (table `doubtful`)",
        removed,
    )


def _loose(data: Dataset, reasons: Mapping[str, str], bench: Bench) -> dict[str, str]:
    """Without what is in a held-out part of the given split, which stays as published."""
    kept = [] if bench.change_test else list(given_parts(data.records))
    held_out = data.records["split"].is_in(kept).fill_null(value=False)
    published = set(data.records["id"].filter(held_out))
    return {record: why for record, why in reasons.items() if record not in published}


def fair_split(data: Dataset, bench: Bench) -> Change:
    """The split that the audit made dry, where it can still be made of what is left; where none
    can, one that keeps copies and groups together."""
    advised = chosen_splits(bench.audit)
    if given_parts(data.records) and not bench.change_test:
        if not advised:
            raise NotNeeded("a split is given, and stays as published")
        raise Refused(
            f"a split is given, and stays as published. A new one by {advised[0].name} is no longer"
            " comparable with published scores",
            bench.beside("split", f"by-{advised[0].name}", **options_of(advised[0]), **bench.task),
        )
    column = label_column(bench.audit)
    if column is not None:
        raise Refused(
            f"the label is the {column}, so no split separates the two. Add records with several"
            f" classes for one {column}"
        )
    subject = Subject.of(data, bench.target, Context(seed=bench.seed))
    names = [trial.name for trial in advised]
    tried = [made_dry(data, subject, name, drop_leaks=True) for name in names]
    trial = next((trial for trial in tried if trial.possible), None)
    options = {"by": FALLBACK} if trial is None else options_of(trial)
    made = split(data, **options, **bench.task, drop_leaks=True, seed=bench.seed)
    sides = ", ".join(f"{side} {n:,}" for side, n in made.checked.sides().items())
    unused = made.dataset.records.filter(pl.col("split").is_null())["id"].to_list()
    named = FALLBACK if trial is None else trial.name
    failed = [f"not by {each.name}: {each.why_not}" for each in tried if not each.possible]
    why = f" ({'; '.join(failed)})" if failed else ""
    return Change(made.dataset, f"split by {named}: {sides}{why}", unused=unused)


def chosen_splits(audit: Audited) -> list[SplitTrial]:
    """The splits that can be made, the one by what gives most away first."""
    trials = [] if audit.grounds is None else audit.grounds.splits
    possible = [trial for trial in trials if trial.possible and not trial.done]
    about = audit.conclusion.verdict.about
    return sorted(possible, key=lambda trial: trial.name != about)


def options_of(trial: SplitTrial) -> dict[str, Json]:
    """How `split` is called to make it."""
    options = {"by": trial.by, "column": trial.column, "shares": trial.shares}
    return {name: value for name, value in options.items() if value is not None}


def label_column(audit: Audited) -> str | None:
    """The column that is the label, so that no split separates the two."""
    column = None if audit.grounds is None else audit.grounds.label_column
    return None if column is None else column.column


def masks(data: Dataset, bench: Bench) -> Change:
    """Ways of typing and URLs that give the label away are taken out of texts, first of all: what
    becomes equal is then a copy."""
    return _masked(
        data, bench, "masks", [k for k in advised_masks(bench.audit) if k not in WORD_LISTS]
    )


def words(data: Dataset, bench: Bench) -> Change:
    """Words that give the label away are taken out of texts; they are chosen on train where there
    is a split, so after the split."""
    listed = [kind for kind in advised_masks(bench.audit) if kind in WORD_LISTS]
    return _masked(data, bench, "words", listed)


def _masked(data: Dataset, bench: Bench, step: StepName, kinds: Sequence[str]) -> Change:
    if not kinds:
        raise NotNeeded("the audit advises no mask")
    if bench.audit.split and not bench.change_test:
        raise Refused(
            f"masks ({', '.join(kinds)}) change the texts of the published test part",
            bench.beside("prepare", "masked", steps=[step], change_test=True, **_tested(bench)),
        )
    cleaned = clean(
        data, NO_MASK, mask=kinds, protect="none", seed=bench.seed, task=bench.target
    ).dataset
    rest = set(cleaned.records["id"])
    removed = {record: "no text is left" for record in data.records["id"] if record not in rest}
    before = data.records.filter(~pl.col("id").is_in(list(removed)))["text"]
    changed = int((before != cleaned.records["text"]).sum())
    return Change(cleaned, f"masks {', '.join(kinds)} in {several(changed, 'text')}", removed)


def advised_masks(audit: Audited) -> list[str]:
    """What the audit advises to mask."""
    kinds: dict[str, None] = {}
    for advice in audit.conclusion.advice:
        for call in advice.commands:
            mask = call.options.get("mask", ()) if call.function == "clean" else ()
            kinds |= dict.fromkeys([mask] if isinstance(mask, str) else map(str, mask or ()))
    return list(kinds)


def _tested(bench: Bench) -> dict[str, Json]:
    return {} if bench.target == TRUTH else {"target": bench.target}


STEPS: Mapping[StepName, Callable[[Dataset, Bench], Change]] = {
    "masks": masks,
    "leaks": leaks,
    "copies": copied,
    "contradictions": contradicting,
    "split": fair_split,
    "words": words,
}


def planned(
    name: StepName, data: Dataset, bench: Bench, original: Mapping[str, int], max_lost: float
) -> tuple[StepPlan, Change | None]:
    """What a step would do, and the dataset after it; null where it does nothing. `original` counts
    the records of each class before the first step."""
    try:
        change = STEPS[name](data, bench)
    except NotNeeded as reason:
        return StepPlan(name, "not needed", str(reason), of=original), None
    except Refused as refusal:
        return StepPlan(name, "refused", str(refusal), of=original, instead=refusal.instead), None
    except ClaimlabError as error:
        return StepPlan(name, "refused", error.problem.rstrip("."), of=original), None
    gone = [*change.removed, *change.unused]
    if not gone and name not in ("split", *MASKING):
        return StepPlan(name, "not needed", "nothing is left to remove", of=original), None
    plan = StepPlan(name, "applied", change.why, _by_class(data, gone, bench, original), original)
    if plan.largest <= max_lost:
        return plan, change
    why, instead = _otherwise(name, bench)
    limit = f"more than {max_lost:g}% of a class. {why}"
    return replace(plan, outcome="refused", why=limit, instead=instead), None


def _by_class(
    data: Dataset, ids: Sequence[str], bench: Bench, original: Mapping[str, int]
) -> dict[str, int]:
    gone = data.records.filter(pl.col("id").is_in(list(ids)))
    counts = Subject.of(replace(data, records=gone, files={}), bench.target).class_counts
    return {label: counts.get(label, 0) for label in original}


def _otherwise(name: StepName, bench: Bench) -> tuple[str, SuggestedCall]:
    """What to do instead of a step that takes out too much, in a sentence and as a command."""
    words, by = OTHERWISE[name]
    return words, bench.beside("split", f"by-{by}", by=by, **bench.task)
