"""Strategies that hold whole values of a column out: a source, a domain, an event, a family of
languages.

Test is what was held out. Dev is drawn from the training values, so that tuning sees nothing of
what is tested. Which values are held out is said, or drawn: enough of them, by the seed, to come
near the test share.

Hold out by a property of a row's language in the language table: class, family, script, word
order.

Translations on one side of a cross-lingual split: rows of one group in several languages say the
same.

Held out by its language alone, a text is tested on while its English version is trained on. By
default no group is on both sides: the training rows of a tested group are not used; where that
would leave less than half of the training rows, whole groups are assigned to test or training by
the shares, and their other rows are not used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.languages import Language, describe
from claimlab.core.stats.deal import Codes
from claimlab.core.stats.scores import Flags
from claimlab.core.words import several, several_of, verb
from claimlab.split.strategy import Impossible, Kept, Material, Parts, Request, named, numbered

# random choices of values that are compared; the one whose classes come nearest to the share is
# taken
DRAWS = 64
NAMED = 4
TOGETHER: tuple[Kept, ...] = ("group", "exact")
TAKES = frozenset({"hold_out", "train_on", "mode", "keep_together"})


@dataclass(frozen=True)
class Trait:
    """The value of every row (null: it has none, and is left out for the reason given), and what to
    say about them.
    """

    values: pl.Series
    missing: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class HoldOut:
    """`trait` reads what rows are grouped by; `spelling` turns a value a person names into the
    data's own.
    """

    name: str
    summary: str
    trait: Callable[[Material, Request], Trait]
    takes: frozenset[str] = TAKES
    default: tuple[str, ...] = ()  # what is held out when nothing is said; empty: drawn
    spelling: Callable[[str], str] = str
    across_languages: bool = False  # rows of one group are translations, and stay on one side

    def values(self, material: Material, request: Request) -> list[str]:
        """The values that one could hold out, largest first."""
        tally = self.trait(material, request).values.drop_nulls().value_counts(sort=False)
        values = tally.columns[0]
        return tally.sort(["count", values], descending=[True, False])[values].to_list()

    def split(self, material: Material, request: Request) -> Parts:
        request = replace(
            request,
            hold_out=tuple(map(self.spelling, request.hold_out)),
            train_on=tuple(map(self.spelling, request.train_on)),
        )
        trait = self.trait(material, request)
        tally = trait.values.drop_nulls().unique()
        if tally.len() < 2:
            every = "all rows that have one have" if trait.values.null_count() else "every row has"
            none = f"no row has one ({trait.missing})"
            reason = f"{every} '{tally[0]}'" if tally.len() else none
            raise Impossible(
                f"A split by {self.name} needs two values at least: {reason}.",
                'Use another strategy, such as `by="group"`.',
            )
        chosen, trains = self._chosen(trait.values, material, request)
        picked = trait.values.is_in(chosen).fill_null(False).to_numpy()
        known = trait.values.is_not_null().to_numpy()
        test = known & ~picked if trains else picked
        divided = self._translations(material, request, test, known & ~test)
        side, notes = with_dev(material, request, divided.rest)
        side[divided.test] = 2
        # A long list is only counted in the name, and listed in full with the split.
        shown = "+".join(chosen) if len(chosen) <= NAMED else f"{len(chosen)} values"
        out = trait.values.filter(pl.Series(test)).unique().sort()
        return Parts(
            side=named(side),
            name=f"{self.name}:{'train-on' if trains else 'leave-out'}={shown}",
            apart=trait.values,
            held_out=tuple(out),
            left_out={trait.missing: trait.values.null_count(), **divided.left_out},
            notes=(*trait.notes, *notes, *divided.notes),
        )

    def _translations(
        self, material: Material, request: Request, test: Flags, rest: Flags
    ) -> Divided:
        if not self.across_languages:
            return Divided(test, rest)
        if "group" not in request.together(TOGETHER):
            return Divided(test, rest, notes=shared_note(material, test, rest))
        return kept_apart(material, request, test, rest)

    def _chosen(
        self, values: pl.Series, material: Material, request: Request
    ) -> tuple[list[str], bool]:
        """The values that were named, or drawn; and whether they are those to train on instead of
        to hold out.
        """
        if request.hold_out and (request.train_on or request.mode == "train-on-one"):
            raise UsageError(
                "`hold_out` names what is not trained on; `train_on` names all that is.",
                "Pass one of the two.",
            )
        trains = bool(request.train_on) or request.mode == "train-on-one"
        names = request.train_on or request.hold_out
        if names:
            chosen = matching(names, values, request.column or self.name)
            if len(chosen) == values.drop_nulls().n_unique():
                raise UsageError(
                    "Every value was named, so nothing is left for the other side.", "Name fewer."
                )
            return chosen, trains
        if trains:
            raise UsageError(
                f"Train on which {self.name}?",
                f"Pass `train_on` ({listing(values)}), or make one split for each.",
            )
        if self.default and set(self.default) <= set(values.drop_nulls().unique()):
            return list(self.default), False
        return drawn(values, material, request), False


def with_dev(material: Material, request: Request, rest: Flags) -> tuple[Codes, tuple[str, ...]]:
    """`rest` assigned to train and dev. Whole groups, unless they are too large to leave dev near
    its share.
    """

    def dealt(together: tuple[Kept, ...]) -> Codes:
        units, shares = material.bound(together), request.shares.of_rest
        return numbered(material.dealt(units, rest, shares, request.seed))

    side = dealt(request.together(TOGETHER))
    wanted = request.shares.of_rest[1] * rest.sum()
    if request.keep_together is None and (side == 1).sum() < wanted / 2:
        side = dealt(("exact",))
        if (side == 1).any():
            return side, (
                "Groups are too large for dev to hold whole ones: train and dev share groups.",
            )
    if wanted and not (side == 1).any():
        return side, (
            "No dev set: the groups that must stay together are too large for its share.",
        )
    return side, ()


def matching(names: tuple[str, ...], values: pl.Series, kind: str) -> list[str]:
    """The values that were asked for, in their own spelling; capitals do not matter, unless two
    differ only in them.
    """
    known = values.drop_nulls().unique().sort().to_list()
    folded: dict[str, list[str]] = {}
    for value in known:
        folded.setdefault(value.casefold(), []).append(value)
    out = []
    for name in names:
        alike = [name] if name in known else folded.get(name.casefold(), [])
        if len(alike) != 1:
            raise UnknownName(kind, name, known)
        out.append(alike[0])
    return sorted(set(out))


def listing(values: pl.Series) -> str:
    known = values.drop_nulls().unique().sort().to_list()
    return ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")


def drawn(values: pl.Series, material: Material, request: Request) -> list[str]:
    """Values drawn by the seed until the test share is reached: of many draws, the one with the
    most even classes.
    """
    labelled = pl.DataFrame({"value": values, "label": material.labels.fill_null("")})
    cells = labelled.drop_nulls("value").group_by("value", "label").len().sort("value", "label")
    table = cells.pivot("label", index="value", values="len", sort_columns=True)
    counts = table.drop("value").fill_null(0).to_numpy().astype(np.float64)
    size = counts.sum(axis=1)
    target = request.shares.test * size.sum()
    # A value far above the target is held out only where nothing smaller can fill the test side.
    fits = np.flatnonzero(size <= 1.5 * target)
    pool = fits if size[fits].sum() >= 0.5 * target else np.argsort(size, kind="stable")[:-1]
    rng = np.random.default_rng(request.seed)
    best, best_cost = np.empty(0, np.int64), np.inf
    for _ in range(DRAWS):
        order = rng.permutation(pool)
        reached = np.cumsum(size[order])
        stop = max(1, int(np.abs(reached - target).argmin()) + 1)
        taken = order[: min(stop, len(size) - 1)]
        share = counts[taken].sum(axis=0) / counts.sum(axis=0)
        cost = float(
            np.abs(share - request.shares.test).sum() + np.sum(share == 0) + np.sum(share == 1)
        )
        if cost < best_cost:
            best, best_cost = taken, cost
    return sorted(table["value"].gather(best))


@dataclass(frozen=True)
class LanguageTable:
    """Reads `column` of the language table for every row; `value` reads it where the dataset has a
    say too.
    """

    name: str
    column: str
    value: Callable[[Language, Material], str | None] | None = None

    def __call__(self, material: Material, request: Request) -> Trait:  # noqa: ARG002
        counts = dict(material.records["language"].drop_nulls().value_counts().iter_rows())
        languages = {code: language for code in counts if (language := describe(code)) is not None}
        cells = {
            code: self.value(one, material) if self.value else getattr(one, self.column)
            for code, one in languages.items()
        }
        value_of = {code: value for code, value in cells.items() if value is not None}
        values = material.records["language"].replace_strict(
            value_of, default=None, return_dtype=pl.String
        )
        notes = []
        unsure = sorted(c for c in value_of if self.column in languages[c].uncertain)
        if unsure:
            rows = sum(counts[c] for c in unsure)
            shown = ", ".join(f"{c} ({value_of[c]}?)" for c in unsure)
            notes.append(
                f"The language table is not sure about {shown}: {several(rows, 'row')} used as it"
                " says."
            )
        strangers = sorted(set(counts) - set(value_of))
        if strangers:
            rows = sum(counts[c] for c in strangers)
            notes.append(
                f"Left out, since no {self.name} is known: {', '.join(strangers)}"
                f" ({several(rows, 'row')})."
            )
        return Trait(
            values.alias(self.name),
            f"the language has no {self.name} in the table, or is null",
            tuple(notes),
        )


def resource_of(language: Language, material: Material) -> str | None:
    """What the dataset itself states about a language has priority over the language table."""
    own = material.tables.get("languages")
    if own is not None and {"language", "resource"} <= set(own.columns):
        resource = own.filter(own["language"] == language.iso3)["resource"].drop_nulls()
        if resource.len():
            return str(resource[0])
    return language.resource


ENOUGH = 0.5  # of the rows of a side; below, what keeping translations together costs is said
IN_TEST = "a translation of it is in the test set"
IN_TRAIN = "a translation of it is in the training set"


@dataclass(frozen=True)
class Divided:
    """The rows that are tested on and trained on, when no translation is on both sides."""

    test: Flags
    rest: Flags
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def kept_apart(material: Material, request: Request, test: Flags, rest: Flags) -> Divided:
    """`test` and `rest` without groups on both sides."""
    mixed = mixed_rows(material, test, rest)
    if not mixed.any():
        return Divided(test, rest)
    # Rows of mixed groups that go to training, as far as they may.
    trains = np.zeros(material.n, np.bool_)
    if not _enough(material, rest & ~mixed, rest):
        shares = (1 - request.shares.test, 0.0, request.shares.test)
        dealt = material.dealt(material.bound(("group",)), mixed, shares, request.seed)
        trains = (dealt == "train").fill_null(False).to_numpy()
    one = Divided(test & ~(mixed & trains), rest & ~(mixed & ~trains))
    counts = {IN_TEST: int((rest & ~one.rest).sum()), IN_TRAIN: int((test & ~one.test).sum())}
    return replace(one, left_out=counts, notes=_notes(one, test, rest, mixed))


def mixed_rows(material: Material, test: Flags, rest: Flags) -> Flags:
    """Rows whose group is on both sides."""
    groups = material.records["group"]
    one, other = (groups.filter(pl.Series(side)).drop_nulls() for side in (test, rest))
    shared = groups.is_in(one.implode()) & groups.is_in(other.implode())
    return shared.fill_null(False).to_numpy() & (test | rest)


def shared_note(material: Material, test: Flags, rest: Flags) -> tuple[str, ...]:
    """What a split gives away that lets translations be on both sides."""
    n = int((mixed_rows(material, test, rest) & test).sum())
    if not n:
        return ()
    return (
        f"{several_of(n, int(test.sum()), 'test record')} {verb(n, 'has', 'have')} a"
        ' translation (the same group) in train or dev; pass `keep_together="group"` to keep'
        " translations on one side.",
    )


def _enough(material: Material, some: Flags, whole: Flags) -> bool:
    classes = [set(material.labels.filter(pl.Series(rows)).drop_nulls()) for rows in (some, whole)]
    return bool(some.sum() >= ENOUGH * whole.sum()) and classes[0] == classes[1]


def _notes(one: Divided, test: Flags, rest: Flags, mixed: Flags) -> tuple[str, ...]:
    """Both readings, where translations cost much: what is left, and what there is when they are on
    both sides.
    """
    left = {"training": (one.rest, rest), "test": (one.test, test)}
    short = [name for name, (some, whole) in left.items() if some.sum() < ENOUGH * whole.sum()]
    if not short:
        return ()
    return (
        f"Translations are kept on one side, which leaves {int(one.rest.sum()):,} of"
        f" {int(rest.sum()):,} training rows "
        f"and {int(one.test.sum()):,} of {int(test.sum()):,} test rows. The other reading, "
        f'`keep_together="exact"`, uses them all, and {int((mixed & test).sum()):,} test rows then'
        " have a translation "
        "in training: report the scores of both.",
    )
