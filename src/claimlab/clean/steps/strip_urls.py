"""Take URLs out of texts, last of all: domains give labels away. The text as it was stays in
`meta`.
"""

from __future__ import annotations

import json
from typing import ClassVar

import polars as pl

from claimlab.clean.step import CleanStep
from claimlab.core.record import meta_json
from claimlab.core.step import Outcome
from claimlab.text.urls import strip_urls


class StripUrls(CleanStep):
    name: ClassVar[str] = "strip-urls"
    summary: ClassVar[str] = (
        'Removes URLs from texts; the original stays in meta as "original_text".'
    )

    hosts: bool = False  # also host names with neither scheme nor path ("example.org")

    def apply(self, records: pl.DataFrame) -> Outcome:
        after = strip_urls(records["text"], hosts=self.hosts)
        rows = records.select("id", "meta", pl.col("text").alias("before"), after.alias("after"))
        touched = rows.filter(pl.col("before") != pl.col("after"))
        blank = pl.col("after").str.strip_chars() == ""
        changed, metas = [], {}
        for row in touched.filter(~blank).iter_rows(named=True):
            changed.append((row["id"], "text", row["before"], row["after"], "URLs removed"))
            # What an earlier run kept is the older original.
            metas[row["id"]] = meta_json(
                {"original_text": row["before"], **json.loads(row["meta"] or "{}")}
            )
        meta = pl.Series(
            "meta",
            [metas.get(i, m) for i, m in records.select("id", "meta").iter_rows()],
            dtype=pl.String,
        )
        dropped = dict.fromkeys(
            touched.filter(blank)["id"].to_list(), "nothing is left without its URLs"
        )
        return Outcome.of(
            records,
            kept=records.with_columns(rows["after"].alias("text"), meta),
            dropped=dropped,
            changed=changed,
        )


STEP = StripUrls
