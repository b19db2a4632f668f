"""Judges of `evolve drift` and `evolve worth`: caps hold over starts, nothing is asked twice, a
replay asks nobody.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from parts.standin import Body, StandIn, own_profile

from claimlab.cli.app import run
from claimlab_simulate.evolve.drift.fuse import FuseReading
from claimlab_simulate.evolve.front import evolve
from claimlab_simulate.evolve.worth.score import DIMENSIONS


def answer(body: Body) -> str:
    asked = " ".join(m["content"] for m in body["messages"])
    if "A claim reaches you" in asked:
        return json.dumps(
            {"rationale": "So.", **dict.fromkeys(DIMENSIONS, 0.5), "forward": "well" not in asked}
        )
    if "compare a current text" in asked:
        return json.dumps({"rationale": "So.", **dict.fromkeys(FuseReading().dimensions, 4)})
    return json.dumps(
        {
            "rationale": "So.",
            **({"stated": [1]} if "numbered facts" in asked else {"verdict": "Half True"}),
        }
    )


@pytest.mark.parametrize(
    ("verb", "more", "report"),
    [
        ("drift", ["--set", "sample=8"], "drift.json"),
        (
            "worth",
            ["--set", "depth=2", "--set", "fan_out=2", "--set", "population=20"],
            "worth-report/worth.json",
        ),
    ],
)
def test_caps_hold_over_starts_and_a_finished_run_replays(
    verb: str,
    more: list[str],
    report: str,
    town: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    evolve(town.claims(3), steps=4, output=tmp_path / "walked")
    profile = tmp_path / "mine.toml"
    command = ["evolve", verb, str(tmp_path / "walked"), "--judge", str(profile), *more]
    with StandIn(answer) as server:
        own_profile(profile, f'[mine]\nbase_url = "{server.url}"\nmodel = "m"\n')
        out = ["-o", str(tmp_path / "out")]
        assert run([*command, *out, "--estimate", "--json"]) == 0
        parts = json.loads(capsys.readouterr().out)["estimate"]["parts"]
        most = sum(part["calls"] for part in parts.values())
        assert server.counts()["served"] == 0, "an estimate asks nobody"
        for _ in range(2):
            assert run([*command, *out, "--set", "max_calls=5"]) == 1
        assert server.counts()["served"] == 5, "the cap holds over starts"
        assert run([*command, *out]) == 0
        assert 5 < server.counts()["served"] <= most
        assert server.counts()["repeated"] == 0, "no question is asked twice"
    again = [
        "-o",
        str(tmp_path / "again"),
        "--set",
        "mode=replay",
        "--set",
        f"cache={tmp_path / 'out.cache'}",
    ]
    assert run([*command, *again]) == 0, "the endpoint is gone"
    first, second = (
        json.loads((tmp_path / name / report).read_text(encoding="utf-8"))
        for name in ("out", "again")
    )
    for value in (first, second):
        if verb == "drift":
            assert {"fuse-eval", "verdict-level", "coverage"} == set(value["prompts"]), (
                "which words were asked with"
            )
        (
            value.pop("tallies", None),
            value.pop("tally", None),
            (value.get("fuse_eval") or {}).pop("tallies", None),
        )
    assert first == second
    assert not list(tmp_path.glob(".out.work/*.jsonl")), "what a finished run spent is forgotten"
