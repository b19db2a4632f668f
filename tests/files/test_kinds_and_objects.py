"""What a file is by its content, and tables from files whose cells have types."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import pickle
import random
import zipfile
from datetime import date, datetime
from pathlib import Path

import openpyxl
import polars as pl
import pytest

from claimlab.core.errors import UnreadableFile
from claimlab.files.bundle import Bundle
from claimlab.files.kinds import is_pickle, kind_of
from claimlab.files.layout import ReadOptions
from claimlab.files.objects import read_json_file
from claimlab.files.raw import RawTable, literal_text
from claimlab.files.read import read_table
from claimlab.files.shapes import records_inside

KNOWN = frozenset({"id", "text", "label"})


def read(path: Path, **options: str) -> RawTable:
    with Bundle.open(path) as bundle:
        return read_table(bundle, bundle.names()[0], ReadOptions(**options), KNOWN)  # type: ignore[arg-type]


class Evil:
    """A pickle that would make a file when opened."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> tuple[object, ...]:
        return (open, (self.path, "w"))


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("name", ["t.pkl", "t.csv", "t.json", "t.parquet"])
def test_pickles_are_never_opened(tmp_path: Path, protocol: int, name: str) -> None:
    trap = tmp_path / "trap"
    path = tmp_path / name
    path.write_bytes(pickle.dumps([Evil(trap), {"text": ["a"] * 50}], protocol))
    with pytest.raises(UnreadableFile, match="pickle|not Parquet"):
        read(path)
    assert not trap.exists()


def test_large_text_pickles_are_known_and_tables_are_not_taken_for_them() -> None:
    large = pickle.dumps([f"text {i}" for i in range(20_000)], 0)
    assert is_pickle(large[:65_536], len(large))
    for table in (
        b"id,claim\n" + b"".join(b"c%d,text %d\n" % (i, i) for i in range(9000)),
        b"I said no.",
        b"(a) text.\n",
        b"cat\ndog\ncow\n" * 3,
    ):
        assert not is_pickle(table[:65_536], len(table)), table[:30]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \r\n", "is empty"),
        (gzip.compress(b"a,b\n", mtime=0), "gzip"),
        (b"%PDF-1.7\n", "PDF"),
        (b"\x89PNG\r\n\x1a\n", "image"),
        (b"SQLite format 3\0", "SQLite"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "old Office"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b"id,text\n1,a\0b\n", "NUL byte on line 2"),
        (random.Random(2).randbytes(3000), "binary"),
    ],
)
def test_what_is_no_table_is_named(data: bytes, words: str) -> None:
    with pytest.raises(UnreadableFile, match=words):
        kind_of(data, len(data), "t.csv")


def test_json_in_the_shapes_people_write() -> None:
    rows = [{"text": "a", "label": "x"}, {"text": "b", "label": "y"}]
    shapes = [
        rows,
        {"version": 1, "data": rows},
        {"text": ["a", "b"], "label": ["x", "y"]},
        {"text": {"0": "a", "1": "b"}, "label": {"0": "x", "1": "y"}},
    ]
    for shape in shapes:
        frame = read_json_file(json.dumps(shape), "t.json", "utf-8").frame
        assert frame.select("text", "label").rows() == [("a", "x"), ("b", "y")], shape
    keyed = read_json_file(json.dumps({"k1": rows[0], "k2": rows[1]}), "t.json", "utf-8").frame
    assert keyed["key"].to_list() == ["k1", "k2"]
    assert read_json_file('["a b", "c d"]', "t.json", "utf-8").frame["value"].to_list() == [
        "a b",
        "c d",
    ]
    lone = {"text": "a b", "label": "x", "evidence": [{"url": "u1"}, {"url": "u2"}]}
    for name in ("t.json", "t.jsonl"):
        assert read_json_file(json.dumps(lone), name, "utf-8").frame["text"].to_list() == ["a b"], (
            "one record, not two"
        )
    lines = "\n".join(map(json.dumps, rows))
    assert read_json_file(lines, "t.json", "utf-8").layout.format == "JSON lines", (
        "whatever the file is called"
    )


def test_bad_lines_are_refused_by_number() -> None:
    table = read_json_file(
        '{"text": "a"}\n{"text": \n\n[1]\n{"text": "b"}\n' + "[" * 200_000 + "\n", "t", "utf-8"
    )
    assert table.frame["text"].to_list() == ["a", "b"]
    assert [line for line, _ in table.refused.listed] == [2, 4, 6]


@pytest.mark.parametrize(
    "text",
    ["{", "[1, 2", "nonsense", "[]", "{}", "3", "[" * 100_000, '[{"n": ' + "9" * 5000 + "}]"],
)
def test_json_that_is_no_table_is_a_sentence(text: str) -> None:
    with pytest.raises(UnreadableFile, match=r"t\.json"):
        read_json_file(text, "t.json", "utf-8")


