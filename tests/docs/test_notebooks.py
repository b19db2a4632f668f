"""The notebooks show what they would show now, and every public result can be shown in one."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import polars as pl
import pytest
from manual.notebooks import as_markdown, executed, read

import claimlab as cl
from claimlab.audit.result import Audit
from claimlab.core.shown import Shown
from claimlab.pages.blocks import Table
from claimlab.study.plan import GridCell

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "docs" / "notebooks").glob("*.ipynb"))
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
HOSTILE = '<script>alert("x")</script>'


def shown(notebook: dict[str, Any]) -> list[str]:
    return [
        json.dumps(cell.get("outputs", cell["source"]), sort_keys=True)
        for cell in notebook["cells"]
    ]


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_names_no_place_of_the_machine_that_ran_it(file: Path) -> None:
    """The demo's data come with the package: where that lies is nobody's business."""
    outputs = " ".join(shown(read(file)))
    assert not re.findall(r"(?:/[\w.-]+)+/claimlab/[\w/.-]+", outputs)


@pytest.mark.slow  # each starts a kernel
@pytest.mark.needs("nbclient", "ipykernel")
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_shows_what_it_holds(file: Path) -> None:
    """Words exactly, numbers to a hundredth: the last digits of a fit differ between machines."""
    known = read(file)
    for before, now in zip(shown(known), shown(executed(known)), strict=True):
        assert NUMBER.sub("#", now) == NUMBER.sub("#", before)
        numbers = [[float(n) for n in NUMBER.findall(text)] for text in (now, before)]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-2, abs=1e-2)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_is_small_and_names_no_machine(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert len(text) < 60_000
    assert not re.search(r"/tmp/|/home/|/root/|\\Users", text)
    assert [cell["id"] for cell in read(file)["cells"]] == [
        f"cell-{i}" for i in range(len(read(file)["cells"]))
    ]
    page = as_markdown(read(file))
    assert page.startswith("# ")
    assert page.count("```python") == sum(
        cell["cell_type"] == "code" for cell in read(file)["cells"]
    )


def test_there_are_three() -> None:
    assert [file.stem for file in NOTEBOOKS] == ["audit", "evaluate", "evolve"]


def classes_in(hint: Any) -> Iterator[type]:
    if inspect.isclass(hint) and not get_args(hint):
        yield hint
    for part in get_args(hint):
        yield from classes_in(part)


def results() -> set[type]:
    functions = [f for name in cl.__all__ if inspect.isfunction(f := getattr(cl, name))]
    hints = [get_type_hints(function).get("return") for function in functions]
    return {c for hint in hints for c in classes_in(hint)} - {
        type(None),
        str,
        Path,
        GridCell,
        Any,
    }  # an estimate is plain JSON


@pytest.mark.parametrize(
    "result", sorted(results(), key=lambda c: c.__name__), ids=lambda c: c.__name__
)
def test_every_public_result_has_an_html_view(result: type) -> None:
    view = getattr(result, "_repr_html_", None)
    ours = (Shown._repr_html_, cl.Dataset._repr_html_, Table._repr_html_, Audit._repr_html_)
    assert view in ours, "each of these is tested, here or in tests/audit"


class Odd(Shown):
    @property
    def table(self) -> pl.DataFrame:
        return pl.DataFrame({HOSTILE: [HOSTILE]})

    def headline(self) -> str:
        return HOSTILE


def test_hostile_text_is_escaped_in_every_view() -> None:
    data = cl.Dataset.build(HOSTILE, pl.DataFrame({"id": [HOSTILE], "text": [HOSTILE]}))
    for view in (Odd(), data, Table([HOSTILE], [[HOSTILE]])):
        html = view._repr_html_()
        assert "<script" not in html
        assert "&lt;script" in html
