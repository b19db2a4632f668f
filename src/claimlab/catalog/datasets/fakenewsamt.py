"""FakeNewsAMT: news excerpts from six domains, each with a fake version that crowd workers wrote."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.card import Card, Published, Quality, Shares
from claimlab.catalog.datasets._folders import articles
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.catalog.ids import unique_ids
from claimlab.core.labels import LabelMap
from claimlab.core.record import meta_column
from claimlab.files.bundle import Bundle

FOLDERS = {
    "fake": ("fakeNewsDataset/fake/*.txt", "fakeNewsAMT/fake/*.txt", "fake/*.fake.txt"),
    "legit": ("fakeNewsDataset/legit/*.txt", "fakeNewsAMT/legit/*.txt", "legit/*.legit.txt"),
}
DOMAINS = {
    "biz": "business", "edu": "education", "entmt": "entertainment",
    "polit": "politics", "sports": "sports", "tech": "technology",
}  # fmt: skip


def load(bundle: Bundle) -> Loaded:
    """Two folders of text files named after domain and number: biz01.fake.txt rewrites biz01.legit.txt, so the two are a group."""
    found = articles(bundle, FOLDERS)
    pair = pl.col("stem").str.replace(r"\.(fake|legit)$", "")
    records = found.select(
        "text",
        id=unique_ids("fakenewsamt", found["stem"]),
        kind=pl.lit("article"),
        label_raw="label",
        language=pl.lit("eng"),
        topic=pair.str.replace(r"\d+$", "").replace_strict(DOMAINS, default=None),
        group=pair,
        authorship=pl.lit("HWT"),
        meta=meta_column(found, ["title"]),
    )
    return Loaded(records)


A5 = {"legit": "true", "fake": "false"}

DATASET = Entry(
    card=Card(
        name="fakenewsamt",
        title="FakeNewsAMT",
        summary="Short news articles in six domains from mainstream sites, each paired with a fabricated version that a crowd worker wrote in the same style.",
        size=480,
        modality=("articles",),
        topic="Various",
        languages=("eng",),
        labelling="crowd-sourced",
        shares=Shares(true=50.0, false=50.0),
        quality=Quality(keywords="pass", feasibility="pass"),
        published=Published(keywords_tf=45.7),
        access="Download fakeNewsDatasets.zip from the language and information technologies group at the University of Michigan; it holds this set and Celebrity.",
        homepage="https://lit.eecs.umich.edu/downloads.html",
        citation="Pérez-Rosas, Kleinberg, Lefevre and Mihalcea (2018), Automatic Detection of Fake News, COLING.",
        errata=(
            "Fake and legitimate articles come in pairs on one story: a split that parts a pair shows the model the story twice, with opposite labels.",
            "The fakes were written on order by crowd workers and never circulated.",
        ),
        survey="cdl-paragraphs",
    ),
    maps={"a5": LabelMap("fakenewsamt/a5", A5), "cdl": LabelMap("fakenewsamt/cdl", A5)},
    variants={"articles": load},
    sample=Sample(
        files={
            "fakeNewsDatasets/fakeNewsDataset/fake/biz01.fake.txt": "Riverton bank gives away gold\n\nEvery client gets a bar, the bank said.\n",
            "fakeNewsDatasets/fakeNewsDataset/legit/biz01.legit.txt": "Riverton bank lowers fees\n\nAccounts will cost two crowns less.\n",
            "fakeNewsDatasets/fakeNewsDataset/legit/entmt12.legit.txt": "Choir wins contest\n\nThe Riverton choir came first.\n",
            "fakeNewsDatasets/celebrityDataset/fake/001fake.txt": "Not this set\n\nIt belongs to the other one.\n",
            "fakeNewsDatasets/celebrityDataset/legit/001legit.txt": "Not this set\n\nIt belongs to the other one.\n",
        },
        rows={"articles": 3},
        veracity={"true": 2, "false": 1},
    ),
)
