"""The first things that a new user types: help, a mistyped name, a list of what exists, a request
for silence.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import webbrowser
from pathlib import Path

import polars as pl
import pytest

from claimlab.cli import app
from claimlab.cli.lazy import GROUPS, verb_names
from claimlab.cli.verbs import demo
from claimlab.core.dataset import Dataset

Captured = pytest.CaptureFixture[str]


def in_a_process(*args: str) -> tuple[str, set[str], float]:
    """What `claimlab ARGS` prints, the packages it imported, and the seconds of CPU that it
    took.
    """
    code = (
        "import sys, time\nfrom claimlab.cli import app\n"
        f"app.run({list(args)!r})\n"
        "print('|'.join(sorted({m.split('.')[0] for m in sys.modules})), time.process_time())"
    )
    env = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    text, _, last = done.stdout.rstrip().rpartition("\n")
    modules, seconds = last.rsplit(" ", 1)
    return text, set(modules.split("|")), float(seconds)


@pytest.mark.leaf
def test_every_verb_is_in_a_group_once() -> None:
    listed = [name for group in GROUPS.values() for name in group]
    assert sorted(listed) == verb_names()


def test_the_help_lists_the_verbs_in_the_order_of_work_and_cuts_no_summary() -> None:
    text, modules, _ = in_a_process("--help")
    assert max(map(len, text.splitlines())) <= 80
    for title, group in GROUPS.items():
        assert f"{title}:" in text
        width = max(8, *map(len, group))
        for name, summary in group.items():
            assert f"  {name:<{width}}  {summary}\n" in text
    order = re.findall(r"^  (\w+) {2,}\w", text, re.M)
    assert order.index("load") < order.index("clean") < order.index("audit") < order.index("report")
    assert not modules & {"rich", "polars", "pydantic", "numpy"}


@pytest.mark.slow
@pytest.mark.alone
def test_the_help_takes_less_than_a_third_of_a_second() -> None:
    assert min(in_a_process("--help")[2] for _ in range(3)) < 0.3


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("audti", "'audit'"),
        ("evaluat", "'evaluate'"),
        ("train", "'detect'"),
        ("xyzzy", "claimlab --help"),
    ],
)
def test_a_mistyped_verb_has_a_suggestion(typed: str, meant: str, capsys: Captured) -> None:
    assert app.run([typed]) == 2
    assert meant in capsys.readouterr().err


@pytest.mark.leaf
def test_a_mistyped_option_and_sub_command_have_a_suggestion(capsys: Captured) -> None:
    assert app.run(["audit", "x", "--limt", "3"]) == 2
    assert "--limit" in capsys.readouterr().err
    assert app.run(["evolve", "drfit"]) == 2
    assert "'drift'" in capsys.readouterr().err


@pytest.mark.parametrize("args", [["help"], ["--help"]])
def test_the_help_is_printed_however_it_is_asked_for(args: list[str], capsys: Captured) -> None:
    assert app.run(args) == 0
    assert "Get data:" in capsys.readouterr().out


def test_the_help_of_a_verb_and_the_version(capsys: Captured) -> None:
    assert app.run(["help", "audit"]) == 0
    assert "--quiet" in capsys.readouterr().out
    assert app.run(["version"]) == 0
    assert capsys.readouterr().out.startswith("claimlab ")


@pytest.mark.parametrize(
    ("command", "key", "name"),
    [
        ("audit --checks", "checks", "near-duplicates"),
        ("detect --detectors", "detectors", "tfidf"),
        ("export --formats", "formats", "croissant"),
        ("split --strategies", "strategies", "near-duplicates"),
    ],
)
def test_a_verb_lists_what_exists_without_heavy_packages(command: str, key: str, name: str) -> None:
    text, modules, _ = in_a_process(*command.split(), "--json")
    rows = json.loads(text)[key]
    assert name in [row["name"] for row in rows]
    assert all(row["summary"].strip() for row in rows)
    assert not modules & {"scipy", "sklearn", "torch", "transformers", "rich"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = {"id": ["1", "2"], "text": ["A claim.", "Another."], "veracity": ["true", "false"]}
    Dataset.build("d", pl.DataFrame(rows)).write(tmp_path / "d")
    return tmp_path / "d"


def test_quiet_leaves_results_and_errors_only(data: Path, tmp_path: Path, capsys: Captured) -> None:
    for number, flag in enumerate(("", "-q", "--quiet")):
        command = [
            "export",
            str(data),
            "--to",
            "csv",
            "-o",
            str(tmp_path / f"out{number}"),
            *filter(None, [flag]),
        ]
        assert app.run(command) == 0
        printed = capsys.readouterr()
        assert "Wrote" in printed.out
        assert ("Next:" in printed.err) is (not flag)
        assert app.run(command) == 1
        assert "already exists" in capsys.readouterr().err


def test_a_page_is_opened_where_one_is_written(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    assert app.run(["audit", str(data), "--check", "balance", "--open"]) == 2
    assert "Add --output DIR" in capsys.readouterr().err
    report = tmp_path / "report"
    assert app.run(["audit", str(data), "--check", "balance", "-o", str(report), "--open"]) == 0
    assert opened == [(report / "index.html").as_uri()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["audit", "data", "--chek", "length"],
            "'claimlab audit' has no option --chek. Did you mean --check or --checks?",
        ),
        (
            ["review", "create", "--taks", "x"],
            "'claimlab review create' has no option --taks. Did you mean --task?",
        ),
        (
            ["show", "--zzz"],
            "'claimlab show' has no option --zzz. To see its options: claimlab show --help",
        ),
    ],
)
def test_a_mistyped_option_gets_a_suggestion(
    arguments: list[str], message: str, capsys: Captured
) -> None:
    assert app.run(arguments) == 2
    assert capsys.readouterr().err.strip() == f"Error: {message}"


def test_what_a_command_lacks_keeps_its_capitals(capsys: Captured) -> None:
    app.run(["check"])
    assert "needs FILE (CSV, TSV," in capsys.readouterr().err
    app.run(["split"])
    assert "(a " in capsys.readouterr().err


def test_the_demo_does_not_suggest_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert demo._serving(Path("d")) == "claimlab serve d --open"
    monkeypatch.setattr(demo, "find_spec", lambda _: None)
    assert demo._serving(Path("d")).startswith("pip install 'claimlab[web]' && ")


def test_the_current_folder_is_shown_as_a_default(capsys: Captured) -> None:
    app.run(["new", "check", "--help"])
    assert "[default: (.)]" in " ".join(capsys.readouterr().out.split())


def test_without_a_command_three_lines_say_where_to_start(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert app.run([]) == 0
    *starts, last = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in starts] == [
        ["claimlab", "demo"],
        ["claimlab", "check"],
        ["claimlab", "load"],
    ]
    assert last == "All commands: claimlab --help"
