"""Texts that are nothing but a link: there is no claim in them.

Take URLs out of texts, last of all: domains give labels away. The text as it was stays in
`meta`.

One URL that appears with several labels.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Literal

import polars as pl

from claimlab.clean.step import CleanStep, Outcome, labels, reasons, rewritten
from claimlab.core.record import meta_json
from claimlab.core.words import several
from claimlab.text.rows import by_slices
from claimlab.text.urls import canonical_urls, find_urls, only_url, strip_urls


class OnlyUrlStep(CleanStep):
    name = "only-url"
    summary = "Drops texts without a letter or digit outside their URLs."

    def apply(self, records: pl.DataFrame) -> Outcome:
        ids = records.filter(by_slices(only_url, records["text"]).fill_null(False))["id"].to_list()
        return Outcome.of(records, dropped=dict.fromkeys(ids, "only a URL"))


class StripUrlsStep(CleanStep):
    name = "strip-urls"
    summary = 'Removes URLs from texts; the original stays in meta as "original_text".'

    hosts: bool = False  # also host names with neither scheme nor path ("example.org")

    def apply(self, records: pl.DataFrame) -> Outcome:
        after = strip_urls(records["text"], hosts=self.hosts)
        # What an earlier run kept is the older original.
        metas = [
            m if old == new else meta_json({"original_text": old, **json.loads(m or "{}")})
            for m, old, new in zip(records["meta"], records["text"], after, strict=True)
        ]
        meta = pl.Series("meta", metas, dtype=pl.String)
        empty = "nothing is left without its URLs"
        return rewritten(records, after, pl.lit("URLs removed"), empty, meta=meta)


class UrlConflictsStep(CleanStep):
    name = "url-conflicts"
    summary = (
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
            tags = conflicting.select(record_id="id", step=pl.lit(self.name), tag="url")
            return replace(Outcome.of(records, notes=notes), tables={"tags": tags})
        first = conflicting.unique("id", keep="first", maintain_order=True)
        why = pl.format("{} appears with {}", "url", pl.col("all").list.join(", "))
        return Outcome.of(records, doubtful=reasons(first, why), notes=notes)


ENTRIES = [OnlyUrlStep, StripUrlsStep, UrlConflictsStep]


def conflicts(
    records: pl.DataFrame, where: str = "both", *, canonical: bool = True
) -> pl.DataFrame:
    """One row per record and address in conflict: id, url, all (its labels). `canonical`: all
    spellings are one.
    """
    rows = records.select("id", label=labels(records), own="url").with_row_index("order")
    parts = []
    if where in ("url", "both"):
        parts.append(rows.select("order", "id", "label", url="own"))
    if where in ("text", "both"):
        cited = rows.with_columns(url=find_urls(records["text"])).explode("url")
        parts.append(cited.select("order", "id", "label", "url"))
    every = pl.concat(parts).drop_nulls(["label", "url"])
    if canonical:
        every = every.with_columns(url=canonical_urls(every["url"])).drop_nulls("url")
    named = every.unique(["id", "url"], keep="first", maintain_order=True)
    conflicting = named.filter(pl.col("label").n_unique().over("url") > 1)
    every_label = conflicting.group_by("url").agg(all=pl.col("label").unique().sort())
    return (
        conflicting.join(every_label, on="url", how="left")
        .sort("order", maintain_order=True)
        .select("id", "url", "all")
    )
