"""Every verb that writes has a twin in Python: the same input and options give the same bytes.

A new verb is one more line in TWINS: its command, and the call that does the same.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import claimlab as cl
from claimlab.cli.app import run
from claimlab.cli.lazy import verb_names
from claimlab.generate.planted import planted

WITHOUT_OUTPUT = {"demo", "llm"}  # a tour of the others, and settings
MISSING = {
    "audit",
    "catalog",
    "detect",
    "enrich",
    "evaluate",
    "evolve",
    "export",
    "import",
    "judge",
    "labels",
    "load",
    "report",
}


@dataclass(frozen=True)
class Twin:
    """`command` with {data} for a dataset folder with a split, and {out}; `call` takes the same two."""

    command: str
    call: Callable[[Path, Path], object]


TWINS = [
    Twin("clean {data} -o {out} --limit 150", lambda data, out: cl.clean(data, output=out, limit=150)),
    Twin("split {data} -o {out} --by random", lambda data, out: cl.split(data, "random", output=out)),
    Twin(
        "split {data} -o {out} --by language --hold-out por --seed 3 --limit 200",
        lambda data, out: cl.split(data, "language", hold_out="por", seed=3, limit=200, output=out),
    ),
    Twin("split {data} -o {out} --by language --all", lambda data, out: cl.split_all(data, "language", output=out)),
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("twins") / "data"
    cl.split(planted(size=240)[0], output=folder)
    return folder


def files_in(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.command)
def test_the_verb_and_the_function_write_the_same_bytes(twin: Twin, data: Path, tmp_path: Path) -> None:
    by_verb, by_function = tmp_path / "verb" / "out", tmp_path / "function" / "out"
    by_function.parent.mkdir()
    assert run(twin.command.format(data=data, out=by_verb).split()) == 0
    twin.call(data, by_function)
    written = files_in(by_verb)
    assert written
    assert written == files_in(by_function)
    assert not list(tmp_path.rglob("*.work")), "nothing is left beside the output"


def test_every_verb_that_writes_has_a_twin() -> None:
    twins = {twin.command.split()[0] for twin in TWINS}
    assert twins == set(verb_names()) - WITHOUT_OUTPUT - MISSING


@pytest.mark.parametrize("name", sorted({"clean", "split", "split_all"}))
def test_every_function_says_what_it_takes(name: str) -> None:
    function = getattr(cl, name)
    parameters = inspect.signature(function).parameters.values()
    assert inspect.getdoc(function)
    assert not [p for p in parameters if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    assert not [p.name for p in parameters if p.annotation in (p.empty, "Any")]
