"""Text of a dataset reaches no terminal, chart or page as a command: every column hostile, through
every verb.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from pathlib import Path

import pytest
from parts import forked

from claimlab.cli.app import explain, run
from claimlab.core.errors import UnknownName, UnmappedLabels
from claimlab.core.plain import each_text, escape_json, one_line, plain

PAYLOADS = [
    "\x1b[31mred\x1b[0m", "\x1b]0;owned\x07", "\x1b]8;;http://evil.example\x07link\x1b]8;;\x07", "\x1b[2J\x1b[H",
    "\x1b[8mhidden", "\x1bc", "\x1b[?1049h", "\x1b]52;c;aGk=\x07", "\x1bP1$qm\x1b\\", "\x1b[6n", "bell\x07", "back\x08\x08",
    "nul\x00nul", "ret\rover", "vt\x0bff\x0c", "del\x7f", "\x9b31mc1", "\x9d0;c1 title\x9c", "nel\x85line", "\x8d",
    "\u202eevitisop", "a\u202dltr", "\u2066iso\u2069", "\u2067rtl\u2069", "ls\u2028ps\u2029", "bom\ufeff", "\ufffe\uffff",
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "{{ 7*7 }}", "[red]markup[/red]", "=1+1|cmd", "line\nforged: Wrote all",
    "`force=True`", "%s %n {0} \\x1b",
]  # fmt: skip
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def records(n: int = 280) -> list[dict[str, str]]:
    """Rows in which every column holds payloads; a few sources and topics, as a real dataset
    has.
    """
    rows = []
    for i in range(n):
        bad = PAYLOADS[i % len(PAYLOADS)]
        group = PAYLOADS[i % 7]
        rows.append(
            {
                "id": f"{i}{bad}", "text": f"Claim number {i} says {bad} about the {'cats' if i % 2 else 'dogs'} of town {i % 13}.",
                "verdict": "true" if i % 2 else "false", "source": f"paper {group}", "author": f"author {group}",
                "topic": f"poli{PAYLOADS[i % 21]}tics", "url": f"https://example.org/{i}", "language": "eng",
                "date": f"2020-01-{1 + i % 28:02d}",
            }
        )  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`raw.jsonl` and the dataset that claimlab imports from it."""
    folder = tmp_path_factory.mktemp("hostile")
    with (folder / "raw.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in records())
    assert (
        run(["import", str(folder / "raw.jsonl"), "-o", str(folder / "data"), "--label", "verdict"])
        == 0
    )
    return folder


VERBS: dict[str, list[str]] = {
    "import": ["import", "{raw}", "-o", "{out}", "--label", "verdict"],
    "import as json": ["import", "{raw}", "-o", "{out}", "--label", "verdict", "--json"],
    "unmapped labels": ["import", "{raw}", "-o", "{out}", "--label", "source"],
    "conflicts": ["overlap", "{data}", "--conflicts"],
    "split": ["split", "{data}", "-o", "{out}", "--by", "source"],
    "split as json": ["split", "{data}", "-o", "{out}", "--by", "source", "--json"],
    "unknown value": ["split", "{data}", "-o", "{out}", "--by", "source", "--hold-out", "nosuch"],
    "audit": ["audit", "{data}", "-o", "{out}"],
    "audit of topics": ["audit", "{data}", "-o", "{out}", "--target", "topic", "--check", "length", "--check", "balance"],
    "audit of a column": ["audit", "{data}", "-o", "{out}", "--column", "topic", "--check", "columns", "--json"],
    "prepare": ["prepare", "{data}", "-o", "{out}", "--steps", "copies"],
    "clean": ["clean", "{data}", "-o", "{out}", "--report", "{out}-report"],
    "export": ["export", "{data}", "-o", "{out}", "--to", "csv"],
    "catalog": ["catalog", "show", "\x1b[31mliar"],
}  # fmt: skip


CODES = {"unmapped labels": 1, "unknown value": 2, "catalog": 2}


def words(argv: list[str], made: Path, out: Path) -> list[str]:
    return [
        a.format(raw=made / "raw.jsonl", data=made / "data", out=out) if "{" in a else a
        for a in argv
    ]


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_lets_text_steer(
    verb: str, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(words(VERBS[verb], made, tmp_path / "out"))
    printed = capsys.readouterr()
    assert code == CODES.get(verb, 0)
    for text in (printed.out, printed.err):
        assert not STEERING.search(text), STEERING.findall(text)
        assert "did not expect" not in text
    assert not any(line.startswith("forged:") for line in (printed.out + printed.err).splitlines())
    assert printed.out + printed.err
    for file in tmp_path.rglob("*"):
        if file.suffix in (".html", ".md", ".tex", ".svg", ".csv"):
            text = file.read_text(encoding="utf-8")
            steers = (
                STEERING
                if file.suffix != ".csv"
                else re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
            )
            assert not steers.search(text), (file.name, steers.findall(text))
            assert "<script>alert" not in text or file.suffix == ".csv"
    assert not list(tmp_path.glob(".*building*"))


def test_a_detector_and_its_evaluation(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["split", str(made / "data"), "-o", str(tmp_path / "split"), "--by", "random"]) == 0
    assert (
        run(
            [
                "detect",
                str(tmp_path / "split"),
                "-o",
                str(tmp_path / "run"),
                "--detector",
                "majority",
            ]
        )
        == 0
    )
    evaluate = [
        "evaluate",
        str(tmp_path / "run"),
        "-o",
        str(tmp_path / "report"),
        "--by",
        "source",
        "--by",
        "topic",
    ]
    assert run([*evaluate, "--draws", "200"]) == 0
    printed = capsys.readouterr()
    assert not STEERING.search(printed.out + printed.err)
    for file in (tmp_path / "report").rglob("*.[hms][tdv]*"):
        assert not STEERING.search(file.read_text(encoding="utf-8")), file.name


@pytest.mark.slow
def test_a_control_character_in_a_class_name_does_not_end_the_process(tmp_path: Path) -> None:
    """In a process of its own: the chart library would abort it."""
    topics = ["sports", "poli\x07tics"]
    rows = [
        {"text": f"A claim with the number {i} in it.", "verdict": "true", "topic": topics[i % 2]}
        for i in range(200)
    ]
    (tmp_path / "bel.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert run(["import", str(tmp_path / "bel.jsonl"), "-o", str(tmp_path / "bel")]) == 0
    command = [sys.executable, "-c", "from claimlab.cli.app import main; main()"]
    argv = ["audit", str(tmp_path / "bel"), "-o", str(tmp_path / "r"), "--target", "topic"]
    done = forked.run([*command, *argv], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert (tmp_path / "r" / "index.html").is_file()
    assert "\x07" not in done.stdout + done.stderr


def test_file_names_inside_a_zip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for n, name in enumerate(["\x1b]0;owned\x07.exe", "\x1b[2J.csv", "\u202egpj.csv"]):
        with zipfile.ZipFile(tmp_path / f"{n}.zip", "w") as archive:
            archive.writestr(name, "nothing here")
            archive.writestr(f"also{name}", "a,b,c\n1")
        run(["import", str(tmp_path / f"{n}.zip"), "-o", str(tmp_path / f"out{n}")])
        printed = capsys.readouterr()
        assert printed.err
        assert not STEERING.search(printed.out + printed.err)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_messages_of_errors_are_one_harmless_line(
    payload: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for error in (
        UnknownName("source", payload, [payload, "b"]),
        UnmappedLabels("ratings", {payload: 3}),
        ValueError(payload),
        OSError(2, payload, payload),
    ):
        explain(error, ["split"])
        printed = capsys.readouterr().err
        assert printed.count("\n") == 1
        assert not STEERING.search(printed)


def test_plain_leaves_ordinary_text_alone() -> None:
    text = "Ordinary: ünï, 汉字, العربية, עברית, हिन्दी, 👩\u200d👧, a\u00adb, tab\tand\nline"
    assert plain(text) == text
    assert plain("a\r\nb") == "a\nb"
    assert plain("half \ud800 of a pair") == "half \ufffd of a pair"
    assert one_line("a\rb\n\tc \x1b[2J") == "a b c \ufffd[2J"
    assert each_text({"a\x07": ["b\x1b", 1, None, ("\x9b",)]}, plain) == {
        "a\ufffd": ["b\ufffd", 1, None, ["\ufffd"]]
    }
    value = {"a": "".join(PAYLOADS)}
    printed = escape_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(printed) == value
    assert not STEERING.search(printed)


def test_everything_a_verb_prints_goes_through_one_place() -> None:
    import claimlab.cli.verbs

    for folder in claimlab.cli.verbs.__path__:
        for file in Path(folder).glob("*.py"):
            source = file.read_text(encoding="utf-8")
            assert not re.search(
                r"typer\.(secho|echo)|sys\.std(out|err)|(?<![\w.])print\(", source
            ), file.name
