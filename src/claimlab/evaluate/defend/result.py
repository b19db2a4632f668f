"""What a defence measured, as data, and the paragraph that says it in words.

The page of a defence: the paragraph to paste, the bar, then each part with its table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import polars as pl

from claimlab.core.shown import Shown
from claimlab.core.stats.attribution import Attribution
from claimlab.core.stats.interval import Interval, ends_of
from claimlab.core.stats.ranks import rank_words
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several, verb
from claimlab.evaluate.compare import Board, Standing
from claimlab.evaluate.result import RunResult
from claimlab.evaluate.slices import Cell as Side
from claimlab.evaluate.slices import Estimate
from claimlab.pages.blocks import (
    Blocks,
    Cell,
    Column,
    Figure,
    Fold,
    Items,
    Report,
    Section,
    Table,
    Text,
    Value,
    excerpt,
    percent,
    points,
    points_span,
    probability,
    short,
    span,
)
from claimlab.pages.charts import bars
from claimlab.pages.folder import Contents
from claimlab.text.vectors import COSINE, COSINE_ACROSS

NOT_MEASURED = "not measured"
SEEN = "have a near-duplicate in training"
PARAPHRASED = "have a paraphrase, but no near-duplicate, in training"
MODEL = (
    "The model behind these shares: each answer repeats the shortcut, knows the label or is a"
    " guess. It attributes answers and does not say what caused them."
)


# shallow properties of a text, as the detector `shortcut` calls them
FEATURES = ("length", "surface", "keywords", "giveaways", "url")
PERMUTATIONS = 400  # behind the subgroups


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
class Subgroup:
    name: str
    n: int
    accuracy: float
    elsewhere: float  # the accuracy on all other records
    p: float  # corrected for all subgroups


@dataclass(frozen=True)
class Search:
    """The subgroups with clearly more wrong answers than the rest, the worst first; `looked_at` is
    how many there were."""

    looked_at: int = 0
    found: list[Subgroup] = field(default_factory=list)
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
class Seen:
    """The score on test records that `what` (such as: have a near-duplicate in training), and on
    the others; `difference` is the macro-F1 of the first less that of the others."""

    what: str = SEEN
    seen: int = 0
    new: int = 0
    cells: tuple[Side, ...] = ()
    difference: Estimate | None = None
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
        one = self.difference
        dated = f"dated after the cut-off {self.cutoff}"
        if one.where_right is None or one.where_wrong is None or one.difference is None:
            return (
                f"False alarms on true claims {dated}: {NOT_MEASURED}, because {one.right:,} are"
                f" {dated} and {one.wrong:,} earlier, and 30 of each are needed."
            )
        return (
            f"Of {one.right:,} true claims {dated}, {_points(one.where_right)}% are called false,"
            f" and of {one.wrong:,} earlier ones {_points(one.where_wrong)}%: a difference of"
            f" {100 * one.difference:+.1f} points{_within(one.interval)}."
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
    seen: Seen
    search: Search
    seed: int
    board: Board | None = None  # beside the other runs in the same folder
    known: tuple[Seen, ...] = ()  # by what an overlap folder knows of the records
    alarms: Alarms | None = None
    citations: Citations | None = None

    @property
    def standing(self) -> Standing | None:
        """The place of the run among the others; null where none are in the same folder."""
        others = self.board.standings if self.board else ()
        return next((one for one in others if one.name == self.run.name), None)

    def headline(self) -> str:
        return f"of {self.run.name}: {self.sentences()[0]}"

    @property
    def ceiling(self) -> tuple[float, Interval] | None:
        """The macro-F1 of a perfect detector on these labels, with its band."""
        known = self.run.ceiling
        return None if known is None else known.scores.get("macro_f1")

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
        return own + [one.sentence() for one in parts if one]

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
            f"The smallest detectable difference is {NOT_MEASURED}: there are too few groups."
            if self.detectable is None
            else f"Differences below {_points(self.detectable)} points cannot be seen here."
        )
        known = self.run.ceiling
        return f"{least} {known.sentence()}" if known else least

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


FILE, KIND = "defence.json", "defence"
SHOWN = 10  # subgroups; the file has all
MISSING = Cell(NOT_MEASURED, tone="not-measured")
COLOURS = {
    "guessing": "#8b95a1",
    "shortcut": "#c8453b",
    "own signal": "#3b9a5f",
    "not fitted": "#7a6fb0",
    "to the ceiling": "#d5dbe1",
    "to 100%": "#d5dbe1",
}
METHOD = (
    f"The shortcut is the property ({', '.join(FEATURES)}) that answers best for held-out training"
    " records. It is fitted on training records only.",
    "With probability a an answer repeats the shortcut, with probability b it knows the label, and"
    " otherwise it is a guess; a and b have the largest likelihood. This attributes answers under a"
    " model. It does not say what caused them.",
    "Records on which a shortcut fails may just be harder. The control is a linear model of the"
    " characters of the text: where the difference stays among the records that it gets right, and"
    " among those that it gets wrong, difficulty does not explain it.",
    "Two texts are near-duplicates from a Jaccard similarity of 0.7 of their 5-grams, and"
    f" paraphrases from a cosine of {COSINE} of their sentence vectors ({COSINE_ACROSS} across"
    " languages). Two model readers called 42 to 66% of such pairs the same claim.",
    f"Subgroups are values of one property, frequent words, and pairs of these. {PERMUTATIONS}"
    " permutations, groups kept together, correct for their number (max-T).",
    "Intervals are 95%, from resamples of whole groups. The detectable difference is that of two"
    " detectors that are right on 80% of these records (power 80%).",
)


def contents(defence: Defence) -> Contents:
    """The folder: JSON, the page, the paragraph, and one row of a table."""
    return Contents(
        KIND,
        [page(defence)],
        data={FILE: defence.to_json()},
        paper_tables={"row.tex": [row_table(defence)]},
        files={"paragraph.txt": " ".join(defence.sentences()) + "\n"},
    )


def page(defence: Defence) -> Report:
    name = excerpt(defence.run.name, 80)
    blocks: Blocks = [
        Text(" ".join(defence.in_short()), "conclusion"),
        *bar(defence),
        row_table(defence),
        Items(defence.limits()),
        *sections(defence),
        Section("How these figures were made", [Items(METHOD)], anchor="method"),
        Fold("All of it in one paragraph", [Text(" ".join(defence.sentences()))]),
    ]
    return Report(f"What the score of {name} is made of", excerpt(defence.run.dataset, 80), blocks)


def sections(defence: Defence) -> list[Section]:
    """Shortcut, what was seen before, and where it fails: a table each, or why there is none."""
    return [
        Section("How much a shortcut explains", _shortcut(defence), anchor="shortcut"),
        Section("Seen before", _seen(defence), anchor="seen"),
        Section("Where it fails", _fails(defence), anchor="fails"),
    ]


def tables(defence: Defence) -> Blocks:
    """The tables of these sections alone, for the terminal, where the sentences come first."""
    return [
        Section(one.title, inside)
        for one in sections(defence)
        if (inside := [block for block in one.blocks if isinstance(block, Table)])
    ]


def row_table(defence: Defence) -> Table:
    """The run in one row, for a paper."""
    run, shares = defence.run, defence.copied.shares
    cells: dict[str, Value] = {
        "Run": excerpt(run.name, 50),
        "Macro-F1": _known(run.scores.macro_f1),
        "95% interval": span(run.intervals["macro_f1"]),
        **({"Rank": rank_words(defence.standing.ranks)} if defence.standing else {}),
        "Chance": _known(run.chance.best),
        "Detectable": _known(defence.detectable),
        "Ceiling": _known(defence.ceiling[0] if defence.ceiling else None),
        "Repeats shortcut": _known(shares.shortcuts[0][0] if shares else None),
        "Own signal": _known(shares.own[0] if shares else None),
        "Seen before": defence.seen.seen if defence.seen.why is None else MISSING,
        "Weak subgroups": len(defence.search.found) if defence.search.why is None else MISSING,
    }
    return Table(list(cells), [list(cells.values())], "Scores and shares in %.", sortable=False)


def bar(defence: Defence) -> Blocks:
    """The accuracy from chance to the ceiling, in parts; none where they were not measured."""
    parts = {one.name: one.share for one in defence.copied.segments}
    known = defence.run.ceiling.scores.get("accuracy") if defence.run.ceiling else None
    accuracy = defence.run.scores.accuracy or 0.0
    return stacked(defence.run.name, accuracy, known and known[0], parts) if parts else []


def stacked(run: str, accuracy: float, known: float | None, parts: Mapping[str, float]) -> Blocks:
    """The bar of a run; `known` is the noise ceiling."""
    top, name = (1.0, "to 100%") if known is None else (known, "to the ceiling")
    shares = {**parts, name: top - accuracy}
    drawn = [
        {"run": excerpt(run, 30), "part": part, "accuracy": 100 * max(0.0, share)}
        for part, share in shares.items()
    ]
    words = ", ".join(f"{part} {100 * share:+.1f}" for part, share in shares.items())
    caption = (
        f"Accuracy {100 * accuracy:.1f} in parts: {words} points. "
        + ("The noise ceiling is not measured, so the bar ends at 100. " if known is None else "")
        + "A part below zero is not drawn."
    )
    chart = bars(
        drawn,
        category="run",
        value="accuracy",
        colour="part",
        colours={part: COLOURS[part] for part in shares},
        title="accuracy (%)",
    )
    return [Figure(chart, caption, caption, "parts")]


def _known(share: float | None) -> Value:
    return MISSING if share is None else percent(share)


def _counted(share: float | None, n: int) -> Cell:
    return MISSING if share is None else Cell(f"{100 * share:.1f} ({n:,})", sort=share)


def _shortcut(defence: Defence) -> Blocks:
    copied = defence.copied
    if copied.shares is None:
        return [Text(f"Not measured, because {copied.why}.", "warning")]
    first, own = copied.shares.shortcuts[0], copied.shares.own
    shares = _shares(
        {
            f"repeats the shortcut '{copied.feature}' (a)": first,
            "knows the label (b)": own,
            "guesses": (1 - first[0] - own[0], None),
        },
        f"On {several(copied.shares.n, 'record')} in {several(copied.shares.groups, 'group')}. The"
        f" shortcut alone has an accuracy of {100 * (copied.accuracy or 0):.1f}.",
    )
    control = Table.of(
        [
            Column("Among", "among"),
            Column("Shortcut right", lambda one: _counted(one.where_right, one.right)),
            Column("Shortcut wrong", lambda one: _counted(one.where_wrong, one.wrong)),
            Column("Difference", "difference", points, MISSING),
            Column("95% interval", "interval", points_span, MISSING),
        ],
        copied.differences,
        "Accuracy (and records) where the shortcut is right and where it is wrong: among all"
        " records, and as a control for difficulty among those that an independent model gets right"
        " or wrong. Not measured with fewer than 30 records on a side.",
        sortable=False,
    )
    measured = any(one.difference is not None for one in copied.differences)
    few = "Whether difficulty explains it is not measured: fewer than 30 records on a side."
    return [shares, Text(MODEL), *_together(copied), control if measured else Text(few, "note")]


def _together(copied: Copied) -> Blocks:
    """The shares of all shortcuts at once; none where there is only one."""
    known = copied.together
    if known is None:
        return []
    parts = {
        f"repeats '{name}'": share
        for name, share in zip(copied.features, known.shortcuts, strict=True)
    }
    note = "All shortcuts at once. Two that differ on fewer than 30 records count as one."
    return [_shares({**parts, "knows the label": known.own}, note)]


def _shares(parts: Mapping[str, tuple[float, Interval | None]], caption: str) -> Table:
    rows = [(part, percent(share), span(ends)) for part, (share, ends) in parts.items()]
    return Table(["Part", "Share of answers", "95% interval"], rows, caption, sortable=False)


def _seen(defence: Defence) -> Blocks:
    blocks: Blocks = []
    for seen in (defence.seen, *defence.known):
        blocks.append(Text(seen.sentence(), "warning" if seen.why is not None else "plain"))
        table = Table.of(
            [
                Column("Test records", "value"),
                Column("n", "n"),
                Column("Accuracy", "accuracy", percent, MISSING),
                Column("Macro-F1", "macro_f1", percent, MISSING),
                Column("95% interval", "macro_f1_interval", span, MISSING),
            ],
            seen.cells,
            "A side with fewer than 30 records, or 5 of a class, is not shown.",
            sortable=False,
        )
        blocks += [table] if seen.cells else []
    return blocks


def _fails(defence: Defence) -> Blocks:
    weak = defence.search.found
    others = [Text(one.sentence()) for one in (defence.alarms, defence.citations) if one]
    if not weak:
        measured = defence.search.why is None
        return [Text(defence.search.sentence(), "plain" if measured else "warning"), *others]
    table = Table.of(
        [
            Column("Subgroup", "name", short(90)),
            Column("n", "n"),
            Column("Accuracy", "accuracy", percent),
            Column("Elsewhere", "elsewhere", percent),
            Column("p, corrected", "p", probability),
        ],
        weak[:SHOWN],
        f"The worst {SHOWN} of {len(weak)}; {FILE} has all." if len(weak) > SHOWN else "",
    )
    return [Text(defence.search.sentence()), table, *others]
