"""The terminal view fits its width and lets no text steer the terminal."""

from __future__ import annotations

import pytest

from claimlab.pages.blocks import Cell, Figure, Fold, Items, Quote, Section, Table, Text, Tiles
from claimlab.pages.terminal import bar, clean, columns_of, fit, grid, shorten, to_text

LONG = "a claim of many words that does not fit on one line of a narrow terminal " * 3
EVERYTHING = [
    Section(
        "A title",
        [
            Text(LONG),
            Text(LONG, kind="warning"),
            Items([LONG, "short"]),
            Tiles([("records", "600", "plain"), ("fails", "3", "fail")]),
            Table(
                ["Name", "n", "Text"],
                [["one", 1, LONG], ["two", 22, "短い文章です" * 9]],
                "A caption.",
            ),
            Figure("<svg/>", "Caption.", "what is to be seen"),
            Quote(LONG, "somebody"),
            Fold("More", [Text("inside")]),
        ],
    )
]


@pytest.mark.parametrize("width", [40, 80, 140])
def test_no_line_is_wider_than_asked(width: int) -> None:
    lines = to_text(EVERYTHING, width=width).splitlines()
    assert max(map(columns_of, lines)) <= width
    assert not any("\x1b" in line for line in lines)
    text = "\n".join(lines)
    assert "<svg" not in text
    for part in (
        "A title",
        "short",
        "600 records",
        "A caption.",
        "[what is to be seen]",
        "somebody",
        "inside",
    ):
        assert part in text
    assert "\n\n\n" not in text


def test_wrapped_cells_lose_nothing() -> None:
    lines = grid(Table(["A", "B"], [["x", LONG]]), width=30)
    assert " ".join(" ".join(lines).split()).removeprefix("A B x ") == LONG.strip()


def test_a_cut_table_keeps_one_line_a_row_and_whole_columns_whole() -> None:
    table = Table(["Name", "Text"], [["a-very-long-name-indeed", LONG], ["b", "short"]])
    lines = grid(table, width=40, whole=["Name"], cut=True)
    assert len(lines) == 3
    assert lines[1].startswith("a-very-long-name-indeed")
    assert lines[1].endswith("…")
    assert max(map(columns_of, lines)) <= 40


def test_figures_are_aligned_right_and_words_left() -> None:
    lines = grid(Table(["What", "n"], [["a", 5], ["b", 1_234]]), width=40)
    assert lines == ["What      n", "a         5", "b     1,234"]


def test_widest_columns_give_first() -> None:
    assert fit([10, 30, 20], 50) == [10, 20, 20]
    assert fit([10, 30, 20], 50, fixed={1}) == [10, 30, 10]
    assert fit([10, 10], 5) == [5, 5]  # no narrower than can be read


def test_text_cannot_steer_the_terminal() -> None:
    assert clean("a\x1b[31mred\x07\nb\u202ec\u2066d") == "a\ufffd[31mred\ufffd b\ufffdc\ufffdd"
    page = to_text([Quote("\x1b]0;owned\x07"), Table(["\x1b[2J"], [["\x9b31m"]])], width=80)
    assert not any(ord(c) < 32 and c != "\n" for c in page)
    assert "\x9b" not in page


def test_colour_only_on_request() -> None:
    table = Table(["K"], [[Cell("fail", tone="fail")]])
    assert grid(table, width=20, colour=True)[1] == "\x1b[31mfail\x1b[0m"
    assert grid(table, width=20)[1] == "fail"


def test_shorten_counts_columns() -> None:
    assert shorten("abcdef", 4) == "abc…"
    assert shorten("短い文章", 5) == "短い…"
    assert shorten("abc", 3) == "abc"
    assert columns_of("e\u0301") == 1


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0, ""), (0.0001, "▏"), (0.5, "█████"), (0.55, "█████▌"), (1, "█" * 10), (2, "█" * 10)],
)
def test_bar(share: float, shown: str) -> None:
    assert bar(share, 10) == shown
