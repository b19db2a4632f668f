"""`claimlab audit` and `claimlab report` from the outside: what they print, write and refuse."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from parts.planted import planted

from claimlab.cli.app import run


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "planted"
    planted(size=320)[0].write(folder)
    return folder


CHECKS = ["--check", "one-class", "--check", "near-duplicates", "--check", "url-conflicts"]


def test_json_is_one_object_and_findings_have_the_agreed_fields(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["audit", str(data), *CHECKS, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert set(printed) == {"findings", "audits"}
    assert {
        "check",
        "protocol",
        "verdict",
        "score",
        "baselines",
        "interval",
        "n",
        "why",
        "records",
    } <= set(printed["findings"][0])
    assert "examples" not in printed["audits"][0]


def test_strict_exits_with_three_and_writes_first(data: Path, tmp_path: Path) -> None:
    assert run(["audit", str(data), *CHECKS, "--strict", "-o", str(tmp_path / "report")]) == 3
    assert (tmp_path / "report" / "index.html").is_file()
    assert run(["audit", str(data), "--check", "one-class", "--strict"]) == 0


def test_strict_wants_a_verdict_from_every_check(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Green where nothing was measured would say that nothing is wrong."""
    some = ["audit", str(data), "--check", "one-class", "--check", "time-bound", "--strict"]
    assert run(some) == 3
    complaints = capsys.readouterr().err.splitlines()
    assert any(line.startswith("Failed: time-bound: not measured. ") for line in complaints)
    (line,) = [line for line in complaints if line.startswith("To accept: ")]
    assert line == "To accept: --allow time-bound=not-measured"
    assert run([*some, *line.removeprefix("To accept: ").split()]) == 0
    assert run([*some, "--allow", "time-bound"]) == 0
    capsys.readouterr()
    assert run([*some, "--allow", "time-bound=fail"]) == 3
    assert (
        "Failed: 'time-bound=fail' is allowed, but does not occur: take it out of --allow."
        in capsys.readouterr().err
    )
    assert run([*some, "--allow", "evidense"]) == 2
    assert run(["audit", str(data), "--check", "one-class", "--allow", "time-bound"]) == 2


