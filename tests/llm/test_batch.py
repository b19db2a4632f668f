"""Batches over a real socket: sent once, collected into the recording, the same bytes as calls made
one by one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.standin import own_profile

from claimlab.cli.app import run as command
from claimlab.core.dataset import Dataset
from claimlab.core.errors import BudgetSpent, Pending, UsageError
from claimlab.core.ledger import Ledger
from claimlab.core.record import to_side_table
from claimlab.detect.run import detect
from claimlab.enrich.front import enrich
from claimlab.evaluate.judge.front import judge
from claimlab.llm.batch import batches_in

sys.path.insert(0, str(Path(__file__).parent))
from batches import BatchStandIn


def answer(body: dict[str, Any]) -> str:
    words = " ".join(m["content"] for m in body["messages"])
    if '"claim"' in words:
        return json.dumps({"claim": "The mill of Ostrel sold seventeen looms"})
    if "contradict" in words:
        return json.dumps({"rationale": "Compared.", "score": 7 if "text 1" in words else 1})
    return json.dumps(
        {
            "rationale": "Because.",
            "label": "true" if "text 1" in words else "false",
            "confidence": 0.7,
        }
    )


@pytest.fixture
def server() -> Iterator[BatchStandIn]:
    with BatchStandIn(answer) as running:
        yield running


@pytest.fixture
def profile(server: BatchStandIn, tmp_path: Path) -> str:
    file = tmp_path / "model.toml"
    price = "prices = { m = { input = 1000.0, output = 1000.0 } }\nbatch_price = 0.5"
    own_profile(file, f'[b]\nbase_url = "{server.url}"\nmodel = "m"\n{price}\n')
    return str(file)


def data(n: int = 4) -> Dataset:
    rows = [
        {
            "id": f"r{i}",
            "text": f"This is text {i}.",
            "veracity": ("true", "false")[i % 2],
            "split": "test",
        }
        for i in range(n)
    ]
    return Dataset.build("small", pl.DataFrame(rows))


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def test_a_batch_gives_what_single_calls_give_but_for_price_and_time(
    server: BatchStandIn, profile: str, tmp_path: Path
) -> None:
    ask: dict[str, Any] = {"detector": "llm-zero-shot", "profile": profile}
    with pytest.raises(
        Pending, match="4 questions were sent to 'b' as batch batch-0.*Run the same again"
    ):
        detect(data(), output=tmp_path / "out", batch=True, **ask)
    assert server.calls == []
    assert not (tmp_path / "out").exists(), "nothing is written while answers are missing"
    with pytest.raises(Pending, match="4 questions are in a batch that is not done yet"):
        detect(data(), output=tmp_path / "out", batch=True, **ask)
    assert len(server.batches) == 1, "what is under way is not sent twice"
    run = detect(data(), output=tmp_path / "out", batch=True, **ask)
    assert len(server.calls) == 4
    assert server.requests == 0, "no call was made one by one"
    plain = detect(data(), output=tmp_path / "plain", **ask)
    columns = ["record_id", "label", "scores", "rationale"]
    one, other = (r.tables["predictions"] for r in (run, plain))
    assert one.select(columns).equals(other.select(columns))
    assert one["cost"].sum() == pytest.approx(other["cost"].sum() / 2, rel=1e-4), (
        "at the price of a batch"
    )
    detect(data(), output=tmp_path / "again", mode="replay", cache=tmp_path / "out.cache", **ask)
    assert bytes_of(tmp_path / "again") == bytes_of(tmp_path / "out"), (
        "a replay gives the same bytes"
    )


def test_a_call_that_fails_in_its_batch_is_sent_again(tmp_path: Path) -> None:
    failing = {"on": True}
    with BatchStandIn(
        answer, polls=0, broken=lambda body: failing["on"] and "text 2" in str(body)
    ) as server:
        file = tmp_path / "m.toml"
        own_profile(file, f'[b]\nbase_url = "{server.url}"\nmodel = "m"\n')
        ask: dict[str, Any] = {
            "detector": "llm-zero-shot",
            "profile": str(file),
            "output": tmp_path / "out",
            "batch": True,
        }
        with pytest.raises(Pending, match="4 questions"):
            detect(data(), **ask)
        with pytest.raises(Pending, match="1 question was sent"):
            detect(data(), **ask)
        failing["on"] = False
        assert detect(data(), **ask).tables["predictions"]["label"].null_count() == 0


def test_caps_hold_for_what_a_batch_can_cost_at_most(
    server: BatchStandIn, profile: str, tmp_path: Path
) -> None:
    with pytest.raises(BudgetSpent, match="2 of 2 calls"):
        detect(
            data(),
            "llm-zero-shot",
            profile=profile,
            output=tmp_path / "out",
            batch=True,
            max_calls=2,
        )
    assert server.batches == {}, "a batch that the cap does not cover is not sent"
    with pytest.raises(BudgetSpent):
        detect(
            data(),
            "llm-zero-shot",
            profile=profile,
            output=tmp_path / "o2",
            batch=True,
            max_cost=0.1,
        )
    assert server.batches == {}


def test_what_a_batch_did_cost_replaces_the_most_that_it_could(
    server: BatchStandIn, profile: str, tmp_path: Path
) -> None:
    """The cap leaves room for two batches at their true cost, and for one and a half at the most
    they could cost.
    """
    ask: dict[str, Any] = {
        "detector": "llm-zero-shot",
        "profile": profile,
        "output": tmp_path / "out",
        "batch": True,
    }
    with pytest.raises(Pending):
        detect(data(), **ask)
    (sent,) = batches_in(tmp_path / "out.cache")
    worst = sent.assumed["money"]
    (ledger,) = tmp_path.glob(".*out*/spent.jsonl")
    assert (sent.ledger, sent.actual, sent.settled) == (str(ledger.resolve()), {}, False)
    assert Ledger(ledger).assumed[0] == pytest.approx(worst * 1e9, abs=10)
    server.broken = lambda body: "text 2" in str(body)
    with pytest.raises(Pending, match="not done"):
        detect(data(), **ask)
    with pytest.raises(Pending, match="1 question was sent"):
        detect(data(), **ask)
    first, _ = batches_in(tmp_path / "out.cache")
    assert first.settled
    true = 0 < first.actual["money"] < worst / 4
    assert true, "answers are short, and a call that failed costs nothing"
    spent = Ledger(ledger)
    assert spent.opening[0] == pytest.approx((first.actual["money"] + worst / 4) * 1e9, rel=0.01)
    assert spent.assumed[0] == pytest.approx(worst / 4 * 1e9, rel=0.01), (
        "of the second batch, which is under way"
    )
    server.broken = lambda _: False
    with pytest.raises(Pending, match="not done"):
        detect(data(), **ask)
    done = detect(data(), **ask)
    assert done.report["budget"]["assumed"]["calls"] == 0
    costs = done.tables["predictions"]["cost"].sum()
    assert done.report["budget"]["spent"]["money"] == pytest.approx(costs, rel=1e-6)


def test_claims_are_extracted_in_a_batch_too(
    server: BatchStandIn, profile: str, tmp_path: Path
) -> None:
    (tmp_path / "doc").mkdir()
    (tmp_path / "doc" / "a.txt").write_text(
        "The mill of Ostrel sold seventeen looms in May.", encoding="utf-8"
    )
    told = (
        "Neighbours in the market hall say that the old mill sold looms to a family from the coast"
    )
    rows = [
        {"id": f"r{i}", "text": f"{told}, text {i}.", "veracity": "true", "language": "eng"}
        for i in range(4)
    ]
    asked = Dataset.build("small", pl.DataFrame(rows))
    ask: dict[str, Any] = {
        "provider": f"local:{tmp_path / 'doc'}",
        "extract": "model",
        "profile": profile,
    }
    for why in ("4 questions were sent to 'b' as batch batch-0", "not done yet"):
        with pytest.raises(Pending, match=why):
            enrich(asked, output=tmp_path / "out", batch=True, **ask)
        assert not (tmp_path / "out").exists()
    done = enrich(asked, output=tmp_path / "out", batch=True, **ask)
    assert (len(server.batches), server.requests) == (1, 0)
    assert set(done.dataset.tables["claims"]["text"]) == {"The mill of Ostrel sold seventeen looms"}
    assert done.summary["outcomes"]["corresponding"] == 4, (
        "the claims that came with the batch were searched for"
    )
    replayed = {"mode": "replay", "cache": tmp_path / "out.cache"}
    enrich(asked, output=tmp_path / "again", **ask, **replayed)  # type: ignore[arg-type]
    assert bytes_of(tmp_path / "again") == bytes_of(tmp_path / "out")


def test_the_command_shows_collects_and_cancels(
    server: BatchStandIn, profile: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data().write(tmp_path / "data")
    ask = [
        "detect",
        str(tmp_path / "data"),
        "-o",
        str(tmp_path / "out"),
        "--detector",
        "llm-zero-shot",
        "--profile",
        profile,
    ]
    assert command([*ask, "--batch"]) == 1
    assert "claimlab llm batch" in capsys.readouterr().err
    cache = str(tmp_path / "out.cache")
    assert command(["llm", "batch", "status", cache]) == 0
    assert capsys.readouterr().out == "batch-0: in_progress, 4 requests to m\n"
    assert command(["llm", "batch", "collect", cache, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["batches"]
    assert (row["status"], row["answered"], row["failed"], row["collected"]) == (
        "completed",
        4,
        0,
        True,
    )
    assert command([*ask]) == 0, "the recording has the answers, batch or not"
    assert server.requests == 0
    capsys.readouterr()
    other = [*ask[:3], str(tmp_path / "o2"), *ask[4:]]
    assert command([*other, "--batch"]) == 1
    assert command(["llm", "batch", "cancel", str(tmp_path / "o2.cache")]) == 0
    assert "batch-1: cancelled" in capsys.readouterr().out


def test_a_judge_is_asked_in_a_batch_too(
    server: BatchStandIn, profile: str, tmp_path: Path
) -> None:
    run = data()
    said = [
        {"record_id": f"r{i}", "run": "m", "label": "true", "rationale": "So it is."}
        for i in range(4)
    ]
    run.tables["predictions"] = to_side_table("predictions", pl.DataFrame(said))
    checks = [
        {
            "record_id": f"r{i}",
            "evidence_id": f"e{i}",
            "rank": 1,
            "text": "A check.",
            "rating": "True",
        }
        for i in range(4)
    ]
    run.tables["evidence"] = to_side_table("evidence", pl.DataFrame(checks))
    ask: dict[str, Any] = {"profile": profile, "output": tmp_path / "out", "runs": 3, "batch": True}
    for _ in range(2):
        with pytest.raises(Pending):
            judge(run, **ask)
    done = judge(run, **ask)
    assert len(server.calls) == 12, "each of three runs is a question of its own"
    assert done.summary["verdicts"] == {"not wrong": 3, "wrong": 1}


def test_what_cannot_take_a_batch_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="takes no batches"):
        detect(data(), "llm-zero-shot", profile="embedded", output=tmp_path / "out", batch=True)
    with pytest.raises(UsageError, match="records nothing"):
        detect(
            data(),
            "llm-zero-shot",
            profile="embedded",
            output=tmp_path / "out",
            batch=True,
            mode="live",
        )
