"""Names for the shell's completion: of datasets, detectors, checks, strategies and formats.

A shell asks at every press of the tab key, so nothing is imported: names are those of files, and of
the rows that a `table.py` is made of. A test compares them with the registries.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]

Complete = Callable[[str], list[str]]


def names(room: str, group: str) -> list[str]:
    """The names of the entries in a folder of the package, and of those that installed packages
    add.
    """
    inside = {name for file in (HOME / room).glob("[!_]*.py") for name in _names_in(file)}
    return sorted(inside | {point.name for point in entry_points(group=group)})


def _names_in(file: Path) -> Iterator[str]:
    if not file.stem.startswith("table"):
        yield file.stem.replace("_", "-")
        return
    for statement in ast.parse(file.read_text(encoding="utf-8")).body:
        target = (
            statement.targets[0]
            if isinstance(statement, ast.Assign)
            else getattr(statement, "target", None)
        )
        if (
            isinstance(statement, ast.Assign | ast.AnnAssign)
            and target is not None
            and ast.unparse(target) == "ENTRIES"
        ):
            rows = getattr(statement.value, "elts", [])
            calls = [row for row in rows if isinstance(row, ast.Call)]
            yield from (str(ast.literal_eval(_name_of(call))) for call in calls)


def _name_of(call: ast.Call) -> ast.expr:
    """The argument that names a row: the first, or the one that is called so."""
    return call.args[0] if call.args else next(k.value for k in call.keywords if k.arg == "name")


def _completes(list_names: Callable[[], list[str]]) -> Complete:
    return lambda incomplete: [name for name in list_names() if name.startswith(incomplete)]


def _datasets() -> list[str]:
    cards = (HOME / "catalog/data/cards").glob("*.toml")
    outside = names("catalog/data/cards", "claimlab.datasets")
    return sorted({*outside, *(card.stem for card in cards)})


datasets = _completes(_datasets)
detectors = _completes(lambda: names("detect/detectors", "claimlab.detectors"))
checks = _completes(lambda: names("audit/checks", "claimlab.checks"))
formats = _completes(lambda: names("exchange/formats", "claimlab.formats"))
strategies = _completes(lambda: names("split/strategies", "claimlab.splitters"))
