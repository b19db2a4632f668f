"""The Open Claims Model as typed data: context, utterance (style, expression, granularity),
proposition (causal structure, stance, veracity level). The values and their definitions are data
(data/values.toml); null is "not stated".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from claimlab.core import packaged
from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.types import JsonObject

Layer = Literal["utterance", "proposition"]
KEY = "open_claim"  # in `meta`; plain "claim" is a key of many datasets


@dataclass(frozen=True)
class Value:
    name: str
    title: str
    definition: str


@dataclass(frozen=True)
class Dimension:
    """One way in which a claim can change. `name` is the field of `Claim` that holds it."""

    name: str
    layer: Layer
    title: str
    question: str
    values: Mapping[str, Value]
    spellings: Mapping[str, str]  # folded spelling -> name of the value

    def find(self, spelling: str) -> Value | None:
        """A value by its name, title or another spelling; null when it is none."""
        name = self.spellings.get(_folded(spelling))
        return None if name is None else self.values[name]

    def value(self, spelling: str) -> Value:
        """The same; raises with the near miss."""
        value = self.find(spelling)
        if value is None:
            raise UnknownName(f"value of '{self.name}'", spelling, self.values)
        return value


@cache
def dimensions() -> Mapping[str, Dimension]:
    """The six dimensions by name, in order: style, expression, granularity, causal, stance,
    veracity.
    """
    return {name: _dimension(name, table) for name, table in read_data("values").items()}


@cache
def _spellings() -> dict[str, str]:
    tables = read_data("values").items()
    return {
        _folded(s): name
        for name, table in tables
        for s in (name, table["title"], *table["aliases"])
    }


def dimension(spelling: str) -> Dimension:
    """A dimension by its name or another spelling ("linguistic_style" is "style")."""
    name = _spellings().get(_folded(spelling))
    if name is None:
        raise UnknownName("dimension of claims", spelling, dimensions())
    return dimensions()[name]


@dataclass(frozen=True)
class Claim:
    """A claim taken apart. Every value is a name from the data, whatever spelling it was given in;
    null: not stated.
    """

    text: str
    id: str | None = None
    context: str | None = None
    style: str | None = None
    expression: str | None = None
    granularity: str | None = None
    causal: str | None = None
    stance: str | None = None
    veracity: str | None = None

    def __post_init__(self) -> None:
        for name, declared in dimensions().items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, declared.value(value).name)

    def stated(self) -> dict[str, str]:
        """The dimensions that have a value."""
        return {name: value for name in dimensions() if (value := getattr(self, name)) is not None}

    def meta(self) -> JsonObject:
        """What goes into a record's `meta`, under the key KEY; empty when nothing but the text is
        known.
        """
        meta = {"context": self.context, **self.stated()} if self.context else self.stated()
        return {KEY: meta} if meta else {}


@dataclass(frozen=True)
class Type:
    """One of the six types of sentences; `claim` says whether it can be checked by anyone."""

    name: str
    title: str
    definition: str
    claim: bool


@cache
def types() -> Mapping[str, Type]:
    """The six types by name, in order: four of claims, two of non-claims."""
    return {name: Type(name, **table) for name, table in read_data("taxonomy").items()}


@cache
def read_data(name: str) -> JsonObject:
    """One of the data files of this folder."""
    return packaged.toml("claimlab_simulate.evolve.claims", f"{name}.toml")


def _dimension(name: str, table: JsonObject) -> Dimension:
    values = {key: Value(key, v["title"], v["definition"]) for key, v in table["values"].items()}
    spellings = {
        _folded(s): key
        for key, v in table["values"].items()
        for s in (key, v["title"], *v.get("aliases", ()))
    }
    return Dimension(name, table["layer"], table["title"], table["question"], values, spellings)


def _folded(spelling: str) -> str:
    """Case, blanks and kinds of dashes do not matter."""
    return "".join("-" if c in "-–—_/ " else c for c in spelling.strip().lower()).replace(
        "---", "-"
    )


def steerable() -> Mapping[str, Dimension]:
    """The dimensions a claim can be steered in. Veracity is none, on purpose: nothing steers a
    claim to be false.
    """
    return {name: declared for name, declared in dimensions().items() if name != "veracity"}


@dataclass(frozen=True, slots=True, order=True)
class Target:
    dimension: str
    value: str

    @classmethod
    def of(cls, name: str, value: str) -> Target:
        """A target by any of the spellings in use."""
        try:
            declared = dimension(name)
        except UnknownName:
            raise UnknownName("dimension to steer", name, steerable()) from None
        if declared.name not in steerable():
            raise UsageError(
                f"The {declared.title.lower()} of a claim cannot be a target.",
                f"Choose: {', '.join(steerable())}.",
            )
        return cls(declared.name, declared.value(value).name)

    @classmethod
    def parse(cls, text: str) -> Target:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(
                f"'{text}' is not a target.",
                "Write it as DIMENSION=VALUE, such as style=colloquial.",
            )
        return cls.of(name, value)

    @property
    def meaning(self) -> Value:
        return dimensions()[self.dimension].values[self.value]

    def __str__(self) -> str:
        return f"{self.dimension}={self.value}"


def all_targets() -> list[Target]:
    return [
        Target(name, value) for name, declared in steerable().items() for value in declared.values
    ]
