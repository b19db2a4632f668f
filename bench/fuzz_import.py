"""Bad, odd and hostile files through `claimlab import`: each ends in records or in one sentence, in time and memory
that are in proportion to the file.

    python bench/fuzz_import.py [--seed 0] [--mutants 60] [--only WORD]

Every file is made here from the seed and imported in a process of its own under a limit on memory and time. Exit code 1
when anything went wrong.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import pickle
import random
import re
import resource
import struct
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from harness import begin, parser

MEMORY = 6 << 30
SECONDS = 60  # of processor time: the machine may be busy with other things
PATIENCE = 600  # seconds on the clock
ROWS = 40


@dataclass(frozen=True)
class Case:
    """A file to import. `rows`: that many records, or a sentence; `refused`: it must be refused."""

    name: str
    data: bytes
    rows: int | None = None
    refused: bool = False


@dataclass
class Outcome:
    case: Case
    size: int
    code: int
    seconds: float
    megabytes: float
    words: str
    wrong: list[str] = field(default_factory=list)


# ---------------------------------------------------------------- good files, to be damaged


def table(n: int = ROWS) -> list[dict[str, str]]:
    verdicts = ("true", "false", "mixture")
    return [
        {
            "id": f"r{i}",
            "claim": f'The bridge in Riverton, number {i}, is "closed" for repairs',
            "rating": verdicts[i % 3],
        }
        for i in range(n)
    ]


def csv_bytes(delimiter: str = ",", n: int = ROWS) -> bytes:
    return pl.DataFrame(table(n)).write_csv(separator=delimiter).encode()


def jsonl_bytes() -> bytes:
    return "\n".join(map(json.dumps, table())).encode()


def parquet_bytes() -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(table()).write_parquet(buffer)
    return buffer.getvalue()


def xlsx_bytes() -> bytes:
    return workbook(
        "".join(row_xml(i + 1, list(r.values())) for i, r in enumerate([dict.fromkeys(table()[0]), *table()]))
    )


def zip_bytes(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def row_xml(number: int | str | None, cells: list[str | None]) -> str:
    texts = "".join(f'<c t="inlineStr"><is><t>{_xml(c)}</t></is></c>' for c in cells)
    place = "" if number is None else f' r="{number}"'
    return f"<row{place}>{texts}</row>"


def _xml(text: str | None) -> str:
    return (text or "").replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def header_xml(number: int = 1) -> str:
    return row_xml(number, ["id", "claim", "rating"])


def claim_xml(number: int | str | None, i: int) -> str:
    return row_xml(number, [f"r{i}", f"The bridge in Riverton, number {i}, is closed", ("true", "false")[i % 2]])


def workbook(rows: str, **members: str) -> bytes:
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    sheet = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{sheet}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{sheet}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" '
        f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>',
    }
    return zip_bytes({name: text.encode() for name, text in (parts | members).items()})


# ---------------------------------------------------------------- cases


def mutants(seed: int, each: int) -> Iterator[Case]:
    """Good files with bytes cut off, changed, doubled or put in."""
    good = {
        "csv": csv_bytes(), "tsv": csv_bytes("\t"), "json": json.dumps(table()).encode(), "jsonl": jsonl_bytes(),
        "xlsx": xlsx_bytes(), "parquet": parquet_bytes(), "zip": zip_bytes({"d/a.csv": csv_bytes()}),
        "txt": csv_bytes(";"), "csv.gz": gzip.compress(csv_bytes(), mtime=0),
    }  # fmt: skip
    for suffix, data in good.items():
        yield Case(f"good.{suffix}", data, rows=ROWS)
        for i in range(each):
            yield Case(f"mutant{i}.{suffix}", _damaged(data, random.Random(f"{seed} {suffix} {i}")))


def _damaged(data: bytes, draw: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 8, 64])):
        at = draw.randrange(len(out) or 1)
        match draw.randrange(6):
            case 0:
                out = out[:at]
            case 1:
                out[at : at + 1] = bytes([draw.randrange(256)])
            case 2:
                out[at:at] = draw.randbytes(draw.choice([1, 4, 100]))
            case 3:
                del out[at : at + draw.choice([1, 10, 500])]
            case 4:
                out[at:at] = draw.choice(
                    [b'"', b"\n", b"\r", b"\0", b",", b"\xff", b"{", b"]", b"\\", b"\xed\xa0\x80", b"\x1b[31m"]
                )
            case _:
                out[at:at] = out[at // 2 : at]
        out = out or bytearray(b"a")
    return bytes(out[: 2 << 20])


def encodings() -> Iterator[Case]:
    text = csv_bytes().decode() + "é1,Ação não está à mão na câmara,true\n"
    names = (
        "utf-8",
        "utf-8-sig",
        "utf-16",
        "utf-16-le",
        "utf-16-be",
        "utf-32",
        "utf-32-le",
        "cp1252",
        "latin-1",
        "mac-roman",
        "cp437",
    )
    for name in names:
        for suffix in ("csv", "txt"):
            yield Case(f"{name}.{suffix}", text.encode(name, "replace"))
    for name, mark in {
        "utf16le": b"\xff\xfe",
        "utf16be": b"\xfe\xff",
        "utf32le": b"\xff\xfe\0\0",
        "utf32be": b"\0\0\xfe\xff",
        "utf8": b"\xef\xbb\xbf",
    }.items():
        for suffix in ("txt", "csv", "json", "jsonl", "xls", "dat"):
            yield Case(f"mark-{name}.{suffix}", mark, refused=True)
            yield Case(f"mark-{name}-blank.{suffix}", mark + mark + b"\n\0", refused=True)
    for byte in (b"\0", b"a", b"\n", b"\xff", b"{", b"[", b'"', b",", b"\x80", b"P"):
        for suffix in ("csv", "xls", "txt", "json", "jsonl", "parquet", "xlsx", "zip", "tsv", "dat"):
            yield Case(f"byte-{byte.hex()}.{suffix}", byte, refused=True)


def delimited() -> Iterator[Case]:
    row = b"r%d,The bridge number %d is closed,true\n"
    body = b"".join(row % (i, i) for i in range(ROWS))
    yield Case("ragged.csv", b"id,claim,rating\n" + body + b"x\n" * 5)
    yield Case("open-quote.csv", b'id,claim,rating\n"' + body * 500)
    yield Case("nul.csv", b"id,claim,rating\n" + body + b"a\0b,c,true\n", refused=True)
    yield Case("returns.csv", (b"id,claim,rating\n" + body).replace(b"\n", b"\r"), rows=ROWS)
    yield Case("quotes-only.csv", b'"' * 10_001)
    yield Case("commas.csv", b"," * 1_000_000, refused=True)
    yield Case("tabs.tsv", b"\t" * 1_000_000, refused=True)
    yield Case("comma-lines.csv", b",\n" * 500_000, refused=True)
    yield Case("one-line.csv", b"id,claim,rating " * 100_000)
    yield Case("escapes.csv", b"id,claim,rating\n" + body.replace(b"bridge", b"\x1b]0;title\x07\x1b[2J"), rows=ROWS)
    for columns in (1_000, 2_000, 5_000, 20_000):
        names = ",".join(f"column name {i}" for i in range(columns))
        cells = ",".join(f"some cell {i} of it" for i in range(columns))
        yield Case(f"wide-{columns}.csv", f"{names}\n{cells}\n{cells}\n{cells}\n".encode())
    same = ",".join(["text"] * 3_000)
    yield Case("same-names.csv", f"{same}\n{same}\n".encode())


def json_files() -> Iterator[Case]:
    yield Case("twice.json", b'[{"text":"a b c d","text":"second one here","label":"true"}]', refused=True)
    yield Case("twice.jsonl", b'{"text":"a b c d e f","label":"true"}\n' * 3 + b'{"text":"a","text":"b c d e"}\n')
    yield Case("surrogate-key.json", b'[{"\\ud800": "a", "text": "The bridge is closed now", "label": "true"}]', rows=1)
    yield Case(
        "surrogate-key.jsonl", b'{"\\ud800": "a", "text": "The bridge is closed now", "label": "true"}\n' * 2, rows=2
    )
    yield Case("surrogate.json", b'[{"text": "The bridge \\ud800 is closed now", "label": "true"}]', rows=1)
    yield Case("deep-list.json", b"[" * 100_000, refused=True)
    yield Case("deep.json", b'{"a":' * 100_000 + b"1" + b"}" * 100_000, refused=True)
    yield Case("deep.jsonl", (b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"\n") * 2, refused=True)
    yield Case("digits.json", b'[{"text": "The bridge is closed now", "n": ' + b"9" * 5_000 + b"}]")
    yield Case("nan.json", b'[{"text": "The bridge is closed", "n": NaN, "m": 1e999, "label": "true"}]', rows=1)
    for word in (
        b"null",
        b"1",
        b'"a"',
        b"[]",
        b"{}",
        b"[null]",
        b"[[1,2],[3,4]]",
        b'{"a": {}}',
        b"[{}]",
        b"[true]",
        b'{"a": []}',
    ):
        yield Case(f"value-{word.hex()[:20]}.json", word, refused=True)
    yield Case("objects.jsonl", b"{}\n" * 300_000, refused=True)
    yield Case("keys.json", json.dumps([{f"key {i}": "a value of it" for i in range(20_000)}]).encode())
    yield Case(
        "other-keys.jsonl", "\n".join(json.dumps({f"key {i}": "some words of a value"}) for i in range(5_000)).encode()
    )
    yield Case(
        "columns.json", json.dumps({"text": ["The bridge is closed"] * 9, "label": ["true"] * 9}).encode(), rows=9
    )
    yield Case("parts.json", json.dumps({"train": table(9), "test": table(6)}).encode(), rows=15)


def workbooks() -> Iterator[Case]:
    numbers = list(range(2, 22))
    yield Case("reversed.xlsx", workbook(header_xml() + "".join(claim_xml(n, n) for n in reversed(numbers))), rows=20)
    yield Case("repeated.xlsx", workbook(header_xml() + "".join(claim_xml(2 + n % 2, n) for n in numbers)), rows=20)
    yield Case(
        "unnumbered.xlsx",
        workbook(row_xml(None, ["id", "claim", "rating"]) + "".join(claim_xml(None, n) for n in numbers)),
        rows=20,
    )
    yield Case("far.xlsx", workbook(header_xml() + claim_xml(1_048_576_000, 1)), refused=True)
    yield Case("last-row.xlsx", workbook(header_xml() + claim_xml(1_048_576, 1)), rows=1)
    yield Case("zero-row.xlsx", workbook(header_xml() + claim_xml(0, 1)))
    yield Case("word-row.xlsx", workbook(header_xml() + claim_xml("many", 1)), refused=True)
    yield Case("far-column.xlsx", workbook(header_xml() + '<row r="2"><c r="ZZZZ2"><v>1</v></c></row>'), refused=True)
    apart = "".join(f'<row r="{n}"><c r="A{n}"><v>1</v></c><c r="XFD{n}"><v>2</v></c></row>' for n in range(2, 5_002))
    yield Case("apart.xlsx", workbook(header_xml() + apart), refused=True)
    yield Case("bad-shared.xlsx", workbook(header_xml() + '<row r="2"><c t="s"><v>99</v></c></row>'), refused=True)
    yield Case(
        "one-cell-twice.xlsx",
        workbook(header_xml() + '<row r="2"><c r="A2"><v>1</v></c><c r="A2"><v>2</v></c></row>'),
        refused=True,
    )
    yield Case("no-rows.xlsx", workbook(""), refused=True)
    yield Case("three-lines.xlsx", workbook("<row"), refused=True)
    laughs = (
        '<!DOCTYPE x [<!ENTITY a "ha">'
        + "".join(f'<!ENTITY {chr(98 + i)} "{("&" + chr(97 + i) + ";") * 10}">' for i in range(9))
        + "]>"
    )
    good = workbook(header_xml() + claim_xml(2, 1))
    with zipfile.ZipFile(io.BytesIO(good)) as archive:
        parts = {i.filename: archive.read(i).decode() for i in archive.infolist()}
    for name, text in parts.items():
        yield Case(
            f"laughs-{Path(name).stem.strip('[].')}.xlsx",
            zip_bytes({**{n: t.encode() for n, t in parts.items()}, name: (laughs + text).encode()}),
        )
        yield Case(
            f"without-{Path(name).stem.strip('[].')}.xlsx",
            zip_bytes({n: t.encode() for n, t in parts.items() if n != name}),
        )
    for version in (0, 46, 63, 99, 255):
        yield Case(f"version-{version}.xlsx", _with_version(good, version))
        yield Case(f"version-{version}.zip", _with_version(zip_bytes({"a.csv": csv_bytes()}), version))


def _with_version(data: bytes, version: int) -> bytes:
    out = bytearray(data)
    for mark, offset in ((b"PK\x03\x04", 4), (b"PK\x01\x02", 6)):
        at = out.find(mark)
        while at >= 0:
            struct.pack_into("<H", out, at + offset, version)
            at = out.find(mark, at + 4)
    return bytes(out)


def archives() -> Iterator[Case]:
    for name in ("../a.csv", "/a.csv", "C:\\a.csv", "a/../../b.csv", "..\\a.csv"):
        yield Case(f"slip-{name.encode().hex()}.zip", zip_bytes({name: csv_bytes()}), refused=True)
    yield Case("backslash.zip", zip_bytes({"d/a.csv": csv_bytes(), "d\\a.csv": csv_bytes()}), refused=True)
    yield Case("escape.zip", zip_bytes({"a\x1b[2J.csv": csv_bytes(), "b.csv": b"x,y\n1,2\n"}))
    link = zipfile.ZipInfo("a.csv")
    link.external_attr = 0o120777 << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    yield Case("link.zip", buffer.getvalue(), refused=True)
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        yield Case(f"method-{method}.zip", zip_bytes({"a.csv": csv_bytes()}, method), refused=True)
    locked = bytearray(zip_bytes({"a.csv": csv_bytes()}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(mark) + offset] |= 1
    yield Case("locked.zip", bytes(locked), refused=True)
    yield Case("nested.zip", zip_bytes({"in.zip": zip_bytes({"a.csv": csv_bytes()})}), rows=ROWS)
    yield Case(
        "nested-twice.zip",
        zip_bytes({"in.zip": zip_bytes({"in.zip": zip_bytes({"a.csv": csv_bytes()})})}),
        refused=True,
    )
    yield Case("empty.zip", zip_bytes({}), refused=True)
    for what, line in {"rows": b"a,b\n", "objects": b"{}\n", "commas": b","}.items():
        big = line * (60_000_000 // len(line))
        suffix = "jsonl" if what == "objects" else "csv"
        yield Case(f"bomb-{what}.zip", zip_bytes({f"a.{suffix}": big}), refused=True)
        yield Case(f"bomb-inside-{what}.zip", zip_bytes({"in.zip": zip_bytes({f"a.{suffix}": big})}), refused=True)
    yield Case("bomb-six.zip", zip_bytes({f"{i}.csv": b"a,b\n" * 15_000_000 for i in range(6)}), refused=True)
    small = b"a,b\n" * 1_000_000
    yield Case("under-the-limit.zip", zip_bytes({"a.csv": small}))
    yield Case("under-the-limit-objects.zip", zip_bytes({"a.jsonl": b"{}\n" * 1_300_000}), refused=True)


def packed() -> Iterator[Case]:
    """Files packed with gzip or bzip2, whole, cut, twice, and out of proportion."""
    whole, second = gzip.compress(csv_bytes()), bz2.compress(csv_bytes())
    yield Case("a.csv.gz", whole, rows=ROWS)
    yield Case("a.csv.bz2", second, rows=ROWS)
    yield Case("cut.csv.gz", whole[: len(whole) // 2], refused=True)
    yield Case("cut.csv.bz2", second[: len(second) // 2], refused=True)
    yield Case("checksum.csv.gz", whole[:-8] + bytes(8), refused=True)
    yield Case("two-members.csv.gz", gzip.compress(csv_bytes()[:500]) + gzip.compress(csv_bytes()[500:]), rows=ROWS)
    yield Case("twice.csv.gz", gzip.compress(whole), refused=True)
    yield Case("zip.csv.gz", gzip.compress(zip_bytes({"a.csv": csv_bytes()})), refused=True)
    yield Case("bomb.csv.gz", gzip.compress(b"a,b\n" * 100_000_000), refused=True)
    yield Case("bomb.csv.bz2", bz2.compress(b"a,b\n" * 5_000_000), refused=True)
    yield Case("bomb-gz.zip", zip_bytes({"a.csv.gz": gzip.compress(b"a,b\n" * 50_000_000)}), refused=True)
    yield Case("empty.csv.gz", gzip.compress(b""), refused=True)
    yield Case("tar.tar.gz", gzip.compress(bytes(1024)), refused=True)


def parquets() -> Iterator[Case]:
    good = parquet_bytes()
    for i in range(0, min(len(good), 400), 5):
        yield Case(
            f"footer-{i}.parquet", good[: len(good) - 8 - i] + bytes([255 - i % 256]) + good[len(good) - 7 - i :]
        )
    frame = pl.DataFrame(
        {"text": ["The bridge is closed now"] * 3, "n": [[1, 2], None, []], "s": [{"a": 1}, None, {"a": 2}]}
    )
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    yield Case("nested.parquet", buffer.getvalue(), rows=3)
    buffer = io.BytesIO()
    pl.DataFrame({"text": ["a"]}).with_columns(pl.lit(1)).select(
        pl.col("text").repeat_by(2_000_000).explode()
    ).write_parquet(buffer)
    yield Case("same.parquet", buffer.getvalue(), refused=True)


class Evil:
    """A pickle that would stop the process when it is opened."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (os._exit, (77,))


