"""Delimited files of unknown layout: every row is read or refused by line, whatever the dialect."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from claimlab.core.errors import UnreadableFile, UsageError
from claimlab.files import delimited
from claimlab.files.delimited import read_delimited_file
from claimlab.files.layout import FileLayout, ReadOptions
from claimlab.files.marks import count_marks
from claimlab.files.raw import RawTable

KNOWN = frozenset({"id", "text", "label", "claim", "rating"})


def read(data: bytes | str, name: str = "t.csv", **options: Any) -> RawTable:
    raw = data.encode() if isinstance(data, str) else data
    return read_delimited_file(raw, name, ReadOptions(**options), KNOWN)


# Any table that Python writes comes back cell for cell.

CELLS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12),
    st.text(st.sampled_from(list("ab\",;|\t\n\r\\' é")), max_size=8),
)
TABLES = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=8)
)
DIALECTS: dict[str, dict[str, Any]] = {
    "excel": {},
    "excel-tab": {"delimiter": "\t"},
    "semicolon": {"delimiter": ";"},
    "pipe, all quoted": {"delimiter": "|", "quoting": csv.QUOTE_ALL, "lineterminator": "\n"},
    "unix": {"quoting": csv.QUOTE_ALL, "lineterminator": "\n"},
    "backslash": {
        "doublequote": False,
        "escapechar": "\\",
        "quoting": csv.QUOTE_ALL,
        "lineterminator": "\n",
    },
}


def written(rows: list[list[str]], dialect: dict[str, Any]) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file, **dialect).writerows(rows)
    return file.getvalue().encode()


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=120, deadline=None)
@given(rows=TABLES)
def test_what_python_writes_comes_back_cell_for_cell(dialect: str, rows: list[list[str]]) -> None:
    header = [f"c{i}" for i in range(len(rows[0]))]
    settings_ = DIALECTS[dialect]
    data = written([header, *rows], settings_)
    quotes: Any = "escape" if "escapechar" in settings_ else "double"
    table = read(
        data,
        delimiter=settings_.get("delimiter", ","),
        quotes=quotes,
        header=True,
        encoding="utf-8",
    )
    expected = [tuple(c or None for c in row) for row in rows if any(row)]
    assert table.frame.columns == header
    assert table.frame.rows() == expected
    assert table.refused.total == 0
    assert table.blank == len(rows) - len(expected)


WORDS = st.sampled_from(
    [
        "The bridge",
        "is closed",
        'he said "no"',
        "1,000 people",
        "tax; budget",
        "a | b",
        "não",
        "x\ny",
    ]
)
PROSE = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)


@pytest.mark.parametrize("dialect", [d for d in DIALECTS if d != "backslash"])
@settings(max_examples=40, deadline=None)
@given(texts=st.lists(PROSE, min_size=3, max_size=12))
@example(texts=["The bridge", "The bridge", "tax; budget tax; budget x\ny tax; budget"])
@example(texts=["1,000 people 1,000 people x\ny 1,000 people"] * 3)
def test_the_dialect_is_found_without_being_told(dialect: str, texts: list[str]) -> None:
    rows = [
        [f"id{i}", text, ["true", "false"][i % 2], "2020-01-02"] for i, text in enumerate(texts)
    ]
    data = written([["id", "claim", "rating", "when"], *rows], DIALECTS[dialect])
    table = read(data)
    assert table.layout.delimiter == DIALECTS[dialect].get("delimiter", ",")
    assert table.frame.rows() == [tuple(r) for r in rows]


# The fast reader is believed only when it is right.


@settings(max_examples=300, deadline=None)
@given(
    parts=st.lists(
        st.sampled_from(
            ["a", "b", '"', ",", "\n", "\r", "\r\n", '""', ',"', '",', '"\n', " ", "é"]
        ),
        max_size=40,
    ),
    quotes=st.sampled_from(["double", "none"]),
    header=st.booleans(),
)
def test_fast_and_slow_agree_on_anything(parts: list[str], quotes: Any, header: bool) -> None:
    data = ("x,y,z\n" + "".join(parts)).encode()
    layout = FileLayout("CSV", "utf-8", ",", quotes, header)
    names = ["x", "y", "z"]
    fast = delimited._fast(data, "t", layout, names, count_marks([data], ","))
    slow = delimited._slow(data, "t", layout, names)
    if fast is not None:
        assert slow.refused.total == 0
        assert fast.frame.equals(slow.frame, null_equal=True)
        assert fast.blank == slow.blank


def test_large_quoted_texts_that_look_like_rows_stay_whole(tmp_path: Path) -> None:
    """Fast readers cut a file into chunks at line ends; here most line ends are inside cells."""
    text = '1,2,3\n"quoted, line",b,c\nx,"y,z\n' * 5
    rows = [[str(i), text, "a"] for i in range(20_000)]
    path = tmp_path / "big.csv"
    path.write_bytes(written([["id", "text", "label"], *rows], {}))
    table = read_delimited_file(path, "big.csv", ReadOptions(), KNOWN)
    assert table.frame.height == 20_000
    assert table.frame["text"].unique().to_list() == [text]


# Rows that are wrong are refused, counted and listed by line.


def test_ragged_rows_are_refused_by_line() -> None:
    table = read('id,text,label\n1,"a\nb",x\n2,short\n3,c,x\n4,d,x,surplus\n5,e,x\n')
    assert table.frame["id"].to_list() == ["1", "3", "5"]
    assert table.refused.listed == [(4, "2 cells instead of 3"), (6, "4 cells instead of 3")]
    assert table.rows_read == 5


def test_rows_that_all_lack_the_last_column_are_kept() -> None:
    whole = "".join(f"{i}\tA text {i}\tSUBJ\tFalse\n" for i in range(60))
    cut = "".join(f"{i}\tA text {i}\tOBJ\n" for i in range(60, 100))
    table = read("id\ttext\tlabel\tsolved\n" + whole + cut, "t.tsv")
    assert (table.frame.height, table.refused.total) == (100, 0)
    assert table.frame["solved"].null_count() == 40
    assert table.frame["label"].null_count() == 0
    assert table.notes == ["40 rows of 't.tsv' end before 'solved', which is empty there."]


def test_rows_of_several_shorter_widths_are_broken_and_refused() -> None:
    whole = "".join(f"{i}\tA text {i}\tSUBJ\tFalse\n" for i in range(60))
    broken = "".join(f"{i}\tA text\n{i}\tmore\tOBJ\n" for i in range(40))
    table = read("id\ttext\tlabel\tsolved\n" + whole + broken, "t.tsv")
    assert (table.frame.height, table.refused.total) == (60, 80)


def test_short_and_long_rows_do_not_cancel_out() -> None:
    table = read("id,text,label\n1,a,x\n2,b\n3,c,x,\n4,d,x\n")
    assert table.frame["id"].to_list() == ["1", "4"]
    assert table.refused.total == 2


def test_an_open_quote_costs_one_row_not_the_rest() -> None:
    body = "".join(f'{i},"text, {i}",x\n' for i in range(2, 50))
    table = read(f'id,text,label\n1,"never closed,x\n{body}')
    assert table.frame.height == 48
    assert [line for line, _ in table.refused.listed] == [2]


def test_blank_rows_are_left_out_and_counted() -> None:
    table = read("id,text\n1,a\n\n2,b\n,\n  \n3,c\n\n")
    assert table.frame["id"].to_list() == ["1", "2", "3"]
    assert table.blank == 4
    assert table.refused.total == 0


# Quotes: syntax or text, by the rows that each reading would refuse.


def test_quotes_that_are_text_lose_no_rows() -> None:
    """The layout of LIAR: tabs, no header, statements that begin with a quote and do not end with
    one.
    """
    lines = [f"{i}.json\tfalse\tStatement number {i} about the bridge\ttopic" for i in range(60)]
    lines[3] = '3.json\ttrue\t"The bridge," she said, is closed\ttopic'
    lines[9] = '9.json\ttrue\tHe called it "a bridge"\ttopic'
    lines[20] = '20.json\ttrue\t"Open and never closed\ttopic'
    table = read("\n".join(lines) + "\n", "train.tsv")
    assert table.layout.quotes == "none"
    assert table.layout.header is False
    assert table.frame.height == 60
    assert table.frame["column_3"][3] == '"The bridge," she said, is closed'


def test_stray_quotes_that_pair_up_do_not_swallow_rows() -> None:
    lines = [f"{i}\tlabel\ttext {i}" for i in range(40)]
    lines[5], lines[11] = '5\tlabel\t"text 5', '11\tlabel\ttext 11"'
    table = read("\n".join(lines) + "\n", "t.tsv", header=False)
    assert table.frame.height == 40


def test_quotes_that_are_syntax_keep_line_breaks() -> None:
    """The layout of Fakeddit: tabs, quoted titles of which a few span lines. Counting lines would
    count them twice.
    """
    rows = [
        [str(i), f'A "title" {i}' if i % 9 else f"Title {i} on\ntwo lines", "1"] for i in range(40)
    ]
    table = read(
        written([["id", "title", "label"], *rows], {"delimiter": "\t", "lineterminator": "\n"}),
        "t.tsv",
    )
    assert table.layout.quotes == "double"
    assert table.frame.rows() == [tuple(r) for r in rows]


def test_backslash_escapes_are_found() -> None:
    rows = [[str(i), f'He said "no", {i}', "x"] for i in range(20)]
    table = read(written([["id", "text", "label"], *rows], DIALECTS["backslash"]))
    assert table.layout.quotes == "escape"
    assert table.frame.rows() == [tuple(r) for r in rows]


# Headers, line ends, encodings.


@pytest.mark.parametrize(
    ("first", "header"),
    [
        ("id,claim,rating", True),
        ("Claim Text,Verdict,Who", True),
        (",claim,rating", True),
        ("foo,bar,baz", True),
        ("7,The bridge is closed,true", False),
        ("a.json,The bridge has been closed since May,true", False),
        ("x,https://site.example/1,true", False),
        ("r0,Taxes doubled over the last ten years,true", False),
    ],
)
def test_headers_are_told_from_first_rows(first: str, header: bool) -> None:
    body = "".join(
        f"r{i},Something else was said about the town {i},{['true', 'false'][i % 2]}\n"
        for i in range(9)
    )
    table = read(f"{first}\n{body}")
    assert table.layout.header is header
    assert table.frame.height == (9 if header else 10)


def test_headers_of_r_and_trailing_delimiters() -> None:
    r = read("text,label\n1,a b c,x\n2,d e f,y\n", delimiter=",")
    assert r.frame.columns == ["row", "text", "label"]
    trailing = read("id,text\n1,a b c,\n2,d e f,\n", delimiter=",")
    assert trailing.frame.columns == ["id", "text", "column_3"]
    assert trailing.frame.height == 2


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_gives_the_same_rows(end: str) -> None:
    table = read(f"id,text{end}1,a b{end}2,c d{end}")
    assert table.frame.rows() == [("1", "a b"), ("2", "c d")]


def test_lone_returns_inside_cells_survive() -> None:
    assert read('id,text\n1,"a\rb"\n2,c\rd\n').frame["text"].to_list() == ["a\rb", "c\rd"]
    after_a_bad_row = read(
        'id,text\n0,"x\n1,a\rb\n' + "".join(f'{i},"c, d"\n' for i in range(2, 9)) + "9,e\rf"
    )
    assert after_a_bad_row.frame["text"].to_list() == ["a\rb", *["c, d"] * 7, "e\rf"]
    assert after_a_bad_row.refused.listed[0][0] == 2


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_encodings_are_found_in_files(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(
        ("id,text\n" + "1,a ponte não é a mesma; já há solução\n" * 30).encode(encoding)
    )
    table = read_delimited_file(path, "t.csv", ReadOptions(), KNOWN)
    assert table.frame["text"][29] == "a ponte não é a mesma; já há solução"
    assert table.layout.encoding == encoding


def test_an_encoding_that_shows_late_is_still_found(tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    path.write_bytes(
        b"id,text\n"
        + b"1,plain words only\n" * 60_000
        + "2,a solução não é essa\n".encode("cp1252") * 30
    )
    table = read_delimited_file(path, "late.csv", ReadOptions(), KNOWN)
    assert table.layout.encoding == "cp1252"
    assert table.frame["text"][-1] == "a solução não é essa"
    with pytest.raises(UnreadableFile, match="not utf-8"):
        read_delimited_file(path, "late.csv", ReadOptions(encoding="utf-8"), KNOWN)


def test_one_text_per_line() -> None:
    table = read(
        "The bridge, they say, is closed.\nIt is not.\nTaxes, roads, schools, all at once.\n",
        "claims.txt",
    )
    assert table.frame.width == 1
    assert table.frame.height == 3


def test_a_nul_is_refused_with_its_line() -> None:
    with pytest.raises(UnreadableFile, match="NUL byte on line 3"):
        read(b"id,text\n1,a\n2,b\0c\n")


def test_wrong_delimiters_are_usage_errors() -> None:
    for wrong in (",,", "é", '"', "\n"):
        with pytest.raises(UsageError, match="`delimiter`"):
            read("a,b\n1,2\n", delimiter=wrong)
    with pytest.raises(UsageError, match="There is no ';' in 't.csv'"):
        read("a,b\n1,2\n", delimiter=";")


def test_columns_are_text_and_never_empty_strings() -> None:
    table = read('id,text,n\n1,"",007\n2,b,1e5\n')
    assert set(table.frame.dtypes) == {pl.String()}
    assert table.frame.rows() == [("1", None, "007"), ("2", "b", "1e5")]
