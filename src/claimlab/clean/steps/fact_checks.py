"""Labels that a fact-check speaks against: "false" of a record labelled true, "true" of one
labelled false.


"""

from __future__ import annotations

from typing import ClassVar

import polars as pl
from pydantic import Field

from claimlab.clean.ratings import plain_ratings
from claimlab.clean.step import CleanStep
from claimlab.core.labels import fold
from claimlab.core.step import Outcome
from claimlab.core.words import several
from claimlab.text.neardup import find_across


class FactChecks(CleanStep):
    """A fact-check belongs to a record by its id, or where the claim it reviews is nearly the
    record's text.
    """

    name: ClassVar[str] = "fact-checks"
    summary: ClassVar[str] = (
        "Sends records whose label a plain rating contradicts to the doubtful ones."
    )
    needs: ClassVar[tuple[str, ...]] = ("ratings",)

    threshold: float = Field(default=0.8, gt=0, le=1)
    ratings: pl.DataFrame | None = None

    def apply(self, records: pl.DataFrame) -> Outcome:
        assert self.ratings is not None  # the runner hands it in
        verdict = [plain_ratings().get(fold(rating)) for rating in self.ratings["rating"].to_list()]
        plain = self.ratings.with_columns(pl.Series("says", verdict, dtype=pl.String)).drop_nulls(
            "says"
        )
        matched = pl.concat([self._by_id(records, plain), self._by_claim(records, plain)])
        against = matched.filter(
            ((pl.col("veracity") == "true") & (pl.col("says") == "false"))
            | ((pl.col("veracity") == "false") & (pl.col("says") == "true"))
        ).unique("id", keep="first", maintain_order=True)
        nuanced = self.ratings.height - plain.height
        notes = (
            (
                f"{several(matched['id'].n_unique(), 'record')} with a plain rating; "
                f"{several(nuanced, 'nuanced rating')} not used"
            ),
        )
        doubtful = {
            i: f"labelled {label}, but {publisher or url or 'a fact-check'} rates it '{rating}'"
            for i, label, rating, publisher, url in against.select(
                "id", "veracity", "rating", "publisher", "url"
            ).iter_rows()
        }
        return Outcome.of(records, doubtful=doubtful, notes=notes)

    def _by_id(self, records: pl.DataFrame, plain: pl.DataFrame) -> pl.DataFrame:
        rows = records.select("id", "veracity")
        named = plain.drop_nulls("record_id")
        return rows.join(
            named, left_on="id", right_on="record_id", maintain_order="left_right"
        ).select(_MATCHED)

    def _by_claim(self, records: pl.DataFrame, plain: pl.DataFrame) -> pl.DataFrame:
        claims = plain.filter(pl.col("record_id").is_null(), pl.col("claim").is_not_null())
        pairs = find_across(records["text"], claims["claim"], threshold=self.threshold)
        left = records.select("id", "veracity")[pairs.left.tolist()]
        right = claims.select("rating", "publisher", "url", "says")[pairs.right.tolist()]
        matched: pl.DataFrame = pl.concat([left, right], how="horizontal").select(_MATCHED)
        return matched


_MATCHED = ("id", "veracity", "rating", "publisher", "url", "says")
STEP = FactChecks
