"""FakeNewsAMT: news excerpts from six domains, each with a fake version that crowd workers
wrote.
"""

from __future__ import annotations

import polars as pl

from claimlab.catalog.datasets._folders import articles
from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, both, meta_column, unique_ids

FOLDERS = {
    "fake": ("fakeNewsDataset/fake/*.txt", "fakeNewsAMT/fake/*.txt", "fake/*.fake.txt"),
    "legit": ("fakeNewsDataset/legit/*.txt", "fakeNewsAMT/legit/*.txt", "legit/*.legit.txt"),
}
DOMAINS = {
    "biz": "business",
    "edu": "education",
    "entmt": "entertainment",
    "polit": "politics",
    "sports": "sports",
    "tech": "technology",
}


def load(bundle: Bundle) -> Loaded:
    """Two folders of text files named after domain and number: biz01.fake.txt rewrites
    biz01.legit.txt, so the two are a group.
    """
    table = articles(bundle, FOLDERS)
    pair = pl.col("stem").str.replace(r"\.(fake|legit)$", "")
    records = table.select(
        "text",
        id=unique_ids("fakenewsamt", table["stem"]),
        kind=pl.lit("article"),
        label_raw="label",
        topic=pair.str.replace(r"\d+$", "").replace_strict(DOMAINS, default=None),
        group=pair,
        authorship=pl.lit("HWT"),
        meta=meta_column(table, ["title"]),
    )
    return Loaded(records)


A5 = {"legit": "true", "fake": "false"}

DATASET = Entry(
    card=Card(
        name="fakenewsamt",
        title="FakeNewsAMT",
        summary=(
            "Short news articles in six domains from mainstream sites, each paired with a"
            " fabricated version that a crowd worker wrote in the same style."
        ),
        size=480,
        modality=("articles",),
        topic="Various",
        languages=("eng",),
        labelling="crowd-sourced",
        access=(
            "Download fakeNewsDatasets.zip from the language and information technologies group at"
            " the University of Michigan; it holds this set and Celebrity."
        ),
        homepage="https://lit.eecs.umich.edu/downloads.html",
        citation=(
            "Pérez-Rosas, Kleinberg, Lefevre and Mihalcea (2018), Automatic Detection of Fake News,"
            " COLING."
        ),
        errata=(
            (
                "Fake and legitimate articles come in pairs on one story: a split that parts a pair"
                " shows the model the story twice, with opposite labels."
            ),
            "The fakes were written on order by crowd workers and never circulated.",
        ),
    ),
    maps=both(A5),
    variants={"articles": load},
)
