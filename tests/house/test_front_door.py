from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from manual.stub import PACKAGES as stubs
from manual.stub import stub
from parts.packages import PACKAGES

import claimlab as cl

FUNCTIONS = [
    name for name in cl.__all__ if name != "cost_of" and inspect.isfunction(getattr(cl, name))
]


def test_three_lines_of_python(tmp_path: Path) -> None:
    from parts.planted import clean_twin

    findings = cl.audit(clean_twin(size=150), checks=["one-class", "length"])
    findings.save(tmp_path / "report")
    assert (tmp_path / "report" / "index.html").is_file()
    assert findings.counts()["fail"] == 0


def test_a_function_keeps_its_name_whichever_package_was_imported_first() -> None:
    code = (
        "import claimlab as cl, claimlab.audit.run, claimlab.split.run; "
        "from claimlab.audit.front import audit; assert cl.audit is audit; "
        "import inspect; assert inspect.isfunction(cl.split) and 'data' in inspect.signature(cl.split).parameters"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_promised_name_exists() -> None:
    for name in cl.__all__:
        assert getattr(cl, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        cl.nonsense  # noqa: B018


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_argument_that_is_not_known_is_refused(name: str) -> None:
    function = getattr(cl, name)
    parameters = inspect.signature(function).parameters.values()
    required = [
        one for one in parameters if one.default is one.empty and one.kind < one.VAR_POSITIONAL
    ]
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        function(*["none"] * len(required), nonsense=1)


def test_the_stubs_are_what_the_entry_points_say() -> None:
    for package in PACKAGES:
        assert stubs[package].read_text(encoding="utf-8") == stub(package), "make docs writes them"


def test_importing_costs_little() -> None:
    code = "import sys, claimlab; heavy = {'polars', 'numpy', 'sklearn', 'pydantic'} & set(sys.modules); assert not heavy, heavy"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_no_verb_of_a_plain_study_waits_for_scikit_learn(tmp_path: Path) -> None:
    """Its import takes longer than the rest of a small audit."""
    code = (
        "import sys, claimlab as cl; from claimlab.core.demo import planted; "
        "data, _ = planted(); cl.audit(data, output='audit'); "
        "run = cl.detect(cl.split(data, by='near-duplicates').dataset, 'tfidf'); cl.evaluate(run); "
        "heavy = {'sklearn', 'scipy.stats', 'scipy.optimize', 'scipy.linalg'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
