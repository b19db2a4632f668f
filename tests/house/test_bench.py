"""bench/: every script is listed, starts, and shares the harness; a ratio that falls by half fails,
and a steady one does not.
"""

from __future__ import annotations

import ast
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import import_unseen
import polars as pl
import pytest
import quick
from harness.data import CODE
from harness.family import Watch, watched
from harness.machine import banner
from harness.results import Row, in_a_sentence
from harness.timing import Killed, apart, in_child

from claimlab.core.errors import DataError
from claimlab.exchange.importer import import_files

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
SCRIPTS = sorted(file.name for file in BENCH.glob("*.py"))


LISTED = re.findall(  # script, script of its command, arguments, what it needs
    r"^\| (\w+)\.py \| .+ \| `python bench/(\w+)\.py([^`]*)` \| ([\w, ]*) \| .+ \|$",
    (BENCH / "README.md").read_text(encoding="utf-8"),
    re.M,
)


def test_every_script_is_listed_with_its_command() -> None:
    assert sorted(f"{name}.py" for name, *_ in LISTED) == SCRIPTS
    assert [row for row in LISTED if row[0] != row[1]] == []


def test_every_script_uses_the_harness() -> None:
    for name in SCRIPTS:
        tree = ast.parse((BENCH / name).read_text(encoding="utf-8"))
        shared = {
            a.name
            for n in ast.walk(tree)
            if isinstance(n, ast.ImportFrom) and n.module == "harness"
            for a in n.names
        }
        assert {"begin", "parser"} <= shared, name


CHILD = """
import contextlib, io, json, runpy, sys
bench, only_parse, commands = json.load(sys.stdin)
sys.path.insert(0, bench)
import harness
def begin(made, arguments=None):
    made.parse_args(arguments)
    raise SystemExit(0)
if only_parse:
    harness.begin = begin
answers = []
for name, *words in commands:
    sys.argv, words, code = [name + ".py", *words], io.StringIO(), 0
    with contextlib.redirect_stdout(words), contextlib.redirect_stderr(words):
        try:
            runpy.run_path(f"{bench}/{name}.py", run_name="__main__")
        except SystemExit as end:
            code = end.code
    answers.append([code or 0, words.getvalue()])
print(json.dumps(answers))
"""


def said(
    bench: Path, commands: list[list[str]], *, only_parse: bool = False
) -> list[tuple[int, str]]:
    """The exit code and the words of each command, all in one process: importing is what takes the
    time.
    """
    lines = json.dumps([str(bench), only_parse, commands])
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=lines,
        capture_output=True,
        text=True,
        cwd=bench.parent,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [(code, words) for code, words in json.loads(done.stdout)]


