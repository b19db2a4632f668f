"""ClaimReview: only what the dataset says of a fact-check, and a count of what it does not say."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.planted import planted

from claimlab.core.dataset import Dataset
from claimlab.exchange.export import Exported, export

RECORDS = [
    {"id": "whole", "text": "The river flows uphill.", "label_raw": "Pants on fire!", "veracity": "false", "author": "Ann Poe"},
    {"id": "no-verdict", "text": "The bridge is old.", "label_raw": None, "veracity": None},
    {"id": "no-review", "text": "The town has no debt.", "label_raw": "True", "veracity": "true"},
    {"id": "no-address", "text": "Tea heals all.", "label_raw": "False", "veracity": "false"},
    {"id": "other-rating", "text": "It rained.", "label_raw": "True", "veracity": "true"},
    {"id": "no-text", "text": None, "label_raw": "True", "veracity": "true"},
]  # fmt: skip
EVIDENCE = [
    {"record_id": "whole", "publisher": "River Facts", "url": "https://facts.example/1", "rating": "Pants on fire!",
     "published": datetime(2021, 5, 4), "meta": '{"ratingValue": 1, "bestRating": 5, "shoe": 9}'},
    {"record_id": "whole", "publisher": "An encyclopedia", "url": "https://wiki.example/river", "rating": None},
    {"record_id": "no-address", "publisher": "River Facts", "url": "facts", "rating": "False"},
    {"record_id": "other-rating", "publisher": "River Facts", "url": "https://facts.example/2", "rating": "Half true"},
    {"record_id": "no-text", "publisher": "River Facts", "url": "https://facts.example/3", "rating": "True"},
]  # fmt: skip


def reviewed(**more: Any) -> Dataset:
    frame = pl.DataFrame(RECORDS, infer_schema_length=None).with_columns(
        pl.lit("claim").alias("kind")
    )
    evidence = pl.DataFrame(EVIDENCE, infer_schema_length=None).with_row_index("n")
    evidence = evidence.with_columns(pl.format("e{}", "n").alias("evidence_id")).drop("n")
    return Dataset.build("reviewed", frame, {"evidence": evidence}, **{"card": "factck-br", **more})


def written(dataset: Dataset, folder: Path) -> tuple[Exported, list[dict[str, Any]]]:
    done = export(dataset, "claimreview", folder)
    return done, json.loads((folder / "claimreview.json").read_text(encoding="utf-8"))


def test_a_review_is_what_the_evidence_says(tmp_path: Path) -> None:
    done, reviews = written(reviewed(), tmp_path / "out")
    assert reviews == [
        {
            "@context": "https://schema.org",
            "@type": "ClaimReview",
            "identifier": "whole",
            "url": "https://facts.example/1",
            "claimReviewed": "The river flows uphill.",
            "author": {"@type": "Organization", "name": "River Facts"},
            "reviewRating": {
                "@type": "Rating",
                "alternateName": "Pants on fire!",
                "ratingValue": 1,
                "bestRating": 5,
            },
            "datePublished": "2021-05-04",
            "itemReviewed": {"@type": "Claim", "author": {"name": "Ann Poe"}},
        }
    ]
    assert done.counts["reviews"] == 1
    assert done.counts["left_out"] == 5
    assert done.counts["lacking"] == {
        "a reviewer": 3, "a text that a person wrote": 1, "a verdict": 1, "the address of the review": 4,
    }  # fmt: skip
    assert "Left out because something is missing: 5 records" in done.notes[0]
    assert done.summary == "6 records, 1 reviews, 5 left out"


def test_own_columns_count_only_in_data_from_outside_the_catalogue(tmp_path: Path) -> None:
    own = {
        "source": "River Facts",
        "url": "https://facts.example/9",
        "date": datetime(2020, 1, 2, 3),
    }
    frame = pl.DataFrame([{"kind": k, **RECORDS[2], **own, "id": k} for k in ("claim", "article")])
    _, reviews = written(Dataset.build("mine", frame), tmp_path / "mine")
    assert [
        (r["identifier"], r["author"]["name"], r["url"], r["datePublished"]) for r in reviews
    ] == [("claim", "River Facts", "https://facts.example/9", "2020-01-02T03:00:00")], (
        "the address of an article is the article's own, so no review"
    )
    assert "own columns" in written(Dataset.build("mine", frame), tmp_path / "again")[0].notes[1]
    _, reviews = written(Dataset.build("coaid", frame, card="coaid"), tmp_path / "card")
    assert reviews == []


def test_machine_made_claims_have_no_reviews(tmp_path: Path) -> None:
    made, _ = planted(size=120)
    done, reviews = written(made, tmp_path / "out")
    assert reviews == []
    assert done.counts["lacking"] == {"a text that a person wrote": made.records.height}


def test_no_text_can_close_a_script_element(tmp_path: Path) -> None:
    dataset = reviewed()
    dataset.records = dataset.records.with_columns(pl.lit("</script><b>").alias("text"))
    _, reviews = written(dataset, tmp_path / "out")
    assert reviews[0]["claimReviewed"] == "</script><b>"
    assert "<" not in (tmp_path / "out" / "claimreview.json").read_text(encoding="utf-8")


@pytest.mark.realdata
def test_real_reviews(real_data: Path, tmp_path: Path) -> None:
    from claimlab.catalog.load import load

    dataset = load("factck-br", real_data / "factck-br.zip", unmapped="unknown")
    done, reviews = written(dataset, tmp_path / "out")
    assert done.counts["reviews"] == len(reviews)
    assert len(reviews) + done.counts["left_out"] == dataset.records.height
    assert len(reviews) > 0.9 * dataset.records.height
    assert all(
        r["url"].startswith("http") and r["author"]["name"] and r["claimReviewed"] for r in reviews
    )
