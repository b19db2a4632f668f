"""An audit as an assertion in somebody else's tests."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

from claimlab.audit.guard import assert_audit
from claimlab.core.errors import UsageError
from claimlab.generate.planted import clean_twin, planted

pytest_plugins = ["pytester"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guard")
    planted()[0].write(folder / "planted")
    clean_twin().write(folder / "clean")
    return folder


def test_a_clean_dataset_passes(folders: Path) -> None:
    assert assert_audit(folders / "clean", checks=["length", "source"]).records


def test_a_shortcut_fails_with_its_sentence_unless_it_is_allowed(folders: Path) -> None:
    with pytest.raises(AssertionError, match="source: ") as error:
        assert_audit(folders / "planted", checks=["source", "length"])
    named = [line.split(":")[0] for line in str(error.value).splitlines()[1:]]
    assert assert_audit(folders / "planted", checks=["source", "length"], allow=sorted(set(named))).records


def test_an_exception_that_is_not_needed_is_an_error(folders: Path) -> None:
    with pytest.raises(UsageError, match="'length' is allowed to fail, but does not"):
        assert_audit(folders / "clean", checks=["length"], allow=["length"])


def test_the_plug_in_gives_the_fixture(folders: Path, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        f"""
        def test_fair(assert_audit):
            assert_audit({str(folders / "clean")!r}, checks=["length"])

        def test_unfair(assert_audit):
            assert_audit({str(folders / "planted")!r}, checks=["source"])
        """
    )
    # Where claimlab was installed before it had the plug-in, pytest does not know of it.
    known = any(e.value == "claimlab.audit.pytest_plugin" for e in entry_points(group="pytest11"))
    result = pytester.runpytest_inprocess(*([] if known else ["-p", "claimlab.audit.pytest_plugin"]))
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*The audit of * fails:*"])
