"""The shape of the source: a token budget for each room, functions that fit in a head, no empty room.

`budget.toml` only goes down. A new capability raises it in its own commit, with the reason.
"""

from __future__ import annotations

import inspect
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from parts import ruler
from typer.main import get_command

import claimlab as cl
from claimlab.cli.app import app

HERE = Path(__file__).parent
BUDGET = tomllib.loads((HERE / "budget.toml").read_text(encoding="utf-8"))
MOST_BRANCHES = 15
MOST_PARAMETERS = 8


@pytest.fixture(scope="module")
def counts() -> Counter[str]:
    return ruler.tokens_by_room()


@pytest.fixture(scope="module")
def measured() -> list[ruler.Measured]:
    return [found for file, text in ruler.sources() for found in ruler.functions(file, text)]


def test_every_room_keeps_its_budget(counts: Counter[str]) -> None:
    assert {name: n for name, n in counts.items() if n > BUDGET["tokens"].get(name, 0)} == {}


def test_no_budget_is_left_for_a_room_that_is_gone(counts: Counter[str]) -> None:
    assert set(BUDGET["tokens"]) <= set(counts)


def test_hardly_any_function_is_too_complex(measured: list[ruler.Measured]) -> None:
    over = [found for found in measured if found.complexity > MOST_BRANCHES]
    assert len(over) <= BUDGET["most"]["functions_over_15_branches"], over


def test_only_front_doors_take_many_parameters(measured: list[ruler.Measured]) -> None:
    over = [found for found in measured if found.parameters > MOST_PARAMETERS]
    assert len(over) <= BUDGET["most"]["functions_over_8_parameters"], over


def test_there_is_hardly_any_any() -> None:
    texts = [text for _, text in ruler.sources() if "Any" in text]
    count = sum(ruler.tokens(text).count("Any") for text in texts)
    assert count <= BUDGET["most"]["any"]


def test_no_source_is_kept_from_the_formatter() -> None:
    skipped = [
        file for file, text in ruler.sources() for line in text.splitlines() if "# fmt:" in line
    ]
    assert len(skipped) <= BUDGET["most"]["fmt_skip"], skipped


def options_of(command: Any) -> Iterator[str]:
    """The options of a command and of those below it, without --help."""
    for one in command.params:
        if one.param_type_name == "option" and one.name != "help":
            yield f"{command.name} {one.opts[0]}"
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from options_of(command.get_command(None, name))


def test_the_command_line_gets_no_more_options() -> None:
    options = list(options_of(get_command(app)))
    assert "audit --check" in options
    assert len(options) <= BUDGET["most"]["options"]


def test_the_public_functions_get_no_more_parameters() -> None:
    public = [getattr(cl, name) for name in cl.__all__]
    functions = [one for one in public if inspect.isfunction(one)]
    parameters = sum(len(inspect.signature(one).parameters) for one in functions)
    assert len(functions) <= BUDGET["most"]["public_functions"]
    assert parameters <= BUDGET["most"]["public_parameters"]


def test_a_planted_complex_function_is_seen() -> None:
    text = "def f(a, b):\n" + "    if a and b: pass\n" * MOST_BRANCHES
    assert list(ruler.functions("x.py", text)) == [
        ruler.Measured("x.py", "f", 1 + 2 * MOST_BRANCHES, 2)
    ]


def test_packing_lines_changes_no_count() -> None:
    packed = '"""About."""\na, b = 1, 2; c = [x for x in (a, b) if x]  # why\n'
    spread = '"""About\nit."""\n\na, b = 1, 2\nc = [\n    x\n    for x in (a, b)\n    if x\n]\n'
    assert len(ruler.tokens(packed)) - 1 == len(ruler.tokens(spread))  # the semicolon


def test_no_package_is_empty() -> None:
    root = ruler.SOURCE
    folders = {file.parent for file in root.rglob("__init__.py")}
    files = [p for p in root.rglob("*") if p.is_file() and p.suffix != ".pyc"]
    inhabited = {p.parent for p in files if p.name != "__init__.py"}
    inhabited |= {parent for folder in inhabited for parent in folder.parents}
    assert sorted(str(folder.relative_to(root)) for folder in folders - inhabited) == []
