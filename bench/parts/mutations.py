"""Small faults, put into source code one at a time by named operators: `<` for `<=`, `+` for `-`, a
constant one off, a guard that is gone.

Faults are put into the bodies of functions, and into constants above them (`NAME = 30`). Left alone
are annotations, defaults, decorators, what is raised, and arguments that change no result
(`strict=True`). A fault is known by its number among those of its file, which is the same whenever
the file is.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

BOUNDARIES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
EXCHANGED = {"min": "max", "any": "all", "first": "last", "floor": "ceil", "head": "tail"}
EXCHANGED |= {new: old for old, new in EXCHANGED.items()}
REMOVABLE = {  # calls that hand on what they are called on
    "abs", "cast", "clip", "drop_nulls", "drop_nans", "fill_null", "fill_nan", "filter", "head",
    "lower", "over", "reverse", "round", "sort", "strip", "strip_chars", "tail", "unique", "copy",
    "sqrt", "sorted", "set", "casefold", "reversed",
}  # fmt: skip
SAME_RESULT = {"strict", "maintain_order", "schema", "schema_overrides", "dtype", "return_dtype"}
NOT_SWAPPED = {"isinstance", "issubclass", "zip", "getattr", "hasattr", "setattr", "cast", "field"}
NO_RESULT = {"progress", "print", "gc", "debug"}  # called for what is seen meanwhile
NOT_NUMBERS = (ast.JoinedStr, ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)


@dataclass(frozen=True)
class Mutation:
    """One fault: its number among those of `file`, the function that it is in (the constant, where
    it is in none), and what was written and is now."""

    file: str
    number: int
    function: str
    line: int
    operator: str
    before: str
    after: str

    @property
    def constant(self) -> str | None:
        """The constant that is changed, where it is above the functions."""
        return self.function.removesuffix(" =") if self.function.endswith(" =") else None

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line} {self.function}"


@dataclass
class Spot:
    """A node that a fault replaces: where it hangs, and what it is replaced by."""

    holder: ast.AST
    field: str
    index: int | None
    node: ast.AST
    function: str
    operator: str
    replacement: ast.AST

    def put(self) -> None:
        if self.index is None:
            setattr(self.holder, self.field, self.replacement)
        else:
            getattr(self.holder, self.field)[self.index] = self.replacement

    def words(self) -> tuple[str, str]:
        """What was written and is now, with the expression around it."""
        around = self.holder if isinstance(self.holder, ast.expr | ast.keyword) else None
        if around is None or isinstance(around, ast.JoinedStr | ast.FormattedValue):
            return _short(self.node), _short(self.replacement)
        before = _short(around)
        self.put()
        after = _short(around)
        kept, self.replacement = self.replacement, self.node
        self.put()
        self.replacement = kept
        return before, after


def mutations(file: Path, name: str) -> list[Mutation]:
    """Every fault that can be put into a file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [
        Mutation(
            name, number, spot.function, getattr(spot.node, "lineno", 0), spot.operator,
            *spot.words(),
        )
        for number, spot in enumerate(_spots(tree))
    ]  # fmt: skip


