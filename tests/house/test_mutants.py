"""`make mutants` puts in the faults that it names, one at a time, and sees whether a test does."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from parts.mutant_tests import SOURCE, Recorder, in_child, put_in, run_tests
from parts.mutations import Mutation, mutated, mutations

from claimlab.core import words

SAMPLE = '''
"""A file."""
LIMIT = 30


def count(low: int, high: int, values: list[int]) -> int:
    """How many are between."""
    if not values:
        return 0
    inside = [v for v in sorted(values) if v < LIMIT and low <= v < high]
    if len(inside) > 2:
        raise ValueError(f"{1 + 1} too many")
    return len(inside[low:]) + max(low, high) - (1 if low else 2)
'''


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    (tmp_path / "sample.py").write_text(SAMPLE, encoding="utf-8")
    return tmp_path / "sample.py"


def test_every_fault_is_named(sample: Path) -> None:
    found = {(one.operator, one.before, one.after) for one in mutations(sample, "sample.py")}
    assert {
        ("dropped not", "not values", "values"),
        ("comparison", "v < LIMIT and low <= v < high", "v <= LIMIT and low <= v < high"),
        ("boolean", "v < LIMIT and low <= v < high", "v < LIMIT or low <= v < high"),
        ("slice", "inside[low:]", "inside[low + 1:]"),
        ("neighbour", "low:", "high:"),
    } - found == set()
    assert {operator for operator, *_ in found} == {
        "arithmetic", "boolean", "comparison", "constant", "dropped not", "exchanged branches",
        "exchanged call", "neighbour", "removed call", "removed guard", "slice",
        "swapped arguments",
    }  # fmt: skip
    assert all("too many" not in before for _, before, _ in found), "what is raised is left alone"


def test_each_fault_is_one_change_that_compiles(sample: Path) -> None:
    whole = ast.unparse(ast.parse(SAMPLE)).splitlines()
    for mutation in mutations(sample, "sample.py"):
        tree = mutated(sample, mutation.number)
        compile(tree, "sample", "exec")
        lines = ast.unparse(tree).splitlines()
        changed = sum(a != b for a, b in zip(whole, lines, strict=False))
        assert changed == 1 or mutation.operator in {"removed call"}, mutation


def of(function: str, operator: str) -> Mutation:
    found = mutations(SOURCE / "core/words.py", "core/words.py")
    return next(one for one in found if (one.function, one.operator) == (function, operator))


def test_a_fault_is_in_the_child_alone() -> None:
    mutation = of("several", "comparison")

    def said() -> str:
        put_in(mutation)
        return words.several(2, "record")

    assert in_child(said, 30) == "2 record"
    assert words.several(2, "record") == "2 records"


def test_a_child_that_never_ends_is_ended() -> None:
    def forever() -> None:
        while True:
            pass

    assert in_child(forever, 1) is None


def test_what_a_test_calls_is_recorded_for_each(tmp_path: Path) -> None:
    """In fixtures too, and in the first test of a file as in the last."""
    (tmp_path / "test_words.py").write_text(
        """
import pytest
from claimlab.core.words import several, several_of, verb

@pytest.fixture(scope="module")
def one():
    return verb(1)

def test_first(one):
    assert several_of(1, 2, "record") == "1 of 2 records"

def test_second():
    assert several(1, "record") == "1 record"
""",
        encoding="utf-8",
    )

    def calls() -> dict[str, list[str]]:
        recorder = Recorder()
        run_tests([str(tmp_path / "test_words.py")], recorder, tmp_path / "tmp")
        found: dict[str, list[str]] = recorder.to_json()["calls"]
        return {test.split("::")[-1]: names for test, names in found.items()}

    seen = in_child(calls, 60)
    ours = {test: [name for name in names if "words.py" in name] for test, names in seen.items()}
    words_of = "core/words.py:"
    assert ours == {
        "test_first": [f"{words_of}several", f"{words_of}several_of", f"{words_of}verb"],
        "test_second": [f"{words_of}several"],
    }
