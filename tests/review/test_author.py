"""A person or a machine? The answers of annotators are scored like the runs of detectors."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.review.create import review_create
from claimlab.review.files import review_export, review_import
from claimlab.review.project import ITEMS


def test_each_annotators_accuracy_has_an_interval(tmp_path: Path) -> None:
    authors = ["HWT", "MGT"] * 40
    texts = [f"The ferry of Tolm sailed {n} times in {1900 + n}." for n in range(80)]
    ids = [f"r{n}" for n in range(80)]
    mixed = Dataset.build(
        "mixed",
        pl.DataFrame({"id": ids, "text": texts, "kind": "claim", "authorship": authors}),
    )
    mixed.write(tmp_path / "mixed")
    review = review_create(
        tmp_path / "mixed", tmp_path / "review", task="author", sample=60, stratify="authorship"
    )
    assert {item.record_id for item in review.every_item()} == {None}, "an id gives much away"
    items = dict(pl.read_parquet(review.folder / ITEMS).select("id", "record_id").iter_rows())
    truth = {
        i: "human" if author == "HWT" else "machine" for i, author in zip(ids, authors, strict=True)
    }
    assert sum(truth[record] == "human" for record in items.values()) == 30, "as many of both"
    votes = [(item, "ana", truth[record]) for item, record in items.items()]
    votes += [(item, "ben", "machine") for item in items]
    table = pl.DataFrame(votes, schema=["item", "annotator", "value"], orient="row")
    table.write_csv(tmp_path / "votes.csv")
    review_import(review, tmp_path / "votes.csv")
    assert review.agreement().rows["percent"][0] == 0.5
    review_export(review, tmp_path / "answers", to="csv")
    review.close()
    scored = cl.evaluate(
        predictions=[tmp_path / "answers" / "decisions.csv"],
        data=tmp_path / "mixed",
        task="bluff-3",
    )
    rows = scored.table.select("run", "n", "accuracy").rows()
    assert rows == [("decisions: ana", 60, 1.0), ("decisions: ben", 60, 0.5)]
    ben = scored.table.filter(run="decisions: ben").row(0, named=True)
    assert ben["macro_f1_low"] < ben["macro_f1"] < ben["macro_f1_high"]
