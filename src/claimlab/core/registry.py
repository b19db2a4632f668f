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

Entries that are spread over the rooms have no folder: a room names its own in a file
`entry_points.toml`, in the words of `[project.entry-points]`, and nothing else lists them.

    WORK = Registry("function of workers", group="claimlab.engine")

An outside package joins through the entry-point group, where the entry point's value is the object,
or a module with that attribute, or one with ENTRIES (one entry point for each name). A package that
does not load disables itself: the others go on, and one warning names it.
"""

from __future__ import annotations

import importlib
import pkgutil
import tomllib
import warnings
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Generic, TypeVar

from claimlab.core.errors import ClaimlabError, UnknownName
from claimlab.core.types import JsonObject

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ROOMS = Path(__file__).parents[1]
T = TypeVar("T")


class BrokenPlugin(UserWarning):
    """An installed package offers an entry that does not load; it was left out."""


class Registry(Generic[T]):
    def __init__(
        self, kind: str, *, group: str, package: str | None = None, attribute: str = ""
    ) -> None:
        self.kind = kind
        self.package = package
        self.attribute = attribute
        self.group = group
        self._broken: dict[str, ClaimlabError] = {}

    @cached_property
    def _modules(self) -> dict[str, str]:
        if self.package is None:
            return {}
        package = importlib.import_module(self.package)
        homes = {}
        for file in (
            m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_")
        ):
            module = f"{self.package}.{file}"
            table = file == "table" or file.startswith("table_")
            name = file.rstrip("_").replace("_", "-")  # the verb `import` is in `import_.py`
            names = entries(importlib.import_module(module)) if table else [name]
            homes.update(dict.fromkeys(names, module))
        return homes

    @property
    def _rooms(self) -> Mapping[str, str]:
        return named_by_rooms().get(self.group, {}) if self.package is None else {}

    @cached_property
    def _outside(self) -> dict[str, EntryPoint]:
        from importlib.metadata import entry_points  # a tenth of the time of `--help`

        return {point.name: point for point in entry_points(group=self.group)}

    def names(self) -> list[str]:
        return sorted({*self._modules, *self._rooms, *self._outside})

    def outside(self) -> list[str]:
        """The names that installed packages add."""
        return sorted({*self._outside} - {*self._modules, *self._rooms})

    def home(self, name: str) -> str | None:
        """The module of this package that offers `name`; null for an outside entry."""
        return self._modules.get(name) or _module(self._rooms.get(name))

    def place(self, name: str) -> str | None:
        """Where an entry of this very name is, as module:attribute, for one that a room or an
        installed package names; nothing is imported for it.
        """
        if name in self._rooms:
            return self._rooms[name]
        return self._outside[name].value if name in self._outside else None

    def name_at(self, place: str) -> str | None:
        """The name of the entry that is at module:attribute."""
        inside = (name for name, value in self._rooms.items() if value == place)
        outside = (name for name, point in self._outside.items() if point.value == place)
        return next(inside, None) or next(outside, None)

    def offers(self, name: str) -> bool:
        """Whether there is an entry of this name, which may not load."""
        return name in self._modules or name in self._rooms or name in self._outside

    def get(self, name: str) -> T:
        key = name.strip().lower().replace("_", "-")
        if key in self._modules:
            return self._entry(importlib.import_module(self._modules[key]), key)
        for spelling in (name, key):
            if spelling in self._rooms:
                module, _, attribute = self._rooms[spelling].partition(":")
                entry: T = getattr(importlib.import_module(module), attribute)
                return entry
            if spelling in self._outside:
                return self._load(self._outside[spelling])
        raise self.absent(name) or UnknownName(self.kind, name, self.names())

    def absent(self, name: str) -> ClaimlabError | None:
        """What to say of a name that a package would offer that is not installed."""
        from claimlab.core.companions import absent

        return absent(self.group, name)

    def all(self) -> dict[str, T]:
        """Every entry that loads; a warning names each outside one that does not, once."""
        loaded = {}
        for name in self.names():
            if name in self._modules or name in self._rooms:
                loaded[name] = self.get(name)
                continue
            warned = name in self._broken
            try:
                loaded[name] = self._load(self._outside[name])
            except ClaimlabError as error:
                if not warned:
                    warnings.warn(
                        f"{error.problem} It is left out. {error.todo}", BrokenPlugin, stacklevel=2
                    )
        return loaded

    def __contains__(self, name: str) -> bool:
        """Whether `get` would give it: an outside entry must load to be here."""
        if name in self._modules or name in self._rooms:
            return True
        if name not in self._outside:
            return False
        try:
            self._load(self._outside[name])
        except ClaimlabError:
            return False
        return True

    def _load(self, point: EntryPoint) -> T:
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


@cache
def named_by_rooms() -> dict[str, dict[str, str]]:
    """What the rooms name in their files `entry_points.toml`: group -> name ->
    module:attribute.
    """
    groups: dict[str, dict[str, str]] = {}
    for file in sorted(ROOMS.glob("*/entry_points.toml")):
        for group, points in tomllib.loads(file.read_text(encoding="utf-8")).items():
            groups.setdefault(group, {}).update(points)
    return groups


def _module(place: str | None) -> str | None:
    return place.partition(":")[0] if place else None


def entries(module: ModuleType) -> JsonObject:
    """What a module's ENTRIES offers, by name; nothing where it has none."""
    table = getattr(module, "ENTRIES", {})
    return dict(table) if isinstance(table, Mapping) else {entry.name: entry for entry in table}
