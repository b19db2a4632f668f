"""Does one address stand under different labels?"""

from __future__ import annotations

import polars as pl

from claimlab.audit.check import Context, no_such_protocol, not_measured
from claimlab.audit.conflicts import conflict_finding
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.text.urls import canonical_urls, find_urls


class UrlConflicts:
    name = "url-conflicts"
    title = "One URL, different labels"
    question = "Does one address stand under different labels?"

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        if context.protocol == "cdl":
            return no_such_protocol(self.name)
        urls = cited(subject.rows)
        if not urls.list.len().fill_null(0).sum():
            return [not_measured(self.name, "fair", "No record has or cites a URL.", n=subject.n)]
        return [conflict_finding(subject, self.name, urls, what="URL")]


def cited(rows: pl.DataFrame) -> pl.Series:
    """The record's own address and those in its text, in one spelling each."""
    own = canonical_urls(rows["url"]).to_frame("u").select(pl.concat_list("u").list.drop_nulls()).to_series()
    inside = find_urls(rows["text"]).list.eval(pl.element().map_batches(canonical_urls, return_dtype=pl.String))
    both = pl.DataFrame({"own": own, "inside": inside})
    return both.select(pl.concat_list(pl.col("own").fill_null([]), pl.col("inside").fill_null([]))).to_series()


CHECK = UrlConflicts()
