"""The tables behind check-worthiness: dimensions, backgrounds, users' shifts and word lists, from
one TOML file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from claimlab.core import packaged
from claimlab.core.errors import DataError, UnknownName
from claimlab.core.types import JsonObject
from claimlab.evolve.drift.features import Listed, Reader
from claimlab.evolve.society.population import Population

DIMENSIONS = ("public_interest", "controversy", "elites", "proximity", "novelty", "difficulty")
FORWARD = "forward"


@dataclass(frozen=True)
class Background:
    """The social environment in which a claim is judged; the first value of each is the everyday
    one.
    """

    time_node: str = "normal"
    regulatory_pressure: str = "low"
    trust_climate: str = "high"

    @classmethod
    def parse(cls, text: str | None) -> Background:
        """`time_node=sensitive,trust_climate=low`; what is not named is the everyday value."""
        known = cls().__dict__
        choices: dict[str, str] = {}
        for part in (text or "").split(","):
            name, _, value = (p.strip() for p in part.partition("="))
            if name and name not in known:
                raise UnknownName("condition of the background", name, known)
            choices |= {name: value} if name else {}
        return cls(**choices)

    def __str__(self) -> str:
        return ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in self.__dict__.items())


@dataclass(frozen=True)
class Values:
    """The parsed file; everything that can be wrong in it is found when it is read."""

    questions: dict[str, str]
    backgrounds: dict[str, dict[str, dict[str, float]]]
    users: dict[str, dict[str, dict[str, float]]]
    forward: dict[str, float]
    words: dict[str, list[str]]

    @classmethod
    def read(cls, path: Path | None = None) -> Values:
        name = str(path) if path else "values.toml"
        try:
            text = (
                path.read_text(encoding="utf-8")
                if path
                else packaged.text("claimlab.evolve.worth", "values.toml")
            )
            raw: JsonObject = tomllib.loads(text)
            values = cls(
                raw["dimensions"], raw["background"], raw["user"], raw["forward"], raw["words"]
            )
        except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
            raise DataError(
                f"'{name}' is not a table of values: {error}.",
                "Start from the packaged values.toml.",
            ) from None
        shifts = [
            s
            for table in (values.backgrounds, values.users)
            for kinds in table.values()
            for s in kinds.values()
        ]
        strange = sorted({d for shift in shifts for d in shift} - {*DIMENSIONS, FORWARD})
        if strange or tuple(values.questions) != DIMENSIONS:
            raise DataError(
                f"'{name}' names the wrong dimensions: {strange}.", f"Use: {', '.join(DIMENSIONS)}."
            )
        return values

    def of_background(self, background: Background) -> npt.NDArray[np.float64]:
        """Shift of each dimension, then of forwarding."""
        total = np.zeros(len(DIMENSIONS) + 1)
        for condition, value in background.__dict__.items():
            known = self.backgrounds.get(condition, {})
            if value not in known:
                raise UnknownName(condition.replace("_", " "), value, known)
            total += _vector(known[value])
        for condition, name in (
            ("time_node", "sensitive"),
            ("regulatory_pressure", "high"),
            ("trust_climate", "low"),
        ):
            if getattr(background, condition) == name:
                key = {"sensitive": "sensitive", "high": "high_pressure", "low": "low_trust"}[name]
                total[-1] += self.forward[key]
        return total

    def of_users(self, population: Population) -> npt.NDArray[np.float64]:
        """Agents by (dimensions + forwarding). A value of an attribute shifts by every word of the
        table in it.
        """
        total = np.zeros((population.size, len(DIMENSIONS) + 1))
        for attribute, kinds in self.users.items():
            if attribute not in population.attributes:
                continue
            values = population.values(attribute)
            shifts = [
                sum((_vector(s) for word, s in kinds.items() if word in value), _vector({}))
                for value in values
            ]
            table = np.array(
                [*shifts, _vector({})]
            )  # the last row is for code -1: not known, no shift
            total += table[population.codes(attribute)]
        return total


def _vector(shift: dict[str, float]) -> npt.NDArray[np.float64]:
    return np.array([float(shift.get(d, 0.0)) for d in (*DIMENSIONS, FORWARD)])


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
        features = self.reader.read(claim)
        padded = f" {' '.join(features.words)} "
        n = {kind: listed.count(features.words, padded) for kind, listed in self.lists.items()}
        names = len(features.names)
        vague = features.certainty < 0
        return [
            level(n["public"] + 0.5 * bool(features.numbers)),
            level(n["harm"] + 0.7 * (features.sentiment < -0.3)),
            level(n["elites"] + 0.6 * min(names, 3)),
            level(n["near"] + 0.3 * min(names, 2)),
            level(n["new"] + 0.5 * bool(features.times)),
            level(n["hard"] + vague + 0.5 * (not features.numbers) + 0.5 * (not names)),
        ]


def level(cues: float) -> float:
    """From FLOOR towards CAP, each cue adding a share of what is left."""
    return float(FLOOR + (CAP - FLOOR) * (1 - (1 - GAIN) ** cues))


def shifted(
    values: npt.NDArray[np.float64], shift: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Values in (0, 1) moved by logits."""
    return np.asarray(1 / (1 + np.exp(-(np.log(values / (1 - values)) + shift))))
