"""`claimlab evolve drift` and `claimlab evolve worth` from the command line."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from parts.standin import StandIn, own_profile

from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab_simulate.evolve.worth.score import DIMENSIONS

Make = Callable[..., Dataset]


def call(capsys: pytest.CaptureFixture[str], *argv: object) -> tuple[int, str, str]:
    code = run([str(a) for a in argv])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.slow  # every picture is drawn
def test_a_report_a_viewer_and_the_stages(
    looms: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    looms(30).write(tmp_path / "a")
    looms(30, auditors=1, kind="clustered").write(tmp_path / "b")
    code, out, _ = call(
        capsys,
        "evolve",
        "drift",
        tmp_path / "a",
        tmp_path / "b",
        "-o",
        tmp_path / "r",
        "--datasets",
        tmp_path / "d",
        "--json",
    )
    assert code == 0
    told = json.loads(out)
    assert told["counts"]["traces"] == 60
    assert told["measure"]["name"] == "drift-lite"
    assert {c["value"] for c in told["curves"] if c["by"] == "topology"} == {"clustered", "random"}
    assert {a["setting"] for a in told["attainment"]} == {"one auditor", "three auditors"}
    files = {p.name for p in (tmp_path / "r").iterdir() if not p.name.startswith(".")}
    assert files - {"call.json"} == {
        "drift.json",
        "hops.parquet",
        "index.html",
        "report.md",
        "plots",
        "traces.html",
    }
    assert (tmp_path / "r" / "plots" / "together.png").read_bytes()[:4] == b"\x89PNG"
    assert "a2" in (tmp_path / "r" / "traces.html").read_text(encoding="utf-8")
    assert Dataset.open(tmp_path / "d" / "b-evolved").records.height == 30
    again, _, err = call(capsys, "evolve", "drift", tmp_path / "a", "-o", tmp_path / "r")
    assert again == 1
    assert "--force" in err
    assert (
        call(
            capsys,
            "evolve",
            "drift",
            tmp_path / "a",
            "-o",
            tmp_path / "r",
            "--force",
            "--set",
            "traces=0",
        )[0]
        == 0
    )
    assert not (tmp_path / "r" / "traces.html").exists()


@pytest.mark.slow
def test_the_same_command_writes_the_same_bytes(
    looms: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    looms(30).write(tmp_path / "a")
    for name in ("x", "y"):
        assert call(capsys, "evolve", "drift", tmp_path / "a", "-o", tmp_path / name)[0] == 0
    for file in ("drift.json", "index.html", "traces.html", "hops.parquet"):
        assert (tmp_path / "x" / file).read_bytes() == (tmp_path / "y" / file).read_bytes()


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--set", "max_calls=3"], "without a judge nothing is spent"),
        (["--set", "auditor=model"], "No model was named"),
        (["--set", "auditor=oracle"], "no auditor named 'oracle'"),
        (["--judge", "embedded", "--set", "reading=other"], "no reading"),
    ],
)
def test_wrong_calls_are_sentences(
    looms: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str], argv: list[str], message: str
) -> None:
    looms().write(tmp_path / "a")
    code, _, err = call(capsys, "evolve", "drift", tmp_path / "a", *argv)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_worth_writes_a_dataset_and_a_report(
    looms: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    looms().write(tmp_path / "a")
    people = tmp_path / "people.csv"
    people.write_text("id,score\nt0,0.4\nt1,0.5\n", encoding="utf-8")
    command: list[Any] = ["evolve", "worth", tmp_path / "a", "-o", tmp_path / "w"]
    options: list[Any] = ["--set", f"people={people}", "--set", "background=trust_climate=low"]
    rating = {"rationale": "So.", **dict.fromkeys(DIMENSIONS, 0.5), "forward": False}
    with StandIn(lambda _: json.dumps(rating)) as server:
        profile = tmp_path / "mine.toml"
        own_profile(profile, f'[mine]\nbase_url = "{server.url}"\nmodel = "m"\n')
        code, out, _ = call(capsys, *command, *options, "--judge", profile, "--json")
    assert code == 0
    told = json.loads(out)
    assert set(told) == {"output", "counts", "lineage", "worth"}
    assert told["worth"]["people"]["claims"] == 2
    assert told["worth"]["people"]["wasserstein"] > 0
    assert told["worth"]["measure"] == "score"
    made = Dataset.open(tmp_path / "w")
    assert made.tables["worth"]["record_id"].to_list() == ["t0", "t1", "t2", "t3"]
    assert "score" in made.tables["worth"].columns
    assert made.lineage[-1].parameters["background"]["trust_climate"] == "low"
    assert (tmp_path / "w" / "worth-report" / "index.html").is_file()
    for argv, message in (
        ([], "needs a model profile"),
        (["--judge", profile, "--set", "user=x"], "names no value"),
        (["--judge", profile, "--set", "perspective=novelty=much"], "not a valid weight"),
    ):
        code, _, err = call(capsys, "evolve", "worth", tmp_path / "a", "-o", tmp_path / "v", *argv)
        assert code == 2
        assert message in err


def test_a_network_in_an_archive_is_of_the_agents_that_the_run_left(
    looms: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = looms(30)
    ends = run.tables["agents"]["id"].to_list()[:2]
    ties = {"nodes": [], "edges": [dict(zip(("source", "target"), ends, strict=True))]}
    with zipfile.ZipFile(tmp_path / "society.zip", "w") as archive:
        archive.writestr("assets/other.json", "{}")
        archive.writestr("assets/net.json", json.dumps(ties))
    run.write(tmp_path / "a")
    network = f"network={tmp_path / 'society.zip'}#assets/net.json"
    assert call(capsys, "evolve", "drift", tmp_path / "a", "--set", network)[0] == 0
    del run.tables["agents"]
    run.write(tmp_path / "b")
    code, _, err = call(capsys, "evolve", "drift", tmp_path / "b", "--set", network)
    assert code == 2
    assert "--set population" in err
