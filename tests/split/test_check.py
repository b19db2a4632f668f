"""The audit of a split: planted leaks are counted one by one, a broken promise raises, the
impossible is refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from claimlab.core.errors import ClaimlabError
from claimlab.split.check import check, keep_promise
from claimlab.split.leaks import find_leaks
from claimlab.split.run import split
from claimlab.split.strategy import Impossible, Material, Parts
from claimlab.split.views import blocks, languages_table
from claimlab.tasks.table import VERACITY as TASK

from .conftest import Make, sentence


def material_of(rows: list[tuple[str | None, str | None, str | None]]) -> Material:
    """Text, label and group of each row."""
    texts, labels, groups = zip(*rows, strict=True)
    records = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(len(rows))],
            "text": texts,
            "veracity": labels,
            "group": groups,
        },
        schema={"id": pl.String, "text": pl.String, "veracity": pl.String, "group": pl.String},
    ).with_columns(pl.lit("eng").alias("language"))
    return Material(records=records, labels=TASK.labels(records), classes=TASK.classes_in(records))


def test_each_kind_of_leak_is_counted() -> None:
    a, b, c, d = (sentence(i) for i in range(4))
    material = material_of(
        [
            (a, "true", None),  # train
            (b, "true", None),
            (c, "false", "event"),
            (sentence(9), "false", None),
            (a.upper(), "true", None),  # test: exact, its own label
            (a, "false", None),  # exact, another label
            (b[:-1] + "!", "false", None),  # near, another label
            (c[:-1] + "?", None, None),  # near, no label of its own
            (d, "true", "event"),  # only the group
            (sentence(8), "false", "other"),  # nothing
            (None, "true", None),  # no text
        ]
    )
    side = pl.Series("split", ["train"] * 4 + ["test"] * 7)
    (leak,) = find_leaks(material, side)
    assert (leak.of, leak.seen_in, leak.rows) == ("test", "train", 7)
    assert (leak.exact, leak.near) == (2, 2)
    assert (leak.same_label, leak.other_label) == (1, 2)
    assert leak.group == 1
    assert leak.records == ("r4", "r5", "r6", "r7", "r8")
    done = check(material, Parts(side, "by hand"))
    assert done.leaking
    assert "1 row without text: copies were not searched for." in done.notes


def test_leaks_between_every_pair_of_sides() -> None:
    text = sentence(1)
    material = material_of(
        [
            (text, "true", None),
            (sentence(2), "false", None),
            (text, "true", None),
            (text, "true", None),
        ]
    )
    leaks = {
        (x.of, x.seen_in): x.exact
        for x in find_leaks(material, pl.Series(["train", "train", "dev", "test"]))
    }
    assert leaks == {("test", "train"): 1, ("test", "dev"): 1, ("dev", "train"): 1}


def test_what_was_not_measured_is_null_and_said() -> None:
    material = material_of([(None, "true", None), (None, "false", None), (None, "true", None)])
    done = check(material, Parts(pl.Series(["train", "train", "test"]), "by hand"))
    (leak,) = done.leaks
    assert (leak.exact, leak.near, leak.group) == (None, None, None)
    assert any("were not measured" in note for note in done.notes)
    assert "test_in_train_exact" not in done.counts()


@pytest.mark.parametrize("promise", ["whole", "apart"])
def test_a_broken_promise_raises(promise: str) -> None:
    values: dict[str, Any] = {promise: pl.Series(["a", "b", "b", None])}
    keep_promise(Parts(pl.Series(["train", "test", "test", "dev"]), "kept", **values))
    with pytest.raises(ClaimlabError, match="does not keep its promise: 1 values, such as 'b'"):
        keep_promise(Parts(pl.Series(["train", "test", "dev", "dev"]), "broken", **values))


def test_dev_may_share_values_with_train_where_only_test_is_apart() -> None:
    values = pl.Series(["a", "a", "b"])
    keep_promise(Parts(pl.Series(["train", "dev", "test"]), "fine", apart=values))
    with pytest.raises(ClaimlabError, match="does not keep its promise"):
        keep_promise(Parts(pl.Series(["train", "test", "dev"]), "broken", apart=values))


def test_a_class_that_is_not_in_train_is_refused(make: Make) -> None:
    def told_by_source(made: list[dict[str, Any]]) -> None:
        for row in made:
            row["veracity"] = "true" if row["source"] == "source-03" else "false"

    with pytest.raises(Impossible, match="no row of 'true' in train"):
        split(make(change=told_by_source), "source", hold_out=("source-03",))
    done = split(make(change=told_by_source), "source", hold_out=("source-04",))
    assert "The class 'true' is missing from test." in done.notes()


def test_a_dataset_without_labels_still_splits(make: Make) -> None:
    done = split(
        make(change=lambda made: [row.update(veracity=None) for row in made] and None), "group"
    )
    assert done.checked.sides()["test"] > 0
    assert "No row has a label: classes were neither balanced nor counted." in done.notes()


def test_the_lineage_says_what_was_done_and_found(make: Make, tmp_path: Path) -> None:
    dataset = make()
    done = split(dataset, "random", seed=4)
    done.dataset.write(tmp_path / "out")
    told = json.loads((tmp_path / "out" / "dataset.json").read_text())
    step = told["lineage"][-1]
    assert (step["step"], step["seed"], step["inputs"]) == (
        "split",
        4,
        {"made-up": dataset.digest()},
    )
    assert step["parameters"]["name"] == "random"
    counts = step["counts"]
    assert (
        counts["train"] + counts["dev"] + counts["test"] + counts["unused"]
        == counts["before"]
        == 300
    )
    assert counts["test_in_train_group"] == done.checked.leaks[0].group
    assert told["counts"]["split"] == done.checked.sides()


def test_a_second_split_replaces_the_first_and_its_notes(make: Make) -> None:
    first = split(make(), "time").dataset
    second = split(first, "group").dataset
    assert [n for n in second.notes if "2020" in n] == []
    assert any(n == "Split: group." for n in second.notes)
    assert [s.parameters["by"] for s in second.lineage] == ["time", "group"]


def test_sides_without_text_or_group_were_not_measured(make: Make) -> None:
    def bare(made: list[dict[str, Any]]) -> None:
        for row in made:
            row.update(text=None, group=None, id="x" + row["id"])

    done = split(make(60), "external", external=make(40, change=bare, name="other"))
    by_pair = {(leak.of, leak.seen_in): leak for leak in done.checked.leaks}
    assert (by_pair["test", "train"].exact, by_pair["test", "train"].group) == (None, None)
    assert by_pair["dev", "train"].exact == 0


def test_an_unknown_language_is_no_language(make: Make) -> None:
    """Rows without one are counted, said and listed last; they make no second language of a set in
    one.
    """

    def forget(made: list[dict[str, Any]]) -> None:
        for row in made[:40]:
            row["language"] = None

    job = split(make(change=forget), by="random")
    table = languages_table(job.checked)
    assert [row[0] for row in table.rows] == ["deu", "eng", "por", "not known"]
    assert sum(int(n) for n in table.rows[-1][1:]) == 40
    note = "40 of 300 records have no language: they were shared out by class only."
    assert note in job.checked.notes
    one = split(make(change=forget, languages=("eng",)), by="random")
    assert len(blocks(one.checked)) == len(blocks(job.checked)) - 1, "one language needs no table"
    by_label = split(make(change=forget), by="random", stratify=["label"])
    assert note not in by_label.checked.notes


def test_a_copy_without_a_label_has_no_other_label() -> None:
    text = sentence(1)
    material = material_of(
        [
            (text, None, None),
            (sentence(2), "true", None),
            (sentence(3), "false", None),
            (text, "true", None),
        ]
    )
    (leak,) = find_leaks(material, pl.Series(["train", "train", "train", "test"]))
    assert (leak.exact, leak.same_label, leak.other_label) == (1, 0, 0)
