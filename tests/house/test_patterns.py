"""Every pattern of the source that Python's engine runs takes time that grows with the length of a
text, not with its square: a message that somebody wrote for the purpose must not hold up a run for
minutes.

Patterns are found in the syntax tree, and met with texts made of their own parse tree: each of
their pieces, repeated, before a character that makes the match fail.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from parts.packages import module_files
from parts.source import tree_of

from claimlab.enrich.decoration import plain
from claimlab.search.dates import _ages

SEARCHES = ("search", "sub", "subn", "split", "findall", "finditer")
SHORT = {"claimlab.text.details:_START": 3}  # characters of the texts that it is asked about
CALLS = ("compile", "match", "fullmatch", *SEARCHES)
SIZE = 4_000  # characters
QUICK = 0.0015  # CPU seconds at this size: the square of it takes longer, however simple the step
TIMES = 4  # as much text
GROWTH = 9.0  # times as long for it, at most: 4 is linear, 16 the square; a busy machine doubles
FEW = 3  # times that a repeat takes no time that counts
ALIKE = 12  # words of a list that are tried: a list of hundreds is as slow as a list of these
CLEARED = 5.0  # a share of squares that is 9 times as long at four times SIZE is 5.8 up to SIZE
ROUND, ROUNDS = 3, 3  # measurements; a square is one in every round
TAILS = ("", "!", "\n", "\x00", "é")
# they read what comes with claimlab or what it has written itself, never a text of somebody else
OWN = {
    "claimlab.catalog.views": "the cards of the catalogue",
    "claimlab.core.extras": "the metadata of the installed package",
    "claimlab.pages.blocks": "charts, in which < is escaped",
    "claimlab.pages.charts": "charts, in which < is escaped",
    "claimlab.pages.scatter": "charts, in which < is escaped",
    "claimlab.text.repair": "the patterns of ftfy",
}


@dataclass(frozen=True)
class Found:
    """A pattern, where it is, and how it is used: `match` and `fullmatch` look at one place, all
    else at each.
    """

    place: str
    pattern: re.Pattern[str]
    how: str

    def run(self, text: str) -> Callable[[], object]:
        if self.how == "search":
            return lambda: self.pattern.sub("", text)
        return lambda: getattr(self.pattern, self.how)(text)


def modules() -> Iterator[tuple[str, ast.Module]]:
    for name, file in module_files():
        yield name, tree_of(file)


def uses(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """How each name is used: `_TAG.sub(...)` is a use of `_TAG` by `sub`."""
    used: dict[str, set[str]] = {}
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                used.setdefault(node.value.id, set()).add(node.attr)
    return used


def found(trees: dict[str, ast.Module]) -> tuple[list[Found], list[str]]:
    """Every pattern, and the places of those that are made at run time."""
    used, patterns, made = uses(trees), [], []
    for name, tree in trees.items():
        names = {id(n.value): n.targets[0].id for n in ast.walk(tree) if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)}  # fmt: skip
        for node in ast.walk(tree):
            if not (
                isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args
            ):
                continue
            if not (
                isinstance(node.func.value, ast.Name)
                and node.func.value.id == "re"
                and node.func.attr in CALLS
            ):
                continue
            place = f"{name}:{names.get(id(node), node.lineno)}"
            try:
                pattern = _compiled(node, name)
            except NameError:
                made.append(f"{name} {ast.unparse(node.args[0])}")
                continue
            if isinstance(pattern.pattern, str):
                patterns += [Found(place, pattern, how) for how in sorted(_ways(node, names, used))]
    return patterns, made


def _ways(node: ast.Call, names: dict[int, str], used: dict[str, set[str]]) -> set[str]:
    assert isinstance(node.func, ast.Attribute)
    ways = (
        {node.func.attr}
        if node.func.attr != "compile"
        else used.get(names.get(id(node), ""), set()) & {*CALLS}
    )
    return {"search" if way in SEARCHES else way for way in ways} or {"search"}


def _compiled(node: ast.Call, name: str) -> re.Pattern[Any]:
    """The pattern of a call, with the flags that it names; NameError where it is made of what a
    function knows.
    """
    known = vars(importlib.import_module(name))
    at = {"match": 2, "fullmatch": 2, "search": 2, "findall": 2, "finditer": 2, "compile": 1}.get(
        str(getattr(node.func, "attr", "")), 9
    )
    flags = [k.value for k in node.keywords if k.arg == "flags"] + node.args[at : at + 1]
    values = [
        eval(compile(ast.Expression(one), name, "eval"), known) for one in (node.args[0], *flags)
    ]
    return values[0] if isinstance(values[0], re.Pattern) else re.compile(*values)


def example(tree: Any, groups: dict[int, str]) -> str:
    """A short text that the parse tree, or a part of it, matches."""
    text = ""
    for code, argument in tree:
        text += _of_one(code, argument, groups)
    return text


def _of_one(code: Any, argument: Any, groups: dict[int, str]) -> str:
    if code is codes.LITERAL:
        return chr(argument)
    if code in (codes.NOT_LITERAL, codes.IN, codes.ANY, codes.CATEGORY):
        return _character(code, argument)
    if code is codes.BRANCH:
        return example(argument[1][0], groups)
    if code is codes.SUBPATTERN:
        groups[argument[0]] = example(argument[-1], groups)
        return groups[argument[0]]
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return example(argument[2], groups) * max(argument[0], 1 if argument[1] else 0)
    if code is codes.ATOMIC_GROUP:
        return example(argument, groups)
    if code is codes.GROUPREF:
        return groups.get(argument, "")
    return ""


def _character(code: Any, argument: Any) -> str:
    """A character of a class: a plain one where there is one."""
    tree = parser.SubPattern(parser.State())
    tree.append((code, argument))
    one = _matcher(tree)
    inside = [chr(c) for c in range(32, 127)] + [
        "\n",
        "\t",
        "é",
        "…",
        "’",
        "–",
        "你",
        "ا",
        "😀",
        "\u200d",
        "\ufe0f",
        "\u2190",
    ]
    members = [chr(a) if isinstance(a, int) else chr(a[0]) for c, a in argument if c in (codes.LITERAL, codes.RANGE)] if code is codes.IN else []  # fmt: skip
    order = ["a", "A", "1", " ", *members, *inside]
    return next((c for c in order if one(c)), "a")


def _matcher(tree: Any) -> Callable[[str], bool]:
    from re import _compiler as compiler  # type: ignore[attr-defined]

    tree.state.str = ""
    pattern = compiler.compile(tree)
    return lambda character: pattern.fullmatch(character) is not None


def repeats(tree: Any) -> bool:
    """Whether anything in it is repeated more than a few times: if not, it takes as long as it has
    characters.
    """
    for code, argument in tree:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            if argument[1] > FEW or repeats(argument[2]):
                return True
        elif code is codes.BRANCH:
            if any(map(repeats, argument[1])):
                return True
        elif code in (codes.SUBPATTERN, codes.ASSERT, codes.ASSERT_NOT):
            if repeats(argument[-1]):
                return True
        elif code is codes.ATOMIC_GROUP and repeats(argument):
            return True
    return False


def pieces(tree: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """What a text may be made of to try a pattern: the beginning up to a repeat, and what it
    repeats; and so inside.
    """
    for code, argument in tree:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            body = example(argument[2], {})
            if argument[1] > FEW:
                yield before, body
                yield "", body
                yield "", before + body
            yield from pieces(argument[2], before)
        elif code is codes.BRANCH:
            plain = [branch for branch in argument[1] if not repeats(branch)]
            for branch in [b for b in argument[1] if repeats(b)] + plain[:ALIKE]:
                yield "", example(branch, {})
                yield from pieces(branch, before)
        elif code is codes.SUBPATTERN:
            yield from pieces(argument[-1], before)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from pieces(argument[1], before)
        elif code is codes.ATOMIC_GROUP:
            yield from pieces(argument, before)
        before += _of_one(code, argument, {})
    yield "", before


def texts(pattern: re.Pattern[str], size: int) -> Iterator[str]:
    tree = parser.parse(pattern.pattern, pattern.flags)
    own = {(first, body) for first, body in pieces(tree) if body}
    singles = sorted(
        {body for _, body in own if len(body) < 8}, key=lambda body: (len(body), body)
    )[:6]
    own |= {("", piece) for piece in (" ", "a", "1", "\n", "a ")}
    mixed = {("", a + b) for a in singles for b in singles if a != b}
    begun = {
        (first, body)
        for first in sorted({first for first, _ in own})[:6]
        for body in ("A", *singles[:4])
    }
    for first, body in sorted(own | mixed | begun):
        for tail in TAILS if (first, body) in own else TAILS[1:2]:
            yield first + body * (size // len(body)) + tail


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def slow(one: Found) -> str | None:
    """The text that takes too long, in words; null where none does. Most patterns are cleared by a
    quarter of the text: what grows no faster up to there grows by less than GROWTH from there. A
    square that shows at a quarter of SIZE is not measured at SIZE, where it takes 16 times as long.
    """
    for size in (SIZE // 10, SIZE // 4, SIZE):
        sizes = (size // TIMES, size, TIMES * size)
        for tiny, short, long in zip(*(texts(one.pattern, n) for n in sizes), strict=True):
            first = seconds(one.run(short))
            if first < QUICK or first < CLEARED * least(one, tiny):
                continue
            for _ in range(ROUNDS):
                first = least(one, short)
                more = seconds(one.run(long))  # a busy machine makes this longer, never shorter
                if first < QUICK or more < GROWTH * first:
                    break
            else:
                return f"{one.place} {one.how} {short[:20]!r}…{short[-3:]!r} takes {first:.3f} s, {TIMES} times that {more:.3f} s"
    return None


def least(one: Found, text: str) -> float:
    return min(seconds(one.run(text)) for _ in range(ROUND))


def short(one: Found) -> bool:
    """Whether the pattern only ever meets texts of a few characters, and is quick on these."""
    most = SHORT.get(one.place)
    return most is not None and all(
        seconds(one.run(text[:most])) < QUICK for text in texts(one.pattern, SIZE)
    )


@pytest.mark.slow
def test_no_pattern_takes_the_square_of_a_text() -> None:
    patterns, _ = found({name: tree for name, tree in modules() if name not in OWN})
    assert len(patterns) > 150
    assert [words for one in patterns if not short(one) and (words := slow(one)) is not None] == []


AT_WORK = """
import json, re, sys
from parts.planted import planted
made, known = set(), re._compile
def noted(pattern, flags):
    if sys._getframe(2).f_globals["__name__"].startswith(("claimlab.", "claimlab_simulate.")) and isinstance(pattern, str):
        made.add((pattern, int(flags)))
    return known(pattern, flags)
