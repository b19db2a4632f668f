"""What a study will cost: after one recorded seed, within a fifth of what the others then take."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from parts.planted import planted
from parts.standin import StandIn, own_profile

from claimlab.core.calls.estimate import cost_of
from claimlab.study.front import study_run

STUDY = """
references = false
seeds = [0, 1, 2]
[datasets.data]
folder = "data"
[grid]
split = ["random"]
detector = ["model"]
[detector.model]
detector = "llm-zero-shot"
profile = "model.toml"
"""


def reply(body: dict[str, Any]) -> str:
    """A rationale whose length goes with that of the text, as models write; every tenth is unusable
    at first.
    """
    words = body["messages"][1]["content"].split()
    if len(words) % 10 == 0 and len(body["messages"]) < 4:
        return "I cannot say."
    return json.dumps(
        {"rationale": " ".join(words[-(len(words) // 3) :]), "label": "true", "confidence": 0.9}
    )


@pytest.mark.slow
def test_after_one_seed_the_estimate_is_within_a_fifth_of_the_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    planted(size=240)[0].write("data")
    Path("study.toml").write_text(STUDY, encoding="utf-8")
    with StandIn(answer=reply) as server:
        prices = "prices = { m = { input = 1.0, output = 4.0 } }"
        own_profile(
            Path("model.toml"), f'[stand-in]\nbase_url = "{server.url}"\nmodel = "m"\n{prices}\n'
        )
        assert cost_of(study_run, "study.toml", "out", trust=True)["money_expected"] is None, (
            "nothing is known of its replies"
        )
        study_run("study.toml", "out", trust=True, only={"seed": "0"})
        priced, before = cost_of(study_run, "study.toml", "out", trust=True), server.requests
        assert server.requests == before
        cost = sum(
            e.cost for e in study_run("study.toml", "out", trust=True, only={"seed": "1"}).entries
        )
        cost += sum(
            e.cost for e in study_run("study.toml", "out", trust=True, only={"seed": "2"}).entries
        )
    ratio = priced["money_expected"] / cost
    record_property("ratio", ratio)
    sys.stderr.write(f"estimate / cost = {ratio:.3f}\n")
    assert 0.8 < ratio < 1.2
    assert priced["money_least"] < cost < priced["money_most"]
    assert priced["sentences"][-1].endswith(f", about ${priced['money_expected']:.4f}.")


PRICED = """
references = false
[datasets.data]
folder = "data"
[grid]
enrich = ["web"]
split = ["random"]
detector = ["majority"]
[enrich.web]
provider = "brave"
results = 3
as_of = "claim-date"
[[show]]
step = "audit"
values = ["judged"]
title = "Audit"
[audit.judged]
judge = "model.toml"
checks = ["feasibility"]
"""


def test_whatever_option_a_step_has_it_is_priced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    planted(size=240)[0].write("data")
    Path("study.toml").write_text(PRICED, encoding="utf-8")
    own_profile(Path("model.toml"), '[stand-in]\nbase_url = "http://127.0.0.1:9"\nmodel = "m"\n')
    parts = cost_of(study_run, "study.toml", "out", trust=True)["parts"]
    assert sorted(name.split("-")[0] for name in parts) == ["audit", "enrich"]
