"""What speaks for a column having a role: named features, each between 0 and 1.

Names of columns, the values of one column, and how it compares with the other columns of its table.
`data/roles.toml` has the weight of each feature for each role, as fitted by
`bench/import_roles.py`; the score of a column is their sum, in units of log odds. A feature that a
role does not list says nothing about it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping

from claimlab.core import packaged
from claimlab.exchange.importing.profile import LONGEST, Profile, Profiled
from claimlab.exchange.vocabulary import named

Features = Mapping[str, float]

WEIGHTS: dict[str, dict[str, float]] = packaged.toml("claimlab.exchange", "roles.toml")
BASE = "any column"  # the feature that every column has
FEW, SEVERAL = 12, 60  # different values
LEAST = 5  # values, before their being distinct says anything
DISTINCT, REPEATED = 0.95, 0.7  # of the values, that differ
PROSE = 0.5  # of the values of a column that are sentences
_STRENGTH = {"whole": 1.0, "main": 0.8, "starts": 0.5, "part": 0.4}
NAMED = {
    "whole": "its name",
    "main": "the main word of its name",
    "starts": "the first word of its name",
    "part": "a part of its name",
}
ELSEWHERE = "the name of another role"
_SERIES = re.compile(r"\d+")

# What the values of a column show.
VALUES: dict[str, Callable[[Profile], float]] = {
    BASE: lambda _: 1.0,
    "sentences": lambda seen: seen.prose,
    "long": lambda seen: _scale(seen.length, 10, 1_000),
    "articles": lambda seen: _scale(seen.length, 300, 3_000),
    "distinct": lambda seen: seen.spread,
    "all distinct": lambda seen: float(seen.n >= LEAST and seen.spread == 1),
    "a few values": lambda seen: float(2 <= seen.distinct <= FEW and _repeats(seen)),
    "several values": lambda seen: float(FEW < seen.distinct <= SEVERAL and _repeats(seen)),
    "many values": lambda seen: float(seen.distinct > SEVERAL),
    "more than labels hold": lambda seen: float(
        seen.length > LONGEST or seen.distinct > SEVERAL or (seen.n > 20 and seen.spread > 0.5)
    ),
    "one value": lambda seen: float(seen.distinct == 1),
    "numbers": lambda seen: seen.numbers,
    "codes of one digit": lambda seen: seen.codes,
    "yes and no": lambda seen: seen.answers,
    "counted from row to row": lambda seen: float(seen.counted),
    "links": lambda seen: seen.links,
    "dates": lambda seen: seen.dates,
    "dates in words": lambda seen: seen.dates * (1 - seen.numbers),
    "no dates": lambda seen: float(seen.dates < 0.3),
    "no links": lambda seen: float(seen.links < 0.3),
    "no language codes": lambda seen: float(seen.languages < 0.5),
    "no names of splits": lambda seen: float(seen.splits < 0.9),
    "no tweet ids": lambda seen: float(seen.tweet_ids < 0.5),
    "tweet ids": lambda seen: seen.tweet_ids,
    "language codes": lambda seen: seen.languages,
    "names of splits": lambda seen: seen.splits,
    "rating words": lambda seen: seen.verdicts * (1 - seen.answers),
    "nothing but rating words": lambda seen: float(
        seen.verdicts > 0.9 and 2 <= seen.distinct <= FEW and not seen.booleans
    ),
    "lists": lambda seen: seen.lists,
    "objects": lambda seen: seen.objects,
    "names of people": lambda seen: seen.people * (1 - seen.prose),
    "web domains": lambda seen: seen.domains,
    "tokens with digits": lambda seen: seen.tokens,
    "short": lambda seen: float(seen.length < 40),
    "in every row": lambda seen: float(seen.filled > 0.95),
    "in few rows": lambda seen: float(seen.filled < 0.5),
    "a name that says nothing": lambda seen: float(seen.nameless),
}


def features(seen: Profiled, columns: Collection[str]) -> Mapping[str, Features]:
    """What each of these columns shows by its values and beside the others, by feature."""
    profiles = {name: seen.columns[name] for name in columns if seen.columns[name].n}
    out = {
        name: {feature: value for feature, test in VALUES.items() if (value := test(one))}
        for name, one in profiles.items()
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
    out = {NAMED[roles[role].where]: roles[role].grade} if role in roles else {}
    if (other := max(strength.values(), default=0.0)) > own:
        out[ELSEWHERE] = other - own
    return out


def contributions(shown: Features, folded: str, role: str) -> Features:
    """What each feature adds to the score of a column for a role."""
    facts = {**shown, **by_name(folded, role)}
    weights = WEIGHTS[role]
    return {name: weights[name] * value for name, value in facts.items() if name in weights}


def _beside(seen: Profiled, profiles: Mapping[str, Profile]) -> dict[str, list[str]]:
    """The columns that stand out among the others of the table, by feature."""
    names = list(profiles)
    words, codes = _words_and_codes(seen, profiles)
    stems = {name: _SERIES.sub("#", one.folded) for name, one in profiles.items()}
    series = Counter(stem for stem in stems.values() if "#" in stem)
    prose = {name: one for name, one in profiles.items() if one.prose > PROSE and one.links < PROSE}
    return {
        "the first column": names[:1],
        "one of a numbered series": [name for name, stem in stems.items() if series[stem] > 2],
        "the words for a column of codes": words,
        "codes that a column writes out": codes,
        "a field of an object": [name for name in names if "." in name],
        **(_beside_sentences(prose) if len(prose) > 1 else {"the only sentences": list(prose)}),
    }


def _beside_sentences(prose: Mapping[str, Profile]) -> dict[str, list[str]]:
    """Of several columns of sentences those that stand out, by feature."""
    widest = max(one.spread for one in prose.values())
    longest = max(one.length for one in prose.values())
    distinct = [name for name, one in prose.items() if one.spread >= widest - 0.02]
    repeated = [name for name, one in prose.items() if one.spread < REPEATED]
    return {
        "the most distinct sentences": distinct,
        "the longest sentences": [name for name, one in prose.items() if one.length == longest],
        "sentences that repeat beside distinct ones": repeated if widest > DISTINCT else [],
    }


def _words_and_codes(
    seen: Profiled, profiles: Mapping[str, Profile]
) -> tuple[list[str], list[str]]:
    """Columns of rating words that go one to one with a column of codes, and these columns."""
    few = {name: one for name, one in profiles.items() if 2 <= one.distinct <= FEW}
    words = [name for name, one in few.items() if one.verdicts > PROSE and one.numbers < PROSE]
    codes = [name for name, one in few.items() if one.numbers > DISTINCT]
    pairs = [(word, code) for word in words for code in codes if seen.one_to_one(word, code)]
    return [word for word, _ in pairs], [code for _, code in pairs]


def _repeats(seen: Profile) -> bool:
    return seen.spread < (0.8 if seen.n <= 20 else 0.3)


def _scale(value: float, least: float, most: float) -> float:
    """Where a value lies between two others, in orders of magnitude."""
    if value <= least:
        return 0.0
    return min(1.0, math.log(value / least) / math.log(most / least))
