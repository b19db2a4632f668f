"""Who does what: the table of attributes behind the rule rewriter, and the choice of whom a claim
is sent to next.

The table (`data/weights.toml`, or the user's own) is the only place where an attribute means
anything.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from claimlab.core import packaged
from claimlab.core.errors import UnknownName, UnreadableFile
from claimlab.core.types import JsonObject


class Role(BaseModel):
    """How an agent decides; see the comments in `data/weights.toml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    shows: float = Field(default=1.0, gt=0)
    hub: float = Field(default=2.0, gt=0)


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Role = Role()
    base: dict[str, float] = {}
    attributes: dict[str, dict[str, dict[str, float]]] = {}


@dataclass(frozen=True)
class Weights:
    role: Role
    base: dict[str, float]
    attributes: dict[str, dict[str, dict[str, float]]]
    digest: str

    @classmethod
    def read(cls, path: Path | None = None) -> Weights:
        """The user's table, or the one that ships."""
        if path is None:
            return _shipped()
        try:
            return _parse(path.read_text(encoding="utf-8"), path.name)
        except OSError as error:
            raise UnreadableFile(
                f"The weights '{path}' cannot be read: {error.strerror}.", "Check the path."
            ) from None

    def of(
        self, profile: Mapping[str, str], names: Iterable[str] | None = None
    ) -> dict[str, float]:
        """The weight of every operator (or of those named) for an agent with this profile."""
        from claimlab.evolve.rewrite.operators.all import operators

        fitting = [
            table
            for attribute, value in profile.items()
            for table in self._fitting(attribute, value)
        ]
        weights = {}
        for name in operators() if names is None else names:
            weight = self.base.get(name, 1.0)
            for table in fitting:
                weight *= table.get(name, 1.0)
            weights[name] = weight
        return weights

    def factor(self, attribute: str, value: str, operator: str) -> float:
        """What one value of one attribute does to one operator's weight."""
        product = 1.0
        for table in self._fitting(attribute, value):
            product *= table.get(operator, 1.0)
        return product

    def moved_by(
        self, profile: Mapping[str, str], fired: Iterable[str], most: int = 3
    ) -> tuple[str, ...]:
        """The attributes that raised the weights of what fired, strongest first."""
        names = tuple(fired)
        pull: dict[str, float] = {}
        for attribute, value in profile.items():
            for table in self._fitting(attribute, value):
                strength = sum(table.get(name, 1.0) - 1.0 for name in names)
                pull[attribute] = pull.get(attribute, 0.0) + strength
        raised = sorted((a for a, s in pull.items() if s > 0), key=lambda a: (-pull[a], a))
        return tuple(raised[:most])

    def _fitting(self, attribute: str, value: str) -> list[dict[str, float]]:
        """The tables of a value. The released profiles join two traits with & and explain ages in
        parentheses.
        """
        known = self.attributes.get(attribute)
        if not known or not value:
            return []
        names = [value, *value.split(" & ")] if " & " in value else [value, value.split(" (")[0]]
        return [known[name] for name in dict.fromkeys(names) if name in known]


@cache
def _shipped() -> Weights:
    text = packaged.text("claimlab.evolve.rewrite", "weights.toml")
    return _parse(text, "weights.toml")


def _parse(text: str, where: str) -> Weights:
    from claimlab.evolve.rewrite.operators.all import operators

    try:
        table = _Table.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UnreadableFile(
            f"'{where}' is not a TOML file: {error}.", "Start from the table that ships."
        ) from None
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:5])
        raise UnreadableFile(
            f"The weights in '{where}' are wrong: {wrong}.", "Start from the table that ships."
        ) from None
    named: list[JsonObject] = [
        table.base,
        *(v for values in table.attributes.values() for v in values.values()),
    ]
    for name, weight in ((name, weight) for part in named for name, weight in part.items()):
        if name not in operators():
            raise UnknownName(f"operator (named in '{where}')", name, operators())
        if weight < 0:
            raise UnreadableFile(
                f"'{where}' gives '{name}' the weight {weight}.", "Weights are 0 or more."
            )
    return Weights(
        table.role, table.base, table.attributes, hashlib.sha256(text.encode()).hexdigest()
    )
