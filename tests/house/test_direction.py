"""The plan of the house: a room imports only from lower floors, and never from a neighbour on its
own floor.
"""

from __future__ import annotations

import ast
from pathlib import Path

import claimlab

ROOT = Path(claimlab.__file__).parent
FLOORS = {
    "core": 0,
    "text": 1, "files": 1, "llm": 1, "search": 1, "pages": 1, "tasks": 1,
    "catalog": 2,
    "exchange": 3, "clean": 3, "enrich": 3, "claims": 3, "audit": 3, "split": 3, "review": 3, "detect": 3, "evolve": 3, "generate": 3,
    "evaluate": 4,
    "study": 5, "publish": 5,
    "cli": 6, "web": 6,
}  # fmt: skip


def imports_of(file: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, (
                f"{file}: write imports in full, so that their direction can be read"
            )
            found.append(node.module or "")
            found += [f"{node.module}.{a.name}" for a in node.names]
    return [name for name in found if name.startswith("claimlab.")]


def wrong_imports(root: Path) -> list[str]:
    wrong = []
    for file in sorted(root.rglob("*.py")):
        parts = file.relative_to(root).parts
        if len(parts) == 1:
            continue  # the package's own front door re-exports lazily
        room = parts[0]
        for name in imports_of(file):
            other = name.split(".")[1]
            if other == room or other not in FLOORS:
                continue
            if FLOORS[other] >= FLOORS[room]:
                wrong.append(
                    f"{file.relative_to(root)} (floor {FLOORS[room]}) imports {name} (floor {FLOORS[other]})"
                )
    return wrong


def test_rooms_import_only_downward() -> None:
    assert wrong_imports(ROOT) == []


def test_every_room_has_a_floor() -> None:
    rooms = {p.name for p in ROOT.iterdir() if p.is_dir() and not p.name.startswith("_")}
    assert rooms <= set(FLOORS), f"give these rooms a floor in the plan: {rooms - set(FLOORS)}"


def test_an_upward_import_is_seen(tmp_path: Path) -> None:
    for room, line in {
        "core": "from claimlab.text import x",
        "audit": "import claimlab.clean.steps",
    }.items():
        (tmp_path / room).mkdir()
        (tmp_path / room / "a.py").write_text(line, encoding="utf-8")
    assert (
        len(wrong_imports(tmp_path)) == 3
    )  # the `from` import counts for the module and for the name
