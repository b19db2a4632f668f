"""The third step of an import: which column has which role, by what speaks for it.

Every column gets a score for every role (`features`), and the roles are given out together: the
best score first, one column to a role and one role to a column. Every choice can be overruled; what
the user named is fixed, and the rest is decided again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.languages import normalise
from claimlab.core.record import CLOSED
from claimlab.core.words import several
from claimlab.exchange.importing.features import BASE, NAMED, contributions, features
from claimlab.exchange.importing.profile import Profile, Profiled
from claimlab.exchange.vocabulary import NAMES, fold_name

OWN = ("veracity", "kind", "authorship")  # columns that claimlab itself writes
OWN_TEXT = ("date_source", "meta", "dataset")  # of these, any value is used
INNER = ("text", "label", "date", "source", "author")  # roles that a field of an object may have
ASIDE = ("claim", "evidence", "rater")  # roles whose column stays in `meta`
NONE = "none"
CLOSE = 1.1  # log odds by which the best column must lead the next: three to one
SHOWN = 4  # features that are named for a choice

Words = Callable[[Profile], str]
# The roles in the order in which they are shown, and what to say of the values of each.
ROLES: dict[str, Words] = {
    "text": lambda seen: f"{seen.length:.0f} characters a text",
    "claim": lambda seen: f"{seen.distinct} values",
    "evidence": lambda seen: f"{seen.length:.0f} characters a text",
    "label": lambda seen: f"{seen.distinct} values, {seen.verdicts:.0%} in the map",
    "id": lambda seen: f"{seen.spread:.0%} distinct",
    "tweet_id": lambda seen: f"{seen.tweet_ids:.0%} tweet ids",
    "date": lambda seen: f"{seen.dates:.0%} dates",
    "language": lambda seen: several(seen.distinct, "language"),
    "url": lambda seen: f"{seen.links:.0%} links",
    "author": lambda seen: f"{seen.distinct} values",
    "source": lambda seen: f"{seen.distinct} values",
    "topic": lambda seen: f"{seen.distinct} values",
    "group": lambda seen: f"{seen.distinct} values",
    "split": lambda seen: several(seen.distinct, "split"),
    "rater": lambda seen: f"{seen.distinct} values",
}


class Rival(NamedTuple):
    """A column that may have a role, and its log odds."""

    column: str
    score: float


@dataclass(frozen=True)
class Pick:
    """The column for a role. It is null when a constant (`value`) was given instead, such as a
    language code. `evidence` has the features that spoke for it, with what each added to its
    score, and `rivals` the other columns that may have the role, the likeliest first.
    """

    column: str | None
    why: str
    example: str | None = None
    given: bool = False
    value: str | None = None
    score: float | None = None
    evidence: tuple[tuple[str, float], ...] = ()
    rivals: tuple[Rival, ...] = ()

    @property
    def sure(self) -> bool:
        return self.score is None or self.score > CLOSE

    @property
    def close(self) -> list[str]:
        """The columns that may have the role nearly as well."""
        least = (self.score or 0.0) - CLOSE
        return [rival.column for rival in self.rivals if rival.score > least]


class Candidate(NamedTuple):
    score: float
    role: str
    column: str
    added: Mapping[str, float]  # to the score, by feature


def propose(
    seen: Profiled, named: Mapping[str, str], inner: Collection[str] = ()
) -> dict[str, Pick]:
    """The column for each role: the one that the user named, or the best of those that may be it.
    `inner` are fields of objects, which only some roles may take.
    """
    frame = seen.frame.select(seen.visible)
    picks = {role: _given(role, name, seen) for role, name in named.items()}
    taken = {pick.column for pick in picks.values()}
    free = [name for name in frame.columns if name not in taken]
    if "label_raw" in frame.columns or "label" in picks:
        picks |= _own_columns(frame, picks, free)
    _take_best(picks, candidates(seen, free, inner), seen)
    return {
        role: pick
        for role, pick in picks.items()
        if pick.column is not None or pick.value is not None
    }


def candidates(
    seen: Profiled, columns: Collection[str], inner: Collection[str] = ()
) -> list[Candidate]:
    """What every column may be, the best first."""
    every = (
        one
        for column, shown in features(seen, columns).items()
        for one in _candidates(column, shown, seen.columns[column].name)
        if one.column not in inner or _may_be(one.role, one.column)
    )
    order = list(ROLES)
    return sorted(every, key=lambda one: (-one.score, order.index(one.role)))


def _candidates(column: str, shown: Mapping[str, float], folded: str) -> Iterator[Candidate]:
    for role in ROLES:
        added = contributions(shown, folded, role)
        if (score := sum(added.values())) > -CLOSE:
            yield Candidate(score, role, column, added)


def _given(role: str, name: str, seen: Profiled) -> Pick:
    """The column a user means: by its name, its name in other case, or its number from 1."""
    column = _named(name, seen)
    if column is not None:
        known = seen.frame[column].drop_nulls()
        return Pick(column, "as given", known[0] if known.len() else None, given=True)
    if name.lower() == NONE:
        return Pick(None, "as given", given=True)
    if role != "language":
        raise UnknownName("column", name, seen.visible)
    code = normalise(name)
    if code is None:
        raise UsageError(
            f"'{name}' is neither a column nor a language.",
            "Pass `language` as a code such as en or por, or as one of:"
            f" {', '.join(seen.visible[:12])}.",
        )
    return Pick(None, "as given, for every record", given=True, value=code)


def _named(name: str, seen: Profiled) -> str | None:
    columns, folded = seen.visible, fold_name(name)
    if name in columns:
        return name
    alike = [column for column in columns if seen.columns[column].folded == folded]
    if len(alike) == 1:
        return alike[0]
    return columns[int(name) - 1] if name.isdigit() and 1 <= int(name) <= len(columns) else None


def _own_columns(
    frame: pl.DataFrame, picks: Collection[str], free: Collection[str]
) -> dict[str, Pick]:
    """Columns that claimlab itself wrote, taken as they are when every value is one of those
    allowed.
    """
    closed = [name for name in OWN if name in free and name not in picks]
    own = [name for name in closed if set(frame[name].drop_nulls().unique()) <= set(CLOSED[name])]
    if {"label_raw", *OWN} <= set(frame.columns):
        own += [name for name in OWN_TEXT if name in free]
    examples = {name: frame[name].drop_nulls() for name in own}
    return {
        name: Pick(name, "claimlab's own column", known[0] if known.len() else None)
        for name, known in examples.items()
    }


def _may_be(role: str, column: str) -> bool:
    """Whether a field of an object may have this role: a property of a user is not one of the
    record.
    """
    person = fold_name(column.split(".")[0]) in NAMES["author"]
    return role == "author" if person else role in INNER


def _take_best(picks: dict[str, Pick], ranked: Collection[Candidate], seen: Profiled) -> None:
    used = {pick.column: role for role, pick in picks.items()}
    for one in ranked:
        shared = {one.role, used.get(one.column)} == {"id", "tweet_id"}
        if one.role in picks or one.score <= 0 or (one.column in used and not shared):
            continue
        picks[one.role] = _pick(one, seen.columns[one.column], ranked)
        used[one.column] = one.role


def _pick(one: Candidate, seen: Profile, ranked: Collection[Candidate]) -> Pick:
    by_name = any(feature in one.added for feature in NAMED.values())
    words = ROLES[one.role](seen)
    added = sorted(one.added.items(), key=lambda item: -item[1])
    rivals = (
        Rival(other.column, round(other.score, 1))
        for other in ranked
        if other.role == one.role and other.column != one.column
    )
    return Pick(
        one.column,
        f"its name; {words}" if by_name else words,
        seen.example,
        score=round(one.score, 1),
        evidence=tuple((name, round(n, 1)) for name, n in added[:SHOWN] if n > 0 and name != BASE),
        rivals=tuple(rivals),
    )