def test_values_that_are_no_objects_are_refused_by_record() -> None:
    table = read_json_file('[{"text": "a"}, [1], null]', "t.json", "utf-8")
    assert (table.refused.unit, [n for n, _ in table.refused.listed]) == ("record", [2, 3])


def test_types_travel_as_json_values() -> None:
    rows = [
        {"n": 5, "t": "a", "l": ["x", "y"], "f": 2.0, "z": None},
        {"n": None, "t": 7, "l": None, "f": 0.5, "z": None},
    ]
    table = read_json_file(json.dumps(rows), "t", "utf-8")
    assert table.literal == {"n", "t", "l", "f"}
    assert table.frame.rows() == [
        ("5", '"a"', '["x", "y"]', "2", None),
        (None, "7", None, "0.5", None),
    ]
    assert literal_text(table.frame["t"]).to_list() == ["a", "7"]


def test_numbers_that_json_cannot_hold_are_null_and_half_characters_are_counted() -> None:
    table = read_json_file('[{"a": NaN, "b": Infinity, "text": "x\\ud800y"}]', "t", "utf-8")
    assert table.frame.rows() == [(None, None, "x\ufffdy")]
    assert "1 value of" in table.notes[0]


def test_parquet_of_every_type(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "text": ["a", ""],
            "n": [1, None],
            "gap": [3.0, None],
            "real": [0.5, float("nan")],
            "flag": [True, False],
            "day": [date(2020, 1, 2), None],
            "at": [datetime(2020, 1, 2, 3, 4, 5), None],
            "list": [["x"], []],
            "struct": [{"k": 1}, {"k": None}],
            "kind": pl.Series(["u", "v"], dtype=pl.Categorical),
            "raw": [b"\x00", b"\x01"],
        }
    ).with_columns(zoned=pl.col("at").dt.replace_time_zone("America/Sao_Paulo"))
    path = tmp_path / "t.parquet"
    frame.write_parquet(path)
    table = read(path)
    first, second = table.frame.rows(named=True)
    assert first["day"] == "2020-01-02"
    assert first["at"].startswith("2020-01-02T03:04:05")
    assert first["zoned"].startswith("2020-01-02T06:04:05"), "times with a zone are given in UTC"
    assert (first["n"], first["gap"], first["real"], first["flag"], first["kind"]) == (
        "1",
        "3",
        "0.5",
        "true",
        "u",
    )
    assert (json.loads(first["list"]), json.loads(first["struct"])) == (["x"], {"k": 1})
    assert (second["text"], second["n"], second["real"]) == (None, None, None)
    assert "raw" not in table.frame.columns
    assert "raw" in table.notes[0]


