"""COVID-19 Fake News (CONSTRAINT 2021, English): posts marked real or fake."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table
from claimlab.core.words import several

SPLITS = {
    "train": ("Constraint*Train.csv", "*train*.csv", "*train*.xlsx"),
    "dev": ("Constraint*Val.csv", "*val*.csv", "*val*.xlsx"),
    "test": (
        "*test_with_labels.csv",
        "*test_with_labels.xlsx",
        "Constraint*Test.csv",
        "*test*.csv",
        "*test*.xlsx",
    ),
}


def load(bundle: Bundle) -> Loaded:
    """Three tables (csv or xlsx). The ids start at 1 in each, so the split is part of ours."""
    parts = []
    for split, patterns in SPLITS.items():
        raw = Table.read(bundle, bundle.one(*patterns))
        parts.append(
            raw.frame.select(
                id=f"covid19-fake-news-{split}-" + raw.need("id"),
                text=raw.need("tweet", "text"),
                kind=pl.lit("post"),
                label_raw=raw.maybe("label"),
                split=pl.lit(split),
            )
        )
    records = pl.concat(parts)
    bare = records["label_raw"].null_count()
    notes = (
        [f"{several(bare, 'row')} without a label: the test part was first published without."]
        if bare
        else []
    )
    return Loaded(records, notes=notes)


DATASET = Entry(
    card=Card(
        name="covid19-fake-news",
        title="COVID-19 Fake News",
        summary=(
            "English posts and headlines about the pandemic: real ones from official accounts, fake"
            " ones from fact-checkers; the data of the CONSTRAINT 2021 shared task."
        ),
        size=10_700,
        modality=("articles", "posts"),
        topic="Covid-19",
        languages=("eng",),
        access=(
            "Download the three tables from the shared task's page or the authors' public"
            " repository."
        ),
        homepage="https://constraint-shared-task-2021.github.io/",
        citation=(
            "Patwa, Sharma, Pykl, Guptha, Kumari, Akhtar, Ekbal, Das and Chakraborty (2021),"
            " Fighting an Infodemic: COVID-19 Fake News Dataset, CONSTRAINT workshop at AAAI."
        ),
        errata=(
            (
                "Surface features (length, punctuation, capitals, links) separate the classes far"
                " above chance: real posts come from a few official accounts."
            ),
            (
                "Posts of train and test are near-duplicates of each other here and there, so a"
                " random split leaks."
            ),
            (
                "The licence found beside copies of the data belongs to their code; none is stated"
                " for the data."
            ),
        ),
    ),
    maps={"a5": {"real": "true", "fake": "false"}},
    variants={"posts": load},
    published_rows={"posts": 10_700},
    real_rows={"posts": 10_700},
    real_labels={"real": 5_600, "fake": 5_100},
)
