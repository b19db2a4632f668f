"""FakeHealth: health news reviewed by experts against ten criteria."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Loaded,
    Table,
    dated,
    frame_of,
    host,
    present,
    read_json_as,
    title_and_body,
)
from claimlab.core.types import JsonObject

REVIEWS = {part: [f"reviews/{part}.json"] for part in ("HealthStory", "HealthRelease")}


def load(bundle: Bundle) -> Loaded:
    """reviews/PART.json is a list of expert reviews; content/PART/NEWS_ID.json is the text where it
    could be fetched. An article whose review is not there comes after the reviewed ones, without a
    label."""
    contents = {
        tuple(name.removesuffix(".json").split("/")[-2:]): name
        for name in bundle.match("content/*/*.json")
    }
    rows = []
    for part, name in present(bundle, REVIEWS).items():
        for review in read_json_as(bundle.text(name), name, list):
            text = contents.pop((part, str(review.get("news_id"))), None)
            # Both files have a title and a source: keys of the review get a prefix.
            prefixed = {f"review_{key}": value for key, value in review.items()}
            rows.append({**_content(bundle, text), **prefixed, "part": part})
    reviewed = len(rows)
    for (part, number), name in contents.items():
        rows.append({**_content(bundle, name), "review_news_id": number, "part": part})
    raw = Table("reviews", frame_of(rows))
    body, address = raw.maybe("text"), raw.maybe("url")
    original = address.str.extract(r"^https?://web\.archive\.org/web/[^/]+/(.+)$").fill_null(
        address
    )  # behind the archive
    records = raw.frame.select(
        id="fakehealth-" + raw.need("review_news_id"),
        text=title_and_body(raw.maybe("title").fill_null(raw.maybe("review_original_title")), body),
        label_raw=raw.need("review_rating"),
        **dated({"published": raw.maybe("publish_date")}),
        source=raw.maybe("review_source", "review_news_source").fill_null(
            pl.select(host(pl.lit(original))).to_series()
        ),
        url=address,
        meta=raw.meta(["part", "review_category", "keywords"]),
    )
    missing, bare = body.null_count(), raw.height - reviewed
    notes = [
        f"{missing:,} of {raw.height:,} articles come without their text: at most a headline is"
        " left."
    ] * bool(missing)
    notes += [
        f"{bare:,} of {raw.height:,} articles have no review among these files, so no label."
    ] * bool(bare)
    evidence = records.select(
        record_id="id",
        evidence_id=pl.col("id") + "-review",
        text=raw.maybe("review_summary", "review_description"),
        url=raw.maybe("review_link"),
        publisher=pl.lit("HealthNewsReview.org"),
        rating="label_raw",
    )
    return Loaded(records, {"evidence": evidence.drop_nulls("text")}, notes)


def _content(bundle: Bundle, name: str | None) -> JsonObject:
    return read_json_as(bundle.text(name), name, dict) if name is not None else {}
