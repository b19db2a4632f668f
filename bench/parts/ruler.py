"""What the source of a checkout is like to read: tokens by room, late constants, comment blocks
that stand free, vague names, classes of one name in several rooms, and imports between rooms.

Tokens count what a reader reads (no comments, docstrings or line ends), so packing lines gains
nothing. Nothing here is a limit: `python bench/house.py` prints it.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "claimlab"
TRUNK, FRONT = "claimlab", "front"  # the package; what lies beside its rooms
VAGUE = ("one", "known", "mine", "held", "shown", "done")
LINES_OF_A_BLOCK = 3  # fewer lines of comment between two functions are about the next one
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]+")
OTHER_ROOM = re.compile(r"claimlab\.(\w+)(?:\.|$)")
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class File:
    """One source file: where it is below the folder of its package, and its text."""

    package: str
    path: str
    text: str

    @property
    def room(self) -> str:
        return self.path.split("/")[0] if "/" in self.path else FRONT

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def docstrings(self) -> set[int]:
        """The lines of all docstrings."""
        lines: set[int] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
                first = node.body[0]
                lines |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
        return lines

    @cached_property
    def token_lines(self) -> Counter[int]:
        """Tokens by the line on which they start."""
        read = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return Counter(
            token.start[0]
            for token in read
            if token.type not in LAYOUT
            and not (token.type == tokenize.STRING and token.start[0] in self.docstrings)
        )

    @property
    def tokens(self) -> int:
        return self.token_lines.total()

    def late_constants(self) -> list[int]:
        """The lines of constants below the first function."""
        functions = [node.lineno for node in self.tree.body if isinstance(node, FUNCTION)]
        return [
            node.lineno
            for node in self.tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            and functions
            and node.lineno > functions[0]
            and CONSTANT.match(ast.unparse(node))
        ]

    def movable_constants(self) -> list[int]:
        """Those of them that could stand above it: a table of functions has to be below them."""
        late = set(self.late_constants())
        below: set[str] = set()  # names that a line has because of the functions above it
        movable = []
        for node in self.tree.body:
            if isinstance(node, (*FUNCTION, ast.ClassDef)):
                below.add(node.name)
            elif node.lineno in late:
                names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
                if below.intersection(name.id for name in names):
                    below.update(name.id for name in names if isinstance(name.ctx, ast.Store))
                else:
                    movable.append(node.lineno)
        return movable

    def free_comments(self) -> list[int]:
        """The lines where a block of comment starts that is in no statement, below the head of the
        file: most were the docstring of a file that is now a part of this one.
        """
        inside = {
            line
            for node in self.tree.body
            for line in range(_start(node), (node.end_lineno or node.lineno) + 1)
        }
        head = next((node.lineno for node in self.tree.body if not _is_text(node)), 0)
        starts, length = [], 0
        for number, line in enumerate([*self.text.split("\n"), ""], 1):
            if number > head and number not in inside and line.startswith("#"):
                length += 1
                continue
            if length >= LINES_OF_A_BLOCK:
                starts.append(number - length)
            length = 0
        return starts

    def vague_names(self) -> Counter[str]:
        """How often each vague name is bound: as a variable or an argument."""
        bound = [
            node.id if isinstance(node, ast.Name) else node.arg
            for node in ast.walk(self.tree)
            if (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
            or isinstance(node, ast.arg)
        ]
        return Counter(name for name in bound if name in VAGUE)

    def classes(self) -> list[str]:
        return [node.name for node in self.tree.body if isinstance(node, ast.ClassDef)]

    def imports(self) -> Iterator[str]:
        """The rooms of the trunk that it imports from, once for each import."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                modules = [node.module]
            elif isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            else:
                continue
            for module in modules:
                if (match := OTHER_ROOM.match(module)) is not None:
                    yield match[1]

    def spelled(self) -> Iterator[str]:
        """The rooms that a string names by their module: arrows that no import shows."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if node.lineno in self.docstrings or " " in node.value:
                    continue
                if (match := OTHER_ROOM.match(node.value)) is not None:
                    yield match[1]


def _start(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


@dataclass(frozen=True)
class House:
    """The packages of a checkout: the trunk, and the leaves beside it."""

    root: Path

    @cached_property
    def files(self) -> list[File]:
        return [
            File(package.name, file.relative_to(package).as_posix(), file.read_text("utf-8"))
            for package in self.packages
            for file in sorted(package.rglob("*.py"))
        ]

    @property
    def packages(self) -> list[Path]:
        """The folders of the packages, the trunk first."""
        heads = [*self.root.glob("src/*/__init__.py"), *self.root.glob("*/src/*/__init__.py")]
        found = {head.parent for head in heads}
        return sorted(found, key=lambda folder: (folder.name != TRUNK, folder.name))

    @cached_property
    def floors(self) -> dict[str, int]:
        """The floor of each room of the trunk, as the test of imports has it."""
        plan = self.root / "tests" / "house" / "test_direction.py"
        for node in ast.parse(plan.read_text("utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FLOORS":
                floors: dict[str, int] = ast.literal_eval(node.value)
                return floors
        return {}

    def tokens(self) -> Counter[tuple[str, str]]:
        """Tokens of each room of each package."""
        counts: Counter[tuple[str, str]] = Counter()
        for file in self.files:
            counts[file.package, file.room] += file.tokens
        return counts

    def tokens_a_line(self) -> float:
        """The mean over lines that hold any."""
        lines = sum(len(file.token_lines) for file in self.files)
        return sum(file.tokens for file in self.files) / lines

    def vague_names(self) -> Counter[str]:
        return sum((file.vague_names() for file in self.files), Counter())

    def classes_in_two_rooms(self) -> dict[str, list[str]]:
        """Class -> the rooms that have one of that name."""
        rooms: dict[str, set[str]] = defaultdict(set)
        for file in self.files:
            for name in file.classes():
                if not name.startswith("_"):
                    rooms[name].add(file.room)
        return {name: sorted(found) for name, found in sorted(rooms.items()) if len(found) > 1}

    def arrows(self) -> Counter[tuple[str, str]]:
        """(room, room that it imports from) -> imports."""
        return Counter(
            (file.room, other)
            for file in self.files
            for other in file.imports()
            if other in self.floors and other != file.room
        )

    def upward(self) -> Counter[tuple[str, str]]:
        """(room, room that is not below it, which a string of it names) -> strings."""
        return Counter(
            (file.room, other)
            for file in self.files
            for other in file.spelled()
            if file.package == TRUNK
            and other != file.room
            and self.floors.get(other, -1) >= self.floors.get(file.room, 0)
        )
