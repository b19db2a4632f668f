"""The rules of a trace: planted breaks are found, each by its own rule; the released traces keep them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from claimlab.catalog.load import load
from claimlab.evolve.society.network import Network
from claimlab.evolve.society.population import Population
from claimlab.evolve.society.rules import RULES, broken_rules

PEOPLE = Population.of(pl.DataFrame({"id": ["a", "b", "c"]}))
NET = Network.of_edges(3, np.array([0, 1], dtype=np.int32), np.array([1, 2], dtype=np.int32))  # a - b - c
GOOD = [
    {"round": 1, "step": 1, "agent": "a", "role": "producer", "input": "x", "output": "y", "passed": False},
    {"round": 1, "step": 2, "agent": "b", "role": "bystander", "input": "y", "output": "y", "passed": True},
    {"round": 2, "step": 1, "agent": "b", "role": "producer", "input": "y", "output": "z", "passed": False},
    {"round": 2, "step": 2, "agent": "c", "role": "producer", "input": "z", "output": "w", "passed": True},
]


def traces(**changes: dict[int, object]) -> pl.DataFrame:
    """The good trace with some cells changed: column -> row number -> value."""
    rows = [{"trace_id": "t", **row, **{c: v[i] for c, v in changes.items() if i in v}} for i, row in enumerate(GOOD)]
    return pl.DataFrame(rows)


def test_a_good_trace_breaks_nothing() -> None:
    assert broken_rules(traces(), PEOPLE, NET).is_empty()


@pytest.mark.parametrize(
    ("rule", "changes", "at"),
    [
        ("agent", {"agent": {3: "stranger"}}, (2, 2)),
        ("hop", {"agent": {1: "c"}}, (1, 1)),
        ("chain", {"input": {2: "q"}}, (1, 2)),
        ("role", {"role": {0: "critic"}}, (1, 1)),
        ("bystander", {"role": {3: "bystander"}}, (2, 2)),
        ("producer", {"role": {1: "producer"}}, (1, 2)),
        ("numbers", {"step": {3: 3}}, (2, 1)),
        ("numbers", {"round": {2: 3, 3: 3}}, (1, 2)),
        ("pass", {"passed": {0: True}}, (1, 1)),
        ("round", {"passed": {1: False}}, (1, 2)),
        ("end", {"passed": {3: False}}, (2, 2)),
    ],
)
def test_a_planted_break_is_found_by_its_own_rule(rule: str, changes: dict[str, dict[int, object]], at: object) -> None:
    found = broken_rules(traces(**changes), PEOPLE, NET)
    assert found.select("rule", "round", "step").rows() == [(rule, *at)]  # type: ignore[misc]
    assert rule in RULES


def test_limits_are_held_and_can_be_set() -> None:
    found = broken_rules(traces(), PEOPLE, NET, rounds=1, steps=1)
    assert found.filter(pl.col("rule") == "limits").select("round", "step").rows() == [(1, 2), (2, 1), (2, 2)]
    assert set(found["rule"]) == {"limits"}
    assert broken_rules(traces(agent={1: "c"}), PEOPLE, None).is_empty()  # no network, no word about hops


def test_traces_are_told_apart() -> None:
    both = pl.concat([traces(), traces().with_columns(trace_id=pl.lit("u"))])
    assert broken_rules(both.sample(fraction=1, shuffle=True, seed=1), PEOPLE, NET).is_empty()


@pytest.mark.realdata
def test_the_released_traces_keep_the_rules(real_data: Path) -> None:
    """All 2,868 traces: 2,083 hops, each along the random network. Two kinds of exception, both in the release itself:
    one producer left the claim as it was, and 14 traces end at the last step of their first round without passing."""
    archive = real_data / "evolved-claims.zip"
    walks = load("evolved-claims", archive, variant="traces").tables["traces"]
    people = Population.read(archive)
    assert walks["trace_id"].n_unique() == 2_868
    assert walks.height == 5_005
    hops = walks.height - walks.select("trace_id", "round").n_unique()
    assert hops == 2_083

    broken = broken_rules(walks, people, Network.read(archive, people, "random_network.json"))
    assert dict(broken["rule"].value_counts().rows()) == {"producer": 1, "end": 14}
    ends = broken.filter(pl.col("rule") == "end")
    assert set(ends.select("round", "step").rows()) == {(1, 10)}
    # The rule has teeth: on the other networks most hops are not ties.
    for other, wrong in {"scale_free": 1_968, "cluster": 1_805}.items():
        on_other = broken_rules(walks, people, Network.read(archive, people, f"{other}_network.json"))
        assert (on_other["rule"] == "hop").sum() == wrong
