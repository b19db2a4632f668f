"""`claimlab evolve run` from the outside: what it prints, writes and refuses, and that it goes on
where it stopped.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from claimlab.cli.app import run
from claimlab.core.dataset import Dataset

CLAIMS = [
    "The bridge of Riverton was closed for 47 days due to frost.",
    "Most children in Riverton drink tap water.",
]


@pytest.fixture
def claims(tmp_path: Path) -> Path:
    rows = [
        {"id": f"c{i}", "text": text, "language": "eng", "label_raw": "1"}
        for i, text in enumerate(CLAIMS)
    ]
    Dataset.build("town", pl.DataFrame(rows)).write(tmp_path / "claims")
    return tmp_path / "claims"


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    return dict(json.loads(capsys.readouterr().out))


def test_json_is_one_object_and_the_folder_holds_the_traces(
    claims: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(["evolve", "run", str(claims), "-o", str(out), "--steps", "4", "--json"]) == 0
    said = printed(capsys)
    assert set(said) == {"output", "counts", "lineage", "evolved", "budget"}
    assert said["evolved"]["turns"] == said["counts"]["traces"] == 8
    made = Dataset.open(out)
    assert made.synthetic
    assert set(made.tables) == {"traces", "agents", "edges"}
    assert made.lineage[-1].step == "evolve"
    assert not list(tmp_path.glob(".out.*")), "nothing is left beside a finished run"


def test_the_same_command_writes_the_same_bytes_whatever_runs_at_once(
    claims: Path, tmp_path: Path
) -> None:
    for name, at_once in (("a", "1"), ("b", "50")):
        arguments = [
            "--kind",
            "intervened",
            "--target",
            "all",
            "--steps",
            "6",
            "--set",
            f"concurrency={at_once}",
        ]
        assert run(["evolve", "run", str(claims), "-o", str(tmp_path / name), *arguments]) == 0
    for file in ("records.parquet", "traces.parquet", "dataset.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_a_steered_run_is_replayed_from_its_own_traces(claims: Path, tmp_path: Path) -> None:
    steered = ["--kind", "intervened", "--target", "style=colloquial", "--set", "vote=released"]
    assert run(["evolve", "run", str(claims), "-o", str(tmp_path / "a"), *steered]) == 0
    again = [
        *steered,
        "--rewriter",
        "replay",
        "--auditor",
        "replay",
        "--set",
        f"recording={tmp_path / 'a'}",
        "--seed",
        "7",
    ]
    assert run(["evolve", "run", str(claims), "-o", str(tmp_path / "b"), *again]) == 0
    assert (tmp_path / "a" / "traces.parquet").read_bytes() == (
        tmp_path / "b" / "traces.parquet"
    ).read_bytes()


def test_files_of_agents_ties_and_weights_are_taken(claims: Path, tmp_path: Path) -> None:
    (tmp_path / "agents.csv").write_text("id,group,job\na,x,baker\nb,x,baker\nc,y,lawyer\n")
    (tmp_path / "ties.csv").write_text("source,target\na,b\nb,c\n")
    rates = dict.fromkeys(("drop", "exchange", "take", "numbers", "blur", "swap", "producers"), 0)
    (tmp_path / "weights.toml").write_text(
        "[null]\n"
        + "".join(f"{name} = {rate}\n" for name, rate in (rates | {"numbers": 1}).items())
    )
    given = ["--set", f"population={tmp_path}/agents.csv", "--network", str(tmp_path / "ties.csv")]
    given += ["--set", f"weights={tmp_path / 'weights.toml'}"]
    assert (
        run(["evolve", "run", str(claims), "-o", str(tmp_path / "out"), "--steps", "6", *given])
        == 0
    )
    traces = Dataset.open(tmp_path / "out").tables["traces"]
    assert set(traces["agent"]) <= {"a", "b", "c"}
    for meta in traces.filter(pl.col("step") == 1)["meta"]:
        for change in json.loads(meta).get("operators", []):
            assert any(c.isdigit() for c in change["before"]), "only numbers, as the rates say"


def test_an_estimate_sends_nothing_and_writes_nothing(
    claims: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    command = ["evolve", "run", str(claims), "-o", str(tmp_path / "out"), "--estimate", "--json"]
    model = ["--rewriter", "model", "--auditor", "model", "--profile", "openai"]
    steer = ["--kind", "intervened", "--target", "stance=oppose", "--steps", "5"]
    assert run([*command, *model, *steer]) == 0
    parts = printed(capsys)["estimate"]["parts"]
    assert {who: part["calls"] for who, part in parts.items()} == {
        "agents": 10, "auditor 1": 10, "auditor 2": 10, "auditor 3": 10,
    }  # fmt: skip
    assert all(part["money_most"] > 0 for part in parts.values())
    assert run(command) == 0
    assert printed(capsys)["estimate"]["parts"] == {}
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--kind", "stroll"], 2, "'stroll' is not a valid kind"),
        (["--target", "style=colloquial"], 2, "only there"),
        (["--kind", "intervened"], 2, "needs a target"),
        (["--network", "rndom"], 2, "Did you mean 'random'"),
        (["--rewriter", "modle"], 2, "Did you mean 'model'"),
        (["--rewriter", "model"], 2, "--profile"),
        (["--set", "population=1"], 2, "two or more"),
        (["--set", "group=Nobody"], 2, "group of agents"),
        (["--set", "weights=nowhere.toml"], 1, "cannot be read"),
        (["--set", "mode=sometimes"], 2, "live, record, replay"),
        (
            ["--kind", "intervened", "--target", "style=official", "--auditor", "classifier"],
            2,
            "--set auditor_data",
        ),
    ],
)
def test_what_is_wrong_is_said(
    arguments: list[str],
    code: int,
    words: str,
    claims: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["evolve", "run", str(claims), "-o", str(tmp_path / "out"), *arguments]) == code
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
