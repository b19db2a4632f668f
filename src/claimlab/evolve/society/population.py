"""Agents as a table: an id, a group, and attributes held as codes, so that a million agents are a
dozen arrays.

The attribute names are those of the released agents. A file may hold others: every column besides
`id` and `group` is an attribute. A value that is not known is null (code -1), never a blank.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from claimlab.core.errors import DataError, SchemaError, UnknownName, UsageError
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.evolve.member import chosen_member
from claimlab.files.bundle import Bundle
from claimlab.files.read import user_table
from claimlab.files.tables import frame_of, read_json

# Stated distributions that agents are drawn from: TOML files in `data/`, or one of your own.  Every
# attribute names the column it depends on (`given`) and holds weights for each value of that
# column, so that a student is not also a working engineer. The file says it all: there is no other
# constant behind a drawn society.


Weights = Mapping[str, float]


@dataclass(frozen=True)
class Attribute:
    """`weights` is by value of the column `given`; the weights of one line need not add up to
    anything.
    """

    given: str
    weights: Mapping[str, Weights]

    def values(self) -> list[str]:
        """Every value that any line names, in the order of the file."""
        return list(dict.fromkeys(value for line in self.weights.values() for value in line))


@dataclass(frozen=True)
class Distributions:
    name: str
    groups: Weights
    attributes: Mapping[str, Attribute]
    sha256: str = ""

    def draw(self, size: int, rng: np.random.Generator) -> dict[str, pl.Series]:
        """`group` and every attribute of `size` agents, as Enum columns."""
        if size < 1:
            raise UsageError(f"A society cannot have {size} agents.", "Draw 1 or more.")
        names = {"group": list(self.groups)}
        codes = {"group": _pick(list(self.groups.values()), size, rng)}
        for name, attribute in self.attributes.items():
            values = attribute.values()
            drawn = np.zeros(size, dtype=np.uint32)
            for code, parent in enumerate(names[attribute.given]):
                rows = np.flatnonzero(codes[attribute.given] == code)
                line = attribute.weights.get(parent)
                if line is not None and rows.size:
                    drawn[rows] = _pick([line.get(value, 0.0) for value in values], rows.size, rng)
            names[name], codes[name] = values, drawn
        return {name: _enum(name, codes[name], names[name]) for name in names}


def open_distributions(source: str | Path) -> Distributions:
    """A packaged file by its name ("released"), or the path of a TOML file."""
    folder = resources.files("claimlab.evolve.society") / "data"
    packaged = {
        f.name.removesuffix(".toml"): f for f in folder.iterdir() if f.name.endswith(".toml")
    }
    packaged.pop("groups", None)  # what the groups are, in words
    if str(source) in packaged:
        data, name = packaged[str(source)].read_bytes(), str(source)
    elif Path(source).is_file():
        data, name = Path(source).read_bytes(), Path(source).name
    else:
        raise UnknownName("distribution of agents", str(source), packaged)
    try:
        stated = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SchemaError(f"'{name}' is not TOML: {error}.", "Fix that line.") from None
    return _checked(name, stated, hashlib.sha256(data).hexdigest())


def _checked(name: str, stated: JsonObject, digest: str) -> Distributions:
    groups = _line(name, "groups", stated.get("groups"))
    seen: dict[str, list[str]] = {"group": list(groups)}
    attributes: dict[str, Attribute] = {}
    for column, table in stated.get("attributes", {}).items():
        condition = table.get("given", "group")
        if condition not in seen:
            raise SchemaError(
                f"In '{name}', '{column}' depends on '{condition}', which does not appear"
                " above it.",
                f"Name one of: {', '.join(seen)}; or move '{condition}' up.",
            )
        lines = {
            key: _line(name, f"{column}.{key}", line)
            for key, line in table.items()
            if key != "given"
        }
        missing = [value for value in seen[condition] if value not in lines]
        strange = [key for key in lines if key not in seen[condition]]
        if missing or strange:
            raise SchemaError(
                f"In '{name}', '{column}' has no line for {missing} and one for the unknown"
                f" {strange}.",
                f"Give one line of weights for each value of '{condition}'.",
            )
        attributes[column] = Attribute(condition, lines)
        seen[column] = attributes[column].values()
    return Distributions(name, groups, attributes, digest)


def _line(name: str, where: str, line: object) -> dict[str, float]:
    numbers = isinstance(line, dict) and all(
        isinstance(w, int | float) and w >= 0 for w in line.values()
    )
    if not isinstance(line, dict) or not numbers or not sum(line.values()):
        raise SchemaError(
            f"In '{name}', [{where}] is not a table of weights.", 'Write it as: "value" = 12'
        )
    return {str(value): float(weight) for value, weight in line.items()}


def _pick(weights: list[float], size: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    edges = np.cumsum(weights)
    codes: NDArray[np.uint32] = np.searchsorted(
        edges, rng.random(size) * edges[-1], side="right"
    ).astype(np.uint32)
    return codes


def _enum(name: str, codes: NDArray[np.uint32], values: list[str]) -> pl.Series:
    kind = pl.Enum(values)
    return pl.Series(name, values, dtype=kind).gather(codes)


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
    def read(cls, path: str | Path, member: str | None = None) -> Population:
        """Agents from JSON (an object of profiles by id, or a list), JSON lines, CSV or Parquet;
        from a zip, too.
        """
        with Bundle.open(path) as bundle:
            name = chosen_member(bundle, member, _FILES)
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
            frame = frame.with_columns(pl.lit(None, pl.String).alias("group"))
        rest = [c for c in frame.columns if c not in ("id", "group")]
        known = [*(a for a in ATTRIBUTES if a in rest), *(c for c in rest if c not in ATTRIBUTES)]
        agents = frame.select(
            pl.col("id").cast(pl.String), *(_coded(frame[c]) for c in ("group", *known))
        )
        if agents["id"].null_count() or agents["id"].is_duplicated().any():
            raise SchemaError(
                "Some agents have no id, or share one.", "Give every agent its own id."
            )
        return cls(agents, source or {})

    @classmethod
    def draw(
        cls, size: int, seed: int, distributions: str | Path | Distributions = "released"
    ) -> Population:
        """`size` agents from stated distributions: a packaged file by name, or a TOML file of your
        own.
        """
        stated = (
            distributions
            if isinstance(distributions, Distributions)
            else open_distributions(distributions)
        )
        columns = stated.draw(size, np.random.default_rng(seed))
        numbers = pl.int_range(1, size + 1, eager=True).cast(pl.String)
        agents = pl.DataFrame({"id": "agent-" + numbers, **columns})
        return cls.of(
            agents,
            {"drawn": size, "seed": seed, "distributions": stated.name, "sha256": stated.sha256},
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
    if (
        not isinstance(agents, dict)
        or not agents
        or not all(isinstance(v, dict) for v in agents.values())
    ):
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
