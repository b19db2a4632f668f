"""What this package adds to `claimlab demo`: claims of the clean twin pass through three simulated
societies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from claimlab.cli.tour import Tour
from claimlab.core.dataset import Dataset
from claimlab.pages.blocks import Cell, Table, percent
from claimlab_simulate.evolve.front import evolve

CLAIMS, STEPS = 24, 10
NETWORKS = ("random", "scale-free", "clustered")
SHOWN = (1, 2, 3, 5, 10)  # steps


def run_evolve(tour: Tour) -> None:
    """Let some claims evolve in three societies, and show how far they went from the start."""
    some = tour.twin.records.filter(language="eng").head(CLAIMS)
    claims = replace(tour.twin, records=some, files={})
    evolved: dict[str, Dataset] = {
        network: evolve(claims, network=network, steps=STEPS, seed=tour.seed)
        for network in NETWORKS
    }
    evolved["random"].write(tour.folder / "evolved")
    turns = sum(data.tables["traces"].height for data in evolved.values())
    sentences = (
        f"{some.height} claims of the clean twin were passed on for {STEPS} steps in three"
        f" societies of 90 simulated agents; each of the {turns:,} turns is kept. No model was"
        " asked: the null model makes word noise, whoever the agent is. The figures are the share"
        " in percent of a claim's words, then and now together, that are not in both: what a model"
        " writes has to differ from this."
    )
    rows: list[list[Cell | str]] = [
        [network, *(percent(share) for share in _change(data))] for network, data in evolved.items()
    ]
    table = Table(["Network", *(f"step {s}" for s in SHOWN)], rows)
    tour.add_section("Claim evolution", sentences, table, _example(evolved["random"]))


def _change(data: Dataset) -> Sequence[float]:
    """The mean share of words that differ from the start, at the steps that are shown."""
    first: dict[str, set[str]] = {}
    shares: dict[int, list[float]] = {}
    for record, step, before, after in (
        data.tables["traces"].select("record_id", "step", "input", "output").iter_rows()
    ):
        base = first.setdefault(record, set(before.lower().split()))
        words = set(after.lower().split())
        shares.setdefault(step, []).append(1 - len(words & base) / len(words | base))
    return [sum(shares[step]) / len(shares[step]) for step in SHOWN]


def _example(data: Dataset) -> Table:
    first = data.tables["traces"].filter(record_id=data.records["id"][0])
    changes = first.filter(pl.col("input") != pl.col("output")).select("step", "agent", "output")
    rows = [[step, agent, text] for step, agent, text in changes.iter_rows()]
    return Table(
        ["Step", "Agent", "One claim, whenever it changed"], [[0, None, first["input"][0]], *rows]
    )
