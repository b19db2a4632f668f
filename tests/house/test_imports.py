"""The plan of the house between modules: no import cycle of any kind."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from parts.packages import PACKAGES
from parts.source import statements, tree_of

Graph = dict[str, set[str]]


def modules(packages: dict[str, Path]) -> dict[str, Path]:
    """Every module by its full name; the front door of a package imports lazily from everywhere and
    is left out.
    """
    named = {}
    for package, root in packages.items():
        for file in sorted(
            [*root.rglob("*.py"), *root.rglob("*.pyi")]
        ):  # the compiled kernel is known by its stub
            parts = [package, *file.relative_to(root).with_suffix("").parts]
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if name != package:
                named[name] = file
    return named


def imports(packages: dict[str, Path], *, every: bool) -> Graph:
    """Which module imports which: at its top level, or with `every` also for types only and inside
    functions.
    """
    named = modules(packages)
    graph: Graph = {}
    for name, file in named.items():
        tree = tree_of(file)
        nodes = statements(tree) if every else _at_the_top(tree)
        graph[name] = {target for node in nodes for target in _targets(node, named)} - {name}
    return graph


def _at_the_top(tree: ast.Module) -> Iterator[ast.AST]:
    for node in tree.body:
        if not isinstance(
            node, ast.If | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        ):  # `if TYPE_CHECKING` imports nothing
            yield from ast.walk(node)


def _targets(node: ast.AST, named: dict[str, Path]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in named)
    elif isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            if inner in named or node.module in named:
                yield inner if inner in named else node.module


def cycles(graph: Graph) -> list[list[str]]:
    """Every set of modules that reach each other (Tarjan), smallest first."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in order:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == order[name]:
            at = stack.index(name)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for name in graph:
        if name not in order:
            visit(name)
    return sorted((group for group in found if len(group) > 1), key=len)


def test_no_module_imports_itself_by_any_way_round() -> None:
    assert cycles(imports(PACKAGES, every=True)) == [], "for types and inside functions counts, too"


def test_a_planted_cycle_is_seen(tmp_path: Path) -> None:
    texts = {
        "a": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from claimlab.room.b import B",
        "b": "def late():\n    from claimlab.room import c",
        "c": "import claimlab.room.a",
        "d": "from claimlab.room.c import x",
    }
    (tmp_path / "room").mkdir()
    for name, text in texts.items():
        (tmp_path / "room" / f"{name}.py").write_text(text, encoding="utf-8")
    assert cycles(imports({"claimlab": tmp_path}, every=True)) == [
        [f"claimlab.room.{name}" for name in "abc"]
    ]