re._compile = noted
from claimlab_simulate.evolve.front import evolve
evolve(planted(size=120)[0], steps=6, limit=60)
print(json.dumps(sorted(made)))
"""


@pytest.mark.slow
@pytest.mark.leaf
def test_no_pattern_that_is_made_at_run_time_does() -> None:
    """Those of lists of words: met while claims are rewritten, in a process of its own, in which
    none is made yet.
    """
    from claimlab_simulate.generate.filter.thresholds import read_table

    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", AT_WORK], capture_output=True, text=True, check=True, env=env
    )
    made = {
        (str(pattern), int(flags)) for pattern, flags in json.loads(run.stdout.splitlines()[-1])
    }
    made |= {
        (pattern, int(re.IGNORECASE)) for pattern in read_table(None)["structure"]["leftovers"]
    }
    fixed = {one.pattern.pattern for one in found(dict(modules()))[0]}
    patterns = [
        Found(pattern[:60], re.compile(pattern, flags), "search") for pattern, flags in sorted(made)
    ]
    patterns = [one for one in patterns if one.pattern.pattern not in fixed]
    assert len(patterns) > 5
    assert [words for one in patterns if (words := slow(one)) is not None] == []
    assert slow(Found("ages", _ages().phrase, "fullmatch")) is None


def test_patterns_are_found_wherever_they_are() -> None:
    text = """