def test_damaged_parquet_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"text": [f"text {i}" for i in range(5000)]}).write_parquet(path)
    whole = path.read_bytes()
    draw = random.Random(3)
    for part in range(1, 6):
        path.write_bytes(whole[: len(whole) * part // 6])
        with pytest.raises(UnreadableFile, match=r"t\.parquet"):
            read(path)
    for _ in range(10):
        broken = bytearray(whole)
        for _ in range(40):
            broken[draw.randrange(4, len(broken))] = draw.randrange(256)
        path.write_bytes(bytes(broken))
        with contextlib.suppress(
            UnreadableFile
        ):  # a flipped byte inside a text cannot be seen; nothing else may come
            read(path)


def test_a_parquet_bomb_is_refused_unread(tmp_path: Path) -> None:
    """A few kilobytes of equal rows."""
    path = tmp_path / "bomb.parquet"
    pl.DataFrame({"text": pl.repeat("x", 20_000_000, eager=True)}).write_parquet(path)
    with pytest.raises(UnreadableFile, match="looks like a bomb"):
        read(path)


def test_a_panic_of_the_parquet_reader_is_one_sentence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Damaged footers make the reader panic, which Rust prints with a backtrace unless it is held
    back.
    """
    path = tmp_path / "p.parquet"
    pl.DataFrame({"text": ["The bridge is closed"] * 40, "label": ["true"] * 40}).write_parquet(
        path
    )
    whole = path.read_bytes()
    footer = int.from_bytes(whole[-8:-4], "little")
    draw = random.Random(3)
    for _ in range(150):
        data = bytearray(whole)
        data[len(whole) - 9 - draw.randrange(footer)] = draw.randrange(256)
        path.write_bytes(bytes(data))
        with contextlib.suppress(UnreadableFile):
            read(path)
    assert capfd.readouterr().err == ""


def test_a_key_that_occurs_twice_is_refused_or_counted() -> None:
    lines = '{"text": "one", "id": 1}\n{"text": "two", "text": "three", "id": 2}\n{"text": "four", "id": 4}\n'
    table = read_json_file(lines, "a.jsonl", "utf-8")
    assert table.frame["text"].to_list() == ["one", "four"]
    assert table.refused.listed == [(2, "the key 'text' occurs twice")]
    inner = read_json_file('[{"text": "one", "more": {"a": 1, "a": 2}}]', "a.json", "utf-8")
    assert inner.frame.height == 1
    assert "1 object in records" in inner.notes[0]
    with pytest.raises(UnreadableFile, match="'data' twice"):
        read_json_file('{"data": [{"text": "a"}], "data": [{"text": "b"}]}', "a.json", "utf-8")


def test_lists_inside_a_record_are_not_records() -> None:
    article = {
        "title": "A long title of the article about the old bridge in Riverton",
        "tweets": [{"id": 1}, {"id": 2}],
    }
    assert read_json_file(json.dumps(article), "a.json", "utf-8").frame.height == 1
    table = read_json_file(
        json.dumps({"version": 1, "tweets": [{"id": 1}, {"id": 2}]}), "a.json", "utf-8"
    )
    assert table.frame.height == 2
    parts = {"train": [{"text": "a"}] * 3, "test": [{"text": "b"}] * 2}
    assert (
        read_json_file(json.dumps(parts), "a.json", "utf-8").frame["part"].to_list()
        == ["train"] * 3 + ["test"] * 2
    )


def workbook(path: Path, sheets: dict[str, list[list[object]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)  # type: ignore[arg-type]
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_workbooks(tmp_path: Path) -> None:
    rows = [
        ["id", "text", "n", "when"],
        [1, "a b", 2.0, datetime(2020, 5, 1)],
        [None, None, None, None],
        [2, "=1+1", 0.5, None],
    ]
    path = workbook(tmp_path / "t.xlsx", {"Notes": [], "Data": rows, "More": [["x"]]})
    table = read(path)
    assert table.frame.rows()[0] == ("1", "a b", "2", "2020-05-01T00:00:00")
    assert table.frame["text"][1] is None, "a formula is never run, and no value of it was stored"
    assert "'More'" in table.notes[0]
    assert read(path, sheet="More").frame.height == 1
    with pytest.raises(UnreadableFile, match="no sheet 'Dat'"):
        read(path, sheet="Dat")
    renamed = tmp_path / "renamed.csv"
    renamed.write_bytes(path.read_bytes())
    assert read(renamed).frame.height == 2, "the content decides, not the name"


def test_damaged_workbooks_are_a_sentence(tmp_path: Path) -> None:
    whole = workbook(tmp_path / "t.xlsx", {"Data": [["text"], ["a"]]}).read_bytes()
    for name, data in {
        "cut.xlsx": whole[: len(whole) // 2],
        "text.xlsx": b"id,text\n1,a\n",
        "flipped.xlsx": whole[:200] + bytes(64) + whole[264:],
    }.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(UnreadableFile, match=name):
            read(tmp_path / name)


SHEET = "xl/worksheets/sheet1.xml"


def with_sheet(path: Path, rows: str, declared: str = "") -> Path:
    """A workbook whose sheet holds these rows."""
    workbook(path, {"S": [["x"]]})
    with zipfile.ZipFile(path) as archive:
        parts = {i.filename: archive.read(i) for i in archive.infolist()}
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    parts[SHEET] = (
        f'{declared}<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'.encode()
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def sheet_row(number: int, *cells: str) -> str:
    return (
        f'<row r="{number}">'
        + "".join(f'<c t="inlineStr"><is><t>{c}</t></is></c>' for c in cells)
        + "</row>"
    )


LAUGHS = '<!ENTITY e0 "ha">' + "".join(
    f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("entities", "cell"),
    [
        (LAUGHS, "&e9;"),  # a thousand million times
        (f'<!ENTITY a "{"A" * 100_000}">', "&a;" * 20_000),  # 2 GB
        ('<!ENTITY a SYSTEM "file:///etc/hostname">', "&a;"),  # a file of this machine
    ],
    ids=["nested", "repeated", "external"],
)
def test_entities_of_a_workbook_neither_grow_nor_read_files(
    entities: str, cell: str, tmp_path: Path
) -> None:
    rows = sheet_row(1, "id", "text") + sheet_row(2, "r1", cell)
    path = with_sheet(tmp_path / "e.xlsx", rows, f"<!DOCTYPE worksheet [{entities}]>")
    with pytest.raises(UnreadableFile, match="amplification|undefined entity"):
        read(path)


def test_rows_of_a_sheet_are_kept_in_any_order(tmp_path: Path) -> None:
    header = sheet_row(1, "id", "text")
    falling = header + "".join(sheet_row(n, f"r{n}", f"text {n}") for n in range(21, 1, -1))
    assert read(with_sheet(tmp_path / "a.xlsx", falling)).frame["id"].to_list() == [
        f"r{n}" for n in range(2, 22)
    ]
    repeated = header + "".join(sheet_row(2, f"r{n}", f"text {n}") for n in range(5))
    assert read(with_sheet(tmp_path / "b.xlsx", repeated)).frame["id"].to_list() == [
        f"r{n}" for n in range(5)
    ]


def test_a_far_row_ends_at_once(tmp_path: Path) -> None:
    last = sheet_row(1, "id", "text") + sheet_row(1_048_576, "r1", "text 1")
    assert read(with_sheet(tmp_path / "a.xlsx", last)).frame.height == 1
    with pytest.raises(UnreadableFile, match="row 1,048,576,000"):
        read(with_sheet(tmp_path / "b.xlsx", last.replace("1048576", "1048576000")))


def test_a_workbook_that_claims_a_million_columns_is_read_as_it_is(tmp_path: Path) -> None:
    import zipfile

    path = workbook(tmp_path / "t.xlsx", {"Data": [["text"], ["a b c"]]})
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            data = old.read(info).replace(b'ref="A1:A2"', b'ref="A1:XFD1048576"')
            new.writestr(info.filename, data)
    path.write_bytes(out.getvalue())
    assert read(path).frame.shape == (1, 1)


def test_many_keys_with_values_of_one_kind_are_ids(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_text(json.dumps({f"doc{i}": i for i in range(3_000)}), encoding="utf-8")
    table = read(path)
    assert (table.frame.columns, table.frame.height) == (["key", "value"], 3_000)
    path.write_text(json.dumps({"text": "A bridge", "label": "true"}), encoding="utf-8")
    assert read(path).frame.columns == ["text", "label"]


def test_an_object_of_ids_is_one_value(tmp_path: Path) -> None:
    """Who replied to whom: {"580320995266936832": {"580321156508577792": []}}"""
    path = tmp_path / "structure.json"
    path.write_text('{"580320995266936832": {"580321156508577792": []}}', encoding="utf-8")
    assert read(path).frame.columns == ["key", "value"]


def test_tables_are_found_inside_objects() -> None:
    """Around a list of records, around the lists of splits, and beside a short list of others."""
    rows = [{"text": f"claim {i}", "label": "true"} for i in range(20)]
    about = {"version": "1", "licenses": [{"name": "CC BY"}]}
    for value in ({"corpus": {"data": rows}}, {**about, "annotations": rows}):
        frame = read_json_file(json.dumps(value), "a.json", "utf-8").frame
        assert frame.columns == ["text", "label"]
        assert frame.height == 20
    splits = {"data": {"train": rows[:15], "test": rows[15:]}}
    frame = read_json_file(json.dumps(splits), "a.json", "utf-8").frame
    assert frame["part"].to_list() == ["train"] * 15 + ["test"] * 5


def test_answers_by_id_are_a_column_of_each_part_or_a_row_of_each_id() -> None:
    ids = [f"1000000{i:02}" for i in range(30)]
    one = {"stance": dict.fromkeys(ids, "deny"), "veracity": dict.fromkeys(ids[:20], "false")}
    frame = read_json_file(json.dumps(one), "a.json", "utf-8").frame
    assert frame.columns == ["key", "stance", "veracity"]
    assert (frame.height, frame["veracity"].count()) == (30, 20)
    parts = {
        "real": dict.fromkeys(ids, "A text"),
        "fake": dict.fromkeys([f"2{i}" for i in ids], "B"),
    }
    frame = read_json_file(json.dumps(parts), "a.json", "utf-8").frame
    assert frame["part"].to_list() == ["real"] * 30 + ["fake"] * 30


def test_the_list_in_an_object_that_says_little_else_holds_the_records() -> None:
    rows = [{"tvrzeni": f"claim {i}"} for i in range(20)]
    for value in (
        {"verze": "1.2", "vyroky": rows},
        {"header": {"code": 0}, "response": {"found": 20, "docs": rows}},
        {"description": "Statements that were checked by the radio station of a town", "a": rows},
    ):
        assert records_inside(value) == rows, value
    for value in (
        {"title": "A long title of the article about the old bridge in Riverton", "tweets": rows},
        {"one": rows, "two": rows},
        {"id": "7", "replies": rows[:2]},
    ):
        assert records_inside(value) is None, value