def test_a_saved_audit_is_shown_again(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(
        data.parent
    )  # a saved audit knows the name of the folder, and not where it is
    assert run(["audit", data.name, *CHECKS, "-o", str(tmp_path / "one")]) == 0
    first = capsys.readouterr().out
    assert (
        run(["audit", "--from", str(tmp_path / "one" / "audit.json"), "-o", str(tmp_path / "two")])
        == 0
    )
    assert capsys.readouterr().out == first
    assert (tmp_path / "one" / "index.html").read_bytes() == (
        tmp_path / "two" / "index.html"
    ).read_bytes()
    assert run(["audit", str(data), "-o", str(tmp_path / "one")]) == 1
    assert "already exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["audit", "--from", "x.json", "data"], 2, "but not both"),
        (["audit", "--json"], 2, "No dataset given."),
        (["audit", "nowhere"], 1, "There is no folder"),
        (["audit", "--from", "nowhere.json"], 1, "is not a saved audit"),
        (["report", "study.toml"], 2, "No output folder was given"),
        (["report", "nowhere.toml", "-o", "x"], 2, "Start one with --init"),
    ],
)
def test_wrong_calls_are_told_in_a_sentence(
    arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == code
    assert message in capsys.readouterr().err


def test_unknown_names_are_told(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", str(data), "--check", "keyword"]) == 2
    assert "Did you mean 'keywords'?" in capsys.readouterr().err
    assert run(["audit", str(data), "--protocol", "best"]) == 2
    assert "Choose one of: cdl, cdl-holdout, fair" in capsys.readouterr().err


def test_a_study_from_template_to_report(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "eqa.toml"
    assert run(["report", "--init", str(file)]) == 0
    assert run(["report", str(file), "-o", str(tmp_path / "eqa")]) == 1
    assert "leaves open" in capsys.readouterr().err
    text = file.read_text(encoding="utf-8").replace("datasets = []", f'datasets = ["{data}"]')
    text = re.sub(
        r'^(title|aim|intended_\w+|notes) = ""',
        r'\1 = "Claims of the same makers."',
        text,
        flags=re.MULTILINE,
    )
    file.write_text(text.replace('= ""', '= "in scope"'), encoding="utf-8")
    assert run(["report", str(file), "-o", str(tmp_path / "eqa"), "--json"]) == 1
    assert f"claimlab trust {file}" in capsys.readouterr().err  # the data is outside of its folder
    assert run(["trust", str(file), "--yes"]) == 0
    capsys.readouterr()
    assert run(["report", str(file), "-o", str(tmp_path / "eqa"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert set(printed) == {"output", "shifts", "limits", "counts"}
    assert printed["counts"]["shift"] == 5, "five promises and no run"
    assert printed["counts"]["not-audited"] == 1
    assert (tmp_path / "eqa" / "index.html").is_file()
    assert run(["report", str(file), "-o", str(tmp_path / "eqa"), "--force"]) == 0
    told = capsys.readouterr().out
    assert "Missing test: time (later records) is in scope, and no run tests it." in told
    assert "claimlab split DIR --by time" in told


def test_each_verb_says_when_it_gets_the_file_of_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid, questions = tmp_path / "study.toml", tmp_path / "eqa.toml"
    assert run(["study", "new", str(grid)]) == 0
    assert run(["report", str(questions), "--init"]) == 0
    capsys.readouterr()
    assert run(["report", str(grid), "-o", str(tmp_path / "eqa")]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "is a study for" in told
    assert f"claimlab study run {grid} -o DIR" in told
    for verb in (["check"], ["run", "-o", str(tmp_path / "out")]):
        assert run(["study", verb[0], str(questions), *verb[1:]]) == 1
        told = " ".join(capsys.readouterr().err.split())
        assert "is the file of an EQA report, not a study" in told
        assert f"claimlab report {questions} -o DIR" in told


def rows(texts: int, labels: str) -> list[str]:
    """Forty rows of so many distinct texts; of each text, the label is the next letter of
    `labels`.
    """
    names = {"t": "true", "f": "false"}
    claims = [
        " ".join(f"{chr(97 + (7 * i + 3 * k) % 26)}{i % texts * k % 89}word" for k in range(3, 15))
        for i in range(40)
    ]
    return [
        "text,verdict",
        *(f"{claims[i % texts]},{names[labels[i % texts % len(labels)]]}" for i in range(40)),
    ]


ROWS = {"copies": rows(20, "tf"), "plain": rows(40, "tf"), "single": rows(40, "t")}


@pytest.mark.parametrize(
    ("name", "after_import", "after_clean", "after_split"),
    [
        ("copies", "clean copies -o copies-clean", "audit copies-c -o REPORT", "detect copies-s -o RUN"),
        ("plain", "audit plain -o REPORT", "audit plain-c -o REPORT", "detect plain-s -o RUN"),
        ("single", "show single --column label_raw", "show single-c --column label_raw", "show single-s --column label_raw"),
    ],
)  # fmt: skip
def test_what_comes_next_follows_from_the_data(
    name: str, after_import: str, after_clean: str, after_split: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path(f"{name}.csv").write_text("\n".join(ROWS[name]), encoding="utf-8")
    commands = {
        after_import: ["import", f"{name}.csv", "-o", name],
        after_clean: ["clean", name, "-o", f"{name}-c"],
        after_split: ["split", f"{name}-c", "-o", f"{name}-s"],
    }
    for expected, command in commands.items():
        assert run(command) == 0
        assert capsys.readouterr().err.splitlines()[-1] == f"Next: claimlab {expected}"
    assert run(after_import.replace("REPORT", f"{name}-report").split()) == 0
