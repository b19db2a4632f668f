"""Network files: the released JSON layouts as they are, or any table of ties.

Two layouts are released: nodes and edges (with a mark on hubs), and for the Dunbar network each
agent's own list of strong and moderate ties with how alike the two are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from claimlab.core.errors import SchemaError
from claimlab.core.types import JsonObject
from claimlab.evolve.member import chosen_member
from claimlab.evolve.society.network import TIERS, Ints, Network, pair_keys, row_starts
from claimlab.evolve.society.population import Population
from claimlab.files.bundle import Bundle
from claimlab.files.read import user_table
from claimlab.files.tables import read_json

KINDS = {"random": "random", "scale_free": "scale-free", "high_clustering_by_group": "clustered"}
_LAYOUTS = (
    "Give nodes and edges, strong and moderate ties by agent, or a table with columns source and"
    " target."
)


def read_network(path: str | Path, population: Population, member: str | None = None) -> Network:
    """`member` is the file inside a zip or folder that holds more than one."""
    with Bundle.open(path) as bundle:
        name = chosen_member(bundle, member)
        source = {"file": name, "inputs": bundle.hashes()}
        if not name.lower().endswith(".json"):
            frame = user_table(bundle, "source", "target", member=name)
            if not {"source", "target"} <= set(frame.columns):
                raise SchemaError(f"'{name}' has no columns source and target.", _LAYOUTS)
            return _tied(
                population, frame["source"].to_list(), frame["target"].to_list(), "file", source
            )
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
    population.positions(node["id"] for node in content.get("nodes", ()))  # raises on a stranger
    flagged = population.positions(
        node["id"] for node in content.get("nodes", ()) if node.get("hub")
    )
    kind = str(content.get("network_type", "file"))
    ties = content["edges"]
    return _tied(
        population,
        [t["source"] for t in ties],
        [t["target"] for t in ties],
        KINDS.get(kind, kind),
        source,
        flagged,
    )


def _tied(
    population: Population,
    a: list[str],
    b: list[str],
    kind: str,
    source: JsonObject,
    hubs: Ints | None = None,
) -> Network:
    marked = np.sort(hubs) if hubs is not None else np.empty(0, dtype=np.int32)
    return Network.of_edges(
        population.size,
        population.positions(a),
        population.positions(b),
        kind,
        hubs=marked,
        parameters=source,
    )


def _tiers(content: Mapping[str, Any], population: Population, source: JsonObject) -> Network:
    rows = [
        (who, tie, tier)
        for who, held in content.items()
        for tier in TIERS[1:]
        for tie in held[tier]
    ]
    owner = population.positions(who for who, _, _ in rows)
    other = population.positions(tie["id"] for _, tie, _ in rows)
    tier = np.array([TIERS.index(tier) for _, _, tier in rows], dtype=np.int8)
    score = np.array([tie["score"] for _, tie, _ in rows], dtype=np.float32)
    return tiered(population.size, owner, other, tier, score, source)


def tiered(
    size: int,
    owner: Ints,
    other: Ints,
    tier: np.ndarray[Any, Any],
    score: np.ndarray[Any, Any],
    source: JsonObject,
) -> Network:
    """One-sided ties as a network: every tie in both rows, its tier only in the row of the one who
    named it.
    """
    keys = np.concatenate([pair_keys(owner, other), pair_keys(other, owner)])
    named = np.concatenate([tier, np.zeros_like(tier)])
    order = np.lexsort(
        (-named, keys)
    )  # of two entries for one pair, the one that names a tier comes first
    keys = keys[order]
    keep = np.ones(len(keys), dtype=np.bool_)
    keep[1:] = keys[1:] != keys[:-1]
    chosen = order[keep]
    rows = (keys[keep] >> 32).astype(np.int32)
    return Network(
        row_starts(size, rows),
        keys[keep].astype(np.int32),
        "dunbar",
        parameters=source,
        tiers=named[chosen],
        scores=np.concatenate([score, score])[chosen].astype(np.float32),
    )
