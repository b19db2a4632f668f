"""Splits by what the language table says: families, scripts, word orders, resource classes."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from claimlab.core.dataset import Dataset
from claimlab.core.languages import table
from claimlab.split.run import Split, split

from .conftest import Make, sentence

SPOKEN = ("eng", "fin", "hun", "tur", "rus", "hin", "ara", "zho")


def spoken_in_test(done: Split) -> set[str]:
    return set(done.dataset.records.filter(pl.col("split") == "test")["language"].to_list())


def trained(done: Split) -> set[str]:
    return set(
        done.dataset.records.filter(pl.col("split").is_in(["train", "dev"]))["language"].to_list()
    )


@pytest.mark.parametrize(
    ("way", "value", "codes"),
    [
        ("family", "Uralic", {"fin", "hun"}),
        ("script", "cyrl", {"rus"}),
        ("word-order", "SOV", {"tur", "hin"}),
        ("head-to-tail", "tail", {"fin", "hun"}),
    ],
)
def test_leave_one_out_and_train_on_one(make: Make, way: str, value: str, codes: set[str]) -> None:
    dataset = make(480, languages=SPOKEN)
    out = split(dataset, way, hold_out=(value,))
    assert spoken_in_test(out) == codes
    assert trained(out) == set(SPOKEN) - codes
    only = split(dataset, way, train_on=(value,))
    assert trained(only) == codes
    assert spoken_in_test(only) == set(SPOKEN) - codes
    assert (out.name.split("=")[0], only.name.split("=")[0]) == (
        f"{way}:leave-out",
        f"{way}:train-on",
    )
    assert out.name.split("=")[1].lower() == value.lower()


def test_head_to_tail_needs_no_names(make: Make) -> None:
    done = split(make(480, languages=SPOKEN), "head-to-tail")
    assert done.name == "head-to-tail:leave-out=tail"
    assert spoken_in_test(done) == {code for code in SPOKEN if table()[code].resource == "tail"}


def test_the_datasets_own_resource_class_goes_before_the_table(make: Make) -> None:
    own = pl.DataFrame({"language": ["eng", "tur"], "resource": ["head", "tail"]})
    done = split(
        make(200, languages=("eng", "tur", "rus"), tables={"languages": own}), "head-to-tail"
    )
    assert spoken_in_test(done) == {"tur"}


def test_every_family_in_turn(make: Make) -> None:
    made = split(make(480, languages=SPOKEN), "family", every=True).all
    families = {table()[code].family for code in SPOKEN}
    assert {one.name for one in made} == {f"family:leave-out={family}" for family in families}
    turned = split(make(480, languages=SPOKEN), "family", every=True, mode="train-on-one").all
    assert {one.name for one in turned} == {f"family:train-on={family}" for family in families}


def test_uncertain_cells_are_used_and_said(make: Make) -> None:
    done = split(make(120, languages=("eng", "srp", "rus", "hin")), "script", hold_out=("Cyrl",))
    assert spoken_in_test(done) == {"srp", "rus"}
    assert (
        "The language table is not sure about srp (Cyrl?): 30 rows used as it says." in done.notes()
    )


def test_languages_that_the_table_lacks_are_left_out_and_counted(make: Make) -> None:
    alone = make(
        120,
        languages=("eng", "fin", "epo", "lat"),
        change=lambda rows: [row.update(group=None) for row in rows],
    )
    done = split(alone, "family", hold_out=("Uralic",))
    assert done.checked.unused == 60
    assert list(done.parts.left_out.values()) == [60]
    assert any("epo, lat (60 rows)" in note for note in done.notes())


def test_a_language_may_be_named_in_any_way(make: Make) -> None:
    for name in ("pt", "por", "Portuguese"):
        assert spoken_in_test(split(make(90), "language", hold_out=(name,))) == {"por"}


def translated(make: Make, spoken: tuple[tuple[str, ...], ...], n: int = 120) -> Dataset:
    """`n` samples, each in the languages of one entry of `spoken` in turn: rows of one group are
    translations.
    """
    rows: list[dict[str, Any]] = []

    def change(made: list[dict[str, Any]]) -> None:
        for i in range(n):
            for language in spoken[i % len(spoken)]:
                own = {
                    **made[i],
                    "id": f"{i:03d}-{language}",
                    "language": language,
                    "group": f"uuid-{i:03d}",
                }
                rows.append({**own, "text": sentence(1000 * i + sum(map(ord, language)))})
        made[:] = rows

    return make(n, change=change)


def shared_groups(done: Split) -> int:
    """Test rows whose group is trained on."""
    records = done.dataset.records
    trained_on = (
        records.filter(pl.col("split").is_in(["train", "dev"]))["group"].drop_nulls().to_list()
    )
    return records.filter(pl.col("split") == "test")["group"].is_in(trained_on).sum()


@pytest.mark.parametrize(
    ("way", "value"), [("family", "Uralic"), ("language", "fin"), ("head-to-tail", "tail")]
)
def test_a_translation_of_a_tested_text_is_not_trained_on(make: Make, way: str, value: str) -> None:
    """Every second sample is in English and a head language, the others in English and Finnish."""
    dataset = translated(make, (("eng", "deu"), ("eng", "fin")))
    done = split(dataset, way, hold_out=(value,))
    assert shared_groups(done) == 0
    assert done.checked.sides()["test"] == 60, "all that is held out is tested on"
    assert done.parts.left_out == {"a translation of it is in the test set": 60}
    assert sum(leak.group or 0 for leak in done.checked.leaks if leak.of == "test") == 0
    shared = split(dataset, way, hold_out=(value,), keep_together=("exact",))
    assert shared_groups(shared) == 60
    assert any("60 of 60 test records have a translation" in note for note in shared.notes())


def test_where_every_text_is_translated_whole_groups_are_dealt_and_both_readings_told(
    make: Make,
) -> None:
    dataset = translated(make, (("eng", "deu", "fin"),))
    done = split(dataset, "family", hold_out=("Uralic",))
    sides = done.checked.sides()
    assert shared_groups(done) == 0
    assert sides["train"] + sides["dev"] == 2 * (120 - sides["test"])
    assert 15 <= sides["test"] <= 35, "about the test share of the groups"
    (note,) = [note for note in done.notes() if "report the scores of both" in note]
    assert f"{sides['test']} of 120 test rows" in note
    assert "120 test rows then have a translation" in note
    assert split(dataset, "family", hold_out=("Uralic",)).table.equals(done.table), (
        "the same seed, the same split"
    )


def test_rows_without_a_group_are_no_translations(make: Make) -> None:
    alone = make(
        160, languages=("eng", "fin"), change=lambda rows: [row.update(group=None) for row in rows]
    )
    done = split(alone, "family", hold_out=("Uralic",))
    assert done.checked.unused == 0
