"""What `bench/house.py` measures is there where it was planted, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from parts.house_figure import figure
from parts.ruler import File, House

PASTED = '''"""One subject."""

SIZE = 3
# A comment on the line below,
# which is not another subject.
TOTAL: int = SIZE


def first(one: int) -> int:
    known = one + SIZE
    return known


# Another subject, which was
# the docstring of a file
# of its own.

LATE = 4


class Cell:
    """A cell."""
'''
PLAN = 'FLOORS = {"core": 0, "audit": 1}\n'


def house(folder: Path) -> House:
    """A checkout of two rooms and a leaf, where `core` names the room above it in a string."""
    texts = {
        "src/claimlab/__init__.py": "",
        "src/claimlab/core/cells.py": "HOME = 'claimlab.audit.checks'\n\n\nclass Cell: ...\n",
        "src/claimlab/audit/checks.py": f"from claimlab.core.cells import Cell as Base\n{PASTED}",
        "simulate/src/claimlab_simulate/__init__.py": "",
        "simulate/src/claimlab_simulate/evolve/run.py": "from claimlab.audit import checks\n",
        "tests/house/test_direction.py": PLAN,
    }
    for place, text in texts.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")
    return House(folder)


def test_what_was_planted_in_a_file_is_found() -> None:
    file = File("claimlab", "audit/checks.py", PASTED)
    assert file.room == "audit"
    assert [PASTED.splitlines()[at - 1] for at in file.late_constants()] == ["LATE = 4"]
    assert [PASTED.splitlines()[at - 1] for at in file.free_comments()] == [
        "# Another subject, which was"
    ]
    assert file.vague_names() == {"one": 1, "known": 1}


def test_a_table_of_the_functions_above_it_cannot_stand_higher() -> None:
    table = "TABLE = {'first': first}\nNAMES = tuple(TABLE)\nLIMIT = 4\n"
    file = File("claimlab", "audit/checks.py", f"def first(): ...\n\n\n{table}")
    assert file.late_constants() == [4, 5, 6]
    assert file.movable_constants() == [6]


def test_arrows_between_rooms_are_counted_and_those_that_only_a_string_has(tmp_path: Path) -> None:
    checkout = house(tmp_path)
    assert checkout.arrows() == {("audit", "core"): 1, ("evolve", "audit"): 1}
    assert checkout.upward() == {("core", "audit"): 1}
    assert checkout.classes_in_two_rooms() == {"Cell": ["audit", "core"]}
    assert checkout.tokens()["claimlab_simulate", "evolve"] == 6


def test_the_figure_has_every_room_and_says_what_it_shows(tmp_path: Path) -> None:
    drawn = ElementTree.fromstring(figure(house(tmp_path), "A small house"))
    words = {text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert {"core", "audit", "evolve", "leaves", "floor 0", "A small house"} <= words
