"""Where an intervened claim is meant to go: one dimension of the Open Claims Model and one of its values.

Target.parse("style=colloquial-emotional")      or any spelling that the model's data know
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from claimlab.core.errors import UnknownName, UsageError
from claimlab.evolve.claims.model import Dimension, Value, dimension, dimensions


def steerable() -> Mapping[str, Dimension]:
    """The dimensions a claim can be steered in. Veracity is none, on purpose: nothing steers a claim to be false."""
    return {name: known for name, known in dimensions().items() if name != "veracity"}


@dataclass(frozen=True, slots=True, order=True)
class Target:
    dimension: str
    value: str

    @classmethod
    def of(cls, name: str, value: str) -> Target:
        """A target by any of the spellings in use."""
        try:
            known = dimension(name)
        except UnknownName:
            raise UnknownName("dimension to steer", name, steerable()) from None
        if known.name not in steerable():
            raise UsageError(
                f"Nothing steers the {known.title.lower()} of a claim.", f"Choose: {', '.join(steerable())}."
            )
        return cls(known.name, known.value(value).name)

    @classmethod
    def parse(cls, text: str) -> Target:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"'{text}' is not a target.", "Write it as DIMENSION=VALUE, such as style=colloquial.")
        return cls.of(name, value)

    @property
    def meaning(self) -> Value:
        return dimensions()[self.dimension].values[self.value]

    def __str__(self) -> str:
        return f"{self.dimension}={self.value}"


def all_targets() -> list[Target]:
    return [Target(name, value) for name, known in steerable().items() for value in known.values]
