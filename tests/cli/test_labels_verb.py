"""`claimlab labels maps` and `show`: every map has an address, and every address shows its map."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from claimlab.catalog.load import DATASETS
from claimlab.catalog.maps import all_maps
from claimlab.cli.app import run


def test_all_maps_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["labels", "maps", "--json"]) == 0
    listed = {m["map"]: m for m in json.loads(capsys.readouterr().out)["maps"]}
    assert set(listed) == {
        *("factors", "ratings", "x-fact"),
        *(f"{n}/{key}" for n, e in DATASETS.all().items() for key in e.maps),
    }
    assert {k: listed["liar/a5"][k] for k in ("version", "true", "false", "mixed", "unknown")} == {
        "version": 1, "true": 2, "false": 3, "mixed": 1, "unknown": 0,
    }  # fmt: skip
    assert run(["labels", "maps"]) == 0
    assert "liar/cdl-time" in capsys.readouterr().out


def test_a_map_calls_itself_by_its_address() -> None:
    """The lineage records a map's own name, so that it can be looked up again."""
    assert [a for a, one in all_maps().items() if one.name != a and "/" in one.name] == []


def test_one_map_is_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["labels", "show", "liar/cdl", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert set(shown) == {"name", "version", "exact", "note", "verdicts", "in_ratings"}
    assert shown["verdicts"]["barely-true"] == "true"
    assert shown["in_ratings"] == {"barely-true": "false"}
    assert run(["labels", "show", "liar/cdl"]) == 0
    assert "true, mostly-true, barely-true" in capsys.readouterr().out
    mine = tmp_path / "mine.toml"
    mine.write_text('name = "mine"\n[verdicts]\nstimmt = "true"\n', encoding="utf-8")
    assert run(["labels", "show", str(mine)]) == 0
    assert "stimmt" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "near"), [("liar/a6", "'liar/a5'"), ("rating", "'ratings'"), ("liar", "'liar/a5'")]
)
def test_a_wrong_name_names_the_near_miss(
    name: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["labels", "show", name]) == 2
    assert near in capsys.readouterr().err
