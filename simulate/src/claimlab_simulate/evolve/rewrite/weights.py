"""The table behind runs without a model (`data/weights.toml`, or the user's own): the rates of the
null rewriter, and who is near which target, which decides whom a claim is sent to after a failed
vote.

The table is the only place where an attribute of an agent means anything.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from claimlab.core import packaged
from claimlab.core.digest import digest_file
from claimlab.core.errors import UnreadableFile, UsageError, check_name
from claimlab.core.toml_file import parse_toml, read_raw_toml
from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.claims.model import Target

Factors = dict[str, float]


class Rates(BaseModel):
    """How much noise a hop of the null rewriter makes; see the comments in `data/weights.toml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    drop: float = Field(ge=0, le=1)
    exchange: float = Field(ge=0, le=1)
    take: float = Field(ge=0, le=1)
    numbers: float = Field(ge=0, le=1)
    blur: float = Field(ge=0, le=1)
    swap: float = Field(ge=0, le=1)
    producers: float = Field(ge=0, le=1)


class Weights(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    null: Rates
    targets: dict[str, list[str]]
    base: Factors = {}
    attributes: dict[str, dict[str, Factors]] = {}
    digest: str  # of the file

    @classmethod
    def read(cls, path: str | Path | None = None) -> Weights:
        """The user's table, or the one that ships."""
        if path is None:
            return _shipped()
        file, shipped = Path(path), _shipped()
        try:
            raw = read_raw_toml(file)
        except UsageError as error:
            raise UnreadableFile(f"The weights: {error.problem}", error.todo) from None
        more = {"null": shipped.null, "targets": shipped.targets}
        return _weights({**more, **raw}, digest_file(file), file.name)

    def habits(self, target: Target) -> list[str]:
        """The habits of whoever is near to `target`."""
        return self.targets.get(str(target), [])

    def factor(self, attribute: str, value: str, habit: str) -> float:
        """What one value of one attribute does to the weight of a habit."""
        product = 1.0
        for table in self._fitting(attribute, value):
            product *= table.get(habit, 1.0)
        return product

    def _fitting(self, attribute: str, value: str) -> list[Factors]:
        """The tables of a value. The released profiles join two traits with & and explain ages in
        parentheses.
        """
        rates = self.attributes.get(attribute)
        if not rates or not value:
            return []
        names = [value, *value.split(" & ")] if " & " in value else [value, value.split(" (")[0]]
        return [rates[name] for name in dict.fromkeys(names) if name in rates]


@cache
def _shipped() -> Weights:
    text = packaged.text("claimlab_simulate.evolve.rewrite", "weights.toml")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return _weights(parse_toml(text, "weights.toml"), digest, "weights.toml")


def _weights(raw: JsonObject, digest: str, where: str) -> Weights:
    """The table that a file holds."""
    try:
        weights = Weights.model_validate({**raw, "digest": digest})
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:5])
        raise UnreadableFile(
            f"The weights in '{where}' are wrong: {wrong}.", "Start from the table that ships."
        ) from None
    _check(weights, where)
    return weights


def _check(weights: Weights, where: str) -> None:
    habits = sorted({habit for named in weights.targets.values() for habit in named})
    factors = [weights.base, *(f for v in weights.attributes.values() for f in v.values())]
    for name, weight in (pair for part in factors for pair in part.items()):
        check_name(f"habit (named in '{where}')", name, habits)
        if weight < 0:
            raise UnreadableFile(
                f"'{where}' gives '{name}' the weight {weight}.", "Weights are 0 or more."
            )
