"""Labels that a fact-check speaks against: "false" of a record labelled true, "true" of one
labelled false.

Fact-checks come as one small table, whatever they came in: record_id or claim, rating, publisher,
url.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import polars as pl
from pydantic import Field

from claimlab.clean.step import CleanStep, Outcome
from claimlab.core import packaged
from claimlab.core.errors import DataError
from claimlab.core.labels import fold
from claimlab.core.words import several

_MATCHED = ("id", "veracity", "rating", "publisher", "url", "says")


def ratings_table(frame: pl.DataFrame) -> pl.DataFrame:
    """The agreed columns of a ClaimReview table; absent ones are null."""
    spellings = packaged.toml("claimlab.clean", "spellings.toml")["columns"]
    picked = {
        name: next((s for s in names if s in frame.columns), None)
        for name, names in spellings.items()
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
    return frame.select(columns).drop_nulls("rating")


def ratings_of_evidence(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame | None:
    """The ratings that a dataset's own evidence table holds; null when it holds none.

    A search also finds fact-checks of other claims: where the table says what corresponds, only
    that counts.
    """
    evidence = tables.get("evidence")
    if evidence is None or "rating" not in evidence.columns:
        return None
    if "corresponds" in evidence.columns:
        evidence = evidence.filter(pl.col("corresponds").fill_null(True))
    if not evidence["rating"].count():
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


class FactChecksStep(CleanStep):
    """A fact-check belongs to a record by its id, or where the claim it reviews is nearly the
    record's text.
    """

    name = "fact-checks"
    summary = "Sends records whose label a plain rating contradicts to the doubtful ones."
    needs = ("ratings",)

    threshold: float = Field(default=0.8, gt=0, le=1)
    ratings: pl.DataFrame | None = None

    def apply(self, records: pl.DataFrame) -> Outcome:
        assert self.ratings is not None  # the runner hands it in
        verdict = [plain_ratings().get(fold(rating)) for rating in self.ratings["rating"]]
        says = pl.Series("says", verdict, dtype=pl.String)
        plain = self.ratings.with_columns(says).drop_nulls("says")
        matched = pl.concat([self._by_id(records, plain), self._by_claim(records, plain)])
        decided = pl.col("veracity").is_in(["true", "false"])
        against = matched.filter(decided, pl.col("veracity") != pl.col("says"))
        nuanced = self.ratings.height - plain.height
        note = (
            f"{several(matched['id'].n_unique(), 'record')} with a plain rating;"
            f" {several(nuanced, 'nuanced rating')} not used"
        )
        doubtful = {
            i: f"labelled {label}, but {publisher or url or 'a fact-check'} rates it '{rating}'"
            for i, label, rating, publisher, url, _ in against.unique(
                "id", keep="first", maintain_order=True
            ).iter_rows()
        }
        return Outcome.of(records, doubtful=doubtful, notes=(note,))

    def _by_id(self, records: pl.DataFrame, plain: pl.DataFrame) -> pl.DataFrame:
        rows = records.select("id", "veracity")
        named = plain.drop_nulls("record_id")
        return rows.join(
            named, left_on="id", right_on="record_id", maintain_order="left_right"
        ).select(_MATCHED)

    def _by_claim(self, records: pl.DataFrame, plain: pl.DataFrame) -> pl.DataFrame:
        # At the top it would make the longest chain of imports.
        from claimlab.text.neardup import find_across

        claims = plain.filter(pl.col("record_id").is_null(), pl.col("claim").is_not_null())
        pairs = find_across(records["text"], claims["claim"], threshold=self.threshold)
        left = records.select("id", "veracity")[pairs.left.tolist()]
        right = claims.select("rating", "publisher", "url", "says")[pairs.right.tolist()]
        matched: pl.DataFrame = pl.concat([left, right], how="horizontal").select(_MATCHED)
        return matched


STEP = FactChecksStep
