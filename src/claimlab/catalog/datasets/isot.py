"""ISOT Fake News: Reuters articles against articles of sites flagged as unreliable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table, both, dated

ARTICLES = {"true": ("True.csv",), "fake": ("Fake.csv",)}
TITLES = {
    "true": ("*ISOT_real.csv", "*ISOT_true.csv", "True.csv"),
    "fake": ("*ISOT_fake.csv", "Fake.csv"),
}


def load_titles(bundle: Bundle) -> Loaded:
    """Headlines only: from the title lists that circulate, or the title column of the articles. The
    file is the label.

    Titles are stripped: only fake ones begin with a space.
    """
    parts = [_records(raw, label, "title", "claim") for label, raw in _both(bundle, TITLES)]
    return Loaded(pl.concat(parts))


def load_articles(bundle: Bundle) -> Loaded:
    """Full texts as published: title, text, subject, date. A few dates of the full file are web
    addresses: null.
    """
    parts = [
        _records(raw, label, "text", "article").with_columns(
            topic=raw.maybe("subject"), meta=raw.meta(["title"])
        )
        for label, raw in _both(bundle, ARTICLES)
    ]
    return Loaded(pl.concat(parts))


def _both(bundle: Bundle, files: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, Table]]:
    for label, patterns in files.items():
        yield label, Table.read(bundle, bundle.one(*patterns))


def _records(raw: Table, label: str, column: str, kind: str) -> pl.DataFrame:
    return raw.frame.select(
        text=raw.need(column),
        kind=pl.lit(kind),
        label_raw=pl.lit(label),
        **dated({"date column": raw.maybe("date")}, "%d-%b-%y"),
    )


LABELS = {"true": "true", "fake": "false"}

DATASET = Entry(
    card=Card(
        name="isot",
        title="ISOT Fake News",
        summary=(
            "News articles of 2016 and 2017: true ones crawled from Reuters, fake ones from sites"
            " that PolitiFact and Wikipedia flag. The source is the label."
        ),
        size=44_898,
        modality=("articles",),
        topic="Politics",
        region="International",
        languages=("eng",),
        time_start="2016",
        time_end="2017",
        labelling="Source-based",
        access=(
            "Download True.csv and Fake.csv from the ISOT lab's page at the University of Victoria."
        ),
        homepage=(
            "https://onlineacademiccommunity.uvic.ca/isot/2022/11/27/fake-news-detection-datasets/"
        ),
        citation=(
            "Ahmed, Traore and Saad (2017), Detection of Online Fake News Using N-gram Analysis and"
            " Machine Learning Techniques, ISDDC; dataset page: University of Victoria (2022), Fake"
            " News Detection Datasets."
        ),
        errata=(
            (
                "Almost every true article says '(Reuters)' (97% of the texts at hand, and no fake"
                " one), and upper-case letters in the title alone separate the classes almost"
                " perfectly: a high score here shows nothing."
            ),
            (
                "9,045 of the 23,471 fake titles begin with a space, and no true one does; titles"
                " are stripped on loading."
            ),
            (
                "The circulating title lists hold 44,888 of the 44,898 articles: ten fake ones"
                " whose date was a web address are gone."
            ),
            "Fake titles repeat often: 23,471 rows, 17,897 distinct titles.",
            (
                "The published subject names differ between the two files, which gives the label"
                " away; some copies rename them."
            ),
            "The articles run from 2015-03 to 2018-02, not only 2016 and 2017.",
        ),
    ),
    maps=both(LABELS),
    variants={"titles": load_titles, "articles": load_articles},
    published_rows={"titles": 44_898, "articles": 44_898},
    real_rows={"titles": 44_888, "articles": 2_402},
    real_labels={"true": 21_417, "fake": 23_471},
)
