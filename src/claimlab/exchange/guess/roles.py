"""What a column may be, one entry for each role: what speaks for it by its name, and what by its
values alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from claimlab.core.words import several
from claimlab.exchange.guess.profile import Profile
from claimlab.exchange.vocabulary import ALL_FALSE, ALL_TRUE, NAMES, TAILS, WORLD


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
            return 58.0
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
