"""The shape of the source: functions that fit on a screen, files that fit in a head, no empty room, one way to print."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import claimlab

ROOT = Path(claimlab.__file__).parent
LONGEST_FUNCTION = 60
LONGEST_FILE = 300


def sources() -> Iterator[tuple[str, str]]:
    for file in sorted(ROOT.rglob("*.py")):
        yield file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")


def functions(text: str) -> Iterator[tuple[str, int]]:
    """Every function with its lines, signature and docstring included."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or 0) - node.lineno + 1


def test_no_function_is_longer_than_a_screen() -> None:
    long = {(name, function): n for name, text in sources() for function, n in functions(text) if n > LONGEST_FUNCTION}
    assert long == {}


def test_a_planted_long_function_is_seen() -> None:
    text = "class A:\n    def f(\n        self,\n    ) -> None:\n" + "        pass\n" * LONGEST_FUNCTION
    assert list(functions(text)) == [("f", LONGEST_FUNCTION + 3)]


def test_no_file_is_too_long() -> None:
    assert {name: n for name, text in sources() if (n := text.count("\n")) > LONGEST_FILE} == {}


def test_no_package_is_empty() -> None:
    folders = {file.parent for file in ROOT.rglob("__init__.py")}
    inhabited = {p.parent for p in ROOT.rglob("*") if p.is_file() and p.suffix != ".pyc" and p.name != "__init__.py"}
    inhabited |= {parent for folder in inhabited for parent in folder.parents}
    assert sorted(str(folder.relative_to(ROOT)) for folder in folders - inhabited) == []
