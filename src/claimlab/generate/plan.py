"""What is to be made: a chain, one configuration of it for each seed, and which records are seeds.

A chain is a file of data (data/chains): ordered roles, each with slots to fill, and where the texts
are found. The words of the roles are a prompt of their own (data/prompts), so that they have a
version and can be replaced. From the slots follow the schemas: of the whole form, for one call a
sample, or of one role, for a call each.

A configuration is a chain, one or more of its techniques, a degree, a direction (English to another
language, or back) and a model. For every language of seeds the configurations that fit are shuffled
once and dealt in turn, so that each comes up before any comes up twice.

Seeds are drawn at random and evenly over strata, each used once. Strata are the values of some
columns (language, source and topic by default). A record without a text, or made by a machine, is
no seed. What is edited without changing its facts, or altered, starts from text that is labelled
true: its label then follows from what was done to it.
"""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import combinations, product
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from claimlab.core.dataset import Dataset
from claimlab.core.digest import digest_json
from claimlab.core.errors import DataError, UnknownName, UsageError
from claimlab.core.record import SCHEMA
from claimlab.core.settings import read_raw_toml
from claimlab.core.stats.streams import share_of, stream
from claimlab.core.types import JsonObject

Slot = Literal["text", "list", "score", "changes"]
CHANGES = "changes"
ENGLISH = "eng"
BY = ("language", "source", "topic")
FEWEST_WORDS = 5


class Change(BaseModel):
    """An entry of a change log, as a model writes it."""

    kind: str
    before: str
    after: str


_TYPES: dict[Slot, Any] = {
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
        fields: JsonObject = {name: (_TYPES[kind], ...) for name, kind in self.slots.items()}
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
    files = (resources.files("claimlab.generate") / "data" / "chains").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


@cache
def find_chain(name: str) -> Chain:
    """A packaged chain by its name, or a file of the user's."""
    if name in chain_names():
        place = resources.files("claimlab.generate") / "data" / "chains" / f"{name}.toml"
        return Chain.model_validate(tomllib.loads(place.read_text(encoding="utf-8")))
    if not name.endswith(".toml"):
        raise UnknownName("chain", name, chain_names())
    try:
        chain = Chain.model_validate(read_raw_toml(Path(name)))
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, one['loc']))}: {one['msg'].lower()}" for one in error.errors()[:5]
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


@dataclass(frozen=True)
class Configuration:
    chain: Chain
    techniques: tuple[str, ...]
    degree: str
    source: str
    target: str
    model: str

    @property
    def direction(self) -> str:
        return f"{self.source} to {self.target}"

    @property
    def other(self) -> str:
        """The language that is not English."""
        return self.target if self.source == ENGLISH else self.source

    def facts(self) -> JsonObject:
        """What coverage is counted over."""
        return {
            "chain": self.chain.name,
            "technique": " + ".join(self.techniques),
            "degree": self.degree,
            "direction": self.direction,
            "model": self.model,
        }


@dataclass(frozen=True)
class Job:
    """One seed and what is to be made of it."""

    number: int
    seed: JsonObject
    configuration: Configuration

    @property
    def id(self) -> str:
        return f"{self.configuration.chain.name}-{self.seed['id']}"


def space(
    chain: Chain, source: str, languages: Sequence[str], models: Sequence[str]
) -> Iterator[Configuration]:
    """Every configuration that fits a seed in the language `source`."""
    others = [language for language in languages if language != source]
    targets = others if source == ENGLISH else [ENGLISH]
    together = [names for size in chain.together for names in combinations(chain.techniques, size)]
    for techniques, degree, target, model in product(together, chain.degrees, targets, models):
        if all(degree in chain.agree.get(name, chain.degrees) for name in techniques):
            yield Configuration(chain, techniques, degree, source, target, model)


def jobs(
    dataset: Dataset,
    chains: Sequence[Chain],
    languages: Sequence[str],
    models: Mapping[str, Sequence[str]],
    size: int,
    *,
    seed: int,
    by: Sequence[str],
) -> list[Job]:
    """`size` jobs in all, the same number for each chain; a seed is used once, whatever the chain.
    `models` are those that may fill in a chain, by its name."""
    used: set[str] = set()
    out: list[Job] = []
    for at, chain in enumerate(chains):
        share = size // len(chains) + (at < size % len(chains))
        rows = seeds_of(dataset, chain.veracity, languages)
        drawn = draw(rows, share + len(used), seed=seed, by=by)
        fresh = [row for row in drawn if row["id"] not in used][:share]
        used |= {row["id"] for row in fresh}
        decks: dict[str, list[Configuration]] = {}
        dealt: Counter[str] = Counter()
        for row in fresh:
            language = row["language"]
            if language not in decks:
                decks[language] = list(space(chain, language, languages, models[chain.name]))
                stream(seed, "deck", chain.name, language).shuffle(decks[language])
            deck = decks[language]
            if not deck:
                raise UsageError(
                    "There is no language to translate into.", "Pass another in `languages`."
                )
            out.append(Job(len(out), row, deck[dealt[language] % len(deck)]))
            dealt[language] += 1
    return out


def coverage(planned: Sequence[Job], done: Sequence[bool]) -> list[JsonObject]:
    """For each value of each dimension: how many samples were planned, and how many are
    complete.
    """
    chosen = [job.configuration for job in planned]
    rows = [{"language": one.other, **one.facts()} for one in chosen]
    out = []
    for dimension in rows[0] if rows else ():
        every = Counter(row[dimension] for row in rows)
        complete = Counter(row[dimension] for row, ok in zip(rows, done, strict=True) if ok)
        out += [
            {"dimension": dimension, "value": value, "planned": n, "complete": complete[value]}
            for value, n in sorted(every.items())
        ]
    return out


def seeds_of(dataset: Dataset, veracity: str, languages: Sequence[str]) -> pl.DataFrame:
    """The records that can be a seed of text of this veracity."""
    words = pl.col("text").str.count_matches(r"\S+").fill_null(0) >= FEWEST_WORDS
    people = pl.col("authorship").is_null() | (pl.col("authorship") == "HWT")
    spoken = pl.col("language").is_in(list(languages))
    label = pl.col("veracity")  # a translation keeps its seed's label, so there must be one
    fits = label.is_not_null() if veracity == "seed" else label == "true"
    rows = dataset.records.filter(words & people & spoken & fits)
    if not rows.height:
        raise DataError(
            f"'{dataset.name}' holds no text that can be a seed of {veracity} text.",
            "Seeds are texts by people in one of `languages`, of five words or more, labelled"
            " true.",
        )
    return rows


def draw(rows: pl.DataFrame, size: int, *, seed: int, by: Sequence[str] = BY) -> list[JsonObject]:
    """At most `size` seeds, in the order of the draw. One stratum after another gives one, so that
    small ones are not drowned by large ones.
    """
    if unknown := [name for name in by if name not in SCHEMA]:
        raise UsageError(
            f"'{unknown[0]}' is not a column of records.", f"Use some of: {', '.join(BY)}, split."
        )
    strata: dict[tuple[object, ...], list[tuple[float, str]]] = defaultdict(list)
    for record, *stratum in rows.select("id", *by).iter_rows():
        strata[tuple(stratum)].append((share_of(seed, "seed", record), record))
    ranked = [
        (rank, share_of(seed, "stratum", *stratum), record)
        for stratum, members in strata.items()
        for rank, (_, record) in enumerate(sorted(members))
    ]
    by_id = {row["id"]: row for row in rows.iter_rows(named=True)}
    return [by_id[record] for _, _, record in sorted(ranked)[:size]]
