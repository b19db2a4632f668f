"""Licences together, and what is left of a dataset, with planted losses."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimlab.catalog.decay import decay, known_decay
from claimlab.catalog.load import DATASETS
from claimlab.catalog.terms import licence
from claimlab.catalog.views import card_blocks, to_json
from claimlab.cli.app import run
from claimlab.core import packaged

HEAD = "row_id,claim,normalised_rating\n"


def planted(folder: Path, lost: dict[str, int]) -> Path:
    """100 true and 100 false claims, of which some of each have lost their text."""
    lines = [
        f"{label}-{i},{'' if i < lost[label] else f'claim {i} of {label}'},{label}"
        for label in ("true", "false")
        for i in range(100)
    ]
    (folder / "FACTors.csv").write_text(HEAD + "\n".join(lines), encoding="utf-8")
    return folder


def test_a_loss_that_tells_the_class_is_measured(tmp_path: Path) -> None:
    left = decay("factors", planted(tmp_path, {"true": 10, "false": 90}))
    assert dict(left.table.select("label", "at_hand").iter_rows()) == {"false": 10, "true": 90}
    assert left.score == pytest.approx(0.9)
    assert left.interval is not None
    assert left.baseline is not None
    assert left.interval[0] > left.baseline


def test_an_even_loss_tells_nothing(tmp_path: Path) -> None:
    left = decay("factors", planted(tmp_path, {"true": 50, "false": 50}))
    assert left.score is not None
    assert left.baseline is not None
    assert left.score <= left.baseline


def test_without_loss_there_is_nothing_to_measure(tmp_path: Path) -> None:
    assert decay("factors", planted(tmp_path, {"true": 0, "false": 0})).score is None


def test_no_beats_unknown_and_unknown_beats_yes() -> None:
    together = licence(["check-covid", "coaid", "averitec"]).table.row(-1, named=True)
    assert together["merge"] == "unknown"
    assert together["sell"] == "no"
    permissive = licence(["check-covid", "factool"]).table.row(-1, named=True)
    assert permissive["train"] == "yes"
    assert "notice" in permissive["publish"]


def test_two_share_alike_licences_cannot_be_one_work() -> None:
    terms = licence(["5pils", "bluff"])
    assert terms.table.row(-1, named=True)["publish"] == "no"
    assert any("at once" in note for note in terms.notes)
    assert licence(["5pils", "fever"]).table.row(-1, named=True)["publish"] != "no"


def test_both_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalog", "licence", "5pils", "coaid"]) == 0
    assert "unknown" in capsys.readouterr().out
    source = planted(tmp_path, {"true": 10, "false": 90})
    assert run(["catalog", "decay", "factors", str(source)]) == 0
    assert "macro-F1 90.0" in capsys.readouterr().out
    assert run(["catalog", "decay", "factors", str(source), "--json"]) == 0


@pytest.mark.parametrize("name", packaged.toml("claimlab.catalog", "decay.toml"))
def test_cards_say_what_is_left_of_a_dataset(name: str) -> None:
    entry, left = DATASETS.get(name), known_decay(name)
    assert left is not None
    assert left["at_hand"] < left["listed"] <= max(entry.real_rows.values())
    assert f"{left['listed']:,} listed, {left['at_hand']:,} with a text" in str(card_blocks(entry))
    assert to_json(entry)["decay"] == left


def test_a_card_says_nothing_of_decay_where_no_row_lost_its_text() -> None:
    assert known_decay("liar") is None
    assert "Decay" not in str(card_blocks(DATASETS.get("liar")))
