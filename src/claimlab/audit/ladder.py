"""The verdict on a dataset: six rungs, and the first that applies with the number that decides.

    1  cannot be scored             fewer than two classes, or fewer than 30 records of one
    2  not usable                   the label is a column: no split separates the two
    3  usable on one split only     a column gives the label away, and a split by it can be made
    4  usable beside a property     what gives the label away stays after the advised cleaning
    5  usable after cleaning        the cleaned copy was audited again, and nothing fails
    6  usable                       nothing was found, or no signal was found

It is a pure function of what an audit found and tried (`Grounds`), so that a page made of a saved
audit says the same as the terminal did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from claimlab.core.stats.rule import Rule
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb

# What a finding is about. A column can be held out by a split; a property is in the text, and may
# stay after masking; a repair is what cleaning does; what is aside reaches no detector that reads
# texts, or is settled by any new split; a note is to be read and reported.
Weighs = Literal["column", "property", "repair", "aside", "note"]
RungName = Literal[
    "cannot be scored",
    "not usable",
    "usable on one split only",
    "usable beside a property",
    "usable after cleaning",
    "usable",
]
_ALL: tuple[Weighs, ...] = ("column", "property", "repair", "note")  # but what is aside
NAMES: tuple[RungName, ...] = get_args(RungName)
LEAST_OF_A_CLASS = Rule.min_class  # records
MARGIN = 100 * Rule.margin  # points above chance, at the lower end of the interval
SAYS_LITTLE = 10.0  # points: a text model that is not so far above a property says little
LEAST_RECURRING = 0.5  # of the records, whose value occurs more than once
MOST_MIXED = 0.05  # of those records, with a value that has several classes
MOST_OF_CHANCE = 0.2  # of the share that shuffled labels give
NO_SIGNAL = "no signal found"
NAMED = 3  # names in a sentence; the others are counted


class Kept(BaseModel):
    """What an audit keeps beside its findings."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Defect(Kept):
    """A finding that fails or warns, as the verdict reads it. `points` says by how many points of
    100 it can move a score, `least` the lower end of its interval; `column` can be held out."""

    name: str
    weighs: Weighs
    fails: bool
    points: float
    least: float
    score: float | None = None  # macro-F1 (0-1) that it reaches alone
    chance: float | None = None  # that of the best baseline
    column: str | None = None

    @property
    def decides(self) -> bool:
        """Whether it is large enough to decide the verdict."""
        return self.fails and self.least > MARGIN

    @property
    def figures(self) -> str:
        """How far it goes, in brackets."""
        if self.score is None or self.chance is None:
            return f"{self.points:.1f} points"
        return f"alone it reaches {100 * self.score:.1f}, chance {100 * self.chance:.1f}"


class LabelColumn(Kept):
    """How far the labels follow a column: of the records whose value recurs, the share with a value
    that has several classes, and what shuffled labels give."""

    column: str
    split: str  # the name of the split that holds its values out
    counted: str  # the values that recur, in words: 13 publishers
    values: int  # that recur
    both: int  # of them, with several classes
    recurring: float  # share of all records
    mixed: float
    chance: float
    about: bool = False  # whether the task judges the values of this very column
    # whether it says who published, so that its values are no events that a claim is about
    origin: bool = False

    @property
    def is_label(self) -> bool:
        """Whether a value says the label, and chance does not explain it."""
        return (
            not self.about
            and self.recurring >= LEAST_RECURRING
            and self.mixed < MOST_MIXED
            and self.mixed < MOST_OF_CHANCE * self.chance
        )


class SplitTrial(Kept):
    """A split that advice names, made dry: the records of each class on each side, and how many
    units of equal size train and test tell as much as."""

    name: str  # of the column or strategy
    by: str
    column: str | None = None
    shares: str | None = None
    why_not: str | None = None
    sides: dict[str, dict[str, int]] = {}
    units: dict[str, float] = {}
    test: str = ""  # its records and their units, in words: 140 records of 9 publishers
    done: bool = False  # the given split already holds whole values out

    @property
    def possible(self) -> bool:
        return self.why_not is None


class TextModel(Kept):
    """What a plain text model reaches, against the best baseline; `signal` is null where it was not
    compared with shuffled labels."""

    score: float
    chance: float
    signal: bool | None = None


class Grounds(Kept):
    """What a verdict rests on beside the findings; empty for an audit that kept none.

    `after` are the defects of the copy that was cleaned and masked as advised, null where nothing
    had to be; `left_out` says what an earlier cleaning left out, `lost` that cleaning would leave
    too little. `checks` counts those that were named, null for all. `drawn_of` is the number of
    records of which these were drawn.
    """

    classes: dict[str, int] | None = None
    columns: list[LabelColumn] = []
    splits: list[SplitTrial] = []
    after: list[Defect] | None = None
    left_out: str | None = None
    lost: str | None = None
    text: TextModel | None = None
    checks: int | None = None
    drawn_of: int | None = None

    def split_by(self, column: str | None) -> SplitTrial | None:
        return next((trial for trial in self.splits if trial.name == column), None)

    @property
    def label_column(self) -> LabelColumn | None:
        """The column that the labels follow, whatever is held out: one that says who published; or
        another that no split can hold out with both classes on each side."""
        for each in self.columns:
            trial = self.split_by(each.split)
            stuck = trial is not None and not trial.possible
            if each.is_label and (each.origin or stuck):
                return each
        return None


