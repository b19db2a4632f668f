"""The rules that a trace keeps: planted breaks are found, each by its own rule; the released traces
and our runs keep them.

A rule names what was seen: nothing here asks a model or judges a text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from claimlab.catalog.load import load
from claimlab_simulate.evolve.auditors.known.rules import rule_auditors as AUDITOR
from claimlab_simulate.evolve.claims.model import all_targets
from claimlab_simulate.evolve.contracts import ActorSettings
from claimlab_simulate.evolve.propagation import PropagationPlan
from claimlab_simulate.evolve.rewrite.known.null import Null
from claimlab_simulate.evolve.rewrite.weights import Weights
from claimlab_simulate.evolve.simulate import simulate
from claimlab_simulate.evolve.society.network import Network
from claimlab_simulate.evolve.society.network_files import read_network
from claimlab_simulate.evolve.society.population import Population

ROLES = ("producer", "bystander")
MAX_ROUNDS, MAX_STEPS = 3, 10
RULES = {
    "agent": "The agent of every step is one of the population.",
    "hop": "Inside a round, a claim goes to a neighbour.",
    "chain": "What one step puts out is what the next takes in, across rounds too.",
    "role": "Every agent is a producer or a bystander.",
    "bystander": "A bystander passes the claim on as it is.",
    "producer": "A producer changes the claim.",
    "numbers": "Rounds count from 1 without a gap; the steps of every round do the same.",
    "limits": "No trace has more rounds, and no round more steps, than allowed.",
    "pass": "A step that passes its audit ends its round.",
    "round": "A round that did not pass goes on to its last step.",
    "end": "The last step passes its audit.",
}
_KEYS = ("trace_id", "round", "step")


def broken_rules(
    traces: pl.DataFrame,
    population: Population,
    network: Network | None,
    *,
    rounds: int = MAX_ROUNDS,
    steps: int = MAX_STEPS,
) -> pl.DataFrame:
    """Rule, trace, round and step of every break, in that order; `network` null: hops are not
    looked at.
    """
    rows = traces.sort(*_KEYS, maintain_order=True).with_columns(
        pl.col(c).shift(-1).over("trace_id").alias(f"next_{c}")
        for c in ("agent", "input", "round", "step")
    )
    rows = rows.with_columns(
        tied=_tied(rows, population, network),
        last=pl.col("next_round").is_null(),
        stays=pl.col("next_round") == pl.col("round"),
        first=pl.col("round").cum_count().over("trace_id") == 1,
    )
    one = pl.lit(1)
    checks = {
        "agent": ~pl.col("agent").is_in(population.ids.implode()),
        "hop": pl.col("stays") & ~pl.col("tied"),
        "chain": ~pl.col("last") & (pl.col("output") != pl.col("next_input")),
        "role": ~pl.col("role").is_in(ROLES),
        "bystander": (pl.col("role") == "bystander") & (pl.col("input") != pl.col("output")),
        "producer": (pl.col("role") == "producer") & (pl.col("input") == pl.col("output")),
        "numbers": (pl.col("first") & ((pl.col("round") != one) | (pl.col("step") != one)))
        | (pl.col("stays") & (pl.col("next_step") != pl.col("step") + 1))
        | (
            ~pl.col("stays")
            & ((pl.col("next_round") != pl.col("round") + 1) | (pl.col("next_step") != one))
        ),
        "limits": (pl.col("round") > rounds) | (pl.col("step") > steps),
        "pass": pl.col("stays") & pl.col("passed"),
        "round": ~pl.col("stays") & ~pl.col("last") & ~pl.col("passed") & (pl.col("step") < steps),
        "end": pl.col("last") & ~pl.col("passed"),
    }
    found = [
        rows.filter(check.fill_null(False)).select(pl.lit(r).alias("rule"), *_KEYS)
        for r, check in checks.items()
    ]
    return pl.concat(found)


def _tied(rows: pl.DataFrame, population: Population, network: Network | None) -> pl.Series:
    """Whether the agents of this step and the next are neighbours; null where either is not
    known.
    """
    if network is None:
        return pl.Series("tied", [None] * rows.height, dtype=pl.Boolean)
    place = pl.DataFrame({"id": population.ids, "place": pl.int_range(population.size, eager=True)})
    here, there = (
        rows.select(pl.col(c).alias("id")).join(place, on="id", how="left", maintain_order="left")[
            "place"
        ]
        for c in ("agent", "next_agent")
    )
    known = here.is_not_null() & there.is_not_null()
    pairs = zip(here.fill_null(0), there.fill_null(0), strict=True)
    found = [b in network.neighbours(a) for a, b in pairs]
    return pl.select(pl.when(known).then(pl.Series(found))).to_series().alias("tied")


PEOPLE = Population.of(pl.DataFrame({"id": ["a", "b", "c"]}))
NET = Network.of_edges(
    3, np.array([0, 1], dtype=np.int32), np.array([1, 2], dtype=np.int32)
)  # a - b - c
GOOD = [
    {
        "round": 1,
        "step": 1,
        "agent": "a",
        "role": "producer",
        "input": "x",
        "output": "y",
        "passed": False,
    },
    {
        "round": 1,
        "step": 2,
        "agent": "b",
        "role": "bystander",
        "input": "y",
        "output": "y",
        "passed": True,
    },
    {
        "round": 2,
        "step": 1,
        "agent": "b",
        "role": "producer",
        "input": "y",
        "output": "z",
        "passed": False,
    },
    {
        "round": 2,
        "step": 2,
        "agent": "c",
        "role": "producer",
        "input": "z",
        "output": "w",
        "passed": True,
    },
]


def traces(**changes: dict[int, object]) -> pl.DataFrame:
    """The good trace with some cells changed: column -> row number -> value."""
    rows = [
        {"trace_id": "t", **row, **{c: v[i] for c, v in changes.items() if i in v}}
        for i, row in enumerate(GOOD)
    ]
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
def test_a_planted_break_is_found_by_its_own_rule(
    rule: str, changes: dict[str, dict[int, object]], at: object
) -> None:
    found = broken_rules(traces(**changes), PEOPLE, NET)
    assert found.select("rule", "round", "step").rows() == [(rule, *at)]  # type: ignore[misc]
    assert rule in RULES


def test_limits_are_held_and_can_be_set() -> None:
    found = broken_rules(traces(), PEOPLE, NET, rounds=1, steps=1)
    assert found.filter(pl.col("rule") == "limits").select("round", "step").rows() == [
        (1, 2),
        (2, 1),
        (2, 2),
    ]
    assert set(found["rule"]) == {"limits"}
    assert broken_rules(
        traces(agent={1: "c"}), PEOPLE, None
    ).is_empty()  # no network, no word about hops


def test_traces_are_told_apart() -> None:
    both = pl.concat([traces(), traces().with_columns(trace_id=pl.lit("u"))])
    assert broken_rules(both.sample(fraction=1, shuffle=True, seed=1), PEOPLE, NET).is_empty()


@pytest.mark.slow
@pytest.mark.parametrize(("vote", "steps", "rounds"), [("paper", 6, 1), ("released", 4, 3)])
def test_our_own_steered_runs_keep_the_rules(vote: Any, steps: int, rounds: int, town: Any) -> None:
    stage = town.stage("scale-free", n=60)
    plan = PropagationPlan("intervened", steps=steps, rounds=rounds, vote=vote)
    auditors = AUDITOR(ActorSettings(), 3)
    rewriter = Null(Weights.read().null, {})
    made = simulate(
        town.claims(), stage, rewriter=rewriter, auditors=auditors, targets=all_targets(), plan=plan
    )
    broken = broken_rules(
        made.tables["traces"], stage.population, stage.network, rounds=rounds, steps=steps
    )
    assert set(broken["rule"]) <= {"end"}, "not every claim arrives"
    assert made.tables["traces"]["round"].max() == rounds


@pytest.mark.realdata
def test_the_released_traces_keep_the_rules(real_data: Path) -> None:
    """All 2,868 traces: 2,083 hops, each along the random network. Two kinds of exception, both in
    the release itself: one producer left the claim as it was, and 14 traces end at the last step of
    their first round without passing."""
    archive = real_data / "evolved-claims.zip"
    walks = load("evolved-claims", archive, variant="traces").tables["traces"]
    people = Population.read(archive)
    assert walks["trace_id"].n_unique() == 2_868
    assert walks.height == 5_005
    hops = walks.height - walks.select("trace_id", "round").n_unique()
    assert hops == 2_083

    broken = broken_rules(walks, people, read_network(f"{archive}#random_network.json", people))
    assert dict(broken["rule"].value_counts().rows()) == {"producer": 1, "end": 14}
    ends = broken.filter(pl.col("rule") == "end")
    assert set(ends.select("round", "step").rows()) == {(1, 10)}
    # The rule has teeth: on the other networks most hops are not ties.
    for other, wrong in {"scale_free": 1_968, "cluster": 1_805}.items():
        on_other = broken_rules(
            walks, people, read_network(f"{archive}#{other}_network.json", people)
        )
        assert (on_other["rule"] == "hop").sum() == wrong
