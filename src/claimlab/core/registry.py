"""Registries find their entries: a file put into the right folder, or an entry point of an installed package.

    CHECKS = Registry("check", package="claimlab.audit.checks", attribute="CHECK", group="claimlab.checks")
    CHECKS.get("keywords"); CHECKS.names(); CHECKS.all()

A file `near_duplicates.py` is the entry "near-duplicates"; its module-level object named by `attribute` is the entry
itself. Names are listed without importing anything, so that listing stays cheap; files whose name starts with "_"
are not entries. An outside package joins through the entry-point group, where the entry point's value is the object
(or its module).
"""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
from functools import cached_property
from types import ModuleType
from typing import Generic, TypeVar

from claimlab.core.errors import ClaimlabError, UnknownName

T = TypeVar("T")


class Registry(Generic[T]):
    def __init__(self, kind: str, *, package: str, attribute: str, group: str) -> None:
        self.kind = kind
        self.package = package
        self.attribute = attribute
        self.group = group

    @cached_property
    def _modules(self) -> dict[str, str]:
        package = importlib.import_module(self.package)
        found = (m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_"))
        return {name.replace("_", "-"): f"{self.package}.{name}" for name in found}

    @cached_property
    def _outside(self) -> dict[str, importlib.metadata.EntryPoint]:
        return {point.name: point for point in importlib.metadata.entry_points(group=self.group)}

    def names(self) -> list[str]:
        return sorted({*self._modules, *self._outside})

    def get(self, name: str) -> T:
        key = name.strip().lower().replace("_", "-")
        if key in self._modules:
            return self._entry(importlib.import_module(self._modules[key]))
        if name in self._outside or key in self._outside:
            point = self._outside.get(name) or self._outside[key]
            try:
                loaded = point.load()
            except Exception as error:
                raise ClaimlabError(
                    f"The {self.kind} '{name}' from {point.value} does not load: {error}.",
                    "Update or uninstall the package that provides it.",
                ) from error
            return self._entry(loaded) if isinstance(loaded, ModuleType) else loaded
        raise UnknownName(self.kind, name, self.names())

    def all(self) -> dict[str, T]:
        return {name: self.get(name) for name in self.names()}

    def __contains__(self, name: str) -> bool:
        return name in self._modules or name in self._outside

    def _entry(self, module: ModuleType) -> T:
        try:
            entry: T = getattr(module, self.attribute)
        except AttributeError:
            raise ClaimlabError(
                f"{module.__name__} has no {self.attribute}, so it is no {self.kind}.",
                f"Define a module-level {self.attribute} in it, or start its file name with an underscore.",
            ) from None
        return entry
