"""Registries find their entries: a file put into the right folder, or an entry point of an
installed package.

    CHECKS = Registry("check", package="claimlab.audit.checks", attribute="CHECK",
    group="claimlab.checks")
    CHECKS.get("keywords"); CHECKS.names(); CHECKS.all()

A file `near_duplicates.py` is the entry "near-duplicates"; its module-level object named by
`attribute` is the entry itself. Entries that differ by one word share a file: `table.py`, or a name
that starts with `table_`, holds a module-level ENTRIES, a list of objects that have a `name` or a
dict from names to objects. Listing names imports the tables and nothing else, so that it stays
cheap; files whose name starts with "_" are not entries.

An outside package joins through the entry-point group, where the entry point's value is the object,
or a module with that attribute, or one with ENTRIES (one entry point for each name). A package that
does not load disables itself: the others go on, and one warning names it.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
import warnings
from collections.abc import Mapping
from functools import cached_property
from types import ModuleType
from typing import Generic, TypeVar

from claimlab.core.errors import ClaimlabError, UnknownName
from claimlab.core.types import JsonObject

T = TypeVar("T")


class BrokenPlugin(UserWarning):
    """An installed package offers an entry that does not load; it was left out."""


class Registry(Generic[T]):
    def __init__(self, kind: str, *, package: str, attribute: str, group: str) -> None:
        self.kind = kind
        self.package = package
        self.attribute = attribute
        self.group = group
        self._broken: dict[str, ClaimlabError] = {}

    @cached_property
    def _modules(self) -> dict[str, str]:
        package = importlib.import_module(self.package)
        homes = {}
        for file in (
            m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_")
        ):
            module = f"{self.package}.{file}"
            table = file == "table" or file.startswith("table_")
            names = entries(importlib.import_module(module)) if table else [file.replace("_", "-")]
            homes.update(dict.fromkeys(names, module))
        return homes

    @cached_property
    def _outside(self) -> dict[str, importlib.metadata.EntryPoint]:
        return {point.name: point for point in importlib.metadata.entry_points(group=self.group)}

    def names(self) -> list[str]:
        return sorted({*self._modules, *self._outside})

    def home(self, name: str) -> str | None:
        """The module of this package that offers `name`; null for an outside entry."""
        return self._modules.get(name)

    def get(self, name: str) -> T:
        key = name.strip().lower().replace("_", "-")
        if key in self._modules:
            return self._entry(importlib.import_module(self._modules[key]), key)
        for spelling in (name, key):
            if spelling in self._outside:
                return self._load(self._outside[spelling])
        raise UnknownName(self.kind, name, self.names())

    def all(self) -> dict[str, T]:
        """Every entry that loads; a warning names each outside one that does not, once."""
        loaded = {}
        for name in self.names():
            if name in self._modules:
                loaded[name] = self.get(name)
                continue
            known = name in self._broken
            try:
                loaded[name] = self._load(self._outside[name])
            except ClaimlabError as error:
                if not known:
                    warnings.warn(
                        f"{error.problem} It is left out. {error.todo}", BrokenPlugin, stacklevel=2
                    )
        return loaded

    def __contains__(self, name: str) -> bool:
        """Whether `get` would give it: an outside entry must load to be here."""
        if name in self._modules or name not in self._outside:
            return name in self._modules
        try:
            self._load(self._outside[name])
        except ClaimlabError:
            return False
        return True

    def _load(self, point: importlib.metadata.EntryPoint) -> T:
        if point.name in self._broken:
            raise self._broken[point.name]
        try:
            loaded = point.load()
            entry: T = self._entry(loaded, point.name) if isinstance(loaded, ModuleType) else loaded
        except KeyboardInterrupt:
            raise
        except (
            BaseException
        ) as error:  # sys.exit in a plug-in must not end the program of its host without a word
            reason = (
                error.problem
                if isinstance(error, ClaimlabError)
                else f"{type(error).__name__}: {error}"
            )
            package = (
                f"{point.dist.name} {point.dist.version}" if point.dist else "an unnamed package"
            )
            self._broken[point.name] = ClaimlabError(
                f"The {self.kind} '{point.name}' of {package} does not load from {point.value} "
                f"({' '.join(reason.split()).rstrip('.')}).",
                "Update or uninstall that package.",
            )
            raise self._broken[point.name] from error
        return entry

    def _entry(self, module: ModuleType, name: str) -> T:
        table = entries(module)
        if name in table:
            row: T = table[name]
            return row
        try:
            entry: T = getattr(module, self.attribute)
        except AttributeError:
            raise ClaimlabError(
                f"{module.__name__} has no {self.attribute}, so it is not a {self.kind}.",
                f"Define a module-level {self.attribute} in it, or start its file name with an"
                " underscore.",
            ) from None
        return entry


def entries(module: ModuleType) -> JsonObject:
    """What a module's ENTRIES offers, by name; nothing where it has none."""
    table = getattr(module, "ENTRIES", {})
    return dict(table) if isinstance(table, Mapping) else {entry.name: entry for entry in table}
