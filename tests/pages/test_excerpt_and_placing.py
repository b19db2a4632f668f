from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claimlab.pages.blocks import excerpt
from claimlab.pages.drawing import text_width
from claimlab.pages.scatter import place


@given(st.text(max_size=900), st.integers(2, 300))
def test_an_excerpt_is_short_one_line_and_harmless(text: str, limit: int) -> None:
    short = excerpt(text, limit)
    assert len(short) <= limit
    assert not any(c in short for c in "\n\r\t\x00\x1b\u2028\u202e\u2066")


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("plain", 10, "plain"),
        ("a  b\n\tc", 10, "a b c"),
        ("0123456789", 10, "0123456789"),
        ("0123456789x", 10, "012345678…"),
        ("x" + " " * 5_000 + "y", 10, "x…"),
        ("\x1b[31mred", 20, "\ufffd[31mred"),
        ("a\u202eb", 20, "a\ufffdb"),
        ("", 5, ""),
    ],
)
def test_excerpts(text: str, limit: int, shown: str) -> None:
    assert excerpt(text, limit) == shown


def test_a_megabyte_is_cut_without_being_read() -> None:
    assert len(excerpt("word " * 250_000, 300)) <= 300


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 120))
def test_no_name_covers_another_nor_a_dot(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.uniform(0, 400, (n, 2))
    points[: n // 2] = points[0]  # half of them on one spot, as equal counts are
    names = [(i, "word" * int(rng.integers(1, 4))) for i in range(n)]
    placed = place(points, names, area=(400, 400))
    boxes = [p.box for p in placed]
    for i, a in enumerate(boxes):
        assert min(a) >= 0
        assert max(a) <= 400
        for b in boxes[:i]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        for dot in np.delete(points, placed[i].index, axis=0):
            if not np.array_equal(dot, points[placed[i].index]):
                assert not (a[0] < dot[0] < a[2] and a[1] < dot[1] < a[3])


def test_a_lone_dot_is_named_beside_it() -> None:
    (one,) = place(np.array([[50.0, 50.0]]), [(0, "harbour")], area=(200, 100))
    assert not one.away
    assert one.left > 50


def test_wide_letters_take_more_room() -> None:
    assert text_width("疫苗", 10) > text_width("it", 10)
    assert text_width("e\u0301", 10) == text_width("e", 10)
