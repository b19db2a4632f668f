"""Who passed a post on: the side table `cascade`, its repairs, and the published trees."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.columns import cascades
from claimlab.catalog.load import load
from claimlab.core.errors import UnreadableFile

from .published import Files


def edges(*rows: tuple[str | None, str, float]) -> pl.DataFrame:
    names = ["parent", "child", "delay"]
    return pl.DataFrame(list(rows), names, orient="row").select(
        pl.lit("r").alias("record_id"), *names
    )


def test_a_tree_is_kept_as_it_is() -> None:
    table, note = cascades(edges((None, "a", 0.0), ("a", "b", 1.0), ("b", "c", 3.0)))
    assert table.rows() == [
        ("r", None, "a", 0.0, 0),
        ("r", "a", "b", 1.0, 1),
        ("r", "b", "c", 3.0, 2),
    ]
    assert note == "Cascades of 1 record: 3 posts."


def test_repairs_are_counted_one_by_one() -> None:
    table, note = cascades(
        edges(
            (None, "a", -5.0),  # another post before the one that is labelled: time starts there
            ("a", "a", -5.0),
            ("a", "b", 2.0),
            ("a", "b", 2.0),
            ("b", "c", 1.0),  # before its parent
            ("nobody", "d", 4.0),
            ("e", "f", 4.0),
            ("f", "e", 4.0),  # a ring that the first post does not reach
            ("b", "g", 6.0),
            ("a", "g", 6.0),  # two parents: the nearer one
        )
    )
    posts = {child: (parent, delay, depth) for _, parent, child, delay, depth in table.rows()}
    assert posts == {
        "a": (None, 0.0, 0),
        "b": ("a", 7.0, 1),
        "c": ("b", 7.0, 2),
        "d": ("a", 9.0, 1),
        "g": ("a", 11.0, 1),
    }
    for part in (
        "negative delays: 2",
        "before their parent: 1",
        "their own parent: 1",
        "given again: 1",
        "put under the first: 1",
        "left out: 2",
    ):
        assert part in note


def test_a_broken_line_is_refused(tmp_path: Path, write: Callable[..., Path]) -> None:
    files = {"twitter15/label.txt": "true:1\n", "twitter15/tree/1.txt": "['ROOT'] to ['1']\n"}
    with pytest.raises(UnreadableFile, match="1 lines of the trees"):
        load("twitter15", write(tmp_path, files))


def test_files_of_another_variant_are_named(tmp_path: Path) -> None:
    """Nothing but the default variant is read without being asked for."""
    raw = Path(__file__).parent / "samples" / "pheme" / "raw" / "all"
    with pytest.raises(UnreadableFile, match="variant='release'") as caught:
        load("pheme", raw)
    assert [choice.value for choice in caught.value.choices] == ["release"]
    with pytest.raises(UnreadableFile) as alone:
        load("pheme", raw, variant="rumours")
    assert not alone.value.choices
    assert load("pheme", raw, variant="release").records.height


@pytest.mark.slow
def test_the_trees_of_twitter15_are_whole(real_data: Path) -> None:
    source = real_data / "twitter15-trees.zip"
    dataset = load("twitter15", source)
    table = dataset.tables["cascade"]
    files = Files(source)
    users = {
        (name.rsplit("/", 1)[-1][:-4], user)
        for name in files.names("/tree/")
        for user in re.findall(r"->\['(\d+)'", files.data[name].decode())
    }
    assert set(table.select(pl.col("record_id").str.slice(10), "child").rows()) == users
    assert table.height == len(users) == 599_196
    assert dict(dataset.records["label_raw"].value_counts().rows()) == {
        "unverified": 374,
        "non-rumor": 374,
        "true": 372,
        "false": 370,
    }
    assert any("negative delays: 671; posts before their parent: 7,017" in n for n in dataset.notes)
    _assert_trees(table)


@pytest.mark.slow
def test_the_threads_of_pheme_without_tweets(real_data: Path) -> None:
    source = real_data / "pheme-threads-rumours.zip"
    dataset = load("pheme", source, variant="release")
    table = dataset.tables["cascade"]
    files = Files(source)
    tweets = sum(
        len(re.findall(r"\d{15,}", files.data[n].decode())) for n in files.names("structure")
    )
    assert table.height == tweets == 31_769
    assert dict(dataset.records["label_raw"].value_counts().rows()) == {
        "true": 1_067,
        "false": 638,
        "unverified": 697,
    }
    assert dataset.records["group"].n_unique() == 9
    assert set(dataset.records["kind"]) == {"id-only"}
    assert dataset.records["date"].null_count() == 0
    _assert_trees(table)


@pytest.mark.slow
def test_tweet_ids_tell_the_delays_of_a_thread(real_data: Path) -> None:
    """Where the tweets are at hand, their own times agree with those of the ids."""
    source = real_data / "pheme-germanwings-rumours.zip"
    files = Files(source)
    made = {}
    for name in files.names("/(reactions|source-tweets)/"):
        tweet = json.loads(files.data[name])
        made[str(tweet["id"])] = tweet["created_at"]
    when = pl.DataFrame({"child": list(made), "made": list(made.values())}).with_columns(
        pl.col("made").str.to_datetime("%a %b %d %H:%M:%S %z %Y")
    )
    table = load("pheme", source, variant="release").tables["cascade"].join(when, on="child")
    first = pl.col("made").first().over("record_id")
    since = table.select(((pl.col("made") - first).dt.total_seconds() / 60).alias("minutes"))
    assert table.height > 2_000
    assert ((since["minutes"] - table["delay"]).abs() < 1).all()


def _assert_trees(table: pl.DataFrame) -> None:
    """Every post but the first has a parent one level up that is not later."""
    above = table.select("record_id", parent="child", level="depth", earlier="delay")
    told = table.drop_nulls("parent").join(above, on=["record_id", "parent"])
    assert told.height == table.height - table["record_id"].n_unique()
    assert (told["depth"] == told["level"] + 1).all()
    assert (told["delay"] >= told["earlier"]).all()
