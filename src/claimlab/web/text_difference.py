"""Two texts in one, from start to end: the words that both have, or only one of them.

The longest common run of words is found on bits, a row of one text at a time, so that two texts of
any pattern take the same short time: what counts is their length alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Literal

from claimlab.web.workspace import Shape

MOST_WORDS = 2_000  # of each text: more are not compared
_COMPARISONS_KEPT = 256  # pairs of texts whose difference is remembered
_PIECES = re.compile(r"\s+|[^\s]+")
Side = Literal["", "first", "second"]


class TextPiece(Shape):
    """Words that both texts have, or only one of them."""

    text: str
    only: Side = ""


@lru_cache(_COMPARISONS_KEPT)
def difference(one: str, other: str) -> tuple[TextPiece, ...]:
    """Both texts in one, from start to end; very long ones are not compared."""
    a, b = _PIECES.findall(one), _PIECES.findall(other)
    if max(len(a), len(b)) > 2 * MOST_WORDS:
        return ()
    start = _alike(a, b)
    end = _alike(a[start:][::-1], b[start:][::-1])
    middle = _middle(a[start : len(a) - end], b[start : len(b) - end])
    pieces: list[tuple[Side, str]] = [("", piece) for piece in a[:start]]
    pieces += middle
    pieces += [("", piece) for piece in a[len(a) - end :]]
    return tuple(
        TextPiece(text="".join(piece for _, piece in group), only=side)
        for side, group in groupby(pieces, itemgetter(0))
    )


def _alike(a: Sequence[str], b: Sequence[str]) -> int:
    """How many pieces are the same from the start."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((at for at, (x, y) in pairs if x != y), min(len(a), len(b)))


def _middle(a: Sequence[str], b: Sequence[str]) -> list[tuple[Side, str]]:
    """Every piece with its side; in a gap, those of the first text come first."""
    places: dict[str, int] = defaultdict(int)
    for at, piece in enumerate(a):
        places[piece] |= 1 << at
    row, full, rows = (1 << len(a)) - 1, (1 << len(a)) - 1, []
    for piece in b:  # Hyyrö 2004: a zero is where the common run grows
        match = row & places.get(piece, 0)
        row = ((row + match) | (row - match)) & full
        rows.append(row)
    steps: list[tuple[Side, str]] = []
    i, j = len(a), len(b)
    while i and j:
        if rows[j - 1] >> (i - 1) & 1:
            i -= 1
            steps.append(("first", a[i]))
        else:
            j -= 1
            if j and not rows[j - 1] >> (i - 1) & 1:
                steps.append(("second", b[j]))
            else:
                i -= 1
                steps.append(("", a[i]))
    steps += [("second", piece) for piece in reversed(b[:j])]
    steps += [("first", piece) for piece in reversed(a[:i])]
    return _sorted_gaps(steps[::-1])


def _sorted_gaps(steps: Sequence[tuple[Side, str]]) -> list[tuple[Side, str]]:
    out: list[tuple[Side, str]] = []
    for common, gap in groupby(steps, lambda step: step[0] == ""):
        part = list(gap)
        out += part if common else sorted(part, key=itemgetter(0))
    return out
