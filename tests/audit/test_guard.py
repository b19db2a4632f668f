"""An audit as an assertion in somebody else's tests."""

from __future__ import annotations

import re
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
    words = re.search(r"allow=\['source=([\d.]+)', 'length=([\d.]+)'\]$", str(error.value))
    assert words is not None
    figures = [f"source={words[1]}", f"length={words[2]}"]
    for allow in (figures, ["source=fail", "length=fail"], ["source", "length"]):
        assert assert_audit(folders / "planted", checks=["source", "length"], allow=allow).records


def test_a_fail_is_allowed_up_to_its_amount() -> None:
    def leaking(share: float) -> Audit:
        found = Finding(
            check="near-duplicates",
            protocol="fair",
            verdict="fail",
            why="Planted.",
            details={"share": share},
        )
        return Audit("d", "0", "fair", "veracity", 0, 10, 10, [found])

    assert strict([leaking(0.0249)]).options == ["near-duplicates=2.5"]
    assert strict([leaking(0.0249)], ["near-duplicates=2.5"]).lines() == []
    assert len(strict([leaking(0.375)], ["near-duplicates=2.5"]).refused) == 1
    assert strict([leaking(0.375)], ["near-duplicates=37.5%"]).lines() == []


def test_what_was_not_measured_is_no_pass(folders: Path) -> None:
    few = {"checks": ["length", "source"], "limit": 20}
    with pytest.raises(AssertionError, match="length: not measured\\. Class "):
        assert_audit(folders / "clean", **few)
    allowed = assert_audit(folders / "clean", **few, allow=["length=not-measured", "source"])
    assert allowed.counts()["not-measured"] == 2
    with pytest.raises(
        AssertionError, match="source: fail"
    ):  # another verdict of the same check is not covered
        assert_audit(folders / "planted", checks=["source"], allow=["source=not-measured"])


def test_a_column_that_is_not_there_is_no_objection(folders: Path) -> None:
    audited = assert_audit(folders / "clean", checks=["length", "evidence"])
    assert audited.counts()["not-applicable"] == 1
    allow = ["evidence=not-measured"]  # as it was called before
    assert assert_audit(folders / "clean", checks=["evidence"], allow=allow).records
    with pytest.raises(AssertionError, match="'evidence=fail' is allowed, but does not occur"):
        assert_audit(folders / "clean", checks=["evidence"], allow=["evidence=fail"])


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