@dataclass(frozen=True)
class Rung:
    """Where a dataset is on the ladder, in a few words; `why` has the number that decides, and
    `about` the column or property."""

    number: int
    words: str
    why: str
    about: str | None = None

    @property
    def name(self) -> RungName:
        return NAMES[self.number - 1]

    @property
    def sentence(self) -> str:
        """The words, and the number that decides."""
        return f"{self.words[:1].upper()}{self.words[1:]}{self.why}"

    @property
    def reason(self) -> str:
        """The number that decides, as a sentence of its own."""
        rest = self.why.lstrip(" :.,")
        return f"{rest[:1].upper()}{rest[1:]}"

    def __str__(self) -> str:
        return self.sentence

    def to_json(self) -> JsonObject:
        return {
            "rung": self.number,
            "name": self.name,
            "words": self.words,
            "about": self.about,
            "sentence": self.sentence,
        }


@dataclass(frozen=True)
class Case:
    """What a verdict is made of."""

    task: str
    defects: Sequence[Defect]
    grounds: Grounds
    inconclusive: Sequence[str] = ()
    measured: bool = True  # whether any check has a result

    @property
    def remaining(self) -> list[Defect]:
        """What is left once the data is cleaned as advised; what cannot be cleaned stays."""
        after = self.grounds.after
        left = self.defects if after is None else after
        return [defect for defect in left if defect.weighs != "aside"]

    def deciding(self, *weighs: Weighs) -> list[Defect]:
        """What is left and large enough to decide, the largest first."""
        left = [defect for defect in self.remaining if defect.weighs in weighs and defect.decides]
        return sorted(left, key=lambda defect: -defect.points)

    @property
    def held_out(self) -> list[tuple[Defect, SplitTrial]]:
        """Columns that give the label away and that a split can hold out."""
        pairs = [
            (defect, self.grounds.split_by(defect.column)) for defect in self.deciding("column")
        ]
        return [
            (defect, trial)
            for defect, trial in pairs
            if trial is not None and trial.possible and not trial.done
        ]


def place(case: Case) -> Rung:
    """The first rung that applies; the last applies to all."""
    found = (
        _cannot_be_scored(case)
        or _not_usable(case)
        or _one_split_only(case)
        or _beside_a_property(case)
        or _after_cleaning(case)
        or _usable(case)
    )
    return replace(found, why=f"{found.why}{_drawn(case)}")


def _cannot_be_scored(case: Case) -> Rung | None:
    classes = case.grounds.classes
    if classes is None:
        return None
    if not sum(classes.values()):
        why = "no record has a label"
    elif len(classes) == 1:
        why = f"all labelled records are '{next(iter(classes))}'"
    else:
        rarest = min(classes, key=lambda name: classes[name])
        if classes[rarest] >= LEAST_OF_A_CLASS:
            return None
        count = several(classes[rarest], "record is", "records are")
        why = f"{count} '{rarest}', and {LEAST_OF_A_CLASS} of each class are needed"
    return Rung(1, f"cannot be scored as {case.task}", f": {why}.")


def _not_usable(case: Case) -> Rung | None:
    column = case.grounds.label_column
    if column is None:
        return None
    have = verb(column.both, "has", "have")
    return Rung(
        2,
        f"not usable for {case.task}: the label is the {column.column}",
        f". {column.both:,} of {column.counted} {have} more than one class"
        f" ({100 * column.mixed:.1f}% of their records; shuffled labels give"
        f" {100 * column.chance:.0f}%), so no split separates the two.",
        column.column,
    )


def _one_split_only(case: Case) -> Rung | None:
    if not case.held_out:
        return None
    (defect, trial), *_ = case.held_out
    beside = [other for other in case.deciding("column", "property", "repair") if other != defect]
    why = (
        f": {defect.figures}. That split was made dry: every side has {_each(trial)}, and its test"
        f" {trial.test}."
    )
    if beside:
        why += f" Beside it: {_names(beside)}."
    return Rung(3, f"usable on one split only, by {defect.column}", why, defect.column)


def _each(trial: SplitTrial) -> str:
    classes = max((len(counts) for counts in trial.sides.values()), default=2)
    return "both classes" if classes == 2 else "every class"