def pickles() -> Iterator[Case]:
    for protocol in range(6):
        for suffix in ("pkl", "csv", "json", "jsonl", "txt", "tsv", "parquet", "xlsx", "zip", "dat", "xls"):
            yield Case(
                f"pickle-{protocol}.{suffix}", pickle.dumps([Evil(), {"text": ["a"] * 50}], protocol), refused=True
            )


def cases(seed: int, each: int) -> Iterator[Case]:
    yield from mutants(seed, each)
    for make in (encodings, delimited, json_files, workbooks, archives, packed, parquets, pickles):
        yield from make()


# ---------------------------------------------------------------- running


def write_cases(seed: int, each: int, only: str, folder: Path) -> list[Case]:
    """The files of all cases in `folder`, and the cases without their bytes.

    They are made in a process of its own: Polars starts threads, and a process that has threads must not fork.
    """
    reading, writing = os.pipe()
    if os.fork() == 0:
        made = []
        for number, case in enumerate(c for c in cases(seed, each) if only in c.name):
            (folder / str(number)).write_bytes(case.data)
            made.append({"name": case.name, "rows": case.rows, "refused": case.refused})
        with os.fdopen(writing, "w") as file:
            json.dump(made, file)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        made = json.load(file)
    os.wait()
    return [Case(data=b"", **case) for case in made]