def mutated(file: Path, number: int) -> ast.Module:
    """The file with one fault."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    list(_spots(tree))[number].put()
    return ast.fix_missing_locations(tree)


def _short(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def _spots(tree: ast.Module) -> Iterator[Spot]:
    for holder, function, statements in _bodies(tree, ""):
        if isinstance(statements, ast.expr):
            yield from _below(holder, f"{function} =", {})
        else:
            yield from _below(holder, function, _neighbours(holder))


def _bodies(tree: ast.AST, inside: str) -> Iterator[tuple[ast.AST, str, ast.expr | list[ast.stmt]]]:
    """The outermost functions and methods, and the constants that are numbers."""
    for node in getattr(tree, "body", []):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, f"{inside}{node.name}", node.body
        elif isinstance(node, ast.ClassDef) and not inside:
            yield from _bodies(node, f"{node.name}.")
        elif isinstance(node, ast.Assign) and not inside and isinstance(node.targets[0], ast.Name):
            numbers = [n for n in ast.walk(node.value) if isinstance(n, ast.Constant)]
            calls = any(isinstance(n, ast.Dict | ast.Set) for n in ast.walk(node.value))
            if numbers and not calls and node.targets[0].id.isupper():
                yield node, node.targets[0].id, node.value


def _below(holder: ast.AST, function: str, beside: dict[str, str]) -> Iterator[Spot]:
    """The faults of everything under a node, in the order of the source."""
    for name, value in ast.iter_fields(holder):
        if name in {"annotation", "returns", "decorator_list", "args", "targets", "target"} and (
            not isinstance(holder, ast.Call)
        ):
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or _left_alone(holder, node):
                continue
            for operator, replacement in _changes(name, node, beside):
                yield Spot(holder, name, index, node, function, operator, replacement)
            yield from _below(node, function, beside)


def _left_alone(holder: ast.AST, node: ast.AST) -> bool:
    if isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.keyword) and node.arg in SAME_RESULT:
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # a docstring
    called = holder.func if isinstance(holder, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in {"isinstance", "issubclass", "cast"}


def _neighbours(function: ast.AST) -> dict[str, str]:
    """For a name, the one beside it: of the same type in the signature, or unpacked with it."""
    beside: dict[str, str] = {}
    rows: list[Sequence[str]] = []
    for node in ast.walk(function):
        if isinstance(node, ast.arguments):
            declared = [*node.args, *node.kwonlyargs]
            for first, second in pairwise(declared):
                if first.annotation and second.annotation:
                    same = ast.dump(first.annotation) == ast.dump(second.annotation)
                    rows += [(first.arg, second.arg)] if same else []
        elif isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store):
            names = [name.id for name in node.elts if isinstance(name, ast.Name)]
            rows += [names] if len(names) == len(node.elts) else []
    for names in rows:
        for first, second in pairwise(name for name in names if name != "_"):
            beside.setdefault(first, second)
            beside.setdefault(second, first)
    return beside


def _changes(name: str, node: ast.AST, beside: dict[str, str]) -> Iterator[tuple[str, ast.AST]]:
    """What a node may be replaced by."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in BOUNDARIES:
            yield "comparison", _with(node, ops=[BOUNDARIES[type(op)]()])
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            if not any(isinstance(side, NOT_NUMBERS) or _is_text(side) for side in (left, right)):
                yield "arithmetic", _with(node, op=ARITHMETIC[type(op)]())
        case ast.Constant(value=bool(value)):
            yield "boolean", ast.Constant(not value)
        case ast.Constant(value=int(value)):
            step = -1 if value > 1 and node.lineno % 2 else 1
            yield "constant", ast.Constant(value + step)
        case ast.Constant(value=float(value)) if value == 0 or abs(value) > 1e-6:
            yield "constant", ast.Constant(value + 1 if value in (0, 1) else value / 2)
        case ast.BoolOp(op=op):
            yield "boolean", _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(operand=operand):
            yield "dropped not", operand
        case ast.If(body=[ast.Return() | ast.Continue() | ast.Break()], orelse=[]):
            yield "removed guard", _with(node, test=ast.Constant(False))
        case ast.IfExp(body=body, orelse=orelse):
            yield "exchanged branches", _with(node, body=orelse, orelse=body)
        case ast.Name(id=used, ctx=ast.Load()) if used in beside and name != "func":
            yield "neighbour", ast.Name(beside[used], ast.Load())
        case ast.Call():
            yield from _calls(node)
        case ast.Expr(value=ast.Call(func=func)) if _called(func) not in NO_RESULT:
            yield "removed call", ast.Pass()
        case ast.Slice():
            yield from _slices(node)


def _calls(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    name, args = _called(node.func), node.args
    if isinstance(node.func, ast.Attribute):
        if name in EXCHANGED:
            yield "exchanged call", _with(node, func=_with(node.func, attr=EXCHANGED[name]))
        if name in REMOVABLE:
            yield "removed call", node.func.value
    elif isinstance(node.func, ast.Name):
        if name in EXCHANGED:
            yield "exchanged call", _with(node, func=ast.Name(EXCHANGED[name], ast.Load()))
        if name in REMOVABLE and len(args) == 1:
            yield "removed call", args[0]
    if len(args) > 1 and name not in NOT_SWAPPED:
        first, second, *rest = args
        plain = not any(isinstance(one, ast.Starred | ast.Constant) for one in (first, second))
        if plain and ast.dump(first) != ast.dump(second):
            yield "swapped arguments", _with(node, args=[second, first, *rest])


def _slices(node: ast.Slice) -> Iterator[tuple[str, ast.AST]]:
    for side in ("lower", "upper"):
        end = getattr(node, side)
        if end is not None and not isinstance(end, ast.Constant):
            one_more = ast.BinOp(end, ast.Add(), ast.Constant(1))
            yield "slice", _with(node, **{side: one_more})


def _called(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
