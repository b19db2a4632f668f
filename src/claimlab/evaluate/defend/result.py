"""The result of a defence, as data, and the paragraph that says it in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import polars as pl

from claimlab.core.shown import Shown
from claimlab.core.stats.attribution import Attribution
from claimlab.core.stats.interval import Interval, ends_of
from claimlab.core.stats.ranks import rank_words
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several, verb
from claimlab.evaluate.board import Board, RunStanding
from claimlab.evaluate.result import RunResult
from claimlab.evaluate.slices import SliceCell as Side
from claimlab.evaluate.slices import SliceEstimate

NOT_MEASURED = "not measured"
SEEN = "have a near-duplicate in training"
PARAPHRASED = "have a paraphrase, but no near-duplicate, in training"
# shallow properties of a text, as the detector `shortcut` calls them
FEATURES = ("length", "surface", "keywords", "giveaways", "url")
PERMUTATIONS = 400  # behind the subgroups
MODEL = (
    "The model behind these shares: each answer repeats the shortcut, knows the label or is a"
    " guess. It attributes answers and does not say what caused them."
)


@dataclass(frozen=True)
class Difference:
    """The accuracy of a run where the shortcut is right less that where it is wrong, among
    `among`; null where one side has fewer than 30 records."""

    among: str
    right: int
    wrong: int
    where_right: float | None = None
    where_wrong: float | None = None
    difference: float | None = None
    interval: Interval | None = None


@dataclass(frozen=True)
class Segment:
    """A part of the accuracy, as a share of all records."""

    name: str
    share: float


@dataclass(frozen=True)
class Copied:
    """What the shortcut explains; `why` says what was missing, where nothing was measured."""

    feature: str | None = None
    accuracy: float | None = None  # of the shortcut, on the same records
    shares: Attribution | None = None
    # the properties that were taken as shortcuts all at once, and their shares, in this order
    features: tuple[str, ...] = ()
    together: Attribution | None = None
    differences: list[Difference] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    why: str | None = None


@dataclass(frozen=True)
class WeakSubgroup:
    name: str
    n: int
    accuracy: float
    elsewhere: float  # the accuracy on all other records
    p: float  # corrected for all subgroups


@dataclass(frozen=True)
class SubgroupSearch:
    """The subgroups with clearly more wrong answers than the rest, the worst first; `looked_at` is
    how many there were."""

    looked_at: int = 0
    found: list[WeakSubgroup] = field(default_factory=list)
    why: str | None = None

    def sentence(self) -> str:
        if self.why is not None:
            return f"Where it fails: not measured, because {self.why}."
        of = several(self.looked_at, "subgroup")
        if not self.found:
            return f"Of {of}, none has clearly more wrong answers than the rest."
        worst = self.found[0]
        return (
            f"Of {of}, {len(self.found)} {verb(len(self.found), 'has', 'have')} clearly more"
            f" wrong answers than the rest; the worst is {worst.name} (accuracy"
            f" {100 * worst.accuracy:.1f}, elsewhere {100 * worst.elsewhere:.1f})."
        )


@dataclass(frozen=True)
class SeenBefore:
    """The score on test records that `what` (such as: have a near-duplicate in training), and on
    the others; `difference` is the macro-F1 of the first less that of the others."""

    what: str = SEEN
    seen: int = 0
    new: int = 0
    cells: tuple[Side, ...] = ()
    difference: SliceEstimate | None = None
    why: str | None = None

    def sentence(self) -> str:
        if self.why is not None:
            return f"Seen before: {NOT_MEASURED} which records {self.what}, because {self.why}."
        if not self.seen:
            return f"There are no test records that {self.what}."
        having = f"{self.seen:,} of {self.seen + self.new:,} test records {self.what}"
        if self.difference is None:
            return f"{having}: too few of either kind to compare scores."
        value, ends = self.difference.value, self.difference.interval
        within = "" if ends is None else f" ({100 * ends[0]:+.1f} to {100 * ends[1]:+.1f})"
        return (
            f"{having}: macro-F1 there less that on the other {self.new:,} is {100 * value:+.1f}"
            f" points{within}."
        )


@dataclass(frozen=True)
class Alarms:
    """True claims that were called false, of those dated after a cut-off, where the model cannot
    have read of them, and of the earlier ones: `difference` has both shares."""

    cutoff: str
    difference: Difference

    def sentence(self) -> str:
        difference = self.difference
        dated = f"dated after the cut-off {self.cutoff}"
        if (
            difference.where_right is None
            or difference.where_wrong is None
            or difference.difference is None
        ):
            return (
                f"False alarms on true claims {dated}: {NOT_MEASURED}, because"
                f" {difference.right:,} are"
                f" {dated} and {difference.wrong:,} earlier, and 30 of each are needed."
            )
        return (
            f"Of {difference.right:,} true claims {dated}, {_points(difference.where_right)}% are"
            " called false,"
            f" and of {difference.wrong:,} earlier ones {_points(difference.where_wrong)}%: a"
            " difference of"
            f" {100 * difference.difference:+.1f} points{_within(difference.interval)}."
        )


@dataclass(frozen=True)
class Citations:
    """Rationales that cite something, and those of them that cite what was not retrieved."""

    citing: int
    unsupported: int
    interval: Interval | None

    def sentence(self) -> str:
        return (
            f"Of {several(self.citing, 'rationale')} with a citation,"
            f" {_points(self.unsupported / self.citing)}%{_within(self.interval)} cite something"
            " that was not retrieved."
        )


@dataclass(frozen=True, repr=False)
class Defence(Shown):
    """One run, taken apart. `detectable` is the smallest difference in macro-F1 that its records
    can show."""

    run: RunResult
    detectable: float | None
    copied: Copied
    seen: SeenBefore
    search: SubgroupSearch
    seed: int
    board: Board | None = None  # beside the other runs in the same folder
    known: tuple[SeenBefore, ...] = ()  # by what an overlap folder knows of the records
    alarms: Alarms | None = None
    citations: Citations | None = None

    @property
    def standing(self) -> RunStanding | None:
        """The place of the run among the others; null where none are in the same folder."""
        others = self.board.standings if self.board else ()
        return next((other for other in others if other.name == self.run.name), None)

    def headline(self) -> str:
        return f"of {self.run.name}: {self.sentences()[0]}"

    @property
    def ceiling(self) -> tuple[float, Interval] | None:
        """The macro-F1 of a perfect detector on these labels, with its band."""
        ceiling = self.run.ceiling
        return None if ceiling is None else ceiling.scores.get("macro_f1")

    @property
    def table(self) -> pl.DataFrame:
        """One row, for a table of a paper; scores and shares are of 1."""
        run, shares = self.run, self.copied.shares
        row = {
            "run": run.name,
            "dataset": run.dataset,
            "n": run.scores.n,
            "groups": run.groups,
            "macro_f1": run.scores.macro_f1,
            **ends_of(run.intervals["macro_f1"], "macro_f1_low", "macro_f1_high"),
            "ranks": rank_words(self.standing.ranks) if self.standing else None,
            "chance": run.chance.best,
            "detectable": self.detectable,
            "ceiling": self.ceiling and self.ceiling[0],
            "shortcut": self.copied.feature,
            "repeats_shortcut": shares and shares.shortcuts[0][0],
            "own_signal": shares and shares.own[0],
            "own_signal_of_all": self.copied.together and self.copied.together.own[0],
            "seen": self.seen.seen if self.seen.why is None else None,
            "subgroups": len(self.search.found) if self.search.why is None else None,
        }
        types: dict[str, pl.DataType] = dict.fromkeys(row, pl.Float64())
        types |= dict.fromkeys(("run", "dataset", "shortcut", "ranks"), pl.String())
        types |= dict.fromkeys(("n", "groups", "seen", "subgroups"), pl.Int64())
        return pl.DataFrame([row], schema=types)

    def sentences(self) -> list[str]:
        """The paragraph: score, limits, shortcut, what was seen, where it fails."""
        score, shortcut = self.in_short()
        parts = (self.seen, *self.known, self.search, self.alarms, self.citations)
        own = [score, *self.limits(), " ".join([shortcut, *self._under_model()])]
        return own + [part.sentence() for part in parts if part]

    def in_short(self) -> tuple[str, str]:
        """The score, and how many answers follow the shortcut."""
        return self._score(), self._shortcut()

    def limits(self) -> list[str]:
        """What the score can be compared with: other runs, the smallest difference, the ceiling."""
        return [*([self._rank()] if self.standing else []), self._limits()]

    def _rank(self) -> str:
        board, standing = self.board, self.standing
        if board is None or standing is None or board.why is not None:
            return f"Its rank is {NOT_MEASURED}: {board.why if board else ''}"
        others = several(len(board.standings) - 1, "other run")
        return (
            f"Beside {others} in the same folder its rank is {rank_words(standing.ranks)};"
            f" {board.headline()}"
        )

    def _score(self) -> str:
        run = self.run
        n = f"{several(run.scores.n, 'test record')} of '{run.dataset}'"
        if run.scores.macro_f1 is None:
            return f"The macro-F1 of {run.name} on {n} is {run.scores.why}."
        chance = ""
        if run.chance.best is not None:
            clear = "" if run.chance.beaten else ", and the score is not shown to be above it"
            chance = f"; the best trivial baseline has {_points(run.chance.best)}{clear}"
        return (
            f"{run.name} scores a macro-F1 of {_points(run.scores.macro_f1)}"
            f"{_within(run.intervals['macro_f1'])} on {n}{chance}."
        )

    def _limits(self) -> str:
        least = (
            f"The smallest detectable difference is {NOT_MEASURED}: there are too few units."
            if self.detectable is None
            else "Between two typical detectors, differences below"
            f" {_points(self.detectable)} points are often missed here."
        )
        ceiling = self.run.ceiling
        return f"{least} {ceiling.sentence()}" if ceiling else least

    def _shortcut(self) -> str:
        shares = self.copied.shares
        if shares is None:
            return f"Shortcut: {NOT_MEASURED}, because {self.copied.why}."
        (repeats, ends), (own, own_ends) = shares.shortcuts[0], shares.own
        name = f"the shortcut '{self.copied.feature}'"
        follow = (
            f"{_points(repeats)}%{_within(ends)} follow {name}"
            if repeats > 0
            else f"none follow {name} (the estimate is below zero: {_points(repeats)}%)"
        )
        return f"Of its answers, {follow} and {_points(own)}%{_within(own_ends)} know the label."

    def _under_model(self) -> list[str]:
        """What the shares mean, and those of several shortcuts at once."""
        copied = self.copied
        sentences = [MODEL] if copied.shares else []
        if copied.shares and copied.together:
            own, ends = copied.together.own
            names = ", ".join(copied.features)
            know = f"{_points(own)}%{_within(ends)} know the label."
            sentences.append(f"With {names} as shortcuts all at once, {know}")
        return sentences

    def to_json(self) -> JsonObject:
        return {
            **asdict(self),
            "row": self.table.row(0, named=True),
            "paragraph": " ".join(self.sentences()),
            "tool": f"claimlab {__version__}",
        }


def _points(share: float) -> str:
    return f"{100 * share:.1f}"


def _within(ends: Interval | None) -> str:
    return "" if ends is None else f" ({_points(ends[0])} to {_points(ends[1])})"
