"""Agents as a table: an id, a group, and attributes held as codes, so that a million agents are a
dozen arrays.

The attribute names are those of the released agents. A file may hold others: every column besides
`id` and `group` is an attribute. A value that is not known is null (code -1), never a blank.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from claimlab.core import packaged
from claimlab.core.errors import DataError, SchemaError, UnknownName
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.files.bundle import Bundle
from claimlab.files.read import user_table
from claimlab.files.tables import frame_of, read_json
from claimlab_simulate.evolve.member import open_member
from claimlab_simulate.evolve.society.distributions import RELEASED, drawn_attributes

ATTRIBUTES = (
    "religious",
    "employment",
    "marital",
    "ideology",
    "income",
    "area",
    "age",
    "gender",
    "big_five",
    "education",
    "job",
)
GROUPS = ("Traditional Conservative", "Technocratic Moderate", "Liberal Elite")
_FILES = ("characters_group.json", "agents.json", "agents.jsonl", "agents.csv", "agents.parquet")


@dataclass(frozen=True, eq=False)
class Population:
    """`agents` has `id` (String), `group` and the attributes (Enum); `source` says where they came
    from.
    """

    agents: pl.DataFrame
    source: JsonObject = field(default_factory=dict)

    @property
    def size(self) -> int:
        return self.agents.height

    @property
    def ids(self) -> pl.Series:
        return self.agents["id"]

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes; `group` is not one of them."""
        return tuple(c for c in self.agents.columns if c not in ("id", "group"))

    def values(self, attribute: str) -> tuple[str, ...]:
        """What the codes of an attribute (or of `group`) stand for, in order."""
        return tuple(self._column(attribute).dtype.categories.to_list())  # type: ignore[attr-defined]

    def codes(self, attribute: str) -> NDArray[np.int32]:
        """One code per agent, an index into `values(attribute)`; -1 where the value is not
        known.
        """
        physical = self._column(attribute).to_physical().cast(pl.Int32)
        return physical.fill_null(-1).to_numpy().astype(np.int32, copy=False)

    def profile(self, agent: int) -> dict[str, str]:
        """What is known of one agent: attribute -> value, the group among them, the id not."""
        row = self.agents.row(agent, named=True)
        return {name: value for name, value in row.items() if name != "id" and value is not None}

    def positions(self, ids: Iterable[str]) -> NDArray[np.int32]:
        """The row numbers of agents by id; an unknown id raises."""
        place = {name: number for number, name in enumerate(self.ids.to_list())}
        wanted = list(ids)
        strange = sorted({name for name in wanted if name not in place})
        if strange:
            raise DataError(
                f"{several(len(strange), 'agent')} {verb(len(strange))} not in the population, such"
                f" as {strange[:3]}.",
                "Give the population that belongs to this file.",
            )
        return np.array([place[name] for name in wanted], dtype=np.int32)

    @classmethod
    def read(cls, source: str | Path) -> Population:
        """Agents from JSON (an object of profiles by id, or a list), JSON lines, CSV or Parquet;
        from a zip, too (ARCHIVE#MEMBER).
        """
        with open_member(source, *_FILES) as (bundle, name):
            frame = _released(bundle, name)
            if frame is None:
                frame = user_table(bundle, "id", "group", *ATTRIBUTES, member=name)
            return cls.of(frame, {"file": name, "inputs": bundle.hashes()})

    @classmethod
    def of(cls, frame: pl.DataFrame, source: JsonObject | None = None) -> Population:
        """A population from a table with `id` (or `name`), `group` and any attributes."""
        if "id" not in frame.columns and "name" in frame.columns:
            frame = frame.rename({"name": "id"})
        if "id" not in frame.columns:
            raise SchemaError("The table of agents has no column 'id'.", "Give every agent an id.")
        if "group" not in frame.columns:
            frame = frame.with_columns(group=pl.lit(None, pl.String))
        rest = [c for c in frame.columns if c not in ("id", "group")]
        attributes = [
            *(a for a in ATTRIBUTES if a in rest),
            *(c for c in rest if c not in ATTRIBUTES),
        ]
        agents = frame.select(
            pl.col("id").cast(pl.String), *(_coded(frame[c]) for c in ("group", *attributes))
        )
        if agents["id"].null_count() or agents["id"].is_duplicated().any():
            raise SchemaError(
                "Some agents have no id, or share one.", "Give every agent its own id."
            )
        return cls(agents, source or {})

    @classmethod
    def draw(cls, size: int, seed: int) -> Population:
        """`size` agents, from the shares of the released ones."""
        text = packaged.text("claimlab_simulate.evolve.society", f"{RELEASED}.toml")
        columns = drawn_attributes(tomllib.loads(text), size, np.random.default_rng(seed))
        numbers = pl.int_range(1, size + 1, eager=True).cast(pl.String)
        digest = hashlib.sha256(text.encode()).hexdigest()
        return cls.of(
            pl.DataFrame({"id": "agent-" + numbers, **columns}),
            {"drawn": size, "seed": seed, "distributions": RELEASED, "sha256": digest},
        )

    def _column(self, attribute: str) -> pl.Series:
        if attribute not in self.agents.columns or attribute == "id":
            raise UnknownName("attribute", attribute, ("group", *self.attributes))
        return self.agents[attribute]


def _released(bundle: Bundle, name: str) -> pl.DataFrame | None:
    """The released layout, an object of profiles by id; null when the file is something else."""
    if not name.lower().endswith(".json"):
        return None
    agents = read_json(bundle.text(name), name)
    profiles = agents.values() if isinstance(agents, dict) else ()
    if not profiles or not all(isinstance(profile, dict) for profile in profiles):
        return None
    return frame_of(
        {"id": key, **{k: v for k, v in row.items() if k != "name"}} for key, row in agents.items()
    )


def _coded(column: pl.Series) -> pl.Series:
    """Text as codes; values in the order of the alphabet, so that the codes do not depend on the
    order of the rows.
    """
    if isinstance(column.dtype, pl.Enum):
        return column
    text = column.cast(pl.String).str.strip_chars()
    text = pl.select(pl.when(text != "").then(text).alias(column.name)).to_series()
    return text.cast(pl.Enum(text.drop_nulls().unique().sort()))
