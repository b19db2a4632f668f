"""How alike two agents are: the share of attributes in which they are the same. No model, no
network needed.

Agents with one profile are alike to the same others, so the work is done once for each different
profile: a million drawn agents have some five thousand. What is not known of an agent is like
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from claimlab.core.errors import UsageError
from claimlab_simulate.evolve.society.network import (
    Ints,
    Longs,
)
from claimlab_simulate.evolve.society.population import Population

MOST_ATTRIBUTES = 31  # attributes


@dataclass(frozen=True, eq=False)
class Profiles:
    """`of[i]` is the profile of agent i; `members[starts[p]:starts[p + 1]]` are the agents with
    profile p.
    """

    of: Ints
    members: Ints
    starts: Longs
    codes: Ints  # [attributes, profiles]; below 0: not known

    @property
    def attributes(self) -> int:
        return len(self.codes)

    @property
    def sizes(self) -> Longs:
        return np.diff(self.starts)

    @property
    def known(self) -> Bytes:
        """How many attributes of each profile are known."""
        counted: Bytes = (self.codes >= 0).sum(axis=0, dtype=np.uint8)
        return counted

    def shared(self, profiles: Ints) -> Bytes:
        """In how many attributes each of `profiles` is the same as each profile there is: [asked,
        all].
        """
        same = np.zeros((len(profiles), self.codes.shape[1]), dtype=np.uint8)
        for codes in self.codes:
            wanted = codes[profiles]
            same += np.where(wanted < 0, -2, wanted)[:, None] == codes[None, :]
        return same


def profiles(
    population: Population, attributes: Sequence[str], rng: np.random.Generator
) -> Profiles:
    """The different profiles of a population; members of one profile are in random order."""
    if not attributes:
        raise UsageError(
            "Agents without attributes cannot be alike.", "Give a population with attributes."
        )
    if len(attributes) > MOST_ATTRIBUTES:
        raise UsageError(
            f"{len(attributes)} attributes are too many to compare.",
            f"Name up to {MOST_ATTRIBUTES} of them.",
        )
    key = np.zeros(population.size, dtype=np.int64)
    distinct = 1
    for name in attributes:
        count = len(population.values(name)) + 1  # one more for "not known"
        if distinct * count >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            distinct = int(key.max()) + 1
        key = key * count + (population.codes(name) + 1)
        distinct *= count
    _, example, of = np.unique(key, return_index=True, return_inverse=True)
    shuffled = rng.permutation(population.size).astype(np.int32)
    members = shuffled[np.argsort(of[shuffled], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(of))])
    codes = np.stack([population.codes(name)[example] for name in attributes])
    return Profiles(of.astype(np.int32), members, starts, codes)


Bytes = NDArray[np.uint8]
