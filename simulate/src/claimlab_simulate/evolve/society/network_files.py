"""Network files: the released JSON layouts as they are, or any table of ties.

Two layouts are released: nodes and edges (with a mark on hubs), and for the Dunbar network each
agent's own list of strong and moderate ties with how alike the two are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from claimlab.core.errors import SchemaError
from claimlab.core.types import JsonObject
from claimlab.files.read import user_table
from claimlab.files.tables import read_json
from claimlab_simulate.evolve.member import open_member
from claimlab_simulate.evolve.society.network import TIERS, Network, row_starts
from claimlab_simulate.evolve.society.population import Population

RELEASED_KINDS = {
    "random": "random",
    "scale_free": "scale-free",
    "high_clustering_by_group": "clustered",
}
_LAYOUTS = (
    "Give nodes and edges, strong and moderate ties by agent, or a table with columns source and"
    " target."
)


def read_network(path: str | Path, population: Population) -> Network:
    """Ties from a file, or from one inside a zip or folder (ARCHIVE#MEMBER)."""
    with open_member(path) as (bundle, name):
        source = {"file": name, "inputs": bundle.hashes()}
        if not name.lower().endswith(".json"):
            frame = user_table(bundle, "source", "target", member=name)
            if not {"source", "target"} <= set(frame.columns):
                raise SchemaError(f"'{name}' has no columns source and target.", _LAYOUTS)
            return _tied(population, frame.select("source", "target").rows(), source)
        content = read_json(bundle.text(name), name)
    try:
        if isinstance(content, dict) and "edges" in content:
            return _nodes_and_edges(content, population, source)
        if isinstance(content, dict) and content:
            return _tiers(content, population, source)
    except (KeyError, TypeError, AttributeError) as error:
        raise SchemaError(f"'{name}' is not a network: it lacks {error}.", _LAYOUTS) from None
    raise SchemaError(f"'{name}' is not a network.", _LAYOUTS)


def _nodes_and_edges(
    content: Mapping[str, Any], population: Population, source: JsonObject
) -> Network:
    nodes = content.get("nodes", ())
    population.positions(node["id"] for node in nodes)  # raises on a stranger
    hubs = np.sort(population.positions(node["id"] for node in nodes if node.get("hub")))
    kind = str(content.get("network_type", "file"))
    ties = [(tie["source"], tie["target"]) for tie in content["edges"]]
    return replace(_tied(population, ties, source), kind=RELEASED_KINDS.get(kind, kind), hubs=hubs)


def _tied(population: Population, ties: list[tuple[str, str]], source: JsonObject) -> Network:
    source_rows, target_rows = (population.positions(tie[end] for tie in ties) for end in (0, 1))
    return Network.of_edges(population.size, source_rows, target_rows, parameters=source)


def _tiers(content: Mapping[str, Any], population: Population, source: JsonObject) -> Network:
    ties = {
        (who, tie["id"]): (TIERS.index(tier), tie["score"])
        for who, tiers in content.items()
        for tier in TIERS[1:]
        for tie in tiers[tier]
    }
    # Every tie is in both rows, its tier only in the row of the one who named it.
    for (who, other), (_, score) in list(ties.items()):
        ties.setdefault((other, who), (0, score))
    owners, others = (population.positions(pair[end] for pair in ties) for end in (0, 1))
    order = np.lexsort((others, owners))
    marks = np.array(list(ties.values())).reshape(-1, 2)[order]
    return Network(
        row_starts(population.size, owners),
        others[order],
        "dunbar",
        parameters=source,
        tiers=marks[:, 0].astype(np.int8),
        scores=marks[:, 1].astype(np.float32),
    )