def _beside_a_property(case: Case) -> Rung | None:
    held_out = {trial.name for trial in case.grounds.splits if trial.done}
    found = [
        defect
        for defect in case.deciding("column", "property", "repair")
        if defect.column is None or defect.column not in held_out
    ]
    if not found:
        return None
    first, *others = found
    trial, tried = case.grounds.split_by(first.column), case.grounds.after is not None
    also = " also after the advised cleaning" if tried and first.weighs == "property" else ""
    why = f": {first.figures}{also}"
    if first.weighs == "repair" and case.grounds.lost:
        why += f"; cleaning would leave too little ({case.grounds.lost})"
    why += "."
    if trial is not None and trial.why_not:
        why += f" No split by it can be made: {trial.why_not}."
    text = case.grounds.text
    if text is not None and first.score is not None:
        close = 100 * (text.score - first.score) <= SAYS_LITTLE
        little = "A score says little: a" if close else "A"
        why += f" {little} text model reaches {100 * text.score:.1f}."
    if others:
        why += f" Beside it: {_names(others)}."
    return Rung(4, f"usable beside {first.name}", why, first.name)


def _after_cleaning(case: Case) -> Rung | None:
    after, left_out = case.grounds.after, case.grounds.left_out
    left = {defect.name for defect in case.deciding(*_ALL)}
    repaired = [
        defect
        for defect in case.defects
        if defect.decides and defect.weighs != "note" and defect.name not in left
    ]
    if not repaired and left_out is None:
        return None
    aside = [defect for defect in repaired if defect.weighs == "aside"]
    cleaned = [defect for defect in repaired if defect not in aside]
    measures = [left_out] if left_out else []
    if cleaned and after is not None:
        measures.append(f"the advised cleaning settles {_names(cleaned)}")
    if aside:
        measures.append(f"without {_names(aside)}")
    why = f"{'; '.join(measures)}. Audited again: {_rest(case)}"
    signal = _signal(case).replace(NO_SIGNAL, NO_SIGNAL.capitalize(), 1)
    return Rung(5, "usable after cleaning", f": {why}{signal}")


def _usable(case: Case) -> Rung:
    text = case.grounds.text
    if not case.measured:
        return Rung(6, "usable as far as known", ": nothing could be measured.")
    if text is not None and text.signal is False:
        small = _small(case)
        found = _signal(case).removeprefix(f" {NO_SIGNAL}")
        return Rung(6, f"usable: {NO_SIGNAL}", f"{found} {small}".rstrip())
    checks = case.grounds.checks
    within = "" if checks is None else f" as far as {several(checks, 'check')} can tell"
    return Rung(6, f"usable{within}", f": {_rest(case)}{_signal(case)}")


def _rest(case: Case) -> str:
    """What is left, in words: nothing, or only what is too small to decide."""
    if not case.remaining and not case.inconclusive:
        return "nothing found."
    small = _small(case)
    head = "nothing gives the label away" if case.remaining else "nothing found"
    return f"{head}. {small}".strip()


def _small(case: Case) -> str:
    """What is left but does not decide, and what could not be told."""
    notes = [defect for defect in case.remaining if defect.weighs == "note"]
    small = [defect for defect in case.remaining if defect not in notes]
    parts = [
        f"Small: {_names(small)}." if small else "",
        f"To review or report: {_listed([each.name for each in notes])}." if notes else "",
        f"Inconclusive: {_listed(case.inconclusive)}." if case.inconclusive else "",
    ]
    return " ".join(filter(None, parts))


def _signal(case: Case) -> str:
    """Whether a text model learns anything from these records."""
    text = case.grounds.text
    if text is None or text.signal is None:
        return ""
    figures = f"{100 * text.score:.1f}, chance {100 * text.chance:.1f}"
    if text.signal:
        return f" A text model learns from them ({figures})."
    return f" {NO_SIGNAL}, a text model does not beat shuffled labels ({figures})."


def _drawn(case: Case) -> str:
    """Of how many records these were drawn, where not all were read."""
    total = case.grounds.drawn_of
    if total is None:
        return ""
    n = sum((case.grounds.classes or {}).values())
    return f" Judged by {n:,} labelled records, drawn at random from {total:,} records."


def _names(defects: Sequence[Defect]) -> str:
    """The defects with their size, the largest first."""
    ordered = sorted(defects, key=lambda defect: -defect.points)
    return _listed([f"{defect.name} ({defect.points:.1f} points)" for defect in ordered])


def _listed(names: Sequence[str]) -> str:
    if len(names) > NAMED + 1:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1] if names else ""]))


def chance_of_mixed(sizes: Sequence[int], shares: Mapping[str, float]) -> float:
    """The share of records whose value has several classes, where labels are drawn by these
    `shares`: a value of n records has one class with the sum of p to the power of n."""
    total = sum(sizes)
    # exact sums: the same figure, to the last place, in whatever order the values come
    mixed = fsum(n * (1 - fsum(p**n for p in shares.values())) for n in sizes)
    return mixed / total if total else 0.0
