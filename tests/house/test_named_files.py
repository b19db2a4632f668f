"""Files that docstrings and comments of the source name are there: a name outlives no rename."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from parts.source import DOCUMENTED, parsed, statements

ROOT = Path(__file__).resolve().parents[2]
FILE_NAME = re.compile(r"[\w./-]*\b\w+\.py\b")


PACKAGES = [folder for folder in (ROOT / "src", ROOT / "simulate" / "src") if folder.is_dir()]


def python_files(*folders: Path) -> list[Path]:
    return sorted(file for folder in folders for file in folder.rglob("*.py"))


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The docstrings and comments of a file, each with its line."""
    tree = parsed(text)
    for node in (tree, *statements(tree)):
        if isinstance(node, DOCUMENTED) and (docstring := ast.get_docstring(node)):
            yield node.body[0].lineno, docstring
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def absent(text: str, places: set[str]) -> list[str]:
    """The files that a source names and that are not the end of any of `places`."""
    if ".py" not in text:
        return []
    return [
        f"{line}: {name}"
        for line, words in prose(text)
        for name in FILE_NAME.findall(words)
        if not any(place.endswith(f"/{name.lstrip('./')}") for place in places)
    ]


def test_every_file_that_a_docstring_or_a_comment_names_is_there() -> None:
    everything = python_files(*(ROOT / part for part in ("src", "bench", "tests", "simulate")))
    places = {f"/{file.relative_to(ROOT).as_posix()}" for file in everything}
    wrong = {
        file.relative_to(ROOT).as_posix(): names
        for file in python_files(*PACKAGES)
        if (names := absent(file.read_text(encoding="utf-8"), places))
    }
    assert wrong == {}


def test_a_planted_name_is_noticed() -> None:
    text = '"""See rule.py."""\n\ndef f() -> None:\n    """Listed in `gone.py`."""  # see audit/lost.py\n'
    assert absent(text, {"/src/claimlab/audit/rule.py"}) == ["4: gone.py", "4: audit/lost.py"]
