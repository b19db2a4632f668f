"""One test walks every registry of the house: what it lists loads, is of its kind, and says what it
is.
"""

from __future__ import annotations

import importlib
import re

import pytest
from parts.packages import module_files

from claimlab.core.registry import Registry


def registries() -> dict[str, Registry[object]]:
    """Every module-level Registry, found by reading the source: a new one is walked without being
    listed here.
    """
    found: dict[str, Registry[object]] = {}
    for module_name, file in module_files():
        if file.name == "registry.py" or "Registry(" not in (
            text := file.read_text(encoding="utf-8")
        ):
            continue
        module = importlib.import_module(module_name)
        for name in re.findall(r"^([A-Z_]+)\s*(?::[^=]+)?=\s*\w*Registry\(", text, re.M):
            found[f"{module.__name__}.{name}"] = getattr(module, name)
    return found


REGISTRIES = registries()
ENTRIES = [(where, name) for where, registry in REGISTRIES.items() for name in registry.names()]


def test_the_known_registries_are_found() -> None:
    kinds = {registry.kind for registry in REGISTRIES.values()}
    assert {"dataset", "check"} <= kinds
    assert len({registry.group for registry in REGISTRIES.values()}) == len(REGISTRIES), (
        "two registries share a door"
    )


@pytest.mark.parametrize(
    ("where", "name"), ENTRIES, ids=[f"{w.rsplit('.', 1)[1]}-{n}" for w, n in ENTRIES]
)
def test_every_entry_loads_and_says_what_it_is(where: str, name: str) -> None:
    entry = REGISTRIES[where].get(name)
    own = getattr(entry, "name", None) or getattr(getattr(entry, "card", None), "name", None)
    assert own in (None, name), f"{where}: the file is called {name}, the entry calls itself {own}"
    home = REGISTRIES[where].home(name)
    module = importlib.import_module(home) if home else None
    words = [
        getattr(entry, "question", None),
        getattr(entry, "summary", None),
        getattr(entry, "__doc__", None),
        module and module.__doc__,
    ]
    assert any(words), f"{where}: {name} does not say what it is for"
