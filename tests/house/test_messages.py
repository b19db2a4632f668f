"""Messages of the library name arguments; only the command line names flags."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from parts import source
from parts.source import nodes

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "src" / "claimlab", ROOT / "simulate" / "src" / "claimlab_simulate")
FLAG = re.compile(r"(?:^|[\s(\"'`])--[a-z][a-z-]+")
OWN_COMMANDS = {"llm/weights.py"}  # pip's flags
OWN_COMMANDS |= {"detect/prepare.py", "evaluate/judge/front.py"}  # until their verbs are thin
OWN_COMMANDS |= {"exchange/formats/hf.py", "exchange/formats/inspect.py"}  # flags of other tools
OWN_COMMANDS |= {"audit/remedy.py"}  # advice as it is typed, for pages and terminals
OWN_COMMANDS |= {"web/command.py"}  # jobs as they are typed, for pages


def strings(tree: ast.AST) -> list[tuple[int, str]]:
    """Every text in the code, but for docstrings and the declarations of options."""
    declared = {
        id(node)
        for call in nodes(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        if call.func.id in ("Option", "Argument", "Setting")
        for node in nodes(call)
    }
    return source.strings(tree, source.docstrings(tree) | declared)


def test_no_message_below_the_command_line_names_a_flag() -> None:
    named = []
    files = {file: root for root in SOURCES for file in sorted(root.rglob("*.py"))}
    for file, root in files.items():
        place = file.relative_to(root).as_posix()
        if place.startswith(("cli/", "verbs/")) or place in OWN_COMMANDS:
            continue
        if "--" not in (text := file.read_text(encoding="utf-8")):
            continue
        tree = source.parsed(text)
        named += [f"{place}:{line}: {text}" for line, text in strings(tree) if FLAG.search(text)]
    assert named == []


def test_a_flag_in_a_message_would_be_found() -> None:
    planted = ast.parse(
        'def f():\n    """Not --this."""\n    raise ValueError("Use --force.", f"{x}: add --limit")'
    )
    assert [text for _, text in strings(planted) if FLAG.search(text)] == [
        "Use --force.",
        ": add --limit",
    ]
