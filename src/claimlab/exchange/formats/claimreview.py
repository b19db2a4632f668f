"""ClaimReview: schema.org's record of a fact-check, for the records whose fact-check is known.

A review needs a claim, a rating in the fact-checker's words, the fact-checker, and the address of
the review. They come from the evidence row whose rating is the record's own label; in data from
outside the catalogue, from the record's own `source`, `url` and `date` where no such row is there.
What is lacking is counted, never made up, and machine-made claims are left out: they have no
published review.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from claimlab.core.dataset import Dataset
from claimlab.core.progress import Progress, silent
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.exchange.format import Format, FormatSettings, Road, Written
from claimlab.exchange.markup import json_ld
from claimlab.exchange.synthetic import machine_made

FILE = "claimreview.json"
_LOST = {
    "records": "without a published review",
    "url": "that of the review takes its place",
    "date": "likewise",
    "author": "in meta",
    "language": "measured again",
    **dict.fromkeys(
        (
            "kind",
            "date_source",
            "tweet_id",
            "source",
            "topic",
            "group",
            "authorship",
            "split",
            "meta",
        ),
        "",
    ),
    "side tables": "",
}
RATING_NUMBERS = ("ratingValue", "bestRating", "worstRating")


@dataclass(frozen=True)
class FactCheckReview:
    """What is known of a fact-check; `own` says that it was read from the record's own columns."""

    url: str | None = None
    publisher: str | None = None
    published: datetime | None = None
    meta: str | None = None
    own: bool = False


class ClaimReview(Format):
    name = "claimreview"
    summary = "schema.org ClaimReview JSON-LD for the records whose fact-check is known."
    records = (FILE,)
    then = "publish the JSON-LD files in {}"
    back = (Road('cl.import_files(DIR, id="identifier")', _LOST),)

    def write(
        self, dataset: Dataset, folder: Path, settings: FormatSettings, progress: Progress = silent
    ) -> Written:
        rows = dataset.records.with_columns(made=machine_made(dataset))
        checked = from_evidence(dataset)
        chosen: list[tuple[JsonObject, FactCheckReview]] = []
        lacking: Counter[str] = Counter()
        left_out = 0
        for number, row in enumerate(rows.iter_rows(named=True)):
            if number % 10_000 == 0:
                progress("claimreview", number, rows.height)
            reviews = checked.get(row["id"]) or [
                own_review(row, catalogued=dataset.card is not None)
            ]
            gaps = [gaps_of(row, review) for review in reviews]
            whole = [(row, review) for review, gap in zip(reviews, gaps, strict=True) if not gap]
            chosen += whole
            if not whole:
                left_out += 1
                nearest: list[str] = min(gaps, key=len)
                lacking.update(nearest)
        (folder / FILE).write_text(
            json_ld([claim_review(row, review) for row, review in chosen]), encoding="utf-8"
        )
        progress("claimreview", rows.height, rows.height)
        counts = {
            "reviews": len(chosen),
            "left_out": left_out,
            "lacking": dict(sorted(lacking.items())),
        }
        return Written(counts, _notes(counts, [review for _, review in chosen]))


FORMAT = ClaimReview()


def from_evidence(dataset: Dataset) -> dict[str, list[FactCheckReview]]:
    """Record id -> the fact-checks that gave the record its label: evidence whose rating is that
    label.
    """
    evidence = dataset.tables.get("evidence")
    if evidence is None:
        return {}
    labels = dataset.records.select(record_id="id", rating="label_raw")
    rows = evidence.join(labels, on=["record_id", "rating"], how="semi", maintain_order="left")
    reviews: dict[str, list[FactCheckReview]] = {}
    for record, url, publisher, published, meta in rows.select(
        "record_id", "url", "publisher", "published", "meta"
    ).iter_rows():
        reviews.setdefault(record, []).append(FactCheckReview(url, publisher, published, meta))
    return reviews


def own_review(row: JsonObject, *, catalogued: bool) -> FactCheckReview:
    """The record's own columns as a review: only for claims, and only where a user chose what the
    columns hold.

    In catalogued data `url` and `source` are those of the claim, and a false statement about a
    fact-check is worse than none.
    """
    if catalogued or row["kind"] not in (None, "claim"):
        return FactCheckReview()
    return FactCheckReview(row["url"], row["source"], row["date"], own=True)


def gaps_of(row: JsonObject, review: FactCheckReview) -> list[str]:
    """What this record lacks for a ClaimReview."""
    needs = {
        "a text that a person wrote": row["text"] and not row["made"],
        "a verdict": row["label_raw"] and row["veracity"],
        "a reviewer": review.publisher and review.publisher.strip(),
        "the address of the review": review.url and re.match(r"https?://[^\s/]", review.url),
    }
    return [what for what, there in needs.items() if not there]


def claim_review(row: JsonObject, review: FactCheckReview) -> JsonObject:
    """The JSON-LD of one review. Nothing is in it that the dataset does not say."""
    numbers = json.loads(review.meta) if review.meta else {}
    rating = {k: numbers[k] for k in RATING_NUMBERS if isinstance(numbers, dict) and k in numbers}
    claim: JsonObject = {"@type": "Claim"}
    if row["author"]:
        claim["author"] = {"name": row["author"]}
    if row["url"] and not review.own:
        claim["appearance"] = {"@type": "CreativeWork", "url": row["url"]}
    out = {
        "@context": "https://schema.org",
        "@type": "ClaimReview",
        "identifier": row["id"],
        "url": review.url,
        "claimReviewed": row["text"],
        "author": {"@type": "Organization", "name": review.publisher},
        "reviewRating": {"@type": "Rating", "alternateName": row["label_raw"], **rating},
    }
    if review.published is not None:
        out["datePublished"] = review.published.isoformat().removesuffix("T00:00:00")
    return out if len(claim) == 1 else {**out, "itemReviewed": claim}


def _notes(counts: JsonObject, reviews: list[FactCheckReview]) -> list[str]:
    notes = []
    if counts["left_out"]:
        listed = ", ".join(f"{what}: {n:,}" for what, n in counts["lacking"].items())
        notes.append(
            f"Left out because something is missing: {several(counts['left_out'], 'record')}"
            f" ({listed})."
        )
    undated = sum(review.published is None for review in reviews)
    if undated:
        notes.append(f"{several(undated, 'review')} without datePublished: the date is not known.")
    own = sum(review.own for review in reviews)
    if own:
        notes.append(
            f"{several(own, 'review')} with the record's own columns: author from 'source', url"
            " from 'url', datePublished from 'date'. Check that these are the fact-checker's, not"
            " those of the claim."
        )
    return notes
