"""Spanish Fake News Corpus: news from Mexico (2018) and from other countries on COVID-19 (2020-2021)."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.card import Card
from claimlab.catalog.columns import column, constant, require_columns, title_and_body
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.catalog.made_up import xlsx
from claimlab.core.labels import LabelMap
from claimlab.files.bundle import Bundle
from claimlab.files.tables import read_excel

SPLITS = {"train": "train", "development": "dev", "test": "test"}


def load(bundle: Bundle) -> Loaded:
    """Every workbook that is there; their headers differ in case and number (Topic, TOPICS), their labels in type."""
    parts = []
    for stem, split in SPLITS.items():
        for name in bundle.match(f"{stem}.xlsx"):
            raw = read_excel(bundle.read(name), name)
            require_columns(raw, name, [("category",), ("text",)])
            parts.append(_records(raw, split))
    if not parts:
        bundle.one(*(f"{stem}.xlsx" for stem in SPLITS))  # raises the sentence that says what is there
    return Loaded(pl.concat(parts))


def _records(raw: pl.DataFrame, split: str) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "text": title_and_body(column(raw, "headline"), column(raw, "text")),
            "kind": constant("article", raw.height),
            "label_raw": column(raw, "category"),
            "language": constant("spa", raw.height),
            "source": column(raw, "source"),
            "url": column(raw, "link"),
            "topic": column(raw, "topic", "topics"),
            "split": constant(split, raw.height),
        }
    )


DATASET = Entry(
    card=Card(
        name="spanish-fake-news-corpus",
        title="Spanish Fake News Corpus",
        summary="News in Spanish from newspapers, fact-checkers and sites known for fabrications, tagged by hand; the "
        "second edition adds a test part on COVID-19 from other Ibero-American countries.",
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
        citation="Posadas-Durán, Gómez-Adorno, Sidorov and Moreno Escobar (2019), Detection of fake news in a new corpus "
        "for the Spanish language, Journal of Intelligent & Fuzzy Systems 36(5); Gómez-Adorno, Posadas-Durán, "
        "Bel-Enguix and Porto Capetillo (2021), Overview of FakeDeS at IberLEF 2021.",
        errata=(
            "The guide's size and dates are those of the second edition's test part alone; the first edition adds 971 "
            "news of January to July 2018 (491 real, 480 fake).",
            "The first edition pairs true and false news of one event; the files do not say which belong together.",
        ),
        survey="cdl-listed",
    ),
    maps={"a5": LabelMap("spanish-fake-news-corpus/a5", {"true": "true", "fake": "false", "false": "false"})},
    variants={"news": load},
    sample=Sample(
        files={
            "train.xlsx": xlsx(
                [
                    ["Id", "Category", "Topic", "Source", "Headline", "Text", "Link"],
                    [1, "Fake", "Society", "El Faro", "El puente es de queso", "Nadie lo sabe.", "https://a.example"],
                    [2, "True", "Society", "El Faro", "El puente está abierto", "Desde el lunes.", "https://b.example"],
                ]
            ),
            "test.xlsx": xlsx(
                [
                    ["ID", "CATEGORY", "TOPICS", "SOURCE", "HEADLINE", "TEXT", "LINK"],
                    [1, False, "Covid-19", "El Río", "El té lo cura todo", "Un vecino lo dijo.", None],
                ]
            ),
        },
        rows={"news": 3},
        veracity={"true": 1, "false": 2},
    ),
)
