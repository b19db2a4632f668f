"""Messages of the library name arguments; only the command line names flags."""

from __future__ import annotations

import ast
import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "claimlab"
FLAG = re.compile(r"(?:^|[\s(\"'`])--[a-z][a-z-]+")
OWN_COMMANDS = {"llm/weights.py"}  # pip's flags
OWN_COMMANDS |= {"detect/run.py", "evaluate/judge/front.py"}  # until their verbs are thin
OWN_COMMANDS |= {"exchange/formats/hf.py", "exchange/formats/inspect.py"}  # flags of other tools
OWN_COMMANDS |= {"audit/remedy.py"}  # advice as it is typed, for pages and terminals
OWN_COMMANDS |= {"web/command.py"}  # jobs as they are typed, for pages


def strings(tree: ast.AST) -> list[tuple[int, str]]:
    """Every text in the code, but for docstrings and the declarations of options."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, documented)]
    docstrings = {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}
    declared = {
        id(node)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        if call.func.id in ("Option", "Argument", "Setting")
        for node in ast.walk(call)
    }
    texts = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    skipped = docstrings | declared
    return [(node.lineno, str(node.value)) for node in texts if id(node) not in skipped]


def test_no_message_below_the_command_line_names_a_flag() -> None:
    named = []
    for file in sorted(SOURCE.rglob("*.py")):
        place = file.relative_to(SOURCE).as_posix()
        if place.startswith("cli/") or place in OWN_COMMANDS:
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
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
