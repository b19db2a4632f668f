"""The functions of a package for Python, each imported when it is first used, so that importing the
package costs next to nothing.

    open_front_door(__name__)

What is behind the door is not listed: it is what the rooms, and installed packages, name in the
entry-point group `claimlab.functions`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from claimlab.core.registry import Registry

FUNCTIONS: Registry[Any] = Registry("function of claimlab", group="claimlab.functions")


class FrontDoor(ModuleType):
    """Some functions share their name with the package that holds them (`audit`). Importing a
    package binds it as an attribute of its parent; here the function keeps the name, and the
    package stays importable by its full path.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and _is_own(self.__name__, name)):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return sorted([*names_of(self.__name__), "__version__"])
        if name.startswith("__") or not _is_own(self.__name__, name):
            return self._of_another(name)
        value = _documented(name)
        super().__setattr__(name, value)
        return value

    def _of_another(self, name: str) -> Any:
        """A function of an installed package, behind the door of claimlab itself."""
        is_function = self.__name__ == "claimlab" and not name.startswith("__")
        if is_function and FUNCTIONS.offers(name):
            return _documented(name)
        missing = FUNCTIONS.absent(name) if is_function else None
        raise AttributeError(missing or f"module '{self.__name__}' has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *names_of(self.__name__)})


def _documented(name: str) -> Any:
    """The function, with every argument of its declaration in its docstring."""
    from claimlab.core.docstring import documented

    return documented(FUNCTIONS.get(name))


def open_front_door(package: str) -> None:
    """Let every function that `package` names in `claimlab.functions` be an attribute of it."""
    sys.modules[package].__class__ = FrontDoor


def names_of(package: str) -> list[str]:
    """What is behind the door of a package; behind that of claimlab, what others add as well."""
    return [name for name in FUNCTIONS.names() if package == "claimlab" or _is_own(package, name)]


def _is_own(package: str, name: str) -> bool:
    home = FUNCTIONS.home(name)
    if package != "claimlab":
        home = FUNCTIONS.place(name)
    return home is not None and home.startswith(f"{package}.")