def run_case(case: Case, data: Path, folder: Path) -> Outcome:
    """Import one file in a process of its own."""
    place, out, log = folder / case.name, folder / "out", folder / "log"
    size = data.stat().st_size
    data.rename(place)
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        _import(place, out, log)
    code, seconds, megabytes = _wait(child, start)
    outcome = Outcome(case, size, code, seconds, megabytes, log.read_text("utf-8", "replace"))
    judge(outcome, folder, out)
    return outcome


def _import(place: Path, out: Path, log: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    file = os.open(log, os.O_WRONLY | os.O_CREAT, 0o600)
    os.dup2(file, 1)
    os.dup2(file, 2)
    code = 99
    try:
        from claimlab.cli.app import run

        code = run(["import", str(place), "-o", str(out)])
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _wait(child: int, start: float) -> tuple[int, float, float]:
    """Exit code, seconds of processor time and megabytes of a child."""
    while True:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if not done and time.monotonic() - start > PATIENCE:
            os.kill(child, 9)
            done, status, usage = os.wait4(child, 0)
        if done:
            return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
        time.sleep(0.005)


def judge(outcome: Outcome, folder: Path, out: Path) -> None:
    case, words, wrong = outcome.case, outcome.words, outcome.wrong
    errors = [line for line in words.splitlines() if line.startswith("Error: ")]
    size = outcome.size / 1e6
    if outcome.code in (-9, -24) or outcome.seconds > 6 + 4 * size:
        wrong.append("time")
    if outcome.megabytes > 700 + 100 * size:
        wrong.append("memory")
    if outcome.code not in (0, 1, 2, -9, -24):
        wrong.append(f"exit {outcome.code}")
    for bad in ("Traceback", "did not expect", "panicked", "PanicException"):
        if bad in words:
            wrong.append(bad)
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", words.replace("\r", "")):
        wrong.append("control characters")
    if outcome.code in (1, 2) and (len(errors) != 1 or not words.rstrip().endswith(errors[0])):
        wrong.append("not one sentence")
    if case.refused and outcome.code == 0:
        wrong.append("accepted")
    if outcome.code == 0 and case.rows is not None:
        records = json.loads((out / "dataset.json").read_text("utf-8"))["counts"]["records"]
        if records != case.rows:
            wrong.append(f"{records} records instead of {case.rows}")
    left = {p.name for p in folder.iterdir()} - {case.name, "log"} - ({"out"} if outcome.code == 0 else set())
    if left:
        wrong.append(f"left behind: {sorted(left)}")


def warm_up() -> None:
    """Import what every child needs before the first fork, so that their figures are of the files."""
    import claimlab.cli.verbs.import_
    import claimlab.exchange.importer  # noqa: F401


def note(outcome: Outcome, tally: Counter[str]) -> None:
    tally["wrote" if outcome.code == 0 else "refused" if outcome.code in (1, 2) else "other"] += 1
    if outcome.wrong:
        tally["wrong"] += 1
        figures = f"{outcome.seconds:.1f} s, {outcome.megabytes:.0f} MB"
        print(f"WRONG {outcome.case.name}: {', '.join(outcome.wrong)} ({figures})")
        print("      " + "\n      ".join(outcome.words.strip().splitlines()[-4:])[:600], flush=True)


def main() -> int:
    made = parser(__doc__)
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--mutants", type=int, default=60, help="damaged files for each format")
    made.add_argument("--only", default="", help="only cases whose name contains this")
    options = begin(made)
    warm_up()
    tally: Counter[str] = Counter()
    slowest: list[Outcome] = []
    with tempfile.TemporaryDirectory() as store:
        made = write_cases(options.seed, options.mutants, options.only, Path(store))
        for number, case in enumerate(made):
            with tempfile.TemporaryDirectory() as folder:
                outcome = run_case(case, Path(store) / str(number), Path(folder))
            note(outcome, tally)
            slowest = sorted([*slowest, outcome], key=lambda o: -o.seconds)[:5]
    print(f"{sum(tally[k] for k in ('wrote', 'refused', 'other'))} files, seed {options.seed}: {dict(tally)}")
    for outcome in slowest:
        size = outcome.size / 1e6
        print(f"  {outcome.case.name}: {outcome.seconds:.1f} s, {outcome.megabytes:.0f} MB for {size:.2f} MB")
    return 1 if tally["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
