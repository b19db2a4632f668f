"""A chain: ordered roles, each with slots to fill, and where the texts of a sample are found.

A chain is a file of data (data/chains). The words of the roles are a prompt of their own
(data/prompts), so that they have a version and can be replaced. From the slots follow the schemas:
of the whole form, for one call a sample, or of one role, for a call each.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from claimlab.core.digest import digest_json
from claimlab.core.errors import DataError, UnknownName
from claimlab.core.toml_file import read_raw_toml
from claimlab.core.types import JsonObject

Slot = Literal["text", "list", "score", "changes"]
CHANGES = "changes"


class Change(BaseModel):
    """An entry of a change log, as a model writes it."""

    kind: str
    before: str
    after: str


_SLOT_TYPES: dict[Slot, Any] = {
    "text": Annotated[str, Field(min_length=1)],
    "list": list[str],
    "score": Annotated[int, Field(ge=1, le=5)],
    "changes": list[Change],
}


class Role(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    slots: dict[str, Slot]

    def schema_(self) -> type[BaseModel]:
        fields: JsonObject = {name: (_SLOT_TYPES[kind], ...) for name, kind in self.slots.items()}
        return create_model(self.name.capitalize(), **fields)


class Chain(BaseModel):
    """`veracity` is the label of what it makes: real, altered, or that of the seed. `texts` maps a
    field of a sample to slots (ROLE.SLOT), the best first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    version: int
    veracity: Literal["real", "altered", "seed"]
    prompt: str | None = None
    together: list[int] = [1]
    techniques: dict[str, str]
    degrees: dict[str, tuple[str, str]]
    agree: dict[str, list[str]] = {}  # the degrees that a technique can be asked for with
    texts: dict[str, list[str]]
    roles: list[Role] = []

    def form(self) -> type[BaseModel]:
        """The schema of the whole form."""
        fields: JsonObject = {role.name: (role.schema_(), ...) for role in self.roles}
        return create_model(f"Form_{self.name}", **fields)

    def find(self, filled: Mapping[str, JsonObject], field: str) -> Any:
        """What was filled in for a field of the sample; null where no slot for it was."""
        for place in self.texts.get(field, ()):
            role, _, slot = place.partition(".")
            if (value := (filled.get(role) or {}).get(slot)) is not None:
                return value
        return None

    def lineage(self) -> JsonObject:
        return {"version": self.version, "sha256": digest_json(self.model_dump())[:16]}


def chain_names() -> list[str]:
    files = (resources.files("claimlab_simulate.generate") / "data" / "chains").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


@cache
def find_chain(name: str) -> Chain:
    """A packaged chain by its name, or a file of the user's."""
    if name in chain_names():
        place = resources.files("claimlab_simulate.generate") / "data" / "chains" / f"{name}.toml"
        return Chain.model_validate(tomllib.loads(place.read_text(encoding="utf-8")))
    if not name.endswith(".toml"):
        raise UnknownName("chain", name, chain_names())
    try:
        chain = Chain.model_validate(read_raw_toml(Path(name)))
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg'].lower()}"
            for problem in error.errors()[:5]
        )
        raise DataError(
            f"'{name}' is not a valid chain ({wrong}).", "Start from a packaged one."
        ) from None
    _check(chain, name)
    return chain


def _check(chain: Chain, name: str) -> None:
    """An altered text without a change log is not written, so a chain that cannot give one is
    refused at once.
    """
    places = {f"{role.name}.{slot}" for role in chain.roles for slot in role.slots}
    for field, wanted in chain.texts.items():
        if chain.roles and (missing := [place for place in wanted if place not in places]):
            raise DataError(
                f"'{name}' takes {field} from '{missing[0]}', which no role fills.",
                "Correct the slot.",
            )
    if chain.veracity == "altered" and CHANGES not in chain.texts:
        raise DataError(
            f"'{name}' alters text and logs no changes.",
            f"Say in [texts] where `{CHANGES}` are found.",
        )
