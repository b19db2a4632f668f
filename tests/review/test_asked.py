"""A model as an annotator, asked at a stand-in endpoint: marked, compared, counted when it fails,
free when repeated.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from parts.standin import StandIn

from claimlab.core.calls.estimate import cost_of
from claimlab.core.errors import UsageError
from claimlab.llm.profiles import Profile
from claimlab.review.asked import review_ask
from claimlab.review.create import review_create
from claimlab.review.files import review_import

from .made import dataset, key, predictions, review, task


def said(body: dict[str, Any]) -> str:
    """Number 3 is refused; of the others, even numbers get a yes."""
    text = body["messages"][-1]["content"]
    number = int(text.split("number ")[1].split(".")[0])
    return (
        "I cannot help with that."
        if number == 3
        else json.dumps({"rationale": "r", "answer": "yes" if number % 2 == 0 else "no"})
    )


def test_a_model_annotates_what_annotators_see(tmp_path: Path) -> None:
    made = review(tmp_path / "r")
    for n in range(1, 7):
        made.decide("ana", str(n), "yes", key=key())
    with StandIn(said) as server:
        profile = Profile(name="stand-in", base_url=server.url, model="m", timeout=10.0)
        asked = review_ask(made, profile)
        shown = json.dumps(server.last)
        before = server.requests
        again = review_ask(made, profile)
        assert server.requests - before <= 3  # only the one that failed
    assert asked.imported.counts["new"] == 5
    assert sum(asked.failures.values()) == 1
    assert "fake/" not in shown
    assert '\\"false' not in shown
    assert before >= 6
    assert again.imported.counts["new"] == 0
    assert [(p.name, p.role) for p in made.people()][-1] == ("m", "model")
    votes = {b.item: b.value for b in made.ballots() if b.model}
    assert votes == {"1": "no", "2": "yes", "4": "yes", "5": "no", "6": "yes"}
    row = made.agreement().table.filter(between="ana and m (model)")
    assert row["items"].to_list() == [5]
    assert made.progress().items == {"open": 6}  # ben has not voted, and a model settles nothing


def test_what_a_model_would_cost_is_known_before_it_is_asked(tmp_path: Path) -> None:
    made = review(tmp_path / "r")
    with StandIn(said) as server:
        profile = Profile(name="stand-in", base_url=server.url, model="m", timeout=10.0)
        cost = cost_of(review_ask, made, profile, limit=4)
        assert server.requests == 0
    assert cost["items"] == 4
    assert cost["parts"]["m"]["calls"] == 4
    assert made.ballots() == []


def test_notes_are_not_asked_of_a_model(tmp_path: Path) -> None:
    made = review(tmp_path / "r", task("note"))
    with pytest.raises(UsageError, match="not choices or ratings"):
        review_ask(made, "any")


def test_the_predictions_of_a_run_are_a_models_votes(tmp_path: Path) -> None:
    made = dataset()
    run = dataset(predictions=predictions(made))
    run.write(tmp_path / "run")
    opened = review_create(made, tmp_path / "review", sample=10, people=["ana"])
    found = review_import(opened, tmp_path / "run")
    assert found.counts["new"] == 10
    assert {(b.name, b.role, b.value) for b in opened.ballots()} == {("x", "model", "true")}
    assert review_import(opened, tmp_path / "run").counts["known"] == 10
