"""Reviews of doubtful records, findings, predictions, pairs, named records and samples."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.core.errors import ClaimlabError, DataError, OutputExists, UnknownName, UsageError
from claimlab.core.finding import RECORDS_KEPT, Finding
from claimlab.review.create import review_create
from claimlab.review.project import item_rows

from .made import dataset, key, predictions


def items(folder: Path) -> list[dict[str, Any]]:
    return list(item_rows(folder))


def test_a_seeded_sample_is_the_same_each_time_and_writes_the_same_bytes(tmp_path: Path) -> None:
    made = dataset()
    for name in ("a", "b"):
        review_create(made, tmp_path / name, sample=10, seed=4)
    files = [{p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("a", "b")]
    assert files[0] == files[1]
    assert set(files[0]) == {"review.json", "items.parquet", "call.json", ".claimlab.json"}
    review_create(made, tmp_path / "c", sample=10, seed=5)
    drawn = [[row["record_id"] for row in items(tmp_path / name)] for name in ("a", "c")]
    assert len(set(drawn[0])) == 10
    assert drawn[0] == sorted(drawn[0])
    assert drawn[0] != drawn[1]


def test_a_stratified_sample_has_equal_shares(tmp_path: Path) -> None:
    made = dataset()
    review_create(made, tmp_path / "r", sample=20, stratify="topic")
    topics = dict(made.records.select("id", "topic").iter_rows())
    assert Counter(topics[row["record_id"]] for row in items(tmp_path / "r")) == {
        "health": 10,
        "politics": 10,
    }
    with pytest.raises(UnknownName, match="no column named 'topics'"):
        review_create(made, tmp_path / "s", sample=20, stratify="topics")


def test_doubtful_records_with_their_reason(tmp_path: Path) -> None:
    made = dataset()
    left = made.records.head(2).with_columns(
        pl.lit("language").alias("step"), pl.lit("looks Danish").alias("reason")
    )
    made.tables["doubtful"] = left
    made.records = made.records.slice(2)
    review_create(made, tmp_path / "r", task="keep", doubtful=True)
    rows = items(tmp_path / "r")
    assert [row["record_id"] for row in rows] == ["r000", "r001"]
    assert rows[0]["payload"]["reason"] == "language: looks Danish"
    assert rows[0]["payload"]["text"].startswith("Claim 0")
    with pytest.raises(DataError, match="no doubtful records"):
        review_create(dataset(), tmp_path / "s", doubtful=True)


def test_the_records_that_a_finding_points_at(tmp_path: Path) -> None:
    defects, _ = planted(size=240)
    found = cl.audit(defects, checks=["near-duplicates", "label-errors"], output=tmp_path / "audit")
    review_create(
        defects, tmp_path / "r", audit=tmp_path / "audit", finding="near-duplicates", task="keep"
    )
    wanted = next(f.records for f in found.findings if f.check == "near-duplicates" and f.records)
    assert [row["record_id"] for row in items(tmp_path / "r")] == wanted
    with pytest.raises(UnknownName, match="near-duplicates"):
        review_create(defects, tmp_path / "s", audit=tmp_path / "audit", finding="near-duplicate")
    with pytest.raises(UsageError, match="go together"):
        review_create(defects, tmp_path / "s", finding="near-duplicates")


def test_wrong_and_uncertain_predictions(tmp_path: Path) -> None:
    made = dataset()
    run = dataset(predictions=predictions(made))
    review_create(made, tmp_path / "wrong", task="rationale", predictions=run)
    rows = items(tmp_path / "wrong")
    assert [row["record_id"] for row in rows] == [f"r{n:03d}" for n in range(1, 60, 2)]
    assert rows[0]["payload"]["model"] == pytest.approx(
        {"label": "true", "confidence": 1 - 1 / 120, "rationale": "It is so."}
    )
    review_create(
        made, tmp_path / "unsure", predictions=run, which="uncertain", sample=3, order="uncertainty"
    )
    assert [row["record_id"] for row in items(tmp_path / "unsure")] == ["r059", "r058", "r057"]
    with pytest.raises(UnknownName, match="'worst' is not a choice of `which`"):
        review_create(made, tmp_path / "x", predictions=run, which="worst")
    with pytest.raises(DataError, match="has no predictions"):
        review_create(made, tmp_path / "x", predictions=made)


def test_pairs_that_conflict(tmp_path: Path) -> None:
    made = dataset()
    review = review_create(
        made, tmp_path / "r", task="conflict", pairs="conflicts", people=["ana", "ben"]
    )
    (row,) = items(tmp_path / "r")
    assert (row["record_id"], row["other_id"]) == ("r000", "r003")
    item = review.next_item("ana")
    assert item is not None
    assert (item.payload.label, item.payload.other_label) == ("true", "false")
    assert item.payload.other_text == f"{item.payload.text} indeed"
    with pytest.raises(UsageError, match="compares two records"):
        review_create(made, tmp_path / "s", task="conflict")
    with pytest.raises(UsageError, match="not at pairs"):
        review_create(made, tmp_path / "s", task="label", pairs="conflicts")


def test_gold_items_and_attention_checks_are_spread_among_the_others(tmp_path: Path) -> None:
    made = dataset()
    table = tmp_path / "gold.csv"
    table.write_text("record_id,value\nr001,false\nr002,true\n", encoding="utf-8")
    ids = [f"r{n:03d}" for n in range(10, 40)]
    review_create(made, tmp_path / "r", records=[*ids, "nonsense"], gold=table, attention=3)
    rows = items(tmp_path / "r")
    special = [n for n, row in enumerate(rows) if row["gold"] is not None]
    assert len(rows) == 35
    assert len(special) == 5
    assert max(special) - min(special) > 8
    asked = [row for row in rows if row["attention"]]
    assert all(row["gold"].lower() in row["payload"]["text"].lower() for row in asked)
    with pytest.raises(DataError, match="not in 'made': 'r999'"):
        review_create(made, tmp_path / "s", gold={"r999": "true"})
    with pytest.raises(UsageError, match="not an answer to 'label'"):
        review_create(made, tmp_path / "s", gold={"r001": "maybe"})


def test_the_other_records_of_the_cluster_are_beside_a_pair_unless_labels_are_hidden(
    tmp_path: Path,
) -> None:
    made = dataset()
    more = made.records.filter(pl.col("id") == "r000").with_columns(
        id=pl.lit("copy"), text=pl.col("text") + " again", source=pl.lit("Hill Gazette")
    )
    made.records = pl.concat([made.records, more])
    pair = review_create(
        made, tmp_path / "r", task="conflict", pairs="conflicts", people=["ana", "ben"]
    )
    item = pair.next_item("ana")
    assert item is not None
    assert item.payload.cluster is not None
    (other,) = item.payload.cluster
    assert other.title is not None
    assert {item.record_id, item.other_id, other.title.split(" ")[0]} == {"r000", "r003", "copy"}
    alone = review_create(made, tmp_path / "s", records=["r000", "r009"], people=["ana", "ben"])
    rows = {row["record_id"]: row["payload"] for row in items(tmp_path / "s")}
    assert [one["title"].split(" ")[0] for one in rows["r000"]["cluster"]] == ["r003", "copy"]
    assert "cluster" not in rows["r009"]
    blind = alone.next_item("ana")
    assert blind is not None
    assert blind.payload.label is None
    assert blind.payload.cluster is None


def test_evidence_is_shown_beside_the_record(tmp_path: Path) -> None:
    pieces = {
        "record_id": ["r000"] * 4,
        "evidence_id": list("abcd"),
        "rank": [4, 1, 2, 3],
        "title": list("ABCD"),
    }
    review_create(dataset(evidence=pl.DataFrame(pieces)), tmp_path / "r", records=["r000"])
    (row,) = items(tmp_path / "r")
    assert [piece["title"] for piece in row["payload"]["context"]] == ["B", "C", "D"]


def test_a_task_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "tone.toml"
    file.write_text(
        'name = "tone"\nkind = "choice"\nquestion = "Is it angry?"\nchoices = [{value = "yes"}, {value = "no"}]\n',
        encoding="utf-8",
    )
    review = review_create(
        dataset(), tmp_path / "r", task=file, guideline="Look at the verbs.", per_item=3
    )
    assert [c.key for c in review.task.choices] == ["1", "2"]
    assert (review.task.guideline, review.task.per_item) == ("Look at the verbs.", 3)
    file.write_text('name = "tone"\nkind = "mood"\nquestion = "?"\n', encoding="utf-8")
    with pytest.raises(UsageError, match="kind"):
        review_create(dataset(), tmp_path / "s", task=file)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"task": "lable"}, "Did you mean 'label'"),
        ({"order": "uncertainty"}, "how uncertain"),
        ({"order": "chaos"}, "'chaos' is not a choice of `order`"),
        ({"stratify": "topic"}, "`sample`"),
        ({"doubtful": True, "pairs": "conflicts"}, "`doubtful` and `pairs`"),
        ({"records": ["x"]}, "No record is left"),
        ({"per_item": 0}, "per_item"),
        ({"batch": 10, "sample": 5}, "`batch` alone"),
        ({"batch": 10, "accept": 0.5}, "`discard` at most `accept`"),
        ({"store": "mysql://h/d", "people": ["ana"]}, "not a store"),
    ],
)
def test_wrong_arguments_are_sentences(tmp_path: Path, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ClaimlabError, match=message):
        review_create(dataset(), tmp_path / "r", **wrong)


def test_a_review_that_was_worked_on_is_not_replaced(tmp_path: Path) -> None:
    made = dataset()
    review = review_create(made, tmp_path / "r", sample=4, people=["ana"])
    with pytest.raises(OutputExists, match="already exists"):
        review_create(made, tmp_path / "r", sample=4)
    review.decide("ana", "1", "true", key=key())
    review.close()
    with pytest.raises(OutputExists, match="did not write"):
        review_create(made, tmp_path / "r", sample=4, force=True)
    assert json.loads((tmp_path / "r" / "review.json").read_text())["origin"]["dataset"] == "made"


def test_pairs_can_be_narrowed_to_those_of_some_records(tmp_path: Path) -> None:
    data = planted(size=120)[0]
    every = review_create(data, tmp_path / "every", task="duplicate", pairs="near-duplicates")
    pairs = {(r.record_id, r.other_id) for r in every.about().values()}
    one = min(min(pairs))
    mine = {pair for pair in pairs if one in pair}
    assert 0 < len(mine) < len(pairs)
    some = review_create(
        data, tmp_path / "some", task="duplicate", pairs="near-duplicates", records=[one]
    )
    assert {(r.record_id, r.other_id) for r in some.about().values()} == mine


def test_all_records_of_a_finding_are_reviewed_and_it_is_noted_where_an_audit_does_not_keep_all(
    tmp_path: Path,
) -> None:
    data = planted(size=600)[0]
    ids = data.records["id"].to_list()
    finding = Finding(
        check="made", protocol="fair", verdict="warn", why="Because.", records=ids[:300]
    )
    long = finding.model_copy(update={"check": "long", "records": ids * 20}).model_dump()
    audits = [{"findings": [finding.model_dump(), Finding.model_validate(long).model_dump()]}]
    (tmp_path / "audit.json").write_text(json.dumps({"audits": audits}), encoding="utf-8")
    review = review_create(data, tmp_path / "review", audit=tmp_path / "audit.json", finding="made")
    assert review.size == 300
    assert "finding_records" not in review.project.origin.chosen
    review = review_create(data, tmp_path / "long", audit=tmp_path / "audit.json", finding="long")
    assert review.project.origin.chosen["finding_records"] == 20 * len(ids) > RECORDS_KEPT
