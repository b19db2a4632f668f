"""The model judge of feasibility: asked through the door, with and without evidence, failures counted, never a pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from claimlab.audit.judge import ModelJudge
from claimlab.audit.run import audit
from claimlab.audit.subject import Subject
from claimlab.cli.app import run
from claimlab.core.calls.calls import Calls
from claimlab.core.dataset import Dataset
from claimlab.llm.messages import Request
from claimlab.llm.open import layered
from claimlab.llm.providers.scripted import Line, Refuse, Scripted
from claimlab.llm.standin import StandIn

N = 60


def dataset(evidence: bool) -> Dataset:
    """Every third claim points at a picture; the search explains half of those."""
    texts = [f"Look at this picture {i}!" if i % 3 == 0 else f"The mill {i} in Garrow sold looms." for i in range(N)]
    rows = pl.DataFrame({"id": [f"r{i}" for i in range(N)], "text": texts, "veracity": ["true", "false"] * (N // 2)})
    found = [
        {"record_id": f"r{i}", "evidence_id": f"e{i}", "rank": 1, "text": f"explained {i}" if i % 2 else "nothing", "guard_copy": i == 1}
        for i in range(N)
    ]  # fmt: skip
    return Dataset.build("d", rows, {"evidence": pl.DataFrame(found)} if evidence else {})


def answer(request: Request[Any]) -> Line:
    prompt = request.messages[-1].content
    if "mill 1 in" in prompt:
        return Refuse()
    return json.dumps({"checkable": "no" if "picture" in prompt and "explained" not in prompt else "yes"})


def judge(sample: int = 300) -> tuple[ModelJudge, Scripted]:
    script = Scripted(answers=answer)
    return ModelJudge(layered(script, Calls(mode="live")), sample), script


def test_answers_with_and_without_search_and_a_refusal_is_null() -> None:
    one, script = judge()
    subject = Subject.of(dataset(evidence=True))
    alone = one.judge(subject, search=False, seed=0)
    assert [alone["r0"], alone["r1"], alone["r2"]] == [False, None, True]
    assert sum(a is False for a in alone.values()) == N // 3
    searched = one.judge(subject, search=True, seed=0)
    assert "r1" not in searched  # all it has is a near-copy of itself
    assert sum(a is False for a in searched.values()) == N // 6
    assert one.tally.refusals == 1
    assert "<statement>" in script.asked[0].messages[-1].content


def test_a_sample_is_drawn_by_lot_and_the_same_seed_draws_the_same() -> None:
    one, _ = judge(sample=20)
    subject = Subject.of(dataset(evidence=False))
    first, again, other = (one.judge(subject, search=False, seed=s) for s in (1, 1, 2))
    assert len(first) == 20
    assert first == again
    assert set(first) != set(other)


def test_without_evidence_the_searched_half_is_not_measured() -> None:
    with_search, without = audit(dataset(evidence=False), checks=["feasibility"], judge=judge()[0], debug=True).findings
    assert (with_search.verdict, without.verdict) == ("not-measured", "warn")  # unvalidated: a doubt, no verdict
    assert "unvalidated" in without.why
    assert "1 answers failed" in without.why


def test_from_the_command_line_within_a_cap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "cache"))
    dataset(evidence=True).write(tmp_path / "data")
    with StandIn(answer=lambda _: '{"checkable": "yes"}') as server:
        profile = tmp_path / "p.toml"
        profile.write_text(f'[m]\nbase_url = "{server.url}"\nmodel = "m"\n', encoding="utf-8")
        command = ["audit", str(tmp_path / "data"), "--check", "feasibility", "--judge", str(profile), "--json"]
        assert run([*command, "--max-calls", "40"]) == 1
        assert "The budget is spent" in capsys.readouterr().err
        assert server.served <= 40
        assert run(command) == 0
        findings = json.loads(capsys.readouterr().out)["findings"]
        assert [f["n"] for f in findings] == [N - 1, N]
        assert server.served == 2 * N - 1  # what was answered before the cap was not asked again
    assert run(["audit", str(tmp_path / "data"), "--max-calls", "4"]) == 2
    assert "without a judge spends nothing" in capsys.readouterr().err
