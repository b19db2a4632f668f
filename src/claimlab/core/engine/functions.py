"""What a worker may do: functions that rooms and installed packages name in the entry-point group
`claimlab.engine`. A stage names one of these, and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from claimlab.core.errors import UsageError
from claimlab.core.registry import Registry

FUNCTIONS: Registry[Callable[..., Any]] = Registry("function of workers", group="claimlab.engine")
FURTHER_VARIABLE = (  # further ones that a worker may run, as module:function, with commas
    "CLAIMLAB_ENGINE_FUNCTIONS"
)


def function_named(name: object) -> Callable[..., Any]:
    """The function under this name, which comes from a file: it is looked up, and nothing is
    imported by it that no room and no installed package names.
    """
    if isinstance(name, str) and FUNCTIONS.place(name) is not None:
        return FUNCTIONS.get(name)
    if not isinstance(name, str) or name not in _further():
        missing = FUNCTIONS.absent(name) if isinstance(name, str) else None
        raise missing or UsageError(
            f"A worker does not run '{name}'.", f"If you trust it, name it in {FURTHER_VARIABLE}."
        )
    module, _, attribute = name.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), attribute)
    return function


def name_of(function: Callable[..., Any]) -> str:
    """The name by which workers know a function."""
    place = f"{function.__module__}:{function.__qualname__}"
    name = place if place in _further() else FUNCTIONS.name_at(place)
    if name is None:
        raise UsageError(
            f"Workers do not run '{place}'.",
            f"Name it in {FURTHER_VARIABLE}, here and where workers start.",
        )
    return name


def _further() -> set[str]:
    return {name for name in os.environ.get(FURTHER_VARIABLE, "").split(",") if name}
