"""TI-CNN: articles and images around the US election of 2016, real from known outlets, fake from
flagged sites.
"""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Card,
    Entry,
    Loaded,
    Table,
    both,
    dated,
    languages,
    unique_ids,
)


def load(bundle: Bundle) -> Loaded:
    """`all_data.csv`. Its `site_url` is a whole address for real articles and a bare domain for
    fake ones, so the domain is taken of both.
    """
    raw = Table.read(bundle, bundle.one("all_data.csv", "ti-cnn*.csv", "ti_cnn*.csv"))
    site = raw.maybe("site_url")
    records = raw.frame.select(
        id=unique_ids("ti-cnn", raw.maybe("uuid", "id")),
        text=raw.need("text").fill_null(raw.maybe("title")),
        kind=pl.lit("article"),
        label_raw=raw.need("type", "label"),
        language=languages(raw.maybe("language")),
        **dated({"date column": raw.maybe("published")}),
        author=raw.maybe("author"),
        source=site.str.extract(r"^(?:https?://)?(?:www\.)?([^/]*)"),
        url=site.set(~site.str.starts_with("http"), None),
        meta=raw.meta({"title": "title", "image": "main_img_url", "country": "country"}),
    )
    return Loaded(records)


A5 = {"real": "true", "fake": "false"}

DATASET = Entry(
    card=Card(
        name="ti-cnn",
        title="TI-CNN",
        summary=(
            "Articles with a lead image from the weeks around the US election of 2016: fake ones"
            " from sites that a browser plug-in flagged, real ones from outlets such as the New"
            " York Times."
        ),
        size=20_015,
        modality=("articles", "images"),
        topic="Politics",
        region="USA",
        languages=("eng",),
        labelling="source-based",
        access="Download all_data.csv from the authors' Google Drive, linked from the paper.",
        homepage="https://arxiv.org/abs/1806.00749",
        citation=(
            "Yang, Zheng, Zhang, Cui, Li and Yu (2018), TI-CNN: Convolutional Neural Networks for"
            " Fake News Detection, arXiv 1806.00749."
        ),
        errata=(
            (
                "Labels belong to the site, so any trace of the site is the label: 'site_url' is an"
                " address for real and a domain for fake, 'crawled' and 'country' differ too."
            ),
            (
                "Real articles show typographic marks as '<U+2019>', an export's trace; strip it"
                " before any check of text."
            ),
            (
                "Further columns (capitals, word counts, emotions) were computed by the authors and"
                " are not read."
            ),
            "The guide gives no baseline beside its keyword score for this set.",
        ),
    ),
    maps=both(A5),
    variants={"articles": load},
)
