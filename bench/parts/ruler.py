"""Measures the source: tokens by room, complexity, parameters, `Any`. `python bench/parts/ruler.py`
prints the table.

Tokens count what a reader reads (no comments, docstrings or line ends), so packing lines gains
nothing.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "claimlab"
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
BRANCHES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.IfExp,
    ast.Assert,
    ast.comprehension,
    ast.match_case,
)
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Measured:
    """One function: where it is, its branches and its parameters."""

    file: str
    name: str
    complexity: int
    parameters: int


def sources(root: Path = SOURCE) -> Iterator[tuple[str, str]]:
    """Every source file below `root` with its text."""
    for file in sorted(root.rglob("*.py")):
        yield file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")


def docstring_lines(tree: ast.AST) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | Function) or not node.body:
            continue
        first = node.body[0]
        value = first.value if isinstance(first, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            lines |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def tokens(text: str) -> list[str]:
    """What is read of a file: no comments, docstrings or line ends."""
    skipped = docstring_lines(ast.parse(text))
    return [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in LAYOUT
        and not (token.type == tokenize.STRING and token.start[0] in skipped)
    ]


def complexity(node: ast.AST) -> int:
    total = 1
    for child in ast.walk(node):
        if isinstance(child, BRANCHES):
            total += 1
        elif isinstance(child, ast.BoolOp):
            total += len(child.values) - 1
    return total


def parameters(node: Function) -> int:
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return sum(argument.arg not in ("self", "cls") for argument in arguments)


def functions(file: str, text: str) -> Iterator[Measured]:
    """Every function of a file."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, Function):
            yield Measured(file, node.name, complexity(node), parameters(node))


def room(file: str) -> str:
    """The room of a file; what lies beside the rooms is "front"."""
    return file.split("/")[0] if "/" in file else "front"


def tokens_by_room() -> Counter[str]:
    counts: Counter[str] = Counter()
    for file, text in sources():
        counts[room(file)] += len(tokens(text))
    return counts


if __name__ == "__main__":
    for name, count in tokens_by_room().most_common():
        print(f"{name} = {count}")
