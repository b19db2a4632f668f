"""Celebrity: magazine articles about public figures, legitimate or fake."""

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
    "fake": ("celebrityDataset/fake/*.txt", "celebrity*/fake/*.txt", "fake/*.txt"),
    "legit": ("celebrityDataset/legit/*.txt", "celebrity*/legit/*.txt", "legit/*.txt"),
}


def load(bundle: Bundle) -> Loaded:
    """Two folders of text files; the archive also holds FakeNewsAMT, in folders of the same names."""
    found = articles(bundle, FOLDERS)
    records = found.select(
        "text",
        id=unique_ids("celebrity", found["label"] + "-" + found["stem"]),
        kind=pl.lit("article"),
        label_raw="label",
        language=pl.lit("eng"),
        meta=meta_column(found, ["title"]),
    )
    return Loaded(records)


A5 = {"legit": "true", "fake": "false"}

DATASET = Entry(
    card=Card(
        name="celebrity",
        title="Celebrity",
        summary="Articles from entertainment magazines and gossip sites about public figures, half of them reports and half rumours that gossip checkers refuted.",
        size=500,
        modality=("articles",),
        topic="Celebrities",
        languages=("eng",),
        labelling="source-based",
        shares=Shares(true=50.0, false=50.0),
        quality=Quality(keywords="fail", feasibility="pass"),
        published=Published(keywords_tf=64.0),
        access="Download fakeNewsDatasets.zip from the language and information technologies group at the University of Michigan; it holds this set and FakeNewsAMT.",
        homepage="https://lit.eecs.umich.edu/downloads.html",
        citation="Pérez-Rosas, Kleinberg, Lefevre and Mihalcea (2018), Automatic Detection of Fake News, COLING.",
        errata=(
            "The files carry no date and no outlet, so temporal and source checks are not possible.",
            "The guide gives no baseline beside its keyword score for this set.",
        ),
        survey="cdl-paragraphs",
    ),
    maps={"a5": LabelMap("celebrity/a5", A5), "cdl": LabelMap("celebrity/cdl", A5)},
    variants={"articles": load},
    sample=Sample(
        files={
            "fakeNewsDatasets/celebrityDataset/fake/001fake.txt": "Actor secretly moves to the moon\n\nFriends of the actor say the rocket left on Monday.\n",
            "fakeNewsDatasets/celebrityDataset/legit/001legit.txt": "\ufeffActor opens a bakery\n\nThe shop in Riverton sells rye bread.\n",
            "fakeNewsDatasets/celebrityDataset/legit/002legit.txt": "A single line without a title.\n",
            "fakeNewsDatasets/fakeNewsDataset/fake/biz01.fake.txt": "Not this set\n\nIt belongs to the other one.\n",
        },
        rows={"articles": 3},
        veracity={"true": 2, "false": 1},
    ),
)
