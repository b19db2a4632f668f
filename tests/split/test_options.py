"""What every way can be asked for: rows that validation changed, leaks dropped, a small test,
another dataset, shares.
"""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError, DataError, UsageError
from claimlab.split.run import split
from claimlab.split.strategy import SideShares

from .conftest import Make, rows, sentence

CHANGED = [f"r{i:04d}" for i in range(0, 100, 5)]


def changes(ids: list[str], column: str = "veracity", step: str = "decisions") -> pl.DataFrame:
    return pl.DataFrame({"id": ids}).with_columns(
        step=pl.lit(step), column=pl.lit(column), reason=pl.lit("decided by a person")
    )


@pytest.mark.parametrize(
    "way", ["random", "group", "near-duplicates", "balanced", "source", "time"]
)
def test_rows_that_validation_changed_are_only_trained_on(make: Make, way: str) -> None:
    dataset = make(tables={"changes": changes(CHANGED)})
    side = dict(
        split(dataset, way, changed_in_test=False).dataset.records.select("id", "split").iter_rows()
    )
    assert {side[i] for i in CHANGED} <= {"train", None}
    before = dict(split(dataset, way).dataset.records.select("id", "split").iter_rows())
    assert {before[i] for i in CHANGED} & {"dev", "test"}, "without the option they are tested on"


def test_random_puts_all_of_them_into_train_and_keeps_the_shares(make: Make) -> None:
    done = split(make(tables={"changes": changes(CHANGED)}), "random", changed_in_test=False)
    side = dict(done.dataset.records.select("id", "split").iter_rows())
    assert {side[i] for i in CHANGED} == {"train"}
    assert done.checked.sides()["test"] == pytest.approx(60, abs=2)


def test_a_change_of_split_or_group_is_no_change_of_the_row(make: Make) -> None:
    dataset = make(tables={"changes": changes(CHANGED, "split")})
    plain, asked = split(dataset, "random"), split(dataset, "random", changed_in_test=False)
    assert plain.dataset.records.equals(asked.dataset.records)


def test_a_text_that_a_rule_cleaned_may_be_tested_on_and_one_that_people_reworded_may_not(
    make: Make,
) -> None:
    ruled = split(
        make(tables={"changes": changes(CHANGED, "text", "strip-urls")}),
        "random",
        changed_in_test=False,
    )
    side = dict(ruled.dataset.records.select("id", "split").iter_rows())
    assert {side[i] for i in CHANGED} & {"dev", "test"}
    reworded = split(
        make(tables={"changes": changes(CHANGED, "text")}), "random", changed_in_test=False
    )
    side = dict(reworded.dataset.records.select("id", "split").iter_rows())
    assert {side[i] for i in CHANGED} == {"train"}


