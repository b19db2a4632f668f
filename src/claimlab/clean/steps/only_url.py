"""Texts that are nothing but a link: there is no claim in them."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from claimlab.clean.step import CleanStep
from claimlab.core.step import Outcome
from claimlab.text.rows import by_slices
from claimlab.text.urls import only_url


class OnlyUrl(CleanStep):
    name: ClassVar[str] = "only-url"
    summary: ClassVar[str] = "Drops texts without a letter or digit outside their URLs."

    def apply(self, records: pl.DataFrame) -> Outcome:
        ids = records.filter(by_slices(only_url, records["text"]).fill_null(False))["id"].to_list()
        return Outcome.of(records, dropped=dict.fromkeys(ids, "only a URL"))


STEP = OnlyUrl
