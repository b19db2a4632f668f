"""Spanish Fake News Corpus: news from Mexico (2018) and from other countries on COVID-19
(2020-2021).
"""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table, title_and_body

SPLITS = {"train": "train", "development": "dev", "test": "test"}


def load(bundle: Bundle) -> Loaded:
    """Every workbook that is there; their headers differ in case and number (Topic, TOPICS), their
    labels in type.
    """
    parts = [
        _records(Table.read(bundle, name), split)
        for stem, split in SPLITS.items()
        for name in bundle.match(f"{stem}.xlsx")
    ]
    if not parts:
        bundle.one(
            *(f"{stem}.xlsx" for stem in SPLITS)
        )  # raises the sentence that says what is there
    return Loaded(pl.concat(parts))


def _records(raw: Table, split: str) -> pl.DataFrame:
    return raw.frame.select(
        text=title_and_body(raw.maybe("headline"), raw.need("text")),
        kind=pl.lit("article"),
        label_raw=raw.need("category"),
        source=raw.maybe("source"),
        url=raw.maybe("link"),
        topic=raw.maybe("topic", "topics"),
        split=pl.lit(split),
    )


DATASET = Entry(
    card=Card(
        name="spanish-fake-news-corpus",
        title="Spanish Fake News Corpus",
        summary=(
            "News in Spanish from newspapers, fact-checkers and sites known for fabrications,"
            " tagged by hand; the second edition adds a test part on COVID-19 from other"
            " Ibero-American countries."
        ),
        size=572,
        modality=("articles", "posts"),
        topic="Various",
        region="International",
        languages=("spa",),
        time_start="2020-11-01",
        time_end="2021-03-31",
        labelling="Human (N.S.)",
        licence="CC BY 4.0",
        access="Clone or download the repository: train.xlsx, development.xlsx and test.xlsx.",
        homepage="https://github.com/jpposadas/FakeNewsCorpusSpanish",
        citation=(
            "Posadas-Durán, Gómez-Adorno, Sidorov and Moreno Escobar (2019), Detection of fake news"
            " in a new corpus for the Spanish language, Journal of Intelligent & Fuzzy Systems"
            " 36(5); Gómez-Adorno, Posadas-Durán, Bel-Enguix and Porto Capetillo (2021), Overview"
            " of FakeDeS at IberLEF 2021."
        ),
        errata=(
            (
                "The guide's size and dates are those of the second edition's test part alone; the"
                " first edition adds 971 news of January to July 2018 (491 real, 480 fake)."
            ),
            (
                "The first edition pairs true and false news of one event; the files do not say"
                " which belong together."
            ),
        ),
    ),
    maps={"a5": {"true": "true", "fake": "false", "false": "false"}},
    variants={"news": load},
)
