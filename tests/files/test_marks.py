"""The fast count of marks against a slow one that looks at each byte."""

from __future__ import annotations

import csv
import io
import re
from array import array

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from claimlab.files.marks import FileMarks, count_marks, counted_by, slow_count

PIECES = st.lists(
    st.sampled_from(
        ["a", '"', ",", "\n", "\r", "\r\n", '""', ',"', '",', '"\n', "é", "\0", " " * 63, " " * 64]
    ),
    max_size=80,
)
CELL = r'(?:"(?:[^"]|"")*"(?=,|\r?\n|\Z)|(?!")[^",\n]*)'
WELL_FORMED = re.compile(rf"(?:{CELL}(?:,|\r?\n))*{CELL}")


def slow(data: bytes) -> FileMarks:
    marks = FileMarks(
        size=len(data),
        quotes=data.count(b'"'),
        delimiters=data.count(b","),
        newlines=data.count(b"\n"),
    )
    marks.returns, marks.pairs = data.count(b"\r"), data.count(b"\r\n")
    marks.ends_with_newline = data.endswith(b"\n")
    marks.nul = data.find(b"\0") if b"\0" in data else None
    inside, delimiters, line = False, 0, b""
    per_row = []
    for i in range(len(data)):
        byte = data[i : i + 1]
        inside ^= byte == b'"'
        if byte == b"\n" and not inside:
            marks.newlines_outside += 1
            if line in (b"", b"\r"):
                marks.blank_outside += 1
            else:
                per_row.append(delimiters)
            delimiters, line = 0, b""
        else:
            delimiters += byte == b"," and not inside
            line += byte
    if line:
        per_row.append(delimiters)
    marks.fewest, marks.most = min(per_row, default=None), max(per_row, default=0)
    marks.well_formed = WELL_FORMED.fullmatch(data.decode("latin-1")) is not None
    return marks


@settings(max_examples=400, deadline=None)
@example(parts=['""', "\r", "a"], size=64)
@given(parts=PIECES, size=st.sampled_from([64, 128, 1 << 20]))
def test_counts_are_those_of_a_slow_look(parts: list[str], size: int) -> None:
    data = "".join(parts).encode()
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    fast, right = count_marks(pieces, ","), slow(data)
    assert fast == counted_by(slow_count, pieces, ",")
    if right.quotes % 2 or data.endswith(b"\r"):
        assert not fast.well_formed, "an open quote or half a line end is never well formed"
        return
    assert fast == right


def test_every_table_that_python_writes_is_well_formed() -> None:
    file = io.StringIO()
    csv.writer(file).writerows([["a", 'b"c', "d,e\nf"], ["", '"', "\r\n"], ["x", "y", "z"]])
    marks = count_marks([file.getvalue().encode()], ",")
    assert marks.well_formed
    assert (marks.fewest, marks.most) == (2, 2)
    assert marks.rows(quoted=True) == 3


def test_a_nul_is_placed() -> None:
    assert count_marks([b"a" * 64, b"b\0c"], ",").nul == 65
    assert count_marks([b"abc"], ",").nul is None


def test_the_compiled_loop_checks_its_state() -> None:
    compiled = pytest.importorskip(
        "claimlab.files._marks", reason="the compiled loop was not built"
    )
    with pytest.raises(ValueError, match="must have"):
        compiled.count(b"a,b", ord(","), array("q", [0]))
