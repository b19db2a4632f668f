"""Celebrity: magazine articles about public figures, legitimate or fake."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.datasets._folders import articles
from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, both, meta_column, unique_ids

FOLDERS = {
    "fake": ("celebrityDataset/fake/*.txt", "celebrity*/fake/*.txt", "fake/*.txt"),
    "legit": ("celebrityDataset/legit/*.txt", "celebrity*/legit/*.txt", "legit/*.txt"),
}


def load(bundle: Bundle) -> Loaded:
    """Two folders of text files; the archive also holds FakeNewsAMT, in folders of the same
    names.
    """
    table = articles(bundle, FOLDERS)
    records = table.select(
        "text",
        id=unique_ids("celebrity", table["label"] + "-" + table["stem"]),
        kind=pl.lit("article"),
        label_raw="label",
        meta=meta_column(table, ["title"]),
    )
    return Loaded(records)


A5 = {"legit": "true", "fake": "false"}

DATASET = Entry(
    card=Card(
        name="celebrity",
        title="Celebrity",
        summary=(
            "Articles from entertainment magazines and gossip sites about public figures, half of"
            " them reports and half rumours that gossip checkers refuted."
        ),
        size=500,
        modality=("articles",),
        topic="Celebrities",
        languages=("eng",),
        labelling="source-based",
        access=(
            "Download fakeNewsDatasets.zip from the language and information technologies group at"
            " the University of Michigan; it holds this set and FakeNewsAMT."
        ),
        homepage="https://lit.eecs.umich.edu/downloads.html",
        citation=(
            "Pérez-Rosas, Kleinberg, Lefevre and Mihalcea (2018), Automatic Detection of Fake News,"
            " COLING."
        ),
        errata=(
            (
                "The files carry no date and no outlet, so temporal and source checks are not"
                " possible."
            ),
            "The guide gives no baseline beside its keyword score for this set.",
        ),
    ),
    maps=both(A5),
    variants={"articles": load},
)
