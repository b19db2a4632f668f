"""The plan of the house: a room imports only from lower floors, and never from a neighbour on its
own floor; a leaf imports from the trunk, and the trunk knows no leaf.
"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

from parts.packages import LEAVES, PACKAGES
from parts.source import docstrings, parsed, statements, strings, tree_of

ROOT = PACKAGES["claimlab"]
FLOORS = {
    "core": 0,
    "text": 1, "files": 1, "llm": 1, "search": 1, "pages": 1, "tasks": 1,
    "catalog": 2,
    "exchange": 3, "clean": 3, "enrich": 3, "claims": 3, "audit": 3, "split": 3, "review": 3, "detect": 3,
    "evaluate": 4,
    "study": 5, "publish": 5,
    "cli": 6, "web": 6,
}  # fmt: skip
# The rooms of claimlab-simulate; its modules without a room join them and stand above.
LEAF_FLOORS = {"evolve": 0, "generate": 0, "verbs": 1}
BEGUN = re.compile(r"[\"']claimlab\b")
NAMED = re.compile(r"claimlab\.([a-z_]+)[.:][\w.:]+")  # a module in a string


def imports_of(file: Path) -> list[str]:
    found = []
    for node in statements(tree_of(file)):
        if isinstance(node, ast.Import):
            found += [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, (
                f"{file}: write imports in full, so that their direction can be read"
            )
            found.append(node.module or "")
            found += [f"{node.module}.{a.name}" for a in node.names]
    return [name for name in found if name.split(".")[0] in ("claimlab", *LEAVES)]


def wrong_imports(
    root: Path, package: str = "claimlab", floors: dict[str, int] = FLOORS
) -> list[str]:
    """Imports of a package that do not go down: from one of its rooms into another."""
    wrong = []
    for file in sorted(root.rglob("*.py")):
        parts = file.relative_to(root).parts
        if len(parts) == 1:
            continue  # the package's own front door re-exports lazily
        room = parts[0]
        for name in imports_of(file):
            top, _, rest = name.partition(".")
            other = rest.split(".")[0]
            if top != package or other == room or other not in floors:
                continue
            if floors[other] >= floors[room]:
                wrong.append(
                    f"{file.relative_to(root)} (floor {floors[room]}) imports {name} (floor {floors[other]})"
                )
    return wrong


def strings_of(file: Path) -> list[str]:
    """Every string that is no docstring; none where the file has nothing that begins as a name."""
    text = file.read_text(encoding="utf-8")
    if not BEGUN.search(text):
        return []
    tree = parsed(text)
    return [value for _, value in strings(tree, docstrings(tree))]


def names_above(root: Path) -> list[str]:
    """Strings of a room that name a module of a room above it, or beside it."""
    wrong = []
    for file in sorted(root.rglob("*.py")):
        parts = file.relative_to(root).parts
        floor = FLOORS.get(parts[0]) if len(parts) > 1 else None
        for text in strings_of(file) if floor is not None else ():
            match = NAMED.fullmatch(text)
            other = match[1] if match else parts[0]
            if other != parts[0] and FLOORS.get(other, -1) >= (floor or 0):
                wrong.append(f"{file.relative_to(root)} names {text}")
    return wrong


def test_rooms_import_only_downward() -> None:
    assert wrong_imports(ROOT) == []


def test_no_string_names_a_room_above() -> None:
    assert names_above(ROOT) == []


def test_a_room_names_entry_points_of_its_own_only() -> None:
    for file in sorted(ROOT.glob("*/entry_points.toml")):
        for points in tomllib.loads(file.read_text(encoding="utf-8")).values():
            wrong = [
                p for p in points.values() if not p.startswith(f"claimlab.{file.parent.name}.")
            ]
            assert wrong == [], file


def test_the_rooms_of_a_leaf_import_only_downward() -> None:
    for package in set(PACKAGES) - {"claimlab"}:
        assert wrong_imports(PACKAGES[package], package, LEAF_FLOORS) == []


def test_the_trunk_knows_no_leaf() -> None:
    """One file of data says what a user is told who asks for something of a leaf."""
    known = ROOT / "core" / "data" / "companions.toml"
    files = [file for kind in ("*.py", "*.toml", "*.pyi") for file in ROOT.rglob(kind)]
    words = re.compile("|".join((*LEAVES, *(leaf.replace("_", "-") for leaf in LEAVES))))
    named = {file for file in files if words.search(file.read_text(encoding="utf-8"))}
    assert named == {known}


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


def test_a_string_that_names_a_room_above_is_seen(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "a.py").write_text(
        'HOME = "claimlab.audit.run:do_check"', encoding="utf-8"
    )
    assert names_above(tmp_path) == ["core/a.py names claimlab.audit.run:do_check"]
