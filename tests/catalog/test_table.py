"""Foreign tables: any kind of file, columns under any spelling, and a sentence where one is
missing.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.table import Table, members, read_objects, sniff_delimiter
from claimlab.core.errors import UnreadableFile
from claimlab.files.bundle import Bundle

ROWS = [{"Tweet ID": "7", "text": " A café "}, {"Tweet ID": "8", "text": " "}]
CSV = pl.DataFrame(ROWS).write_csv()
FORMS: dict[str, str | bytes] = {
    "a.csv": CSV,
    "b.tsv": CSV.replace(",", "\t"),
    "c.csv": CSV.replace(",", ";").encode("utf-8-sig"),
    "d.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS),
    "e.json": json.dumps(ROWS),
    "f.parquet": b"",  # written by the test
    "g.xlsx": b"",
}


@pytest.fixture
def bundle(write: Callable[..., Path]) -> Callable[..., Bundle]:
    return lambda folder, files: Bundle.open(write(folder, files))


@pytest.mark.parametrize("name", FORMS)
def test_one_table_in_every_form_it_circulates_in(
    name: str, tmp_path: Path, bundle: Callable[..., Bundle], xlsx: Callable[..., bytes]
) -> None:
    content = FORMS[name]
    if name == "f.parquet":
        pl.DataFrame(ROWS).write_parquet(buffer := io.BytesIO())
        content = buffer.getvalue()
    elif name == "g.xlsx":
        content = xlsx([list(ROWS[0]), *(list(row.values()) for row in ROWS)])
    raw = Table.read(bundle(tmp_path, {name: content}), name)
    assert raw.need("tweet_id").to_list() == ["7", "8"]
    assert raw.need("body", "TEXT").to_list() == ["A café", None], "stripped, and blank is null"


def test_western_text_is_never_taken_for_korean(
    tmp_path: Path, bundle: Callable[..., Bundle]
) -> None:
    given = {"a.csv": CSV.encode("latin-1"), "b.csv": CSV.replace("é", "\x81").encode("latin-1")}
    opened = bundle(tmp_path, given)
    assert Table.read(opened, "a.csv", western=True).need("text")[0] == "A café"
    assert Table.read(opened, "b.csv", western=True).need("text")[0] == "A caf\x81", (
        "cp1252 has no such byte"
    )


def test_a_file_without_header_and_quoting(tmp_path: Path, bundle: Callable[..., Bundle]) -> None:
    opened = bundle(tmp_path, {"a.txt": '1\tsaid "no\n2\t,,,\n'})
    raw = Table.read(opened, "a.txt", delimiter="\t", quoted=False, columns=["number", "text"])
    assert raw.pick(["number", "text"]).rows() == [("1", 'said "no'), ("2", ",,,")]


@pytest.mark.parametrize(
    ("line", "mark"),
    [("a,b,c", ","), ("a\tb,c\td", "\t"), ("a;b;c,d", ";"), ('"a,b,c";d', ";"), ("one", ",")],
)
def test_the_delimiter_is_the_one_outside_quotes(line: str, mark: str) -> None:
    assert sniff_delimiter(f"\n{line}\nx,y,z,w,v\n") == mark


def test_the_best_spelling_wins_and_the_exact_name_before_its_likes() -> None:
    raw = Table(
        "a.csv",
        pl.DataFrame({"Gold-Label": ["a"], "gold_label": ["b"], "Метка": ["c"], "Текст": ["d"]}),
    )
    assert raw.find("absent", "gold label") == "Gold-Label"
    assert raw.need("gold_label").to_list() == ["b"]
    assert raw.need("текст").to_list() == ["d"], "letters outside ASCII tell headers apart"
    assert raw.find("absent") is None
    assert raw.maybe("absent").to_list() == [None]
    assert raw.maybe("absent").dtype == pl.String


def test_a_missing_column_is_named_with_those_found() -> None:
    raw = Table("f.csv", pl.DataFrame({"Head line": ["x"], "Date": ["y"]}))
    with pytest.raises(
        UnreadableFile,
        match=r"'f\.csv' has no column 'content' or 'text' \(it has: Head line, Date\)",
    ):
        raw.pick({"text": ("content", "text")})
    with pytest.raises(UnreadableFile, match=r"it has: none"):
        Table("f.csv", pl.DataFrame()).need("text")


def test_picked_columns_have_our_names_and_absent_ones_are_null() -> None:
    raw = Table("f.csv", pl.DataFrame({"ID": [1, 2], "Claim": ["x", None], "flag": [True, False]}))
    picked = raw.pick({"number": "id", "text": ("statement", "claim")}, ["flag", "topic"])
    assert picked.to_dicts() == [
        {"number": "1", "text": "x", "flag": "true", "topic": None},
        {"number": "2", "text": None, "flag": "false", "topic": None},
    ]
    assert raw.meta({"claim": "claim", "topic": "topic"}).to_list() == ['{"claim": "x"}', None]
    assert Table("f.csv", pl.DataFrame()).pick((), ["a"]).schema == {"a": pl.String}


def test_objects_come_from_lists_and_from_lines(
    tmp_path: Path, bundle: Callable[..., Bundle]
) -> None:
    files = {
        "a.json": '[{"x": 1}, {"x": 2}]',
        "b.jsonl": '{"x": 1}\n\n{"x": 2}\n',
        "c.json": "[1, 2]",
    }
    opened = bundle(tmp_path, dict(files))
    assert (
        read_objects(opened, "a.json", ["x"])
        == read_objects(opened, "b.jsonl")
        == [{"x": 1}, {"x": 2}]
    )
    with pytest.raises(UnreadableFile, match="Object 1 of 'b.jsonl' has no 'y' or 'z'"):
        read_objects(opened, "b.jsonl", ["x", "y", "z"])
    with pytest.raises(UnreadableFile, match="other than objects"):
        read_objects(opened, "c.json")


def test_members_are_there_or_said_to_be_missing(
    tmp_path: Path, bundle: Callable[..., Bundle]
) -> None:
    opened = bundle(tmp_path, {"a.csv": "", "b.csv": ""})
    assert members(opened, "*.csv") == ["a.csv", "b.csv"]
    with pytest.raises(UnreadableFile, match=r"no file like '\*\.tsv'"):
        members(opened, "*.tsv")


STRAY = 'id\ttext\tlabel\n1\t"So it began.\tno\n2\tThe end.\tyes\n3\tHe said: go."\tno\n4\tOn 9 May\tno\n5\tNever!\tyes\n'
AROUND = 'id\ttext\tlabel\n1\t"The ""old"" mill,\ta ruin"\tno\n2\tThe end.\tyes\n'


@pytest.mark.parametrize(
    ("text", "first", "rows", "loose"),
    [(STRAY, '"So it began.', 5, True), (AROUND, 'The "old" mill,\ta ruin', 2, False)],
)
def test_the_file_tells_whether_quotes_are_text(
    text: str, first: str, rows: int, loose: bool, tmp_path: Path, write: Callable[..., Path]
) -> None:
    """Read the other way, the first file loses two rows and the second its quotes and its tab."""
    with Bundle.open(write(tmp_path, {"a.tsv": text})) as bundle:
        table = Table.read(bundle, "a.tsv", quoted=None)
    assert (table.height, table.quotes_are_text) == (rows, loose)
    assert table.need("text")[0] == first
