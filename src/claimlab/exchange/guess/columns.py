"""Guess which column is what, and say why: by its name first, then by what its values look like.

A guess is shown before it is used, and every one of them can be overruled. Columns that nothing
claims go to `meta`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import polars as pl

from claimlab.core.errors import DataError, UnknownName, UsageError
from claimlab.core.labels import GENERAL, LabelMap
from claimlab.core.languages import normalise
from claimlab.core.record import CLOSED
from claimlab.exchange.guess.plan import OWN, Pick
from claimlab.exchange.guess.profile import Profile
from claimlab.exchange.guess.roles import ROLES
from claimlab.exchange.vocabulary import AUTHOR, UNCLEAR, fold_name

OWN_TEXT = (
    "date_source",
    "meta",
    "dataset",
)  # columns of claimlab's own that are used whatever their values
INNER = ("text", "label", "date", "source", "author")  # roles that a field of an object may have
NONE = "none"
LEAST = 15.0  # points below which a column is nothing in particular
NAMED = 58.0  # points for a whole name, not only the end of one
REPEATED, DISTINCT = 0.7, 0.95  # of the texts, that differ: too few to be the records; enough
CLOSE = 2.0  # points by which the best label column must lead the next one
_ORDER = {role: i for i, role in enumerate(ROLES)}


class Candidate(NamedTuple):
    points: float
    role: str
    column: str
    why: str


def pick_columns(
    frame: pl.DataFrame,
    named: Mapping[str, str | None],
    verdicts: LabelMap,
    inner: Collection[str] = (),
) -> dict[str, Pick]:
    """Resolve what the user gave and guess the rest. `inner` are fields of objects, which only some
    roles may take.
    """
    picks = {role: _given(role, name, frame) for role, name in named.items() if name is not None}
    taken = {p.column for p in picks.values() if p.column}
    first = frame.columns[0] if frame.columns else None
    profiles = {
        c: Profile(frame[c], verdicts, first=c == first) for c in frame.columns if c not in taken
    }
    if "label_raw" in frame.columns or "label" in picks:
        picks |= _own_columns(frame, picks, profiles)
    offered = [
        c for c in _candidates(profiles) if c.column not in inner or _may_be(c.role, c.column)
    ]
    candidates = sorted(offered, key=lambda c: (-c.points, _ORDER[c.role]))
    used = {p.column: role for role, p in picks.items()}
    for candidate in candidates:
        role, column = candidate.role, candidate.column
        if role not in picks and (column not in used or {role, used[column]} == {"id", "tweet_id"}):
            picks[role] = Pick(column, candidate.why, profiles[column].example)
            used[column] = role
    _prefer_words(frame, picks, profiles, [c.column for c in candidates if c.role == "label"])
    _prefer_distinct(picks, profiles, [c for c in candidates if c.role == "text"])
    return {role: p for role, p in picks.items() if p.column is not None or p.value is not None}


def _prefer_words(
    frame: pl.DataFrame,
    picks: dict[str, Pick],
    profiles: Mapping[str, Profile],
    labels: Collection[str],
) -> None:
    """Of codes and the column that writes them out in words, take the words."""
    pick = picks.get("label")
    if pick is None or pick.given or pick.column is None or profiles[pick.column].verdicts > 0.5:
        return
    for other in labels:
        if profiles[other].verdicts > 0.9 and _one_to_one(frame, pick.column, other):
            picks["label"] = Pick(other, f"the words for '{pick.column}'", profiles[other].example)
            return


def _prefer_distinct(
    picks: dict[str, Pick], profiles: Mapping[str, Profile], texts: Collection[Candidate]
) -> None:
    """Of posts and the claim that many of them are about, both named as texts, the posts are the
    records.
    """
    pick = picks.get("text")
    if pick is None or pick.given or pick.column is None or profiles[pick.column].spread > REPEATED:
        return
    taken = {p.column for p in picks.values()}
    for other in texts:
        named = ROLES["text"].by_name(profiles[other.column].name) >= NAMED
        if named and profiles[other.column].spread > DISTINCT and other.column not in taken:
            picks["text"] = Pick(
                other.column,
                f"one for each row, unlike '{pick.column}'",
                profiles[other.column].example,
            )
            return


def _one_to_one(frame: pl.DataFrame, a: str, b: str) -> bool:
    pairs = frame.select(a, b).drop_nulls().unique()
    return a != b and 1 < pairs.height == pairs[a].n_unique() == pairs[b].n_unique()


def _may_be(role: str, column: str) -> bool:
    """Whether a field of an object may have this role: a property of a user is not one of the
    record.
    """
    person = fold_name(column.split(".")[0]) in AUTHOR
    return role == "author" if person else role in INNER


def _given(role: str, name: str, frame: pl.DataFrame) -> Pick:
    """The column a user means: by its name, its name in other case, or its number from 1."""
    column = find_column(name, frame.columns)
    if column is not None:
        known = frame[column].drop_nulls()
        return Pick(column, "as given", known[0] if known.len() else None, given=True)
    if name.lower() == NONE:
        return Pick(None, "as given", given=True)
    if role == "language" and (code := normalise(name)) is not None:
        return Pick(None, "as given, for every record", given=True, value=code)
    if role == "language":
        raise UsageError(
            f"'{name}' is neither a column nor a language.",
            "Pass `language` as a code such as en or por, or as one of:"
            f" {', '.join(frame.columns[:12])}.",
        )
    raise UnknownName("column", name, frame.columns)


def find_column(name: str, columns: list[str]) -> str | None:
    if name in columns:
        return name
    alike = [c for c in columns if fold_name(c) == fold_name(name)]
    if len(alike) == 1:
        return alike[0]
    if name.isdigit() and 1 <= int(name) <= len(columns):
        return columns[int(name) - 1]
    return None


def _own_columns(
    frame: pl.DataFrame, picks: Collection[str], profiles: Mapping[str, Profile]
) -> dict[str, Pick]:
    """Columns that claimlab itself wrote, taken as they are when every value is one of those
    allowed.
    """
    closed = [c for c in OWN if c in profiles and c not in picks]
    own = [c for c in closed if set(frame[c].drop_nulls().unique().to_list()) <= set(CLOSED[c])]
    if {"label_raw", *OWN} <= set(frame.columns):
        own += [c for c in OWN_TEXT if c in profiles]
    return {c: Pick(c, "claimlab's own column", profiles[c].example) for c in own}


def _candidates(
    profiles: Mapping[str, Profile], roles: Collection[str] = tuple(ROLES)
) -> list[Candidate]:
    out = []
    for column, seen in profiles.items():
        if not seen.n:
            continue
        for name in roles:
            role = ROLES[name]
            by_name = role.by_name(seen.name)
            if by_name:
                points, why = by_name * role.fit(seen) * (0.5 + 0.5 * seen.filled), "its name; "
            else:
                points, why = role.shown(seen) * seen.filled, ""
            if points >= LEAST:
                out.append(Candidate(points, name, column, why + role.words(seen)))
    return out


def refuse_unclear_label(frame: pl.DataFrame, pick: Pick | None, verdicts: LabelMap) -> None:
    """Which column is the label, and which of its values means true, is asked rather than
    guessed.
    """
    if pick is None or pick.given or pick.column not in frame.columns:
        return
    seen = {c: Profile(frame[c], verdicts) for c in frame.columns}
    points = {c.column: c.points for c in _candidates(seen, ["label"])}
    rivals = [
        c
        for c, n in points.items()
        if points.get(pick.column, 0.0) - n < CLOSE
        and not (
            seen[c].verdicts < 0.5 < seen[pick.column].verdicts
            and _one_to_one(frame, pick.column, c)
        )
    ]
    if len(rivals) > 1:
        raise DataError(
            f"Several columns may be the label: {', '.join(map(repr, rivals[:8]))}.",
            f"Choose one of them, such as `label='{rivals[0]}'`, or `label='none'`.",
        )
    chosen = seen[pick.column]
    if chosen.booleans and (chosen.nameless or chosen.name in UNCLEAR) and verdicts.name == GENERAL:
        shown = ", ".join(f"'{v}'" for v in sorted(set(chosen.values))[:4])
        raise DataError(
            f"The column '{pick.column}' holds {shown}, and its name does not say whether 'true'"
            " means a true claim.",
            f"Pass `label='{pick.column}'` if it does; otherwise `labels='True=false,False=true'`.",
        )
