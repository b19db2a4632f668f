"""How often agents of the released traces made which kind of edit (`data/frequencies.toml`).

Only aggregates are kept: shares by target and by whether it was the first, the second or a later
rewrite of a claim. A walk that nothing steers draws from the mean of all targets, because no trace
of such a walk was released; so do targets without traces (expression).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from claimlab.core import packaged
from claimlab.evolve.claims.model import Target
from claimlab.evolve.rewrite.edits import KINDS

ALL = "all"
STEPS = ("first", "second", "later")
ROOM = 8  # words that a claim may always gain, however short it is


@dataclass(frozen=True)
class Row:
    """`edits`: kinds that a rewrite shows on average; `shares`: of rewrites that show a kind."""

    edits: float
    shares: Mapping[str, float]


@dataclass(frozen=True)
class Frequencies:
    """What is known of one target. `growth` is words at the end over words of the seed, `producers`
    the share of agents who rewrote."""

    growth: float
    producers: float
    rows: tuple[Row, Row, Row]

    def at(self, rewrite: int) -> Row:
        """The row of the first, second or later rewrite (from 1)."""
        return self.rows[min(max(rewrite, 1), len(self.rows)) - 1]

    def most_words(self, seed: str) -> int:
        """How long a text that began as `seed` may become: not longer than released ones are on
        average.
        """
        words = len(seed.split())
        return max(round(words * self.growth), words + ROOM)


@cache
def frequencies(target: Target | None) -> Frequencies:
    table = packaged.toml("claimlab.evolve.rewrite", "frequencies.toml")
    entry = table.get(str(target)) or table[ALL]
    rows = [_row(entry.get(step) or table[ALL][step]) for step in STEPS]
    return Frequencies(entry["growth"], entry["producers"], (rows[0], rows[1], rows[2]))


def _row(values: Mapping[str, float]) -> Row:
    return Row(values["edits"], {kind: values[kind] for kind in KINDS})
