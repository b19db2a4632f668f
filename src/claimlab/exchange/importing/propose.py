"""The third step of an import: which column has which role, by what speaks for it.

Every column gets a score for every role (`features`), and the roles are given out together: the
best score first, one column to a role and one role to a column. Every choice can be overruled; what
the user named is fixed, and the rest is decided again.

What speaks for a column having a role: named features, each between 0 and 1.

Names of columns, the values of one column, and how it compares with the other columns of its table.
`data/roles.toml` has the weight of each feature for each role, as fitted by
`bench/import_roles.py`; the score of a column is their sum, in units of log odds. A feature that a
role does not list says nothing about it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from claimlab.core import packaged
from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.languages import normalise
from claimlab.core.record import CLOSED
from claimlab.core.words import several
from claimlab.exchange.importing.ladder import THRESHOLDS
from claimlab.exchange.importing.profile import LABEL_CHARACTERS, ColumnProfile, Profiled
from claimlab.exchange.vocabulary import ALL_FALSE, ALL_TRUE, NAMES, fold_name, named

OWN = ("veracity", "kind", "authorship")  # columns that claimlab itself writes
OWN_TEXT = ("date_source", "meta", "dataset")  # of these, any value is used
INNER = ("text", "label", "date", "source", "author")  # roles that a field of an object may have
ASIDE = ("claim", "evidence", "rater")  # roles whose column stays in `meta`
NO_COLUMN = "none"
# log odds by which the best column must lead the next: three to one
CLOSE_LOG_ODDS = THRESHOLDS["role"]["lead"]
USUAL_GRADE = 0.7  # grade of a name that most people give to a label
FEATURES_NAMED = 4

# The roles in the order in which they are shown, and what to say of the values of each.
ROLES: dict[str, str] = packaged.toml("claimlab.exchange", "vocabulary.toml")["roles"]
WEIGHTS: dict[str, dict[str, float]] = packaged.toml("claimlab.exchange", "roles.toml")
BASE_FEATURE = "any column"  # the feature that every column has
FEW_VALUES, SEVERAL_VALUES = 12, 60  # different values
LEAST_VALUES = 5  # values, before their being distinct says anything
DISTINCT_SHARE, REPEATED_SHARE = 0.95, 0.7  # of the values, that differ
PROSE_SHARE = 0.5  # of the values of a column that are sentences
_STRENGTH = {"whole": 1.0, "main": 0.8, "starts": 0.5, "part": 0.4}
NAME_FEATURES = {
    "whole": "its name",
    "main": "the main word of its name",
    "starts": "the first word of its name",
    "part": "a part of its name",
}
ELSEWHERE = "the name of another role"
_SERIES = re.compile(r"\d+")


class RivalColumn(NamedTuple):
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
    rivals: tuple[RivalColumn, ...] = ()

    @property
    def sure(self) -> bool:
        return self.score is None or self.score > CLOSE_LOG_ODDS

    @property
    def close(self) -> list[str]:
        """The columns that may have the role nearly as well."""
        least = (self.score or 0.0) - CLOSE_LOG_ODDS
        return [rival.column for rival in self.rivals if rival.score > least]


def column_of(picks: Mapping[str, Pick], role: str) -> str | None:
    return picks[role].column if role in picks else None


class RoleCandidate(NamedTuple):
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
) -> list[RoleCandidate]:
    """What every column may be, the best first."""
    every = (
        candidate
        for column, facts in features(seen, columns).items()
        for candidate in _candidates(column, facts, seen.columns[column].name)
        if candidate.column not in inner or _may_be(candidate.role, candidate.column)
        if candidate.role != "label" or not _constant(seen.columns[column])
    )
    order = list(ROLES)
    return sorted(every, key=lambda candidate: (-candidate.score, order.index(candidate.role)))


def _candidates(column: str, facts: Mapping[str, float], folded: str) -> Iterator[RoleCandidate]:
    for role in ROLES:
        added = contributions(facts, folded, role)
        if (score := sum(added.values())) > -CLOSE_LOG_ODDS:
            yield RoleCandidate(score, role, column, added)


def _given(role: str, name: str, seen: Profiled) -> Pick:
    """The column a user means: by its name, its name in other case, or its number from 1."""
    column = _named(name, seen)
    if column is not None:
        values = seen.frame[column].drop_nulls()
        return Pick(column, "as given", values[0] if values.len() else None, given=True)
    if name.lower() == NO_COLUMN:
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
        name: Pick(name, "claimlab's own column", values[0] if values.len() else None)
        for name, values in examples.items()
    }


def _may_be(role: str, column: str) -> bool:
    """Whether a field of an object may have this role: a property of a user is not one of the
    record.
    """
    person = fold_name(column.split(".")[0]) in NAMES["author"]
    return role == "author" if person else role in INNER


def _constant(seen: ColumnProfile) -> bool:
    """One value for all, which neither its name nor the map calls a label. A name such as "status"
    calls many things.
    """
    how = named(seen.name).get("label")
    usual = how is not None and how.grade > USUAL_GRADE
    return seen.distinct == 1 and not seen.verdicts and not usual


def _take_best(picks: dict[str, Pick], ranked: Collection[RoleCandidate], seen: Profiled) -> None:
    used = {pick.column: role for role, pick in picks.items()}
    for candidate in ranked:
        shared = {candidate.role, used.get(candidate.column)} == {"id", "tweet_id"}
        if (
            candidate.role in picks
            or candidate.score <= 0
            or (candidate.column in used and not shared)
        ):
            continue
        picks[candidate.role] = _pick(candidate, seen.columns[candidate.column], ranked)
        used[candidate.column] = candidate.role


def _pick(candidate: RoleCandidate, seen: ColumnProfile, ranked: Collection[RoleCandidate]) -> Pick:
    by_name = any(feature in candidate.added for feature in NAME_FEATURES.values())
    words = ROLES[candidate.role].format(seen) or several(seen.distinct, candidate.role)
    added = sorted(candidate.added.items(), key=lambda item: -item[1])
    rivals = (
        RivalColumn(other.column, round(other.score, 1))
        for other in ranked
        if other.role == candidate.role and other.column != candidate.column
    )
    return Pick(
        candidate.column,
        f"its name; {words}" if by_name else words,
        seen.example,
        score=round(candidate.score, 1),
        evidence=tuple(
            (name, round(n, 1))
            for name, n in added[:FEATURES_NAMED]
            if n > 0 and name != BASE_FEATURE
        ),
        rivals=tuple(rivals),
    )


Features = Mapping[str, float]


def facts_of(seen: ColumnProfile) -> Features:
    """What the values of a column show, by feature."""
    answers = (
        seen.answers if seen.answers > DISTINCT_SHARE else 0.0
    )  # "false" beside "partly false"
    return {
        BASE_FEATURE: 1.0,
        "sentences": seen.prose,
        "long": _scale(seen.length, 10, 1_000),
        "articles": _scale(seen.length, 300, 3_000),
        "distinct": seen.spread,
        "all distinct": seen.n >= LEAST_VALUES and seen.spread == 1,
        "a few values": 2 <= seen.distinct <= FEW_VALUES and _repeats(seen),
        "several values": FEW_VALUES < seen.distinct <= SEVERAL_VALUES and _repeats(seen),
        "many values": seen.distinct > SEVERAL_VALUES,
        "more than labels hold": seen.length > LABEL_CHARACTERS
        or seen.distinct > SEVERAL_VALUES
        or (seen.n > 20 and seen.spread > 0.5),
        "one value": seen.distinct == 1 and seen.n >= LEAST_VALUES,
        "numbers": seen.numbers,
        "codes of one digit": seen.codes,
        "yes and no": seen.answers,
        "counted from row to row": seen.counted,
        "measured": seen.measured,
        "links": seen.links,
        "dates": seen.dates,
        "dates in words": seen.dates * (1 - seen.numbers),
        "years or times since 1970": seen.dates * seen.numbers,
        "one day": seen.same_day,
        "no dates": seen.dates < 0.3,
        "no links": seen.links < 0.3,
        "no language codes": seen.languages < 0.5,
        "no names of splits": seen.splits < 0.9,
        "no tweet ids": seen.tweet_ids < 0.5,
        "tweet ids": seen.tweet_ids,
        "language codes": seen.languages,
        "names of splits": seen.splits,
        "rating words": seen.verdicts * (1 - answers),
        "nothing but rating words": seen.verdicts > 0.9
        and 2 <= seen.distinct <= FEW_VALUES
        and not seen.booleans,
        "lists": seen.lists,
        "objects": seen.objects,
        "names of people": seen.people * (1 - seen.prose),
        "web domains": seen.domains,
        "tokens with digits": seen.tokens,
        "short": seen.length < 40,
        "in every row": seen.filled > 0.95,
        "in few rows": seen.filled < 0.5,
        "a name that says nothing": seen.nameless,
    }


def features(seen: Profiled, columns: Collection[str]) -> Mapping[str, Features]:
    """What each of these columns shows by its values and beside the others, by feature."""
    profiles = {name: seen.columns[name] for name in columns if seen.columns[name].n}
    out = {
        name: {feature: float(fact) for feature, fact in facts_of(column).items() if fact}
        for name, column in profiles.items()
    }
    for feature, holders in _beside(seen, profiles).items():
        for name in holders:
            out[name][feature] = 1.0
    return out


def by_name(folded: str, role: str) -> Features:
    """What a folded header says about one role."""
    roles = named(folded)
    strength = {each: _STRENGTH[how.where] * how.grade for each, how in roles.items()}
    own = strength.pop(role, 0.0)
    out = {NAME_FEATURES[roles[role].where]: roles[role].grade} if role in roles else {}
    if (other := max(strength.values(), default=0.0)) > own:
        out[ELSEWHERE] = other - own
    return out


def contributions(by_values: Features, folded: str, role: str) -> Features:
    """What each feature adds to the score of a column for a role."""
    by_feature = {**by_values, **by_name(folded, role)}
    weights = WEIGHTS[role]
    return {name: weights[name] * value for name, value in by_feature.items() if name in weights}


def _beside(seen: Profiled, profiles: Mapping[str, ColumnProfile]) -> dict[str, list[str]]:
    """The columns that stand out among the others of the table, by feature."""
    names = list(profiles)
    words, codes = _words_and_codes(seen, profiles)
    stems = {name: _SERIES.sub("#", column.folded) for name, column in profiles.items()}
    series = Counter(stem for stem in stems.values() if "#" in stem)
    prose = {
        name: column
        for name, column in profiles.items()
        if column.prose > PROSE_SHARE and column.links < PROSE_SHARE
    }
    return {
        "the first column": names[:1],
        "one of a numbered series": [name for name, stem in stems.items() if series[stem] > 2],
        "the words for a column of codes": words,
        "codes that a column writes out": codes,
        "a name that says what yes means": [
            name for name, column in profiles.items() if _flag(column)
        ],
        "the shorter sentences beside a stance": _shorter(prose) if _stance(profiles) else [],
        "a field of an object": [name for name in names if "." in name],
        **(_beside_sentences(prose) if len(prose) > 1 else {"the only sentences": list(prose)}),
    }


def _stance(profiles: Mapping[str, ColumnProfile]) -> bool:
    """Whether a column says how two texts are related."""
    few = [column for column in profiles.values() if 2 <= column.distinct <= FEW_VALUES]
    return any(column.stances > DISTINCT_SHARE for column in few)


def _shorter(prose: Mapping[str, ColumnProfile]) -> list[str]:
    """Of two columns of sentences, the one with the clearly shorter ones: claims are shorter than
    what is said about them."""
    lengths = {name: column.length for name, column in prose.items()}
    ends = sorted(lengths, key=lambda name: lengths[name])
    return ends[:1] if len(ends) == 2 and 2 * lengths[ends[0]] < lengths[ends[1]] else []


def _beside_sentences(prose: Mapping[str, ColumnProfile]) -> dict[str, list[str]]:
    """Of several columns of sentences those that stand out, by feature."""
    widest = max(column.spread for column in prose.values())
    longest = max(column.length for column in prose.values())
    distinct = [name for name, column in prose.items() if column.spread >= widest - 0.02]
    repeated = [name for name, column in prose.items() if column.spread < REPEATED_SHARE]
    return {
        "the most distinct sentences": distinct,
        "the longest sentences": [
            name for name, column in prose.items() if column.length == longest
        ],
        "sentences that repeat beside distinct ones": repeated if widest > DISTINCT_SHARE else [],
    }


def _words_and_codes(
    seen: Profiled, profiles: Mapping[str, ColumnProfile]
) -> tuple[list[str], list[str]]:
    """Columns of rating words that go one to one with a column of codes, and these columns. A name
    such as is_fake says itself what its codes mean.
    """
    few = {name: one for name, one in profiles.items() if 2 <= one.distinct <= FEW_VALUES}
    words = [
        name
        for name, one in few.items()
        if one.verdicts > PROSE_SHARE and one.numbers < PROSE_SHARE
    ]
    codes = [n for n, one in few.items() if one.numbers > DISTINCT_SHARE and not _flag(one)]
    pairs = [(word, code) for word in words for code in codes if seen.one_to_one(word, code)]
    return [word for word, _ in pairs], [code for _, code in pairs]


def _flag(seen: ColumnProfile) -> bool:
    """Whether its name says what yes and no mean: is_fake."""
    return seen.answers > DISTINCT_SHARE and seen.name in ALL_FALSE | ALL_TRUE


def _repeats(seen: ColumnProfile) -> bool:
    return seen.spread < (0.8 if seen.n <= 20 else 0.3)


def _scale(value: float, least: float, most: float) -> float:
    """Where a value lies between two others, in orders of magnitude."""
    if value <= least:
        return 0.0
    return min(1.0, math.log(value / least) / math.log(most / least))
