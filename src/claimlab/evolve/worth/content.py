"""Content value offline: what a claim's words, numbers and names say of the six dimensions, from 0 to 1.

These are cues, not understanding: "deaths" raises controversy whatever is said of them. Each cue adds less than the one
before, so a long text does not win by its length alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from claimlab.evolve.drift.features import Listed, Reader
from claimlab.evolve.worth.values import DIMENSIONS, Values

FLOOR, CAP = 0.15, 0.9  # no claim is worth nothing or everything by cues alone
GAIN = 0.45  # how much of what is left the next cue adds


class Cues:
    """Reads claims against the word lists of `values`."""

    def __init__(self, values: Values, reader: Reader | None = None) -> None:
        self.reader = reader or Reader()
        self.lists = {kind: Listed.of(words) for kind, words in values.words.items()}

    def matrix(self, claims: Sequence[str]) -> npt.NDArray[np.float64]:
        """Claims by DIMENSIONS."""
        return np.array([self.of(claim) for claim in claims]).reshape(-1, len(DIMENSIONS))

    def of(self, claim: str) -> list[float]:
        found = self.reader.read(claim)
        padded = f" {' '.join(found.words)} "
        n = {kind: listed.count(found.words, padded) for kind, listed in self.lists.items()}
        names = len(found.names)
        vague = found.certainty < 0
        return [
            level(n["public"] + 0.5 * bool(found.numbers)),
            level(n["harm"] + 0.7 * (found.sentiment < -0.3)),
            level(n["elites"] + 0.6 * min(names, 3)),
            level(n["near"] + 0.3 * min(names, 2)),
            level(n["new"] + 0.5 * bool(found.times)),
            level(n["hard"] + vague + 0.5 * (not found.numbers) + 0.5 * (not names)),
        ]


def level(cues: float) -> float:
    """From FLOOR towards CAP, each cue adding a share of what is left."""
    return float(FLOOR + (CAP - FLOOR) * (1 - (1 - GAIN) ** cues))


def shifted(values: npt.NDArray[np.float64], shift: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Values in (0, 1) moved by logits."""
    return np.asarray(1 / (1 + np.exp(-(np.log(values / (1 - values)) + shift))))
