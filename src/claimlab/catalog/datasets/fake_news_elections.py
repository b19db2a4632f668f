"""Fake News Elections: news before the US elections of 2024, labelled by language models."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table, members, title_and_body


def load(bundle: Bundle) -> Loaded:
    """The Parquet files of the hub repository, or its CSV files where there are none: a text and a
    label.
    """
    parts = []
    for name in bundle.match("*.parquet") or members(bundle, "*.csv"):
        raw = Table.read(bundle, name)
        parts.append(
            raw.frame.select(
                text=title_and_body(raw.maybe("title", "headline"), raw.need("text", "content")),
                kind=pl.lit("article"),
                label_raw=raw.need("label"),
                source=raw.maybe("source", "outlet"),
                url=raw.maybe("url", "link"),
            )
        )
    return Loaded(pl.concat(parts))


DATASET = Entry(
    card=Card(
        name="fake-news-elections",
        title="Fake News Elections",
        summary=(
            "News and posts about elections gathered in 2023, marked real or fake by language"
            " models and checked by people."
        ),
        size=38_333,
        modality=("articles",),
        topic="Politics",
        region="USA",
        languages=("eng",),
        time_start="2023-04",
        time_end="2023-10",
        labelling="Algorithm & Validation by human",
        licence="MIT",
        access="Hugging Face hub: newsmediabias/fake_news_elections_labelled_data.",
        homepage="https://huggingface.co/datasets/newsmediabias/fake_news_elections_labelled_data",
        citation=(
            "Rahman and Raza (2023), Analyzing the Influence of Fake News in the 2024 Elections: A"
            " Comprehensive Dataset, arXiv:2312.03750."
        ),
        errata=(
            "The guide's table gives no reference; identified by name and dates.",
            (
                "The hub card says that labels are 0 and 1, and shows one written REAL: both"
                " spellings are read."
            ),
            "Labels come from language models: a detector built on one may only agree with itself.",
        ),
    ),
    maps={"a5": {"REAL": "true", "0": "true", "FAKE": "false", "1": "false"}},
    variants={"news": load},
)
