"""Fact-checks in every shape they are published in."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from claimlab.search.claimreview import holds_reviews, reviews_in
from claimlab.search.local import LocalIndex, build_index
from claimlab.search.query import Query

NOW = datetime(2026, 11, 1)
REVIEW: dict[str, Any] = {
    "@context": "https://schema.org",
    "@type": "ClaimReview",
    "url": "https://checa.example/mare",
    "claimReviewed": "A maré subiu 120 cm em Porto Norte",
    "datePublished": "2021-03-04",
    "inLanguage": "pt-BR",
    "author": {"@type": "Organization", "name": "Checa Porto"},
    "reviewRating": {
        "@type": "Rating",
        "ratingValue": 1,
        "bestRating": 5,
        "worstRating": 1,
        "alternateName": "Falso",
    },
    "itemReviewed": {
        "@type": "Claim",
        "author": {"@type": "Person", "name": "Gazeta"},
        "datePublished": "2021-03-01",
    },
}
API = {
    "text": "A maré subiu 120 cm em Porto Norte",
    "claimant": "Gazeta",
    "claimDate": "2021-03-01T00:00:00Z",
    "claimReview": [
        {"publisher": {"name": "Checa Porto", "site": "checa.example"}, "url": "https://checa.example/mare",
         "reviewDate": "2021-03-04T00:00:00Z", "textualRating": "Falso", "languageCode": "pt"},
    ],
}  # fmt: skip
FEED = {
    "@context": "https://schema.org",
    "@type": "DataFeed",
    "dataFeedElement": [
        {
            "@type": "DataFeedItem",
            "dateCreated": "2021-03-05",
            "item": [REVIEW],
            "url": "https://checa.example/mare",
        }
    ],
}
SHAPES: dict[str, Any] = {
    "one": REVIEW,
    "list": [REVIEW],
    "feed": FEED,
    "graph": {"@context": "https://schema.org", "@graph": [{"@type": "NewsArticle"}, REVIEW]},
    "typed twice": {**REVIEW, "@type": ["Review", "http://schema.org/ClaimReview"]},
    "api": {"claims": [API]},
    "bulk": [API],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_says_the_same(shape: str) -> None:
    assert holds_reviews(SHAPES[shape])
    (found,) = reviews_in(SHAPES[shape], retrieved=NOW)
    review = found.review
    assert review is not None
    assert (found.text, found.url, found.published) == (
        API["text"],
        "https://checa.example/mare",
        datetime(2021, 3, 4),
    )
    assert (found.language, review.publisher, review.rating, review.verdict) == (
        "por",
        "Checa Porto",
        "Falso",
        "false",
    )
    assert (review.claimant, review.claim_date) == ("Gazeta", datetime(2021, 3, 1))


def test_a_rating_in_numbers_is_kept_but_not_judged() -> None:
    raw = {**REVIEW, "reviewRating": {"ratingValue": 1, "bestRating": 5, "worstRating": 1}}
    (found,) = reviews_in(raw, retrieved=NOW)
    assert found.review is not None
    assert (found.review.rating, found.review.verdict) == ("1 (worst 1, best 5)", None)


@pytest.mark.parametrize(
    "data",
    [None, 3, "x", {}, {"@type": "Article"}, {"claims": "no"}, [[[]]], {"@graph": {"@type": 5}}],
)
def test_other_data_holds_none(data: Any) -> None:
    assert not holds_reviews(data)


@pytest.mark.parametrize("field", [k for k in REVIEW if k != "@type"])
@pytest.mark.parametrize("value", [None, [], {}, "x", 7])
def test_a_field_that_is_missing_or_odd_is_null(field: str, value: Any) -> None:
    (found,) = reviews_in({**REVIEW, field: value}, retrieved=NOW)
    assert found.review is not None


def test_endless_nesting_is_not_followed() -> None:
    deep: Any = REVIEW
    for _ in range(5000):
        deep = {"@graph": [deep]}
    assert not holds_reviews(deep)


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("name", ["dump.jsonl", "dump.txt"])
def test_a_dump_with_one_review_per_line_is_an_index_of_fact_checks(
    tmp_path: Path, name: str, wrapped: bool
) -> None:
    lines = [
        json.dumps(
            {**REVIEW, "claimReviewed": f"Afirmação número {i}", "url": f"https://c.example/{i}"}
        )
        for i in range(3)
    ]
    if wrapped:
        lines = [f'<script type="application/ld+json">{line}</script>' for line in lines]
    (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    assert build_index(tmp_path / name, tmp_path / "index").documents == 3
    found = LocalIndex(tmp_path / "index").search(Query("afirmações", language="por"))
    assert len(found) == 3
    assert {e.review.verdict for e in found if e.review} == {"false"}


def test_a_feed_in_one_file_is_an_index_of_fact_checks(tmp_path: Path) -> None:
    for name, data in (
        ("feed.json", FEED),
        ("bulk.json", [API]),
        ("answer.json", {"claims": [API]}),
    ):
        (tmp_path / name).write_text(json.dumps(data), encoding="utf-8")
        manifest = build_index(tmp_path / name, tmp_path / f"{name}.index")
        assert (manifest.documents, manifest.languages) == (1, {"por": 1})