def test_leaks_can_be_dropped_from_train(make: Make) -> None:
    def copied(made: list[dict[str, Any]]) -> None:
        for i, row in enumerate(made):
            row["group"] = None
            row["text"] = sentence(i // 2)

    leaking = split(make(change=copied), "random")
    assert leaking.checked.leaks[0].exact
    clean = split(make(change=copied), "random", drop_leaks=True)
    assert not clean.checked.leaking
    assert clean.checked.sides()["test"] == leaking.checked.sides()["test"], (
        "the test stays as it is"
    )
    assert clean.checked.unused == clean.parts.left_out["its text is also in a later part"] > 0


def test_near_copies_are_dropped_from_train_as_well(make: Make) -> None:
    """One word of twelve differs between the two of a pair: no text is there twice, and yet the
    test leaks.
    """

    def nearly_copied(made: list[dict[str, Any]]) -> None:
        for i, row in enumerate(made):
            words = sentence(i // 2).split()
            words[5] = f"word{i}"
            row.update(group=None, text=" ".join(words))

    leaking = split(make(change=nearly_copied), "random").checked.leaks[0]
    assert leaking.exact == 0
    assert leaking.near, "the planted near copies are on both sides"
    clean = split(make(change=nearly_copied), "random", drop_leaks=True)
    assert [(leak.exact, leak.near) for leak in clean.checked.leaks] == [(0, 0)] * 3
    assert clean.parts.left_out["its text is also in a later part"] >= leaking.near


def test_a_leaking_test_is_told_in_a_sentence(make: Make) -> None:
    def copied(made: list[dict[str, Any]]) -> None:
        for i, row in enumerate(made):
            row.update(group=None, text=sentence(i // 2))

    done = split(make(change=copied), "random")
    leak = done.checked.leaks[0]
    assert leak.texts > 0
    assert (
        f"{leak.texts} of {leak.rows} test records have a near-duplicate in train; "
        'use `by="near-duplicates"`, or pass `drop_leaks=True`.'
    ) in done.notes()
    whole = split(make(change=copied), "near-duplicates")
    assert not any("near-duplicate in" in note for note in whole.notes())
    grouped = split(make(), "random")
    assert any('share a group with train; use `by="group"`.' in note for note in grouped.notes())


@pytest.mark.parametrize(
    ("text", "total"), [("70/10/10", "90"), ("8/1/1", "10"), ("80/30", "110"), ("0.7/0.2", "0.9")]
)
def test_shares_that_do_not_add_up_are_refused(text: str, total: str) -> None:
    with pytest.raises(UsageError, match=f"add up to {total}[.] Make them add up to 100"):
        SideShares.parse(text)
    with pytest.raises(UsageError, match="add up to 90"):
        SideShares(0.6, 0.1, 0.2)


def test_a_small_test_is_cut_from_any_split(make: Make) -> None:
    done = split(make(900), "group", small_test=7)
    test = done.checked.cells.filter(pl.col("split") == "test")
    assert test["records"].to_list() == [7] * 6
    assert done.name == "group:small-test=7"
    assert done.parts.left_out["beyond the small test"] == done.checked.unused


def other(n: int = 80, start: int = 5000) -> Dataset:
    made = rows(n)
    for i, row in enumerate(made):
        row.update(id=f"o{i}", text=sentence(start + i), group=None)
    return Dataset.build(
        "other", pl.DataFrame(made, infer_schema_length=None), licence="CC BY 4.0", synthetic=True
    )


def test_another_dataset_is_the_test(make: Make) -> None:
    test = other()
    test.records = test.records.with_columns(
        pl.when(pl.col("id") == "o3").then(pl.lit(sentence(10))).otherwise("text").alias("text")
    )
    own = make(tables={"changes": changes(["r0001"])})
    done = split(own, "external", external=test)
    records = done.dataset.records
    assert set(records.filter(pl.col("split") == "test")["dataset"]) == {"other"}
    assert set(records.filter(pl.col("split") != "test")["dataset"]) == {"made-up"}
    assert done.name == "external:test=other"
    assert set(done.dataset.lineage[-1].inputs) == {"made-up", "other"}
    assert done.checked.leaks[0].exact == 1
    assert done.checked.leaks[0].records == ("o3",)
    assert done.dataset.synthetic, "what is synthetic stays marked"
    assert any("CC BY 4.0" in note for note in done.dataset.notes)
    assert "changes" in done.dataset.tables
    dropped = split(own, "external", external=test, drop_leaks=True)
    assert dropped.dataset.records.filter(pl.col("id") == "r0010")["split"].to_list() == [None]
    assert not dropped.checked.leaking


def test_a_dataset_is_no_test_for_itself(make: Make) -> None:
    with pytest.raises(DataError, match="are in both datasets"):
        split(make(), "external", external=make())
    with pytest.raises(UsageError, match='by="external"'):
        split(make(), "random", external=other())


def test_without_strata_classes_are_left_to_chance(make: Make) -> None:
    a, b = split(make(), "random"), split(make(), "random", stratify=())
    assert not a.dataset.records["split"].equals(b.dataset.records["split"])
    assert b.dataset.lineage[-1].parameters["stratify"] == []


@pytest.mark.parametrize(
    ("text", "shares"),
    [("70/10/20", (0.7, 0.1, 0.2)), ("80/20", (0.8, 0.0, 0.2)), ("0.5/0.5", (0.5, 0, 0.5))],
)
def test_shares_in_percent_or_as_fractions(text: str, shares: tuple[float, ...]) -> None:
    got = SideShares.parse(text)
    assert (got.train, got.dev, got.test) == pytest.approx(shares)


@pytest.mark.parametrize(
    "text", ["", "70", "70/30/0", "0/10/90", "a/b", "70/-10/40", "nan/1/1", "1/2/3/4", "inf/1/1"]
)
def test_what_are_no_shares(text: str) -> None:
    with pytest.raises(UsageError, match="are not valid shares"):
        SideShares.parse(text)


def test_a_small_test_without_languages_says_what_is_missing(make: Make) -> None:
    def silent(made: list[dict[str, Any]]) -> None:
        for row in made:
            row["language"] = None

    with pytest.raises(DataError, match="No test row has both a class and a language"):
        split(make(change=silent), "random", small_test=5)


def test_an_empty_dataset_is_no_test(make: Make) -> None:
    empty = Dataset.build("empty", other().records.head(0))
    with pytest.raises(DataError, match="'empty' has no records"):
        split(make(60), "external", external=empty)


def test_nothing_changed_is_said(make: Make) -> None:
    done = split(make(60), "random", changed_in_test=False)
    assert any("No row is known to be changed" in note for note in done.notes())
    told = split(
        make(60, tables={"changes": changes(CHANGED[:5])}), "random", changed_in_test=False
    )
    assert any("5 rows that validation changed (veracity 5)" in note for note in told.notes())


def test_only_rows_with_the_given_values_are_trained_and_tested_on(make: Make) -> None:
    dataset = make()
    plain = split(dataset, "random").dataset.records
    first, *others = sorted(dataset.records["source"].drop_nulls().unique().to_list())
    done = split(
        dataset,
        "random",
        train_where={"source": [first]},
        test_where=[f"source={name}" for name in others],
    )
    sides = done.dataset.records
    assert set(sides.filter(pl.col("split").is_in(["train", "dev"]))["source"].to_list()) == {first}
    assert set(sides.filter(pl.col("split") == "test")["source"].to_list()) <= set(others)
    assert (sides["split"] == "test").sum() > 0
    both = plain.join(sides, on="id").filter(pl.col("split_right").is_not_null())
    assert both["split"].equals(both["split_right"].rename("split")), "no row changes its side"
    assert sum(done.parts.left_out.values()) == sides["split"].null_count()


@pytest.mark.parametrize("where", ["source", "=x", "colour=red"])
def test_a_condition_that_cannot_be_met_is_a_sentence(make: Make, where: str) -> None:
    with pytest.raises(ClaimlabError):
        split(make(), "random", train_where=[where])


def test_a_condition_that_no_row_meets_says_so(make: Make) -> None:
    with pytest.raises(DataError, match="No row for testing meets the condition"):
        split(make(), "random", test_where=["source=nobody"])
