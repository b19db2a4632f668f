"""Fact-checks as one small table, whatever they came in: record_id or claim, rating, publisher,
url.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import polars as pl

from claimlab.core import packaged
from claimlab.core.errors import DataError
from claimlab.core.labels import fold

COLUMNS = ("record_id", "claim", "rating", "publisher", "url")

# What the columns are called in ClaimReview tables (schema.org names, the fact-check search API,
# and our own).
_SPELLINGS = {
    "record_id": ("record_id", "id"),
    "claim": ("claim", "claimReviewed", "claim_reviewed", "text"),
    "rating": ("rating", "textualRating", "textual_rating", "alternateName", "verdict"),
    "publisher": ("publisher", "author", "site"),
    "url": ("url", "reviewUrl", "review_url"),
}


def ratings_table(frame: pl.DataFrame) -> pl.DataFrame:
    """The agreed columns of a ClaimReview table; absent ones are null."""
    picked = {
        name: next((s for s in names if s in frame.columns), None)
        for name, names in _SPELLINGS.items()
    }
    if picked["rating"] is None or (picked["record_id"] is None and picked["claim"] is None):
        raise DataError(
            f"The table of fact-checks has the columns {', '.join(frame.columns) or 'none'}.",
            "It needs 'rating', and 'record_id' or 'claim' (the claim that was reviewed).",
        )
    columns = [
        (pl.col(source).cast(pl.String) if source else pl.lit(None, pl.String)).alias(name)
        for name, source in picked.items()
    ]
    return frame.select(columns).filter(pl.col("rating").is_not_null())


def ratings_of_evidence(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame | None:
    """The ratings that a dataset's own evidence table holds; null when it holds none.

    A search also finds fact-checks of other claims: where the table says what corresponds, only
    that counts.
    """
    evidence = tables.get("evidence")
    if evidence is not None and "corresponds" in evidence.columns:
        evidence = evidence.filter(pl.col("corresponds").fill_null(True))
    if (
        evidence is None
        or "rating" not in evidence.columns
        or evidence["rating"].null_count() == evidence.height
    ):
        return None
    return ratings_table(evidence.select("record_id", "rating", "publisher", "url"))


@cache
def plain_ratings() -> dict[str, str]:
    """Folded rating -> true or false, for the ratings that decide."""
    return {
        fold(word): verdict
        for verdict, words in packaged.toml("claimlab.clean", "plain_ratings.toml").items()
        for word in words
    }
