"""The command: killed and resumed without repeating a paid call, replayed to the same bytes, told
in sentences.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.standin import StandIn, own_profile

import claimlab as cl
from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError


def claim_of(body: dict[str, Any]) -> str:
    """The stand-in model: eight words from the text it was shown."""
    text = body["messages"][-1]["content"].split("<text>\n")[1].split("\n</text>")[0]
    return json.dumps({"claim": " ".join(text.split()[8:16])})


@pytest.fixture
def model() -> Iterator[StandIn]:
    with StandIn(answer=claim_of) as server:
        yield server


@pytest.fixture
def profile(model: StandIn, tmp_path: Path) -> Path:
    file = tmp_path / "model.toml"
    own_profile(
        file,
        f'[stand-in]\nbase_url = "{model.url}"\nmodel = "m"\nprices = {{ m = {{ input = 1.0, output = 2.0 }} }}\n'
        'standing = "made of eight words"\n',
    )
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = [f"Dear all, number {i} of the long list. The mill number {i} in Garrow sold {i + 3} looms to Velmore. " + "More words. " * 8
             for i in range(6)]  # fmt: skip
    Dataset.build("mills", pl.DataFrame({"id": [f"m{i}" for i in range(6)], "text": texts})).write(
        tmp_path / "data"
    )
    return tmp_path / "data"


def arguments(folder: Path, output: Path, profile: Path, *more: str) -> list[str]:
    common = [
        "--provider",
        "searxng",
        "--extract",
        "model",
        "--profile",
        str(profile),
        "--set",
        "results=1",
        "--json",
    ]
    return ["enrich", str(folder), "-o", str(output), *common, *more]


def tree(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


@pytest.mark.slow
def test_killed_and_resumed_no_answered_call_is_repeated_and_a_replay_gives_the_same_bytes(
    folder: Path,
    profile: Path,
    searx: Any,
    model: StandIn,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    searx.hold = lambda number: number == 7
    command = [sys.executable, "-c", "from claimlab.cli.app import main; main()"]
    command += arguments(folder, tmp_path / "out", profile, "--set", "concurrency=1")
    process = subprocess.Popen(
        command, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        assert searx.held.wait(60), "the run never came to its seventh search"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(10)
    assert not (tmp_path / "out").exists()
    held = [words for words, n in searx.asked.items()][-1]
    searx.hold = lambda _: False

    assert run(arguments(folder, tmp_path / "out", profile)) == 0
    found = json.loads(capsys.readouterr().out)["enrichment"]
    assert found["outcomes"]["not-corresponding"] == 6
    assert found["standing"] == ["made of eight words"]
    repeated = {words: n for words, n in searx.asked.items() if n > 1}
    assert repeated == {held: 2}  # the one that was never answered
    assert (model.served, max(model.seen.values())) == (6, 1)
    assert not list(tmp_path.glob(".out.enriching*"))

    asked, answered = sum(searx.asked.values()), model.served
    searx.close()
    replay = arguments(
        folder,
        tmp_path / "again",
        profile,
        "--set",
        "mode=replay",
        "--set",
        f"cache={tmp_path / 'out.cache'}",
    )
    assert run(replay) == 0
    assert json.loads(capsys.readouterr().out)["enrichment"]["budget"]["spent"] == {
        "money": 0.0,
        "tokens": 0,
        "calls": 0,
    }
    assert (sum(searx.asked.values()), model.served) == (asked, answered)
    assert tree(tmp_path / "out") == tree(tmp_path / "again")


@pytest.mark.slow
def test_one_cap_over_model_and_search_together(
    folder: Path,
    profile: Path,
    searx: Any,
    model: StandIn,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(arguments(folder, tmp_path / "out", profile, "--set", "max_calls=7")) == 1
    assert "The budget is spent" in capsys.readouterr().err
    spent = sum(searx.asked.values()) + model.served
    assert spent <= 7
    assert run(arguments(folder, tmp_path / "out", profile, "--set", "max_calls=7")) == 1, (
        "the cap is on the whole run"
    )
    assert sum(searx.asked.values()) + model.served == spent
    assert run(arguments(folder, tmp_path / "out", profile)) == 0
    assert not list(tmp_path.glob(".out.*"))
    assert max(searx.asked.values()) == 1
    assert (sum(searx.asked.values()), model.served) == (12, 6)


def test_the_estimate_says_what_it_would_cost(
    folder: Path,
    profile: Path,
    searx: Any,
    model: StandIn,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(arguments(folder, tmp_path / "out", profile, "--estimate")) == 0
    found = json.loads(capsys.readouterr().out)["estimate"]
    assert found["parts"]["searxng"]["calls_most"] == 12
    assert found["parts"]["m"]["calls"] == 6
    assert found["money_most"] == found["parts"]["m"]["money_most"] > 0
    assert (sum(searx.asked.values()), model.served) == (0, 0)
    assert not list(tmp_path.glob("out*"))


def test_an_estimate_needs_no_key(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable in ("BRAVE_SEARCH_API_KEY", "GOOGLE_FACTCHECK_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    asked = [
        "--provider",
        "brave",
        "--factcheck",
        "google-factcheck",
        "--extract",
        "model",
        "--profile",
        "openai",
    ]
    assert run(["enrich", str(folder), "-o", str(tmp_path / "out"), *asked, "--estimate"]) == 0
    printed = capsys.readouterr().out
    assert "brave: 6 to 12 searches, $0.0300 to $0.0600." in printed
    assert "google-factcheck: 6 to 12 searches, $0.0000 to $0.0000." in printed
    assert "In all: $0.03" in printed


def test_ctrl_c_ends_a_run_at_a_silent_server_within_two_seconds(
    folder: Path, searx: Any, tmp_path: Path
) -> None:
    searx.hold = lambda _: True
    arguments = ["enrich", str(folder), "-o", str(tmp_path / "out"), "--provider", "searxng"]
    command = [sys.executable, "-c", "from claimlab.cli.app import main; main()", *arguments]
    process = subprocess.Popen(command, env=os.environ, stderr=subprocess.PIPE, text=True)
    assert searx.held.wait(60), "the run never came to its first search"
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, time.monotonic() - began < 2) == (130, True), said
    assert said.startswith("Stopped.")


def test_ctrl_c_is_heard_in_a_run_that_never_waits(folder: Path, tmp_path: Path) -> None:
    """A local index answers at once: every record is searched for without a pause in which to hear
    anything.
    """
    n = 20_000
    texts = [
        f"The mill number {i} in Garrow sold {i + 3} looms to the harbour council of Velmore."
        for i in range(n)
    ]
    many = Dataset.build("mills", pl.DataFrame({"id": [f"m{i}" for i in range(n)], "text": texts}))
    many.write(tmp_path / "many")
    arguments = [
        "enrich",
        str(tmp_path / "many"),
        "-o",
        str(tmp_path / "out"),
        "--provider",
        f"local:{folder}",
    ]
    command = [sys.executable, "-c", "from claimlab.cli.app import main; main()", *arguments]
    process = subprocess.Popen(command, env=os.environ, stderr=subprocess.PIPE, text=True)
    late = time.monotonic() + 60
    while not list(tmp_path.glob(".out.*")) and time.monotonic() < late:
        time.sleep(0.05)
    time.sleep(0.3)
    assert process.poll() is None, "it must be under way"
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, time.monotonic() - began < 3) == (130, True), said


def test_a_local_run_with_its_report(
    dataset: Dataset, reviews: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset.write(tmp_path / "data")
    local = [
        "enrich",
        str(tmp_path / "data"),
        "-o",
        str(tmp_path / "out"),
        "--provider",
        f"local:{reviews}",
    ]
    assert run([*local, "--report", str(tmp_path / "report")]) == 0
    printed = capsys.readouterr().out
    assert "2 corresponding" in printed
    assert "1 no-query" in printed
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "Evidence patterns" in page
    assert "Ratings as the fact-checkers wrote them" in page
    found = json.loads((tmp_path / "report" / "evidence.json").read_text(encoding="utf-8"))
    assert {p["pattern"]: p["records"] for p in found["patterns"]} == {
        "T1": 0,
        "T2": 3,
        "F1": 2,
        "F2": 0,
        "F3": 0,
    }
    assert run(local) == 1
    assert "already exists" in capsys.readouterr().err


def test_sites_get_the_level_of_the_users_list(tmp_path: Path) -> None:
    text = "The old mill of Ostrel burnt down in the night of the great storm"
    sites = ("https://news.example.org/1", "https://example.net/2")
    shelf = [{"id": u, "text": f"{text}, {n}", "url": u} for n, u in enumerate(sites)]
    Dataset.build("shelf", pl.DataFrame(shelf)).write(tmp_path / "shelf")
    one = Dataset.build("d", pl.DataFrame({"id": ["a"], "text": [text], "language": ["eng"]}))

    def found(**more: Any) -> pl.DataFrame:
        return cl.enrich(one, f"local:{tmp_path / 'shelf'}", **more).dataset.tables["evidence"]

    assert "site_level" not in found().columns
    file = tmp_path / "sites.toml"
    file.write_text('"www.example.org" = "low"\n"nowhere.com" = "high"\n', encoding="utf-8")
    rated = dict(found(sites=file).select("domain", "site_level").iter_rows())
    assert rated == {"example.org": "low", "example.net": None}
    file.write_text('"example.org" = 3\n', encoding="utf-8")
    with pytest.raises(DataError, match="does not give each site a level"):
        found(sites=file)


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        ([], 2, "No search provider given"),
        (["--provider", "local:x", "--as-of", "yesterday"], 2, "'yesterday' is not a day"),
        (
            ["--provider", "searxng", "--set", "mode=live", "--set", "cache=c"],
            2,
            "Leave out --set cache=VALUE",
        ),
        (["--provider", "bravo"], 2, "no search provider named 'bravo'"),
        (["--provider", "searxng", "--set", "mode=loud"], 2, "'loud' is not a valid mode"),
        (["--provider", "searxng", "--extract", "magic"], 2, "no extractor named 'magic'"),
    ],
)
def test_wrong_usage_is_a_sentence(
    more: list[str],
    code: int,
    message: str,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["enrich", str(folder), "-o", str(tmp_path / "out"), *more]) == code
    assert message in capsys.readouterr().err


def test_the_python_twin_gives_what_the_command_gives(
    dataset: Dataset, reviews: Path, tmp_path: Path
) -> None:
    enriched = cl.enrich(dataset, f"local:{reviews}").dataset
    dataset.write(tmp_path / "data")
    assert (
        run(
            [
                "enrich",
                str(tmp_path / "data"),
                "-o",
                str(tmp_path / "out"),
                "--provider",
                f"local:{reviews}",
            ]
        )
        == 0
    )
    found = Dataset.open(tmp_path / "out")
    assert found.tables["enrichment"].equals(enriched.tables["enrichment"])
    assert (
        found.tables["evidence"]
        .drop("retrieved")
        .equals(enriched.tables["evidence"].drop("retrieved"))
    )
