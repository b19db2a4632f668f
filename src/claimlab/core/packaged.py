"""Data files that come with the package: `data/NAME` in the folder of a room."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any


def text(package: str, name: str) -> str:
    return (resources.files(package) / "data" / name).read_text(encoding="utf-8")


@cache
def toml(package: str, name: str) -> dict[str, Any]:
    """A packaged TOML file; every caller gets the same object, so none may change it."""
    return tomllib.loads(text(package, name))
