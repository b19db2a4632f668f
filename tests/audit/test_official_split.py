"""A split that is given is kept: what helps is removed from train, with its ids, and a record moves
only where a new split is asked for in words.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.catalog.load import load
from claimlab.clean.front import clean
from claimlab.clean.recipe import load_recipe
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.text.near import near_texts
from claimlab.text.normalise import normal_form

LETTERS = np.random.default_rng(5).choice(list("abcdefghijklmnopqrstuvwxyz"), (700, 9, 6))
TEXTS = [" ".join("".join(word) for word in text) for text in LETTERS]  # no two alike
COPIED, TORN = 20, 10  # test texts that train has under their own label, and under the other


def published() -> Dataset:
    """400 train, 100 dev and 200 test records; test texts are also in train, and one test text
    occurs twice in the test.
    """
    texts = list(TEXTS)
    labels = ["true", "false"] * 350
    for row in range(COPIED + TORN):
        texts[row] = texts[500 + row].upper() if row % 2 else f"{texts[500 + row]}s"
        labels[row] = labels[500 + row]
        if row >= COPIED:
            labels[row] = "false" if labels[500 + row] == "true" else "true"
    texts[699] = texts[698] = texts[697]
    labels[697:700] = ["true", "false", "true"]
    frame = pl.DataFrame(
        {
            "id": [f"r{row}" for row in range(700)],
            "text": texts,
            "veracity": labels,
            "label_raw": labels,
            "split": ["train"] * 400 + ["dev"] * 100 + ["test"] * 200,
        }
    )
    return Dataset.build("official", frame)


def sides(data: Dataset) -> dict[str, str]:
    return dict(data.records.select("id", "split").iter_rows())


def held_out(data: Dataset) -> dict[str, str]:
    return {i: side for i, side in sides(data).items() if side != "train"}


def leaked(data: Dataset) -> int:
    """Test records with a copy in train, by a count of its own."""
    records = data.records
    test = (records["split"] == "test").to_numpy()
    train = (records["split"] == "train").to_numpy()
    return int(near_texts(normal_form(records["text"])).copied(test, train).sum())


def taken(before: Dataset) -> Dataset:
    """What `prepare` makes of it by the steps that take records out."""
    return cl.prepare(before, steps=["leaks", "copies", "contradictions"]).dataset


@pytest.mark.slow
def test_prepare_keeps_dev_and_test_and_removes_from_train(tmp_path: Path) -> None:
    before = published()
    assert leaked(before) == COPIED + TORN
    prepared = cl.prepare(before, output=tmp_path / "out")
    assert held_out(prepared.dataset) == held_out(before)
    assert leaked(prepared.dataset) == 0
    file = tmp_path / "out" / "report" / "removed.json"
    removed = json.loads(file.read_text(encoding="utf-8"))["leave_out"]
    assert {row["id"] for row in removed} == {f"r{row}" for row in range(COPIED + TORN)}
    assert {row["split"] for row in removed} == {"train"}
    page = (tmp_path / "out" / "report" / "index.html").read_text(encoding="utf-8")
    assert "200 test records kept as published" in page


def test_cleaning_protects_the_test() -> None:
    before = published()
    cleaned = clean(before)
    after = sides(cleaned.dataset)
    assert {i for i, side in after.items() if side == "test"} == {
        f"r{row}" for row in range(500, 700)
    }
    assert leaked(cleaned.dataset) == 0
    dropped = cleaned.dataset.tables["dropped"].filter(step="protect")
    assert set(dropped["id"]) == {f"r{row}" for row in range(COPIED + TORN)}
    assert all(
        f"r{500 + int(i[1:])}" in why for i, why in dropped.select("id", "reason").iter_rows()
    )


def test_protection_can_be_turned_off_or_widened() -> None:
    before = published()
    loose = clean(before, protect="none")
    assert "protect" not in loose.stages["step"].to_list()
    assert sum(side == "test" for side in sides(loose.dataset).values()) < 200
    both = sides(clean(before, protect=["test", "dev"]).dataset)
    assert sum(side == "dev" for side in both.values()) == 100
    with pytest.raises(UsageError, match="protect"):
        clean(before, protect="tset")


def test_what_people_decided_counts_for_the_test_as_well() -> None:
    table = pl.DataFrame({"id": ["r600"], "decision": ["remove"], "reason": ["withdrawn"]})
    cleaned = clean(published(), decisions=table)
    assert "r600" not in sides(cleaned.dataset)


def test_a_recipe_that_protects_nothing_cleans_all_parts_alike() -> None:
    before = published()
    recipe = replace(load_recipe("default"), protect=())
    assert "protect" not in clean(before, recipe).stages["step"].to_list()
    assert "protect" in clean(before, recipe, protect="test").stages["step"].to_list()


def test_without_train_or_without_a_split_nothing_is_protected() -> None:
    records = published().records
    for frame in (
        records.with_columns(split=pl.lit(None, pl.String)),
        records.filter(pl.col("split") == "test"),
    ):
        assert "protect" not in clean(Dataset.build("x", frame)).stages["step"].to_list()


def test_the_advice_for_a_given_split_removes_from_train() -> None:
    audited = cl.audit(published(), checks=["near-duplicates"])
    advice = audited.conclusion.advice[0]
    assert "Remove these from train" in advice.text
    assert [command.function for command in advice.commands] == ["clean"]


@pytest.mark.slow
def test_checking_a_file_keeps_the_test_and_says_the_leak_as_published(tmp_path: Path) -> None:
    records = published().records.select("id", "text", "split", veracity="label_raw")
    records.write_csv(tmp_path / "task.csv")
    checked = cl.check(tmp_path / "task.csv")
    assert sum(side == "test" for side in sides(checked.clean).values()) == 200
    leak = next(f for f in checked.audit.findings if f.feature == "across the given split")
    assert leak.details["leaked"] == COPIED + TORN
    assert leak.verdict == "fail"
    assert "as published" in leak.why
    assert leak.details["share_cleaned"] == 0
    conclusion = checked.audit.conclusion
    assert conclusion.verdict.number == 5, (
        "cleaning settled it: it does not weigh on the clean copy"
    )
    (advice,) = [piece for piece in conclusion.advice if "near-duplicates" in piece.findings[0]]
    assert "Score on this cleaned copy" in advice.text
    assert "clean" not in {command.function for command in advice.commands}
    again = cl.audit(checked.clean, checks=["near-duplicates"])
    (left,) = [f for f in again.findings if f.feature == "across the given split"]
    assert (left.verdict, left.details["share"]) == ("pass", 0)


@pytest.mark.slow
def test_planted_data_keeps_its_test() -> None:
    before = planted(size=320)[0]
    assert held_out(taken(before)) == held_out(before)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["liar", "covid19-fake-news", "fakeddit"])
def test_no_record_of_a_published_test_leaves_or_moves(name: str, real_data: Path) -> None:
    before = load(name, real_data / f"{name}.zip", limit=None)
    records = pl.concat(
        [
            before.records.filter(pl.col("split") == side).head(400)
            for side in ("train", "dev", "test")
        ]
    )
    test = records.filter(pl.col("split") == "test").head(40)
    train = records.filter(pl.col("split") == "train")
    planted_rows = train.head(40).with_columns(text=test["text"])
    frame = pl.concat(
        [planted_rows, records.filter(~pl.col("id").is_in(train["id"].head(40).implode()))]
    )
    data = Dataset.build(name, frame)
    prepared = taken(data)
    assert held_out(prepared) == held_out(data)
    cleaned = clean(data).dataset
    kept = {i for i, side in sides(cleaned).items() if side == "test"}
    assert kept == {i for i, side in sides(data).items() if side == "test"}
    for after in (prepared, cleaned):
        assert leaked(after) == 0
