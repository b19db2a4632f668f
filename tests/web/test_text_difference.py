"""Two texts in one: both are whole in it, and no pattern of words takes long."""

from __future__ import annotations

import random
import time

import pytest

from claimlab.web.text_difference import MOST_WORDS, difference

MOST_SECONDS = 0.2  # of one processor
N = MOST_WORDS
DRAW = random.Random(7)


def _drawn(letters: str) -> str:
    return " ".join(DRAW.choice(letters) for _ in range(N))


PATTERNS = {
    "alternating": ("a the " * (N // 2), "the " * N),
    "alternating, shifted": ("a the " * (N // 2), "the a " * (N // 2)),
    "one word": ("x " * N, "x " * (N - 1)),
    "periods": ("a b c " * (N // 3), "c b a d " * (N // 4)),
    "two words": (_drawn("ab"), _drawn("ab")),
    "few words": (_drawn("abcdefghijkl"), _drawn("abcdefghijkl")),
    "turned": (
        " ".join(map(str, range(N))),
        " ".join(map(str, [*range(N // 2, N), *range(N // 2)])),
    ),
    "nothing alike": (
        " ".join(f"a{i}" for i in range(N)),
        " ".join(f"b{i}" for i in range(N)),
    ),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_two_long_texts_of_any_pattern_take_a_moment(pattern: str) -> None:
    one, other = PATTERNS[pattern]
    difference.cache_clear()
    started = time.process_time()
    pieces = difference(one, other)
    assert time.process_time() - started < MOST_SECONDS
    assert "".join(piece.text for piece in pieces if piece.only != "second") == one
    assert "".join(piece.text for piece in pieces if piece.only != "first") == other
    assert difference(one, other) is pieces  # computed once


def test_what_both_have_is_as_long_as_it_can_be() -> None:
    """Held against the plain table of the longest common run, on short texts."""
    for _ in range(200):
        one, other = ("".join(DRAW.choice("ab ") for _ in range(12)) for _ in range(2))
        pieces = difference(one, other)
        assert "".join(p.text for p in pieces if p.only != "second") == one
        assert "".join(p.text for p in pieces if p.only != "first") == other
        a, b = _pieces(one), _pieces(other)
        common = sum(len(_pieces(p.text)) for p in pieces if p.only == "")
        assert common == _longest(a, b), (one, other)


def _pieces(text: str) -> list[str]:
    import re

    return re.findall(r"\s+|\S+", text)


def _longest(a: list[str], b: list[str]) -> int:
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = (
                table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
            )
    return table[-1][-1]


def test_texts_beyond_the_bound_are_not_compared() -> None:
    assert difference("a " * (N + 1), "b") == ()
