"""Propagation ability: how deep and how far a claim travels when each user decides whether to pass
it on.

Whoever passes a claim on tells at most `fan_out` others, the closest first: strong ties, then
moderate ones, then anyone else. Those who have it already are not told again. Depth and fan-out
bound the reach: with depth 3 and fan-out 3, at most 40 users hear of it (1 + 3 + 9 + 27), so in a
population of 90 the size cannot pass .44, and propagation ability cannot pass .72. That is the
released setting; both bounds are free here, and `ceiling` says where they leave the score.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from claimlab.evolve.society.engine import Ints, Model
from claimlab.evolve.society.telling import Closest


@dataclass(frozen=True)
class Bounds:
    depth: int = 3
    fan_out: int = 3

    def ceiling(self, population: int) -> float:
        """The greatest propagation ability that these bounds allow in a population."""
        return (1 + min(most_reached(self), population) / population) / 2 if population else 0.0


def most_reached(bounds: Bounds) -> int:
    return sum(bounds.fan_out**d for d in range(bounds.depth + 1))


def spread(
    starts: npt.ArrayLike, closest: Closest, willing: npt.NDArray[np.bool_], depth: int
) -> Model:
    """Claims that start with one user each; `willing` (claims by users): who passes them on, up to
    the last depth.
    """
    model = Model(starts, agents=closest.ties.size)
    while model.front.depth < depth and len(model.front):
        model.pass_on(closest, willing[model.front.claim, model.front.agent])
    return model


def ability(depths: Ints, sizes: Ints, bounds: Bounds, population: int) -> npt.NDArray[np.float64]:
    """Mean of depth over the greatest depth and size over the population, for each cascade."""
    if not bounds.depth or not population:
        return np.zeros(len(depths))
    return (depths / bounds.depth + sizes / population) / 2
