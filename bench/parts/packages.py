"""The packages of this repository that are installed, for tests that walk all source: claimlab, and
what is kept beside it and plugs into it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

TRUNK, LEAVES = "claimlab", ("claimlab_simulate",)


def folder_of(package: str) -> Path:
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def is_installed(package: str) -> bool:
    """Whether claimlab finds its commands: that it can be imported does not say that."""
    return any(
        point.module.startswith(f"{package}.") for point in entry_points(group="claimlab.verbs")
    )


HAS_SIMULATE = is_installed("claimlab_simulate")
# Its verbs, the folders of the tests that they have made, and the preset that runs them.
OF_SIMULATE = re.compile(r"\b(?:evolved?|generated?|claimlab_simulate)\b")


def leaf_marked(values: Iterable[Any], command: Callable[[Any], str] = str) -> list[Any]:
    """Parameters of a test, those marked `leaf` whose command has a word of claimlab-simulate."""
    return [
        pytest.param(value, marks=pytest.mark.leaf) if OF_SIMULATE.search(command(value)) else value
        for value in values
    ]


PACKAGES = {
    name: folder_of(name) for name in (TRUNK, *LEAVES) if name == TRUNK or is_installed(name)
}


def module_files() -> Iterator[tuple[str, Path]]:
    """Every module by its full name, with its file."""
    for package, root in PACKAGES.items():
        for file in sorted(root.rglob("*.py")):
            parts = file.relative_to(root).with_suffix("").parts
            yield ".".join([package, *(part for part in parts if part != "__init__")]), file
