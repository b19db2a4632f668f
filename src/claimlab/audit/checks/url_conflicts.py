"""Does one URL have different labels?"""

from __future__ import annotations

import numpy as np
import polars as pl

from claimlab.audit.check import Context, not_measured
from claimlab.audit.conflicts import RULE, conflict_finding
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.text.urls import canonical_urls, find_urls


class UrlConflicts:
    name = "url-conflicts"
    title = "One URL, different labels"
    question = "Does one URL have different labels?"
    protocols = ("fair",)
    rule = RULE

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        urls = cited(subject.rows)
        if not urls.height:
            return [
                not_measured(
                    self.name, "fair", "No record has or cites the URL of a page.", n=subject.n
                )
            ]
        return [conflict_finding(subject, self.name, urls, what="URL")]


def cited(rows: pl.DataFrame) -> pl.DataFrame:
    """`row` and `key`: each record's own address and those in its text, in one spelling each.

    A bare host is left out: it is a site, not a page, and the check of domains asks about those.
    """
    number = pl.Series("row", np.arange(rows.height))
    inside = (
        pl.DataFrame({"row": number, "key": find_urls(rows["text"])})
        .explode("key")
        .drop_nulls("key")
    )
    every = pl.concat([pl.DataFrame({"row": number, "key": rows["url"]}).drop_nulls("key"), inside])
    pages = every.with_columns(canonical_urls(every["key"]).alias("key")).drop_nulls("key")
    return pages.filter(~pages["key"].str.contains(r"^https://[^/?]*$"))


CHECK = UrlConflicts()
