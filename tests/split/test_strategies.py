"""Each strategy keeps its promise on data whose groups are known; impossible ones say why."""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from claimlab.core.dataset import Dataset
from claimlab.core.errors import UnknownName, UsageError
from claimlab.split.run import Split, split
from claimlab.split.strategy import SPLITTERS, Impossible

from .conftest import Make, sentence


def sides_of(done: Split, column: str) -> dict[Any, set[str]]:
    """Value -> the sides it stands on."""
    frame = done.dataset.records.drop_nulls(["split", column])
    return {v: set(s) for v, s in frame.group_by(column).agg(pl.col("split").unique()).iter_rows()}


def shares_of(done: Split) -> dict[str, float]:
    tally = done.dataset.records["split"].drop_nulls().value_counts(normalize=True)
    return dict(tally.iter_rows())


def test_the_ways_of_the_field_are_there() -> None:
    assert {
        "random", "group", "time", "source", "domain", "near-duplicates", "event", "pair", "head-to-tail", "family",
        "script", "word-order", "language", "balanced", "external", "lists", "column",
    } <= set(SPLITTERS.names())  # fmt: skip


def test_random_is_by_row_with_even_classes_and_languages(make: Make) -> None:
    done = split(make(900), "random")
    assert shares_of(done) == pytest.approx({"train": 0.7, "dev": 0.1, "test": 0.2}, abs=0.01)
    cells = done.checked.cells.pivot("split", index=["label", "language"], values="records")
    for train, dev, test in cells.select("train", "dev", "test").iter_rows():
        assert train / (train + dev + test) == pytest.approx(0.7, abs=0.02)
    assert any(len(s) > 1 for s in sides_of(done, "group").values()), "the naive split parts groups"
    assert done.checked.leaking
    assert (done.checked.leaks[0].group or 0) > 100, "and the check says so"


@pytest.mark.parametrize("seed", range(3))
def test_groups_and_copies_stay_whole(make: Make, seed: int) -> None:
    def copied(made: list[dict[str, Any]]) -> None:
        for i in range(0, 40, 2):
            made[i + 1]["text"] = (
                f"  {made[i]['text'].upper()} "  # a copy up to case and blanks, in another event
            )

    done = split(make(change=copied), "group", seed=seed)
    assert all(len(s) == 1 for s in sides_of(done, "group").values())
    text = done.dataset.records.with_columns(pl.col("text").str.strip_chars().str.to_lowercase())
    assert text.group_by("text").agg(pl.col("split").n_unique())["split"].max() == 1
    assert not done.checked.leaking
    assert shares_of(done) == pytest.approx({"train": 0.7, "dev": 0.1, "test": 0.2}, abs=0.03)


