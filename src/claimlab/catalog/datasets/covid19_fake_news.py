"""COVID-19 Fake News (CONSTRAINT 2021, English): posts marked real or fake."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.card import Card
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.catalog.table import Table
from claimlab.core.labels import LabelMap
from claimlab.files.bundle import Bundle

SPLITS = {
    "train": ("Constraint*Train.csv", "*train*.csv", "*train*.xlsx"),
    "dev": ("Constraint*Val.csv", "*val*.csv", "*val*.xlsx"),
    "test": ("*test_with_labels.csv", "*test_with_labels.xlsx", "Constraint*Test.csv", "*test*.csv", "*test*.xlsx"),
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
                language=pl.lit("eng"),
                split=pl.lit(split),
            )
        )
    records = pl.concat(parts)
    bare = records["label_raw"].null_count()
    notes = [f"{bare:,} row(s) have no label: the test part was first published without."] if bare else []
    return Loaded(records, notes=notes)


DATASET = Entry(
    card=Card(
        name="covid19-fake-news",
        title="COVID-19 Fake News",
        summary="English posts and headlines about the pandemic: real ones from official accounts, fake ones from "
        "fact-checkers; the data of the CONSTRAINT 2021 shared task.",
        size=10_700,
        modality=("articles", "posts"),
        topic="Covid-19",
        languages=("eng",),
        access="Download the three tables from the shared task's page or the authors' public repository.",
        homepage="https://constraint-shared-task-2021.github.io/",
        citation="Patwa, Sharma, Pykl, Guptha, Kumari, Akhtar, Ekbal, Das and Chakraborty (2021), Fighting an Infodemic: "
        "COVID-19 Fake News Dataset, CONSTRAINT workshop at AAAI.",
        errata=(
            "Surface features (length, punctuation, capitals, links) separate the classes far above chance: real posts come "
            "from a few official accounts.",
            "Posts of train and test are near-duplicates of each other here and there, so a random split leaks.",
            "The licence found beside copies of the data belongs to their code; none is stated for the data.",
        ),
        survey="cdl-listed",
        met_real_files=True,
    ),
    maps={"a5": LabelMap("covid19-fake-news/a5", {"real": "true", "fake": "false"})},
    variants={"posts": load},
    sample=Sample(
        files={
            "Constraint_Train.csv": "id,tweet,label\r\n"
            '1,"Our update: ""12 new cases"" in Riverton, 3 recovered. https://t.co/a",real\r\n'
            "2,Soup cures everything,fake\r\n",
            "Constraint_Val.csv": 'id,tweet,label\r\n1,"The lake\nis closed. ",real\r\n',
            "Constraint_Test.csv": "id,tweet\r\n1,Masks are made of cheese\r\n",
            "english_test_with_labels.csv": "id,tweet,label\r\n1,Masks are made of cheese,fake\r\n",
        },
        rows={"posts": 4},
        veracity={"true": 2, "false": 2},
    ),
    published_rows={"posts": 10_700},
    real_rows={"posts": 10_700},
    real_labels={"real": 5_600, "fake": 5_100},
)
