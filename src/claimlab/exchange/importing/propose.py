"""The third step of an import: what each column may be, by its name and by what its values look
like, with the reason.

`ROLES` has one entry for each role: what speaks for it by its name, and what by its values alone.
Every proposal can be overruled, and what the user named is never proposed anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.languages import normalise
from claimlab.core.record import CLOSED
from claimlab.core.words import several
from claimlab.exchange.importing.profile import Profile, Profiled
from claimlab.exchange.vocabulary import ALL_FALSE, ALL_TRUE, NAMES, TAILS, WORLD, fold_name

OWN = ("veracity", "kind", "authorship")  # columns that claimlab itself writes
OWN_TEXT = ("date_source", "meta", "dataset")  # of these, any value is used
INNER = ("text", "label", "date", "source", "author")  # roles that a field of an object may have
NONE = "none"
LEAST = 15.0  # points below which a column is nothing in particular
NAMED = 58.0  # points for a whole name, not only the end of one
REPEATED, DISTINCT = 0.7, 0.95  # of the texts, that differ: too few to be the records; enough


@dataclass(frozen=True)
class Pick:
    """The column for a role. It is null when a constant (`value`) was given instead, such as a
    language code.
    """

    column: str | None
    why: str
    example: str | None = None
    given: bool = False
    value: str | None = None


class Candidate(NamedTuple):
    points: float
    role: str
    column: str
    why: str


def _nothing(_: Profile) -> float:
    return 0.0


@dataclass(frozen=True)
class Role:
    """`fit`: how well values suit a column of the right name (0 to 1). `shown`: points for a column
    whose name says nothing, only for what the values show beyond doubt. `words`: what the values
    look like."""

    name: str
    fit: Callable[[Profile], float]
    words: Callable[[Profile], str]
    shown: Callable[[Profile], float] = _nothing

    def by_name(self, folded: str) -> float:
        """Points for a name: the usual ones first, then names that end like one."""
        names = NAMES[self.name]
        if folded in names:
            return 100 - 40 * names.index(folded) / len(names)
        if folded in WORLD.get(self.name, ()) or (
            self.name == "label" and folded in ALL_FALSE | ALL_TRUE
        ):
            return NAMED
        words = folded.split()
        if " ".join(words[-2:]) in names and len(words) > 2:  # rating alternate name
            return 55.0
        if (
            len(words) > 1 and words[-1] in ("x", "y", "1", "2") and " ".join(words[:-1]) in names
        ):  # left by a merge
            return 50.0
        return 45.0 if words[-1:] and words[-1] in TAILS.get(self.name, ()) else 0.0


def _over(share: float, least: float) -> float:
    return share if share > least else 0.0


def _text(seen: Profile) -> float:
    strange = max(seen.links, seen.numbers, seen.dates if seen.prose < 0.5 else 0.0, seen.lists)
    return 0.0 if strange > 0.5 else 0.4 + 0.6 * seen.prose


def _text_shown(seen: Profile) -> float:
    prose = (
        seen.prose > 0.6
        and seen.length >= 20
        and seen.spread > 0.4
        and seen.links < 0.5
        and seen.lists < 0.5
    )
    return 30 + min(seen.length, 400) / 20 if prose else 0.0


def _label(seen: Profile) -> float:
    too_many = seen.distinct > 60 or (seen.n > 20 and seen.spread > 0.5)
    lists = seen.lists > 0.5 and seen.verdicts < 0.5
    strange = seen.length > 60 or seen.tweet_ids > 0.5 or seen.links > 0.5 or lists
    return 0.0 if too_many or strange else 0.7 + 0.3 * seen.verdicts


def _label_shown(seen: Profile) -> float:
    """Verdict words, most of them known, few and repeated; but true and false alone may answer any
    question.
    """
    few = 2 <= seen.distinct <= 30 and (seen.n <= 20 or seen.spread < 0.2) and seen.numbers < 0.5
    return (
        40.0 * seen.verdicts
        if few and seen.verdicts > 0.5 and (seen.nameless or not seen.booleans)
        else 0.0
    )


def _id(seen: Profile) -> float:
    return (1.0 if seen.spread > 0.95 else 0.3) * (seen.prose < 0.5)


def _id_shown(seen: Profile) -> float:
    named = seen.name in NAMES["text"]
    unique = (
        not named
        and seen.first
        and seen.spread == 1
        and seen.n > 1
        and seen.prose < 0.1
        and seen.length <= 40
    )
    return 20.0 if unique else 0.0


def _tweet_id_shown(seen: Profile) -> float:
    """Ids of other platforms are as long as Twitter's, so a name that says whose they are is not
    overruled.
    """
    ids = seen.nameless and seen.tweet_ids > 0.95 and seen.spread > 0.5 and seen.length >= 17
    return 35.0 if ids else 0.0


def _date_shown(seen: Profile) -> float:
    likely = 8 <= seen.length <= 40 and seen.numbers < 0.5 and seen.prose < 0.9
    return 30.0 if likely and seen.dates > 0.95 else 0.0


def _split_shown(seen: Profile) -> float:
    return 30.0 if seen.splits == 1 and 2 <= seen.distinct <= 3 else 0.0


def _values(seen: Profile) -> str:
    return f"{seen.distinct} values"


def _short(seen: Profile) -> float:
    """Anything short; but a column of nothing but verdicts is the label, whatever it is called."""
    ratings = seen.verdicts > 0.9 and 2 <= seen.distinct <= 10 and not seen.booleans
    return float(seen.length < 300 and seen.markup < 0.5 and seen.lists < 0.5 and not ratings)


ROLES = {
    role.name: role
    for role in (
        Role("text", _text, lambda s: f"{s.length:.0f} characters a text", _text_shown),
        Role(
            "label",
            _label,
            lambda s: f"{s.distinct} values, {s.verdicts:.0%} in the map",
            _label_shown,
        ),
        Role("id", _id, lambda s: f"{s.spread:.0%} distinct", _id_shown),
        Role(
            "tweet_id",
            lambda s: s.tweet_ids,
            lambda s: f"{s.tweet_ids:.0%} tweet ids",
            _tweet_id_shown,
        ),
        Role("date", lambda s: _over(s.dates, 0.3), lambda s: f"{s.dates:.0%} dates", _date_shown),
        Role(
            "language", lambda s: _over(s.languages, 0.5), lambda s: several(s.distinct, "language")
        ),
        Role(
            "url",
            lambda s: _over(s.links, 0.3),
            lambda s: f"{s.links:.0%} links",
            lambda s: 30.0 * (s.links > 0.9),
        ),
        Role(
            "author", lambda s: float(s.links < 0.5 and s.length < 120 and s.lists < 0.5), _values
        ),
        Role("source", _short, _values),
        Role("topic", _short, _values),
        Role("group", _short, _values),
        Role(
            "split",
            lambda s: _over(s.splits, 0.9),
            lambda s: several(s.distinct, "split"),
            _split_shown,
        ),
    )
}
_ORDER = {role: place for place, role in enumerate(ROLES)}


def propose(
    seen: Profiled, named: Mapping[str, str], inner: Collection[str] = ()
) -> dict[str, Pick]:
    """The column for each role: the one that the user named, or the best of those that may be it.
    `inner` are fields of objects, which only some roles may take.
    """
    frame = seen.frame.select(seen.visible)
    picks = {role: _given(role, name, seen) for role, name in named.items()}
    taken = {pick.column for pick in picks.values()}
    free = {name: seen.columns[name] for name in frame.columns if name not in taken}
    if "label_raw" in frame.columns or "label" in picks:
        picks |= _own_columns(frame, picks, free)
    ranked = [
        one for one in candidates(free) if one.column not in inner or _may_be(one.role, one.column)
    ]
    _take_best(picks, ranked, free)
    _prefer_words(picks, seen, [one.column for one in ranked if one.role == "label"])
    _prefer_distinct(picks, free, [one.column for one in ranked if one.role == "text"])
    return {
        role: pick
        for role, pick in picks.items()
        if pick.column is not None or pick.value is not None
    }


def candidates(
    profiles: Mapping[str, Profile], roles: Collection[str] = tuple(ROLES)
) -> list[Candidate]:
    """What every column may be, with the points that speak for it, the best first."""
    every = [
        _candidate(column, seen, ROLES[role])
        for column, seen in profiles.items()
        for role in roles
        if seen.n
    ]
    likely = [one for one in every if one.points >= LEAST]
    return sorted(likely, key=lambda one: (-one.points, _ORDER[one.role]))


def _candidate(column: str, seen: Profile, role: Role) -> Candidate:
    if by_name := role.by_name(seen.name):
        points, why = by_name * role.fit(seen) * (0.5 + 0.5 * seen.filled), "its name; "
    else:
        points, why = role.shown(seen) * seen.filled, ""
    return Candidate(points, role.name, column, why + role.words(seen) if points >= LEAST else "")


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
    frame: pl.DataFrame, picks: Collection[str], profiles: Mapping[str, Profile]
) -> dict[str, Pick]:
    """Columns that claimlab itself wrote, taken as they are when every value is one of those
    allowed.
    """
    closed = [name for name in OWN if name in profiles and name not in picks]
    own = [name for name in closed if set(frame[name].drop_nulls().unique()) <= set(CLOSED[name])]
    if {"label_raw", *OWN} <= set(frame.columns):
        own += [name for name in OWN_TEXT if name in profiles]
    return {name: Pick(name, "claimlab's own column", profiles[name].example) for name in own}


def _may_be(role: str, column: str) -> bool:
    """Whether a field of an object may have this role: a property of a user is not one of the
    record.
    """
    person = fold_name(column.split(".")[0]) in NAMES["author"]
    return role == "author" if person else role in INNER


def _take_best(
    picks: dict[str, Pick], ranked: Collection[Candidate], profiles: Mapping[str, Profile]
) -> None:
    used = {pick.column: role for role, pick in picks.items()}
    for _, role, column, why in ranked:
        if role not in picks and (column not in used or {role, used[column]} == {"id", "tweet_id"}):
            picks[role] = Pick(column, why, profiles[column].example)
            used[column] = role


def _prefer_words(picks: dict[str, Pick], seen: Profiled, labels: Collection[str]) -> None:
    """Of codes and the column that writes them out in words, take the words."""
    column = _guessed(picks, "label")
    if column is None or seen.columns[column].verdicts > 0.5:
        return
    for other in labels:
        if seen.columns[other].verdicts > 0.9 and seen.one_to_one(column, other):
            words = f"the words for '{column}'"
            picks["label"] = Pick(other, words, seen.columns[other].example)
            return


def _prefer_distinct(
    picks: dict[str, Pick], profiles: Mapping[str, Profile], texts: Collection[str]
) -> None:
    """Of posts and the claim that many of them are about, both named as texts, the posts are the
    records.
    """
    column = _guessed(picks, "text")
    if column is None or profiles[column].spread > REPEATED:
        return
    taken = {pick.column for pick in picks.values()}
    for other in texts:
        named = ROLES["text"].by_name(profiles[other].name) >= NAMED
        if named and profiles[other].spread > DISTINCT and other not in taken:
            words = f"one for each row, unlike '{column}'"
            picks["text"] = Pick(other, words, profiles[other].example)
            return


def _guessed(picks: Mapping[str, Pick], role: str) -> str | None:
    """The column of a role that the user did not name."""
    pick = picks.get(role)
    return None if pick is None or pick.given else pick.column
