from __future__ import annotations

import inspect
import pickle
import sys
from pathlib import Path

import pytest

from claimlab.core import errors
from claimlab.core.errors import ClaimlabError, UnknownName, UnmappedLabels
from claimlab.core.finding import Finding
from claimlab.core.registry import Registry
from claimlab.core.step import Outcome


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "toybox"
    folder.mkdir()
    (folder / "__init__.py").write_text("", encoding="utf-8")
    (folder / "red_ball.py").write_text("TOY = 'a red ball'", encoding="utf-8")
    (folder / "broken.py").write_text("nothing = 1", encoding="utf-8")
    (folder / "_shared.py").write_text("raise RuntimeError('must not be imported')", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "toybox"
    for name in [m for m in sys.modules if m.split(".")[0] in ("toybox", "outside_toys")]:
        del sys.modules[name]


def test_a_file_is_an_entry(package: str) -> None:
    toys: Registry[str] = Registry("toy", package=package, attribute="TOY", group="test.toys")
    assert toys.names() == ["broken", "red-ball"]
    assert toys.get("red-ball") == toys.get("Red_Ball") == "a red ball"
    assert "red-ball" in toys
    with pytest.raises(UnknownName, match="Did you mean 'red-ball'"):
        toys.get("red-bal")
    with pytest.raises(ClaimlabError, match="Define a module-level TOY"):
        toys.get("broken")


def test_an_installed_package_joins_by_entry_point(package: str, tmp_path: Path) -> None:
    (tmp_path / "outside_toys.py").write_text("TOY = 'a kite'\nother = 'a drum'", encoding="utf-8")
    info = tmp_path / "outside_toys-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outside-toys\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        "[test.toys]\nkite = outside_toys\ndrum = outside_toys:other\ngone = outside_toys:absent\n", encoding="utf-8"
    )
    toys: Registry[str] = Registry("toy", package=package, attribute="TOY", group="test.toys")
    assert toys.get("kite") == "a kite"
    assert toys.get("drum") == "a drum"
    with pytest.raises(ClaimlabError, match="does not load"):
        toys.get("gone")


def test_every_error_stands_in_the_drawn_tree() -> None:
    kinds = {
        n
        for n, k in vars(errors).items()
        if inspect.isclass(k) and issubclass(k, Exception) and k.__module__ == errors.__name__
    }
    drawn = errors.__doc__ or ""
    assert kinds == {name for name in kinds if name in drawn}, "draw the new error at the top of its file"


def test_errors_end_in_what_to_do_and_cross_processes() -> None:
    error = UnmappedLabels("ratings", {"x": 2})
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.counts == {"x": 2}
    assert str(error).endswith("--unmapped unknown.")
    assert UnknownName("check", "zzz", ["a", "b"]).todo == "Choose one of: a, b."


def test_a_finding_is_honest() -> None:
    with pytest.raises(ValueError, match="no score"):
        Finding(check="c", protocol="fair", verdict="not-measured", why="no dates", score=0.5)
    with pytest.raises(ValueError, match="sentence of why"):
        Finding(check="c", protocol="fair", verdict="pass", why=" ")


def test_a_step_that_loses_a_record_is_caught() -> None:
    import polars as pl

    before = pl.DataFrame({"id": ["a", "b", "c"]})
    Outcome.of(before, dropped={"a": "too short"}, doubtful={"b": "odd"}).account(before, "s")
    with pytest.raises(ClaimlabError, match="lost or repeated"):
        Outcome.of(before, kept=before.head(1)).account(before, "s")
