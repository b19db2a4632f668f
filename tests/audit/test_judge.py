"""The model judge of feasibility: asked through the door, with and without evidence, failures
counted, never a pass.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.standin import StandIn, own_profile

from claimlab.audit.judge import (
    ALONE,
    PROMISED,
    READINGS,
    RESULTS,
    FeasibilityJudge,
    Opinion,
    Reading,
)
from claimlab.audit.run import audit
from claimlab.audit.subject import Subject
from claimlab.cli.app import run
from claimlab.core.calls.calls import Calls
from claimlab.core.dataset import Dataset
from claimlab.llm.messages import Request
from claimlab.llm.open import layered
from claimlab.llm.providers.scripted import Line, Refuse, Scripted
from claimlab.search.chain import ProviderChain
from claimlab.search.connect import connect
from claimlab.search.local import build_index

N = 60


def dataset(evidence: bool) -> Dataset:
    """Every third claim points at a picture; the search explains half of those."""
    texts = [
        f"Look at this picture {i}!" if i % 3 == 0 else f"The mill {i} in Garrow sold looms."
        for i in range(N)
    ]
    rows = pl.DataFrame(
        {"id": [f"r{i}" for i in range(N)], "text": texts, "veracity": ["true", "false"] * (N // 2)}
    )
    found = [
        {"record_id": f"r{i}", "evidence_id": f"e{i}", "rank": 1, "text": f"explained {i}" if i % 2 else "nothing", "guard_copy": i == 1}
        for i in range(N)
    ]  # fmt: skip
    return Dataset.build("d", rows, {"evidence": pl.DataFrame(found)} if evidence else {})


def answer(request: Request[Any]) -> Line:
    prompt = request.messages[-1].content
    if "mill 1 in" in prompt:
        return Refuse()
    unseen = "this picture" in prompt and "explained" not in prompt
    return opinion("not feasible" if unseen else "feasible", "media" if unseen else None)


def opinion(answer: str, missing: str | None = None) -> str:
    return json.dumps(
        {"rationale": "So it is.", "missing": [missing] if missing else [], "answer": answer}
    )


def judge(
    sample: int = 300, search: ProviderChain | None = None
) -> tuple[FeasibilityJudge, Scripted]:
    script = Scripted(answers=answer)
    return FeasibilityJudge(layered(script, Calls(mode="live")), sample, search=search), script


def feasible(
    one: FeasibilityJudge, data: Subject, reading: Reading, seed: int = 0
) -> dict[str, bool | None]:
    opinions = one.opinions(data, reading, seed)
    return {i: None if o is None else o.feasible(reading) for i, o in opinions.items()}


def test_answers_with_and_without_search_and_a_refusal_is_null() -> None:
    one, script = judge()
    subject = Subject.of(dataset(evidence=True))
    alone = feasible(one, subject, ALONE)
    assert [alone["r0"], alone["r1"], alone["r2"]] == [False, None, True]
    assert sum(a is False for a in alone.values()) == N // 3
    searched = feasible(one, subject, RESULTS)
    assert "r1" not in searched  # all it has is a near-copy of itself
    assert sum(a is False for a in searched.values()) == N // 6
    assert one.model.tally.refusals == 1
    assert "<statement>" in script.asked[0].messages[-1].content


def test_a_rationale_in_another_language_than_the_statement_is_asked_for_once_more() -> None:
    def reply(request: Request[Any]) -> Line:
        again = "Answer again, with the rationale in Portuguese" in request.messages[-1].content
        why = "O moinho da cidade foi vendido" if again else "The mill of the city was not sold"
        return json.dumps({"rationale": f"{why} no ano.", "missing": [], "answer": "feasible"})

    text = "O moinho da cidade foi vendido à prefeitura em 2019, dizem os registros."
    rows = pl.DataFrame({"id": ["a", "b"], "text": [text] * 2, "veracity": ["true", "false"]})
    one = FeasibilityJudge(layered(Scripted(answers=reply), Calls(mode="live")), 2)
    found = one.opinions(Subject.of(Dataset.build("d", rows)), ALONE, 0)
    assert [o.rationale[:8] for o in found.values() if o is not None] == ["O moinho"] * 2
    assert one.model.tally.calls == 4


def test_a_sample_is_drawn_at_random_and_the_same_seed_draws_the_same() -> None:
    one, _ = judge(sample=20)
    subject = Subject.of(dataset(evidence=False))
    first, again, other = (feasible(one, subject, ALONE, s) for s in (1, 1, 2))
    assert len(first) == 20
    assert first == again
    assert set(first) != set(other)


def test_the_rationale_comes_first_and_search_is_only_promised_where_nothing_was_searched() -> None:
    assert list(Opinion.model_fields) == ["rationale", "missing", "answer"]
    one, script = judge()
    promised, results, alone = audit(
        dataset(evidence=False), checks=["feasibility"], judge=one, debug=True
    ).findings
    assert (promised.verdict, results.verdict, alone.verdict) == (
        "warn",
        "not-measured",
        "warn",
    )  # unvalidated
    assert "unvalidated" in alone.why
    assert "1 answers failed" in alone.why
    promises = [
        "can search the web" in "".join(request.messages[0].content.split("\n"))
        for request in script.asked
    ]
    assert promises.count(True) == promises.count(False) == N


def test_with_a_provider_the_judge_sees_what_a_search_finds(tmp_path: Path) -> None:
    """The pages to search explain every sixth statement: those that point at an odd picture."""
    pages = [
        {"id": f"p{i}", "text": f"Look at this picture {i}! explained at length"}
        for i in range(3, N, 6)
    ]
    Dataset.build("pages", pl.DataFrame(pages)).write(tmp_path / "pages")
    build_index(tmp_path / "pages", tmp_path / "index")
    chain = connect(
        ["local"], Calls(mode="live"), settings={"local": {"index": tmp_path / "index"}}
    )
    one, script = judge(search=chain)
    subject = Subject.of(dataset(evidence=False))
    assert one.readings(subject) == READINGS
    assert one.searches(subject, 0) == N
    searched = feasible(one, subject, RESULTS)
    one.close()
    assert sum(o is False for o in feasible(one, subject, PROMISED).values()) == N // 3
    assert all(searched[f"r{i}"] for i in range(3, N, 6))
    assert any("<results>" in request.messages[-1].content for request in script.asked)


@pytest.mark.slow
def test_from_the_command_line_within_a_cap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "cache"))
    dataset(evidence=True).write(tmp_path / "data")
    with StandIn(answer=lambda _: opinion("feasible")) as server:
        profile = tmp_path / "p.toml"
        own_profile(profile, f'[m]\nbase_url = "{server.url}"\nmodel = "m"\n')
        command = [
            "audit",
            str(tmp_path / "data"),
            "--check",
            "feasibility",
            "--judge",
            str(profile),
            "--json",
        ]
        assert run([*command, "--set", "max_calls=40"]) == 1
        assert "The budget is spent" in capsys.readouterr().err
        assert server.served <= 40
        assert run(command) == 0
        findings = json.loads(capsys.readouterr().out)["findings"]
        assert [f["n"] for f in findings] == [N, N - 1, N]
        assert server.served == 3 * N - 1  # what was answered before the cap was not asked again
    assert run(["audit", str(tmp_path / "data"), "--set", "max_calls=4"]) == 2
    assert "without a judge spends nothing" in capsys.readouterr().err