def test_near_duplicates_stay_whole(make: Make) -> None:
    def nearly(made: list[dict[str, Any]]) -> None:
        for i, row in enumerate(made):
            row["group"] = None
            row["text"] = sentence(i // 3)[:-1] + ("", "!", " ok")[i % 3]

    by_cluster, by_group = (
        split(make(change=nearly), way, shares="60/20/20") for way in ("near-duplicates", "group")
    )
    cluster = by_cluster.dataset.records.with_columns(
        (pl.int_range(pl.len()) // 3).alias("cluster")
    )
    assert cluster.group_by("cluster").agg(pl.col("split").n_unique())["split"].max() == 1
    assert not by_cluster.checked.leaking
    assert by_group.checked.leaks[0].near, "which exact copies alone do not prevent"


@pytest.mark.parametrize(
    ("way", "column"), [("source", "source"), ("event", "group"), ("language", "language")]
)
def test_what_is_held_out_is_absent_from_train(make: Make, way: str, column: str) -> None:
    done = split(make(), way)
    held = set(done.parts.held_out)
    for value, sides in sides_of(done, column).items():
        assert sides == {"test"} if value in held else "test" not in sides
    assert done.dataset.lineage[-1].parameters["held_out"] == sorted(held)


def test_a_value_is_held_out_by_name_whatever_its_capitals(make: Make) -> None:
    done = split(make(), "source", hold_out=("SOURCE-03", "source-04"))
    assert done.parts.held_out == ("source-03", "source-04")
    assert done.name == "source:leave-out=source-03+source-04"
    with pytest.raises(UnknownName, match="no source named 'sorce-3'.*source-03"):
        split(make(), "source", hold_out=("sorce-3",))


def test_the_drawn_test_comes_near_its_share_with_both_classes(make: Make) -> None:
    for seed in range(5):
        done = split(make(600), "source", seed=seed)
        assert shares_of(done)["test"] == pytest.approx(0.2, abs=0.06)
        assert set(done.checked.cells.filter(pl.col("split") == "test")["label"]) == {
            "true",
            "false",
        }


def test_domains_are_those_of_the_url_and_rows_without_are_counted(make: Make) -> None:
    def some(made: list[dict[str, Any]]) -> None:
        for row in made[:7]:
            row["url"] = None

    done = split(make(change=some), "domain", hold_out=("site3.org",))
    tested = done.dataset.records.filter(pl.col("split") == "test")["url"]
    assert tested.len()
    assert tested.str.contains("www.site3.org", literal=True).all()
    assert done.parts.left_out == {"the row has no URL with a domain": 7}
    assert done.checked.unused == 7


def test_any_column_can_be_held_out(make: Make) -> None:
    done = split(make(), "column", column="topic", train_on=("topic-1", "topic-2"))
    assert sides_of(done, "topic")["topic-0"] == {"test"}
    assert "test" not in sides_of(done, "topic")["topic-1"]
    assert done.name == "column:train-on=topic-1+topic-2"


def test_time_trains_before_and_tests_after_whole_days(make: Make) -> None:
    def undated(made: list[dict[str, Any]]) -> None:
        made[0]["date"] = made[1]["date"] = None

    done = split(make(change=undated), "time")
    days = (
        done.dataset.records.drop_nulls("split")
        .group_by("split")
        .agg(
            pl.col("date").dt.date().min().alias("first"),
            pl.col("date").dt.date().max().alias("last"),
        )
    )
    span = {s: (a, b) for s, a, b in days.iter_rows()}
    assert span["train"][1] < span["dev"][0]
    assert span["dev"][1] < span["test"][0]
    assert shares_of(done) == pytest.approx({"train": 0.7, "dev": 0.1, "test": 0.2}, abs=0.04)
    assert done.parts.left_out == {"the row has no date": 2}
    assert "Dates are: made up (298)." in done.notes()


def test_time_is_cut_at_a_given_day(make: Make) -> None:
    done = split(make(), "time", before=date(2020, 1, 20), shares="80/20")
    records = done.dataset.records
    assert ((records["date"] < datetime(2020, 1, 20)) == (records["split"] == "train")).all()
    with pytest.raises(Impossible, match="No record is dated before 2019-01-01"):
        split(make(), "time", before=date(2019, 1, 1))


def test_one_day_has_no_before_and_after(make: Make) -> None:
    def same(made: list[dict[str, Any]]) -> None:
        for i, row in enumerate(made):
            row["date"] = datetime(2020, 5, 5, i % 24)

    with pytest.raises(Impossible, match="all dated rows are of 2020-05-05"):
        split(make(change=same), "time")


def test_pairs_are_kept_whole_and_broken_ones_left_out(make: Make) -> None:
    def paired(made: list[dict[str, Any]]) -> None:
        for i, row in enumerate(made):
            row["group"], row["veracity"] = f"pair-{i // 2}", ("true", "false")[i % 2]
        made[0]["veracity"] = "false"  # no pair any more: both false
        made[3]["group"] = None  # its mate is left alone

    done = split(make(change=paired), "pair")
    assert all(len(s) == 1 for s in sides_of(done, "group").values())
    assert done.parts.left_out == {"no part of a whole pair": 4}
    cells = done.dataset.records.drop_nulls("split").group_by("split", "veracity").len()
    assert cells.group_by("split").agg(pl.col("len").n_unique())["len"].to_list() == [1, 1, 1], (
        "as many true as false"
    )


def test_pairs_where_there_are_none(make: Make) -> None:
    with pytest.raises(Impossible, match="Cannot split by pair"):
        split(
            make(40, change=lambda made: [row.update(group=None) for row in made] and None), "pair"
        )


def test_a_balanced_test_has_as_many_of_every_class_in_every_language(make: Make) -> None:
    done = split(make(1200, languages=("eng", "por", "deu", "swa")), "balanced")
    test = done.checked.cells.filter(pl.col("split") == "test")
    assert test.height == 8
    assert test["records"].to_list() == [50] * 8
    assert not done.checked.leaking, "what belongs together with a test row is not trained on"
    assert done.parts.left_out["belongs together with a test row"] > 0


def test_a_balanced_test_leaves_half_of_a_small_cell_to_train_on(make: Make) -> None:
    def rare(made: list[dict[str, Any]]) -> None:
        for i, row in enumerate(made):
            row["group"] = None
            row["language"] = "swa" if i < 20 else "eng"
            row["veracity"] = ("true", "false")[i % 2]

    done = split(make(change=rare), "balanced", small_test=8)
    cells = {(s, v, c): n for s, v, c, n in done.checked.cells.iter_rows()}
    assert cells["test", "true", "swa"] == cells["test", "false", "swa"] == 5
    assert cells["test", "true", "eng"] == 8
    assert (
        "2 of 4 cells (class, language) have fewer than 8 test rows: swa false 5, swa true 5."
        in done.notes()
    )


@pytest.mark.parametrize("way", ["source", "event"])
def test_one_value_cannot_be_held_out(make: Make, way: str) -> None:
    def one(made: list[dict[str, Any]]) -> None:
        for row in made:
            row["source"] = row["group"] = "only"

    with pytest.raises(Impossible, match="every row has 'only'"):
        split(make(change=one), way)
    with pytest.raises(Impossible, match="all rows belong together"):
        split(make(change=one), "group")


def test_all_makes_one_split_for_each_value_and_tells_those_that_cannot_be(make: Make) -> None:
    def lone(made: list[dict[str, Any]]) -> None:
        for i, row in enumerate(made):
            row["veracity"] = "true" if row["topic"] == "topic-2" else "false" if i else "true"
        made[0]["topic"] = "topic-2"

    done = split(make(change=lone), "column", column="topic", every=True)
    assert [failed.value for failed in done.impossible] == ["topic-2"]
    assert "no row of 'true' in train" in done.impossible[0].why
    assert {one.name for one in done.all} == {f"column:leave-out=topic-{i}" for i in (0, 1, 3, 4)}


def test_options_that_a_strategy_does_not_read_are_refused(make: Make) -> None:
    with pytest.raises(UsageError, match="'time' does not take `hold_out`"):
        split(make(20), "time", hold_out=("x",))
    with pytest.raises(UsageError, match="'random' does not take `before`"):
        split(make(20), "random", before=date(2020, 1, 1))
    with pytest.raises(UsageError, match="holds no values out"):
        split(make(20), "random", every=True)
    with pytest.raises(UsageError, match="Pass one of the two"):
        split(make(20), "source", hold_out=("source-01",), train_on=("source-02",))
    with pytest.raises(UsageError, match="Every value was named"):
        split(make(20), "column", column="topic", hold_out=tuple(f"topic-{i}" for i in range(5)))


@pytest.mark.parametrize(
    "way", ["random", "group", "near-duplicates", "source", "event", "balanced"]
)
def test_the_same_seed_gives_the_same_bytes_and_another_does_not(
    make: Make, tmp_path: Path, way: str
) -> None:
    def written(seed: int, name: str) -> bytes:
        split(make(), way, seed=seed).dataset.write(tmp_path / name)
        return b"".join(f.read_bytes() for f in sorted((tmp_path / name).iterdir()))

    one, again, other = written(1, "one"), written(1, "again"), written(2, "other")
    assert one == again
    records = [
        Dataset.open(tmp_path / name).records["split"].to_list() for name in ("one", "other")
    ]
    assert records[0] != records[1]
    assert one != other


def large_events(made: list[dict[str, Any]]) -> None:
    for i, row in enumerate(made):
        row["group"] = f"event-{i % 4}"


def test_dev_is_not_empty_where_events_are_few_and_large(make: Make) -> None:
    done = split(make(change=large_events), "event")
    assert done.checked.sides()["dev"] >= 20
    assert (
        "Groups are too large for dev to hold whole ones: train and dev share groups."
        in done.notes()
    )


def test_a_side_that_groups_are_too_large_for_is_said(make: Make) -> None:
    done = split(make(change=large_events), "group")
    assert done.checked.sides()["dev"] == 0
    assert "What belongs together is too large for dev: it got 0.0% instead of 10%." in done.notes()


def test_the_way_out_is_another_way(make: Make) -> None:
    with pytest.raises(Impossible) as caught:
        split(make(1), "random")
    assert "`by=" not in str(caught.value)
    with pytest.raises(Impossible, match="cell"):
        split(make(1), "balanced")


def test_what_is_said_of_values_is_true_of_rows_without_one(make: Make) -> None:
    def some(made: list[dict[str, Any]]) -> None:
        for i, row in enumerate(made):
            row["source"] = "Herald" if i % 2 else None

    with pytest.raises(Impossible, match="all rows that have one have 'Herald'"):
        split(make(change=some), "source")


def test_an_empty_dev_is_not_said_to_share_groups(make: Make) -> None:
    def alike(made: list[dict[str, Any]]) -> None:
        for row in made:
            row["text"] = "The same words in every row of it."

    done = split(make(120, change=alike), "source")
    assert done.checked.sides()["dev"] == 0
    assert any("No dev set" in note for note in done.notes())
    assert not any("share groups" in note for note in done.notes())


@pytest.mark.parametrize("shares", ["70/10/20", "80/20", "50/25/25"])
def test_every_day_is_on_the_side_that_the_note_names(make: Make, shares: str) -> None:
    """The first day of dev and of test are on that side themselves, whole, and so is the day before
    on the other.
    """
    done = split(make(), "time", shares=shares)
    said = next(note for note in done.notes() if note.startswith("Test starts on"))
    test, *dev = (date.fromisoformat(day) for day in re.findall(r"\d{4}-\d{2}-\d{2}", said))
    days = done.dataset.records["date"].dt.date()
    assert {test, *dev} <= set(days), "the days of the note have records"
    expected = [
        "test" if day >= test else "dev" if dev and day >= dev[0] else "train" for day in days
    ]
    assert done.dataset.records["split"].to_list() == expected


def test_the_day_given_is_the_first_of_test(make: Make) -> None:
    records = split(make(), "time", before=date(2020, 1, 20), shares="70/10/20").dataset.records
    sides = dict(
        records.group_by(pl.col("date").dt.date()).agg(pl.col("split").unique()).iter_rows()
    )
    assert sides[date(2020, 1, 20)] == ["test"]
    assert sides[date(2020, 1, 19)] == ["dev"]
