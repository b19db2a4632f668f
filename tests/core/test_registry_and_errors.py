from __future__ import annotations

import inspect
import pickle
import sys
import warnings
from pathlib import Path

import pytest

from claimlab.clean.step import Outcome
from claimlab.core import errors
from claimlab.core.errors import ClaimlabError, UnknownName, UnmappedLabels
from claimlab.core.finding import Finding
from claimlab.core.registry import BrokenPlugin, Registry


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "toybox"
    folder.mkdir()
    (folder / "__init__.py").write_text("", encoding="utf-8")
    (folder / "red_ball.py").write_text("TOY = 'a red ball'", encoding="utf-8")
    (folder / "table_blocks.py").write_text(
        "ENTRIES = {'big-block': 'a big block', 'small': 'a block'}", encoding="utf-8"
    )
    (folder / "table.py").write_text(
        "class Car:\n    def __init__(self, name): self.name = name\nENTRIES = [Car('bus'), Car('tram')]",
        encoding="utf-8",
    )
    (folder / "broken.py").write_text("nothing = 1", encoding="utf-8")
    (folder / "_shared.py").write_text(
        "raise RuntimeError('must not be imported')", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "toybox"
    for name in [m for m in sys.modules if m.split(".")[0] in ("toybox", "outside_toys")]:
        del sys.modules[name]


def test_a_file_is_an_entry(package: str) -> None:
    toys: Registry[str] = Registry("toy", package=package, attribute="TOY", group="test.toys")
    assert toys.names() == ["big-block", "broken", "bus", "red-ball", "small", "tram"]
    assert "toybox.red_ball" not in sys.modules, "listing names must import tables only"
    assert toys.get("red-ball") == toys.get("Red_Ball") == "a red ball"
    assert "red-ball" in toys
    with pytest.raises(UnknownName, match="Did you mean 'red-ball'"):
        toys.get("red-bal")
    with pytest.raises(ClaimlabError, match="Define a module-level TOY"):
        toys.get("broken")


def test_a_table_offers_several_entries(package: str) -> None:
    toys: Registry[object] = Registry("toy", package=package, attribute="TOY", group="test.toys")
    assert toys.get("small") == "a block"
    assert toys.get("Big_Block") == "a big block"
    assert toys.get("tram").name == "tram"  # type: ignore[attr-defined]
    assert toys.home("bus") == toys.home("tram") == "toybox.table"
    assert toys.home("kite") is None


def test_an_installed_package_joins_by_entry_point(package: str, tmp_path: Path) -> None:
    install(
        tmp_path,
        "outside_toys",
        code="TOY = 'a kite'\nother = 'a drum'\nENTRIES = {'top': 'a top', 'yoyo': 'a yoyo'}",
        points="[test.toys]\nkite = outside_toys\ndrum = outside_toys:other\ntop = outside_toys\nyoyo = outside_toys\n",
    )
    toys: Registry[str] = Registry("toy", package=package, attribute="TOY", group="test.toys")
    assert toys.get("kite") == "a kite"
    assert toys.get("drum") == "a drum"
    assert (toys.get("top"), toys.get("yoyo")) == ("a top", "a yoyo"), (
        "one module, several entry points"
    )


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise RuntimeError('first line\\nsecond line')", "RuntimeError: first line second line"),
        ("import sys; sys.exit(7)", "SystemExit: 7"),
        ("raise BaseException('odd')", "BaseException: odd"),
        ("nothing = 1", "has no TOY"),
    ],
)
def test_a_broken_plugin_disables_itself(
    package: str, tmp_path: Path, code: str, words: str
) -> None:
    (tmp_path / "toybox" / "broken.py").unlink()
    install(tmp_path, "outside_toys", code, "[test.toys]\nbad = outside_toys\n")
    toys: Registry[object] = Registry("toy", package=package, attribute="TOY", group="test.toys")
    assert "bad" in toys.names(), "listing does not import it"
    with pytest.warns(BrokenPlugin) as told:
        assert set(toys.all()) == {"big-block", "bus", "red-ball", "small", "tram"}
    assert len(told) == 1
    line = str(told[0].message)
    assert words in line
    assert "\n" not in line
    assert "'bad' of outside-toys 1.0" in line
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "bad" not in toys.all(), "it is named once"
    assert "bad" not in toys
    with pytest.raises(ClaimlabError, match="Update or uninstall that package"):
        toys.get("bad")


def test_a_person_can_stop_while_a_plugin_loads(package: str, tmp_path: Path) -> None:
    install(
        tmp_path, "outside_toys", "raise KeyboardInterrupt", "[test.toys]\nbad = outside_toys\n"
    )
    toys: Registry[object] = Registry("toy", package=package, attribute="TOY", group="test.toys")
    with pytest.raises(KeyboardInterrupt):
        toys.get("bad")


def install(folder: Path, name: str, code: str, points: str) -> None:
    """What pip leaves behind: the module, and the folder that names its entry points."""
    (folder / f"{name}.py").write_text(code, encoding="utf-8")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    plain = name.replace("_", "-")
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {plain}\nVersion: 1.0\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text(points, encoding="utf-8")


def test_every_error_stands_in_the_drawn_tree() -> None:
    kinds = {
        n
        for n, k in vars(errors).items()
        if inspect.isclass(k) and issubclass(k, Exception) and k.__module__ == errors.__name__
    }
    drawn = errors.__doc__ or ""
    assert kinds == {name for name in kinds if name in drawn}, (
        "draw the new error at the top of its file"
    )


def test_errors_end_in_what_to_do_and_cross_processes() -> None:
    error = UnmappedLabels("ratings", {"x": 2})
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.counts == {"x": 2}
    assert str(error).endswith("`unmapped='unknown'`.")
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
