"""Texts that are nothing but a link: there is no claim in them.

Take URLs out of texts, last of all: domains give labels away. The text as it was stays in
`meta`.

One URL that appears with several labels.
"""

from __future__ import annotations

import json
from typing import ClassVar, Literal

import polars as pl

from claimlab.clean.step import CleanStep, labels
from claimlab.core.record import meta_json
from claimlab.core.step import Outcome
from claimlab.core.words import several
from claimlab.text.rows import by_slices
from claimlab.text.urls import canonical_urls, find_urls, only_url, strip_urls


class OnlyUrl(CleanStep):
    name: ClassVar[str] = "only-url"
    summary: ClassVar[str] = "Drops texts without a letter or digit outside their URLs."

    def apply(self, records: pl.DataFrame) -> Outcome:
        ids = records.filter(by_slices(only_url, records["text"]).fill_null(False))["id"].to_list()
        return Outcome.of(records, dropped=dict.fromkeys(ids, "only a URL"))


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


class UrlConflicts(CleanStep):
    name: ClassVar[str] = "url-conflicts"
    summary: ClassVar[str] = (
        "Finds records whose URL also appears with another label: doubtful, or tagged and kept."
    )

    where: Literal["text", "url", "both"] = "both"
    action: Literal["doubtful", "tag"] = "doubtful"
    spelling: Literal["canonical", "as-written"] = "canonical"

    def apply(self, records: pl.DataFrame) -> Outcome:
        conflicting = conflicts(records, self.where, canonical=self.spelling == "canonical")
        urls, ids = conflicting["url"].n_unique(), conflicting["id"].n_unique()
        notes = (f"{several(urls, 'URL')} with several labels, in {several(ids, 'record')}",)
        if self.action == "tag":
            tags = conflicting.select(
                pl.col("id").alias("record_id"),
                pl.lit(self.name).alias("step"),
                pl.col("url").alias("tag"),
            )
            plain = Outcome.of(records, notes=notes)
            return Outcome(
                plain.kept, plain.dropped, plain.doubtful, plain.changed, {"tags": tags}, notes
            )
        first = conflicting.unique("id", keep="first", maintain_order=True).select(
            "id", "url", "all"
        )
        doubtful = {
            i: f"{url} appears with {', '.join(every)}" for i, url, every in first.iter_rows()
        }
        return Outcome.of(records, doubtful=doubtful, notes=notes)


def conflicts(
    records: pl.DataFrame, where: str = "both", *, canonical: bool = True
) -> pl.DataFrame:
    """One row per record and address in conflict: id, url, all (its labels). `canonical`: all
    spellings are one.
    """
    rows = pl.DataFrame(
        {"id": records["id"], "label": labels(records), "own": records["url"]}
    ).with_row_index("order")
    parts = []
    if where in ("url", "both"):
        parts.append(rows.select("order", "id", "label", pl.col("own").alias("url")))
    if where in ("text", "both"):
        cited = rows.with_columns(find_urls(records["text"]).alias("url")).explode("url")
        parts.append(cited.select("order", "id", "label", "url"))
    every = pl.concat(parts).drop_nulls(["label", "url"])
    if canonical:
        every = every.with_columns(canonical_urls(every["url"]).alias("url")).drop_nulls("url")
    named = every.unique(["id", "url"], keep="first", maintain_order=True)
    conflicting = named.filter(pl.col("label").n_unique().over("url") > 1)
    every_label = conflicting.group_by("url").agg(pl.col("label").unique().sort().alias("all"))
    return (
        conflicting.join(every_label, on="url", how="left")
        .sort("order", maintain_order=True)
        .select("id", "url", "all")
    )


ENTRIES = [OnlyUrl, StripUrls, UrlConflicts]