import re
_A = re.compile(r"a+$", re.I)
def f(x, y):
    _A.sub("", x)
    return re.split("b", x), re.search(y, x)
"""
    patterns, made = found({"json.decoder": ast.parse(text)})
    assert [(one.pattern.pattern, one.how) for one in patterns] == [
        ("a+$", "search"),
        ("b", "search"),
    ]
    assert patterns[0].pattern.flags & re.IGNORECASE
    assert made == ["json.decoder y"]


SQUARES = {
    "tags at the end of a message": r"(?:\s*(?:\bvia\s+)?[#@]\w+)+\s*$",
    "whitespace at the end": r"\s+$",
    "digits before a sign": r"\d+%",
    "two runs of the same": r"^\s*(?:x)?\s*!",
    "words with capitals": r"^- (?:[A-Z][\w.]*\s?){1,2}$",
    "brackets": r"\(.*\)",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SQUARES)
def test_a_planted_square_is_seen(name: str) -> None:
    assert slow(
        Found("here", re.compile(SQUARES[name], re.IGNORECASE * name.startswith("tags")), "search")
    )


def test_many_tags_at_the_end_cost_what_their_number_says() -> None:
    """16,000 characters took eleven seconds when a pattern looked for them."""
    text = "@a " * 33_000
    assert seconds(lambda: plain(text + "!")) < 2.0
    assert plain(f"The mill burnt. {text}via @velmore") == "The mill burnt."
