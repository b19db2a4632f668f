"""Python files as tests read them: trees without a look for garbage while they are made, which
takes twice as long as the parser, and walks that visit no more than a test asks for.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator, Set
from pathlib import Path

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")  # fields that hold statements


def tree_of(file: Path) -> ast.Module:
    return parsed(file.read_text(encoding="utf-8"))


def parsed(text: str) -> ast.Module:
    looked = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        if looked:
            gc.enable()


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node, in no order that matters: `ast.walk` in half the time."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                waiting.append(value)
            elif isinstance(value, list):
                waiting += [part for part in value if isinstance(part, ast.AST)]


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Every statement, wherever it is: imports among them, but nothing inside an expression."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        for name in BLOCKS:
            inside = getattr(node, name, None)
            if isinstance(inside, list):
                yield from inside
                waiting += inside


def docstrings(tree: ast.AST) -> set[int]:
    """The ids of the nodes that hold them."""
    bodies = [node.body for node in (tree, *statements(tree)) if isinstance(node, DOCUMENTED)]
    return {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}


def strings(tree: ast.AST, skipped: Set[int] = frozenset()) -> list[tuple[int, str]]:
    """Every text but those of `skipped` nodes, each with its line, in the order of lines."""
    texts = [
        (node.lineno, node.col_offset, node.value)
        for node in nodes(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in skipped
    ]
    return [(line, text) for line, _, text in sorted(texts)]
