"""Guess which column is what, and say why: by its name first, then by what its values look like.

A guess is shown before it is used, and every one of them can be overruled. Columns that nothing claims go to `meta`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import polars as pl

from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.labels import LabelMap
from claimlab.core.languages import normalise
from claimlab.core.record import AUTHORSHIPS, KINDS, VERACITIES
from claimlab.exchange.guess.profile import Profile
from claimlab.exchange.vocabulary import NAMES, TAILS, fold_name
from claimlab.files.typed import literal_text

ROLES = ("text", "label", "id", "tweet_id", "date", "language", "url", "author", "source", "topic", "group", "split")
# Columns that claimlab itself writes: taken as they are when every value is one of those allowed.
OWN = {"veracity": VERACITIES, "kind": KINDS, "authorship": AUTHORSHIPS}
OWN_TEXT = ("date_source", "meta", "dataset")  # and these, whatever they hold
NONE = "none"
LEAST = 15.0  # points below which a column is nothing in particular


@dataclass(frozen=True)
class Pick:
    """One guess. `column` is null when a constant (`value`) was given instead, such as a language code."""

    column: str | None
    why: str
    example: str | None = None
    given: bool = False
    value: str | None = None


@dataclass
class Plan:
    """What each column of the file becomes."""

    picks: dict[str, Pick] = field(default_factory=dict)
    meta: list[str] = field(default_factory=list)

    def column(self, role: str) -> str | None:
        pick = self.picks.get(role)
        return pick.column if pick else None


def plan_columns(
    frame: pl.DataFrame, given: Mapping[str, str | None], verdicts: LabelMap, literal: Collection[str] = ()
) -> Plan:
    """Resolve what the user gave, guess the rest, and leave what remains to `meta`."""
    plan = Plan()
    frame = frame.with_columns(literal_text(frame[c]) for c in frame.columns if c in literal)
    for role, name in given.items():
        if name is not None:
            plan.picks[role] = _given(role, name, frame)
    taken = {p.column for p in plan.picks.values() if p.column}
    profiles = {c: Profile(frame[c], verdicts) for c in frame.columns if c not in taken}
    if "label_raw" in frame.columns or "label" in plan.picks:
        _own_columns(frame, plan, profiles)
    for _, role, column, why in sorted(_candidates(frame, profiles), key=lambda c: (-c[0], ROLES.index(c[1]))):
        used = column in {p.column for p in plan.picks.values()}
        if role not in plan.picks and (not used or _may_share(role, column, plan)):
            plan.picks[role] = Pick(column, why, profiles[column].example)
    plan.picks = {role: p for role, p in plan.picks.items() if p.column is not None or p.value is not None}
    used_columns = {p.column for p in plan.picks.values()}
    plan.meta = [c for c in frame.columns if c not in used_columns]
    return plan


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
            f"--language '{name}' is neither a column nor a language.",
            f"Give a code such as en or por, or one of the columns: {', '.join(frame.columns[:12])}.",
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


def _own_columns(frame: pl.DataFrame, plan: Plan, profiles: Mapping[str, Profile]) -> None:
    for role, allowed in OWN.items():
        if role not in profiles or role in plan.picks:
            continue
        if set(frame[role].drop_nulls().unique().to_list()) <= set(allowed):
            plan.picks[role] = Pick(role, "claimlab's own column", profiles[role].example)
    if {"label_raw", *OWN} <= set(frame.columns):
        plan.picks |= {c: Pick(c, "claimlab's own column", profiles[c].example) for c in OWN_TEXT if c in profiles}


def _may_share(role: str, column: str, plan: Plan) -> bool:
    """Tweet ids are often the only id there is: one column may serve as both."""
    other = {"id": "tweet_id", "tweet_id": "id"}.get(role)
    return other is not None and plan.column(other) == column


def _candidates(frame: pl.DataFrame, profiles: Mapping[str, Profile]) -> list[tuple[float, str, str, str]]:
    out = []
    for column, seen in profiles.items():
        if not seen.n:
            continue
        folded = fold_name(column)
        for role in ROLES:
            named = _name_points(role, folded)
            if not named:
                points = _content_points(role, seen, folded, first=column == frame.columns[0]) * seen.filled
                if points >= LEAST:
                    out.append((points, role, column, _fit(role, seen)[1]))
                continue
            fit, evidence = _fit(role, seen)
            points = named * fit * (0.5 + 0.5 * seen.filled)
            if points >= LEAST:
                out.append((points, role, column, f"its name; {evidence}"))
    return out


def _name_points(role: str, folded: str) -> float:
    if folded in NAMES[role]:
        return 100 - 40 * NAMES[role].index(folded) / len(NAMES[role])
    return 45.0 if folded.split()[-1:] and folded.split()[-1] in TAILS.get(role, ()) else 0.0


def _fit(role: str, seen: Profile) -> tuple[float, str]:
    """How well the values suit a role (0 to 1), and what they look like."""
    match role:
        case "text":
            odd = max(seen.links, seen.numbers, seen.dates if seen.prose < 0.5 else 0.0)
            return (0.0 if odd > 0.5 else 0.4 + 0.6 * seen.prose), f"{seen.length:.0f} characters a text"
        case "label":
            many = seen.distinct > 60 or (seen.n > 20 and seen.spread > 0.5) or seen.length > 60 or seen.tweet_ids > 0.5
            return (
                0.0 if many else 0.7 + 0.3 * seen.verdicts
            ), f"{seen.distinct} values, {seen.verdicts:.0%} in the map"
        case "id":
            return (1.0 if seen.spread > 0.95 else 0.3) * (seen.prose < 0.5), f"{seen.spread:.0%} distinct"
        case "tweet_id":
            return seen.tweet_ids, f"{seen.tweet_ids:.0%} tweet ids"
        case "date":
            return (seen.dates if seen.dates > 0.3 else 0.0), f"{seen.dates:.0%} dates"
        case "language":
            return (seen.languages if seen.languages > 0.5 else 0.0), f"{seen.distinct} language(s)"
        case "url":
            return (seen.links if seen.links > 0.3 else 0.0), f"{seen.links:.0%} links"
        case "split":
            return (seen.splits if seen.splits > 0.9 else 0.0), f"{seen.distinct} split(s)"
        case "author":
            return float(seen.links < 0.5 and seen.length < 120), f"{seen.distinct} values"
        case _:
            return float(seen.length < 300 and seen.markup < 0.5), f"{seen.distinct} values"


def _content_points(role: str, seen: Profile, folded: str, *, first: bool) -> float:
    """Points for a column whose name says nothing: only what values show beyond doubt."""
    match role:
        case "text" if seen.prose > 0.6 and seen.length >= 20 and seen.spread > 0.4 and seen.links < 0.5:
            return 30 + min(seen.length, 400) / 20
        case "label" if seen.verdicts > 0.9 and 2 <= seen.distinct <= 30 and seen.numbers < 0.5:
            return 40
        case "tweet_id" if _says_nothing(folded) and seen.tweet_ids > 0.95 and seen.spread > 0.5 and seen.length >= 17:
            return 35
        case "date" if 8 <= seen.length <= 40 and seen.numbers < 0.5 and seen.prose < 0.9 and seen.dates > 0.95:
            return 30
        case "url" if seen.links > 0.9:
            return 30
        case "split" if seen.splits == 1 and 2 <= seen.distinct <= 3:
            return 30
        case "id" if first and seen.spread == 1 and seen.n > 1 and seen.prose < 0.1 and seen.length <= 40:
            return 20
    return 0.0


def _says_nothing(folded: str) -> bool:
    """A name that leaves open whose ids these are: other platforms' ids are as long as Twitter's."""
    return folded in ("id", "value", "ids") or folded.startswith("column ")
