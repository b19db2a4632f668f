"""Lists of words from `data/grammar.toml`."""

from __future__ import annotations

from functools import cache

from claimlab.core import packaged


@cache
def words(name: str) -> frozenset[str]:
    return frozenset(packaged.toml("claimlab.evolve.rewrite", "grammar.toml")[name].split())
