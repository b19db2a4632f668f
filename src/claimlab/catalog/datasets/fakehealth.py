"""FakeHealth: health news reviewed by experts against ten criteria."""

from __future__ import annotations

from typing import Any

import polars as pl

from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table, dated, frame_of, read_json_as, title_and_body

PARTS = ("HealthStory", "HealthRelease")


def load(bundle: Bundle) -> Loaded:
    """reviews/PART.json is a list of expert reviews; content/PART/NEWS_ID.json is the text where it could be fetched."""
    contents = {tuple(name.split("/")[-2:]): name for name in bundle.match("content/*/*.json")}
    rows: list[dict[str, Any]] = []
    for part in PARTS:
        for name in bundle.match(f"reviews/{part}.json"):
            for review in read_json_as(bundle.text(name), name, list):
                text = contents.get((part, f"{review.get('news_id')}.json"))
                content = read_json_as(bundle.text(text), text, dict) if text is not None else {}
                rows.append({**content, **_prefixed(review), "part": part})
    if not rows:
        bundle.one(*(f"reviews/{part}.json" for part in PARTS))  # raises the sentence that says what is there
    raw = Table("reviews", frame_of(rows))
    found = raw.maybe("text")
    records = raw.frame.select(
        id="fakehealth-" + raw.need("review_news_id"),
        text=title_and_body(raw.maybe("title").fill_null(raw.maybe("review_original_title")), found),
        kind=pl.lit("article"),
        label_raw=raw.need("review_rating"),
        language=pl.lit("eng"),
        **dated({"published": raw.maybe("publish_date")}),
        source=raw.maybe("review_source", "review_news_source"),
        url=raw.maybe("url"),
        meta=raw.meta(["part", "review_category", "keywords"]),
    )
    missing = found.null_count()
    notes = [f"{missing} of {raw.height} review(s) come without the text of the news: only a headline is left."]
    evidence = records.select(
        record_id="id",
        evidence_id=pl.col("id") + "-review",
        text=raw.maybe("review_summary", "review_description"),
        url=raw.maybe("review_link"),
        publisher=pl.lit("HealthNewsReview.org"),
        rating="label_raw",
    )
    return Loaded(records, {"evidence": evidence.drop_nulls("text")}, notes if missing else [])


def _prefixed(review: dict[str, Any]) -> dict[str, Any]:
    """Both files have a title and a source: the review's own keys are told apart."""
    return {f"review_{key}": value for key, value in review.items()}


AUTHORS = {"0": "false", "1": "false", "2": "false", "3": "true", "4": "true", "5": "true"}

DATASET = Entry(
    card=Card(
        name="fakehealth",
        title="FakeHealth",
        summary="Health news stories and press releases with expert reviews against ten criteria, and the ids of the "
        "tweets about them.",
        size=440_870,
        modality=("articles", "posts"),
        topic="Health",
        region="USA",
        languages=("eng",),
        labelling="Human expert",
        licence=None,
        access="Clone or download the repository; the larger folders are on Zenodo.",
        homepage="https://github.com/EnyanDai/FakeHealth",
        citation="Dai, Sun and Wang (2020), Ginger Cannot Cure Cancer: Battling Fake Health News with a Comprehensive "
        "Data Repository, ICWSM.",
        errata=(
            "The guide's size counts tweets; the reviewed news are about 2,300.",
            "The label is a rating of zero to five for the quality of health journalism (costs and harms named, and so "
            "on), not for truth; the authors call fewer than three stars fake (map 'authors').",
        ),
        has_evidence=True,
    ),
    maps={"authors": AUTHORS},
    variants={"news": load},
)
