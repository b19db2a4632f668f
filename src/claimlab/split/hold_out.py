"""Strategies that hold whole values of a column out: a source, a domain, an event, a family of
languages.

Test is what was held out. Dev is drawn from the training values, so that tuning sees nothing of
what is tested. Which values are held out is said, or drawn: enough of them, by the seed, to come
near the test share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.stats.codes import Codes
from claimlab.core.stats.scores import Flags
from claimlab.split.strategy import Impossible, Kept, Material, Parts, SplitRequest, named, numbered
from claimlab.split.translations import Divided, kept_apart, shared_note

# random choices of values that are compared; the one whose classes come nearest to the share is
# taken
DRAWS_COMPARED = 64
VALUES_NAMED = 4
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
    trait: Callable[[Material, SplitRequest], Trait]
    takes: frozenset[str] = TAKES
    default: tuple[str, ...] = ()  # what is held out when nothing is said; empty: drawn
    spelling: Callable[[str], str] = str
    across_languages: bool = False  # rows of one group are translations, and stay on one side

    def values(self, material: Material, request: SplitRequest) -> list[str]:
        """The values that one could hold out, largest first."""
        tally = self.trait(material, request).values.drop_nulls().value_counts(sort=False)
        values = tally.columns[0]
        return tally.sort(["count", values], descending=[True, False])[values].to_list()

    def split(self, material: Material, request: SplitRequest) -> Parts:
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
        has_value = trait.values.is_not_null().to_numpy()
        test = has_value & ~picked if trains else picked
        divided = self._translations(material, request, test, has_value & ~test)
        side, notes = with_dev(material, request, divided.rest)
        side[divided.test] = 2
        # A long list is only counted in the name, and listed in full with the split.
        label = "+".join(chosen) if len(chosen) <= VALUES_NAMED else f"{len(chosen)} values"
        out = trait.values.filter(pl.Series(test)).unique().sort()
        return Parts(
            side=named(side),
            name=f"{self.name}:{'train-on' if trains else 'leave-out'}={label}",
            apart=trait.values,
            held_out=tuple(out),
            left_out={trait.missing: trait.values.null_count(), **divided.left_out},
            notes=(*trait.notes, *notes, *divided.notes),
        )

    def _translations(
        self, material: Material, request: SplitRequest, test: Flags, rest: Flags
    ) -> Divided:
        if not self.across_languages:
            return Divided(test, rest)
        if "group" not in request.together(TOGETHER):
            return Divided(test, rest, notes=shared_note(material, test, rest))
        return kept_apart(material, request, test, rest)

    def _chosen(
        self, values: pl.Series, material: Material, request: SplitRequest
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


def with_dev(
    material: Material, request: SplitRequest, rest: Flags
) -> tuple[Codes, tuple[str, ...]]:
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
    values_known = values.drop_nulls().unique().sort().to_list()
    folded: dict[str, list[str]] = {}
    for value in values_known:
        folded.setdefault(value.casefold(), []).append(value)
    out = []
    for name in names:
        alike = [name] if name in values_known else folded.get(name.casefold(), [])
        if len(alike) != 1:
            raise UnknownName(kind, name, values_known)
        out.append(alike[0])
    return sorted(set(out))


def listing(values: pl.Series) -> str:
    listed = values.drop_nulls().unique().sort().to_list()
    return ", ".join(listed[:8]) + (", ..." if len(listed) > 8 else "")


def drawn(values: pl.Series, material: Material, request: SplitRequest) -> list[str]:
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
    for _ in range(DRAWS_COMPARED):
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
