"""Datasets from their cards: the file `data/cards/NAME.toml` is the dataset NAME.

A card file holds the fields of `Card`, the label maps, and the ways to read the published files.
A variant is a plain table (catalog/plain.py), or names a function of `catalog/readers/`: `reader`
is FUNCTION for the module that is called like the dataset, or MODULE.FUNCTION; `settings` are its
keyword arguments. Cards are read when they are asked for, and a reader is imported when it is used.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import import_module, resources
from importlib.resources.abc import Traversable
from itertools import combinations
from types import ModuleType
from typing import Literal

import polars as pl
from pydantic import ValidationError, model_validator

from claimlab.catalog.entry import Card, Entry, Loaded, Loader
from claimlab.catalog.plain import Closed, PlainTable, read_plain
from claimlab.core.errors import DataError
from claimlab.core.labels import LabelMap, fold, general
from claimlab.core.registry import Registry
from claimlab.core.types import JsonObject
from claimlab.files.bundle import Bundle

READERS = "claimlab.catalog.readers"
FOLDERS: list[Traversable] = [resources.files("claimlab.catalog") / "data" / "cards"]
GENERAL = "ratings"  # as `like` of a map: the house's verdicts on fact-checkers' ratings
MOST_TOGETHER = 3
Verdict = Literal["true", "false", "mixed", "unknown"]


class Verdicts(Closed):
    """A label map: `verdicts` on top of those of `like`, another map of this card or "ratings".

    With `folded`, spellings are compared as ratings are, so that no two contradict each other.
    `together` is the sign between several labels of one record: any false one makes it false,
    else any mixed one makes it mixed.
    """

    like: str | None = None
    folded: bool = False
    together: str | None = None
    note: str = ""
    verdicts: dict[str, Verdict] = {}
    as_they_are: dict[str, Verdict] = {}  # labels that never come with others


class Variant(Closed):
    """One way to read the published files."""

    about: str | None = None  # what it reads; without it, the reader says so
    reader: str = "load"
    settings: JsonObject = {}
    table: PlainTable | None = None
    fixed: dict[str, str] = {}  # columns that are the same in all records, such as their kind
    real_rows: int | None = None  # counted in the published files
    published_rows: int | Literal["not published"] | None = None  # as their publishers state


class Holdings(Closed):
    """What a card file says beside the card."""

    no_loader: str | None = None
    real_labels: dict[str, int] = {}
    maps: dict[str, Verdicts] = {}
    variants: dict[str, Variant] = {}
    lists: JsonObject = {}  # what the reader looks up, such as names of columns

    @model_validator(mode="before")
    @classmethod
    def _tables_like_others(cls, fields: JsonObject) -> JsonObject:
        """`like` in a table names the variant whose table it follows."""
        variants: dict[str, JsonObject] = {}
        for key, variant in fields.get("variants", {}).items():
            table = dict(variant.get("table", {}))
            if "like" in table:
                like = variants[table.pop("like")]["table"]
                variant = {**variant, "table": {**like, **table}}
            variants[key] = variant
        return {**fields, "variants": variants}

    @model_validator(mode="after")
    def _a_loader_or_why_not(self) -> Holdings:
        if bool(self.variants) == bool(self.no_loader):
            raise ValueError("give [variants], or say in no_loader why there are none")
        return self


@dataclass(frozen=True)
class Reader:
    """The loader that a variant names, found when it is used."""

    dataset: str
    variant: Variant

    def __call__(self, bundle: Bundle) -> Loaded:
        loaded = self.function(bundle)
        constants = {column: pl.lit(value) for column, value in self.variant.fixed.items()}
        loaded.records = loaded.records.with_columns(**constants)
        return loaded

    @cached_property
    def function(self) -> Loader:
        if self.variant.table is not None:
            return partial(read_plain, dataset=self.dataset, plan=self.variant.table)
        module, _, function = self.variant.reader.rpartition(".")
        home = import_module(f"{READERS}.{module or self.dataset.replace('-', '_')}")
        return partial(getattr(home, function), **self.variant.settings)


def about(loader: Loader) -> str:
    """What a loader reads: as its card says, or the first paragraph of its docstring."""
    if isinstance(loader, Reader):
        if loader.variant.about is not None:
            return loader.variant.about
        loader = loader.function
    while isinstance(loader, partial):
        loader = loader.func
    docstring = inspect.getdoc(loader) if inspect.isfunction(loader) else None
    return " ".join((docstring or "").split("\n\n")[0].split())


class CardRegistry(Registry[Entry]):
    """The cards of this package, and the entry points of others."""

    @cached_property
    def _modules(self) -> dict[str, str]:
        return dict.fromkeys(card_files(), __name__)

    def _entry(self, module: ModuleType, name: str) -> Entry:
        return entry_of(name) if module.__name__ == __name__ else super()._entry(module, name)


def card_files() -> dict[str, Traversable]:
    """Dataset -> its card file."""
    files = (file for folder in FOLDERS for file in folder.iterdir())
    return {f.name.removesuffix(".toml"): f for f in files if f.name.endswith(".toml")}


@cache
def entry_of(name: str) -> Entry:
    """The dataset of one of our cards."""
    return read_entry(card_files()[name])


@cache
def lists_of(name: str) -> JsonObject:
    """What the reader of a dataset looks up, from its card."""
    lists: JsonObject = tomllib.loads(card_files()[name].read_text(encoding="utf-8"))["lists"]
    return lists


def read_entry(file: Traversable) -> Entry:
    """The dataset of a card file; one that breaks the schema is an error that names file and
    field.
    """
    name = file.name.removesuffix(".toml")
    try:
        fields = tomllib.loads(file.read_text(encoding="utf-8"))
        stated = {key: fields.pop(key) for key in Holdings.model_fields if key in fields}
        card, holdings = Card(name=name, **fields), Holdings(**stated)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"The card '{file.name}' is not TOML: {error}.", "Fix that line.") from None
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, fault['loc'])) or 'card'}: {fault['msg']}"
            for fault in error.errors()
        ]
        raise DataError(
            f"The card '{file.name}' is not as a card must be: {'; '.join(faults)}.",
            "Correct these fields; the page 'Add a dataset' says what each is.",
        ) from None
    variants = holdings.variants
    stated = {
        key: None if rows == "not published" else rows
        for key, variant in variants.items()
        if (rows := variant.published_rows) is not None
    }
    return Entry(
        card,
        label_maps(name, holdings.maps),
        {key: Reader(name, variant) for key, variant in variants.items()},
        no_loader=holdings.no_loader,
        real_rows={k: v.real_rows for k, v in variants.items() if v.real_rows is not None},
        real_labels=holdings.real_labels,
        published_rows=stated,
    )


def label_maps(dataset: str, maps: Mapping[str, Verdicts]) -> dict[str, LabelMap]:
    out: dict[str, LabelMap] = {}
    for key, own in maps.items():
        verdicts: dict[str, Verdict] = own.verdicts
        if own.together is not None:
            verdicts = _together(verdicts, own.together) | own.as_they_are
        base: Mapping[str, str] = {}
        if own.like is not None:
            base = (general() if own.like == GENERAL else out[own.like]).verdicts
        out[key] = LabelMap(
            f"{dataset}/{key}",
            _folded(base) | _folded(verdicts) if own.folded else {**base, **verdicts},
            note=own.note,
        )
    return out


def _folded(verdicts: Mapping[str, str]) -> dict[str, str]:
    return {fold(raw): verdict for raw, verdict in verdicts.items()}


def _together(verdicts: Mapping[str, Verdict], sign: str) -> dict[str, Verdict]:
    """Each label alone, and up to three of them side by side."""
    joint: dict[str, Verdict] = {}
    for size in range(1, MOST_TOGETHER + 1):
        for labels in combinations(sorted(verdicts, key=str.casefold), size):
            each = {verdicts[label] for label in labels}
            decisive: tuple[Verdict, ...] = ("false", "mixed")
            joint[sign.join(labels)] = next((v for v in decisive if v in each), "unknown")
    return joint
