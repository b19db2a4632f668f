"""An audit as an assertion in somebody else's tests."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest
from parts.planted import clean_twin, planted

from claimlab.audit.guard import assert_audit, strict
from claimlab.audit.result import Audit
from claimlab.core.errors import UsageError
from claimlab.core.finding import Finding

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
    with pytest.raises(AssertionError, match="source: fail\\. ") as error:
        assert_audit(folders / "planted", checks=["source", "length"])
    assert str(error.value).endswith("To accept these: allow=['source=fail', 'length=fail']")
    for allow in (["source=fail", "length=fail"], ["source", "length"]):
        assert assert_audit(folders / "planted", checks=["source", "length"], allow=allow).records


def test_what_was_not_measured_is_no_pass(folders: Path) -> None:
    with pytest.raises(
        AssertionError, match="evidence: not measured\\. The records have no evidence"
    ):
        assert_audit(folders / "clean", checks=["length", "evidence"])
    allowed = assert_audit(
        folders / "clean", checks=["length", "evidence"], allow=["evidence=not-measured"]
    )
    assert allowed.counts()["not-measured"] == 1
    with pytest.raises(
        AssertionError, match="source: fail"
    ):  # another verdict of the same check is not covered
        assert_audit(folders / "planted", checks=["source"], allow=["source=not-measured"])


def test_inconclusive_is_no_pass() -> None:
    unsure = Finding(
        check="length", protocol="fair", verdict="inconclusive", why="Too few rows to tell."
    )
    result = Audit("d", "0", "fair", "veracity", 0, 10, 10, [unsure])
    assert strict([result]).lines() == ["length: inconclusive. Too few rows to tell."]
    assert strict([result], ["length=inconclusive"]).lines() == []


def test_what_was_not_measured_inside_another_finding_is_no_pass() -> None:
    """One fact is one finding: the publisher was measured by `balance` only."""
    inner = Finding(
        check="source", protocol="fair", verdict="not-measured", why="Few records have one."
    )
    outer = Finding(
        check="balance", protocol="fair", verdict="pass", why="It is even.", others=[inner]
    )
    assert strict([Audit("d", "0", "fair", "veracity", 0, 10, 10, [outer])]).options == [
        "source=not-measured"
    ]


def test_an_exception_that_is_not_needed_fails(folders: Path) -> None:
    with pytest.raises(
        AssertionError, match="'length' is allowed, but does not occur: take it out"
    ):
        assert_audit(folders / "clean", checks=["length"], allow=["length"])
    with pytest.raises(
        AssertionError, match="There is no check named 'lenght'. Did you mean 'length'?"
    ):
        assert_audit(folders / "clean", checks=["length"], allow=["lenght"])
    with pytest.raises(UsageError, match="'pass' needs no exception"):
        strict([], ["length=pass"])


def test_the_plug_in_gives_the_fixture(folders: Path, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        f"""
        def test_fair(assert_audit):
            assert_audit({str(folders / "clean")!r}, checks=["length"])

        def test_unfair(assert_audit):
            assert_audit({str(folders / "planted")!r}, checks=["source"])

        def test_outlived(assert_audit):
            assert_audit({str(folders / "clean")!r}, checks=["length"], allow=["length"])
        """
    )
    # Where claimlab was installed before it had the plug-in, pytest does not know of it.
    known = any(e.value == "claimlab.audit.pytest_plugin" for e in entry_points(group="pytest11"))
    result = pytester.runpytest_inprocess(
        *([] if known else ["-p", "claimlab.audit.pytest_plugin"])
    )
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        ["*The audit of * fails:*", "*'length' is allowed, but does not occur*"]
    )
    assert "guard.py" not in result.stdout.str(), "a failure shows the line of the test, not ours"