def cited() -> list[list[str]]:
    """Every command of a bench that a page shows."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), BENCH / "README.md"]
    shown = [
        re.findall(r"python3? bench/([a-z_]+)\.py([^`\n]*)`", page.read_text(encoding="utf-8"))
        for page in pages
    ]
    return [
        [name, *words.split()]
        for name, words in sorted({command for page in shown for command in page})
    ]


@pytest.mark.slow
def test_every_script_explains_itself_and_takes_the_commands_that_pages_show() -> None:
    """Without the peers: where one is missing, a script says so when it gets there."""
    names = [name.removesuffix(".py") for name in SCRIPTS]
    commands = cited()
    assert len(commands) > len(names)
    answers = said(BENCH, [*([name, "--help"] for name in names), *commands], only_parse=True)
    silent = [
        name
        for name, (_, words) in zip(names, answers, strict=False)
        if f"python bench/{name}.py" not in words
    ]
    refused = [
        command for command, (code, _) in zip(commands, answers[len(names) :], strict=True) if code
    ]
    assert (silent, refused) == ([], [])


@pytest.mark.slow
def test_a_script_says_in_one_sentence_that_its_data_is_not_there(tmp_path: Path) -> None:
    """In a checkout without ../shared/data: neither a pass nor a traceback."""
    shutil.copytree(BENCH, tmp_path / "checkout" / "bench")
    (tmp_path / "checkout" / "src").symlink_to(ROOT / "src")
    commands = [[name, *words.split()] for name, _, words, needs in LISTED if "data" in needs]
    assert len(commands) > 15
    for command, (code, words) in zip(
        commands, said(tmp_path / "checkout" / "bench", commands), strict=True
    ):
        last = words.splitlines()[-1]
        assert (code, "Traceback" in words) == (0, False), (command, words)
        assert last.startswith(f"not measured: there is no {tmp_path / 'shared' / 'data'}"), (
            command,
            words,
        )


@pytest.mark.slow
def test_a_part_of_the_scale_bench_names_the_part_that_it_goes_on_from() -> None:
    for code, words in said(BENCH, [["neardup_scale", "match"], ["neardup_scale", "plan"]]):
        assert code == 0
        assert "goes on from `curve`" in words.splitlines()[-1], words


@pytest.mark.slow
def test_a_script_says_in_one_sentence_that_there_is_no_package_index(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    for code, words in said(BENCH, [["first_report"], ["polars_versions"]]):
        assert code == 0
        assert words.splitlines()[-1].startswith("not measured: pip cannot fetch packages"), words


def test_older_code_is_measured_where_it_is_asked_for(tmp_path: Path) -> None:
    """A child with the harness imports the sources that it was given, not those of the checkout
    beside it.
    """
    package = tmp_path / "src" / "claimlab"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("AGE = 'old'\n")
    look = "import harness, claimlab; print(claimlab.AGE)"
    older = {**os.environ, CODE: str(tmp_path / "src")}
    done = subprocess.run(
        [sys.executable, "-c", look], cwd=BENCH, env=older, capture_output=True, text=True
    )
    assert done.stdout == "old\n", done.stderr


def test_a_function_runs_apart_and_a_child_that_is_killed_is_told_from_one_that_fails() -> None:
    seen: list[Watch] = []
    cost = apart(quick.limits, {"another": {"m": 8.0}}, "m")
    assert cost.result == 2.0
    assert cost.cpu > 0
    whole = watched(quick.limits, {"another": {"m": 8.0}}, "m", during=seen.append)
    assert (whole.result, len(seen)) == (2.0, 1)
    assert whole.memory > 0
    with pytest.raises(Killed, match="signal 9"):
        in_child([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"])
    with pytest.raises(SystemExit, match="ended with 3"):
        in_child([sys.executable, "-c", "import sys; sys.exit(3)"])


def test_what_claimlab_refuses_is_one_sentence_and_a_fault_is_a_traceback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for error, words in (
        (DataError("It is torn.", "Repair it."), "Error: It is torn. Repair it.\n"),
        (KeyError("k"), "Key"),
    ):
        in_a_sentence(type(error), error, None)
        assert capsys.readouterr().err.startswith(words)


def test_a_missing_kernel_is_said_loudly(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "near-duplicate kernel: " in banner()[0]
    monkeypatch.setenv("CLAIMLAB_NEARDUP", "numpy")
    assert "near-duplicate kernel: NumPy fallback" in banner()[0]
    assert "NOT COMPILED" in banner()[1]


def test_a_ratio_says_how_many_times_better_ours_is() -> None:
    assert Row("a", "m", "p", ours=2.0, theirs=6.0).ratio == 3
    assert Row("a", "m", "p", ours=6.0, theirs=2.0, more=True).ratio == 3
    assert (
        Row("a", "m", "p", ours=None, theirs=2.0).ratio is None
    )  # a peer that is missing is no pass


def work(times: int) -> int:
    return sum(i * i % 7 for _ in range(times) for i in range(60_000))


@contextmanager
def steady() -> Iterator[tuple[quick.Job, quick.Job]]:
    yield lambda: work(1), lambda: work(4)


@contextmanager
def slowed() -> Iterator[tuple[quick.Job, quick.Job]]:
    yield lambda: work(6), lambda: work(4)


@pytest.mark.slow
def test_a_planted_slowdown_fails_and_a_steady_ratio_holds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {platform.machine(): {"planted": 4.0}}
    monkeypatch.setattr(quick, "MEASURES", {"planted": steady})
    assert quick.main([], known) == 0
    monkeypatch.setattr(quick, "MEASURES", {"planted": slowed})  # six times as slow
    assert quick.main([], known) == 1
    assert "FALLEN BY HALF, after 3 retries: planted" in capsys.readouterr().err


def test_an_import_that_says_that_it_has_no_labels_is_not_silently_wrong(tmp_path: Path) -> None:
    """The words of the importer are those that import_unseen.py looks for."""
    rows = [f"The bridge in Riverton number {i} is closed for repairs" for i in range(30)]
    file = tmp_path / "claims.csv"
    file.write_text("\n".join(["claim", *rows]), encoding="utf-8")
    records = import_files(file)[0].records.with_columns(veracity=pl.lit("false"))
    expected = import_unseen.Expected(import_unseen.keyed(records), {}, tmp_path)
    assert import_unseen.judge(file, expected).outcome == import_unseen.BARE


def test_another_processor_gets_more_room() -> None:
    recorded = {"one": {"m": 8.0}, "two": {"m": 4.0}}
    assert quick.limits(recorded, "m") == 1.0
    assert quick.limits({platform.machine(): {"m": 8.0}}, "m") == 4.0
    assert quick.limits(recorded, "new") is None


def test_every_quick_measure_is_on_record() -> None:
    recorded = json.loads(quick.RECORD.read_text(encoding="utf-8"))
    names = {name.partition(" (")[0] for ratios in recorded.values() for name in ratios}
    assert set(quick.MEASURES) <= names  # without the loops that were measured: "vectors (vnni)"
