"""The rules that a trace of claims on the move keeps, so that a run (ours or a released one) can be held to them.

    broken = broken_rules(dataset.tables["traces"], people, network)      # one row for every break; empty when all hold

A rule names what was seen: nothing here asks a model or judges a text.
"""

from __future__ import annotations

import polars as pl

from claimlab.evolve.society.network import Network
from claimlab.evolve.society.population import Population

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
    """Rule, trace, round and step of every break, in that order; `network` null: hops are not looked at."""
    rows = traces.sort(*_KEYS, maintain_order=True).with_columns(
        pl.col(c).shift(-1).over("trace_id").alias(f"next_{c}") for c in ("agent", "input", "round", "step")
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
        | (~pl.col("stays") & ((pl.col("next_round") != pl.col("round") + 1) | (pl.col("next_step") != one))),
        "limits": (pl.col("round") > rounds) | (pl.col("step") > steps),
        "pass": pl.col("stays") & pl.col("passed"),
        "round": ~pl.col("stays") & ~pl.col("last") & ~pl.col("passed") & (pl.col("step") < steps),
        "end": pl.col("last") & ~pl.col("passed"),
    }
    found = [rows.filter(check.fill_null(False)).select(pl.lit(r).alias("rule"), *_KEYS) for r, check in checks.items()]
    return pl.concat(found)


def _tied(rows: pl.DataFrame, population: Population, network: Network | None) -> pl.Series:
    """Whether the agents of this step and the next are neighbours; null where either is not known."""
    if network is None:
        return pl.Series("tied", [None] * rows.height, dtype=pl.Boolean)
    place = pl.DataFrame({"id": population.ids, "place": pl.int_range(population.size, eager=True)})
    here, there = (
        rows.select(pl.col(c).alias("id")).join(place, on="id", how="left", maintain_order="left")["place"]
        for c in ("agent", "next_agent")
    )
    known = here.is_not_null() & there.is_not_null()
    found = network.tied(here.fill_null(0).to_numpy(), there.fill_null(0).to_numpy())
    return pl.select(pl.when(known).then(pl.Series(found))).to_series().alias("tied")
