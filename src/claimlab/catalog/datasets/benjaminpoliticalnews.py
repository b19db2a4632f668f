"""Benjamin Political News (Horne and Adalı 2017): political articles, real, fake or satire, from
two collections.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import polars as pl

from claimlab.catalog.datasets._folders import read_text
from claimlab.catalog.kit import (
    Bundle,
    Card,
    Entry,
    Loaded,
    UnreadableFile,
    meta_column,
    unique_ids,
)

PARTS = (
    "buzzfeed",
    "random",
)  # "Buzzfeed Political News Dataset" and, as its folder spells it, "Random Poltical News Dataset"
LABELS = ("Real", "Fake", "Satire")


def load(bundle: Bundle) -> Loaded:
    return _load(bundle, PARTS)


def load_buzzfeed(bundle: Bundle) -> Loaded:
    return _load(bundle, PARTS[:1])


def load_random(bundle: Bundle) -> Loaded:
    return _load(bundle, PARTS[1:])


def _load(bundle: Bundle, parts: Sequence[str]) -> Loaded:
    """Folders by collection and label; a title lies under the same file name in the folder
    `LABEL_titles`.
    """
    rows = [row for part in parts for label in LABELS for row in _rows(bundle, part, label)]
    if not rows:
        raise UnreadableFile(
            f"'{bundle.path.name}' holds no folder like '{parts[0]}*/Fake'.",
            "Give Horne2017_FakeNewsData.zip as published.",
        )
    raw = pl.DataFrame(
        rows,
        schema=dict.fromkeys(("key", "text", "label", "title", "part"), pl.String),
        orient="row",
    )
    records = raw.select(
        "text",
        id=unique_ids("benjaminpoliticalnews", raw["key"]),
        kind=pl.lit("article"),
        label_raw="label",
        topic=pl.lit("politics"),
        meta=meta_column(raw, ["title", "part"]),
    )
    return Loaded(records)


def _rows(bundle: Bundle, part: str, label: str) -> Iterator[tuple[str | None, ...]]:
    """Key, text, label, title and part of each article."""
    titles = {PurePosixPath(n).name: n for n in bundle.match(f"{part}*/{label}_titles/*.txt")}
    for name in bundle.match(f"{part}*/{label}/*.txt", f"{part}*/{label}/*.text"):
        title = titles.get(PurePosixPath(name).name)
        headline = read_text(bundle, title) if title else None
        yield (
            f"{part}-{PurePosixPath(name).stem}",
            read_text(bundle, name),
            label.lower(),
            headline,
            part,
        )


A5 = {"real": "true", "fake": "false", "satire": "unknown"}

DATASET = Entry(
    card=Card(
        name="benjaminpoliticalnews",
        title="Benjamin Political News",
        summary=(
            "Political articles of 2016: those behind BuzzFeed's election-fakes analysis, and a"
            " random draw of real, fake and satirical articles by outlet."
        ),
        size=296,
        modality=("articles",),
        topic="Election",
        region="USA",
        languages=("eng",),
        time_start="2016-02",
        time_end="2016-11",
        labelling="source-based",
        licence="free with notice and citation (its own terms)",
        access="Download Horne2017_FakeNewsData.zip from the repository fakenewsdata1.",
        homepage="https://github.com/BenjaminDHorne/fakenewsdata1",
        citation=(
            "Horne and Adalı (2017), This Just In: Fake News Packs a Lot in Title, Uses Simpler,"
            " Repetitive Content in Text Body, More Similar to Satire than Real News, NECO."
        ),
        errata=(
            (
                "The guide lists 296 articles, but its label shares are those of 326: 53 + 75 real"
                " against 48 + 75 fake and 75 satirical ones counted as false (map 'cdl')."
            ),
            "Labels of the random part belong to the outlet, not the article.",
            (
                "Satire is neither true nor false under the guide's rule A.5 and is unknown in map"
                " 'a5'; map 'cdl' counts it as false."
            ),
            (
                "The files hold neither date nor outlet, though both were known when they were"
                " collected."
            ),
        ),
    ),
    maps={"a5": A5, "cdl": {**A5, "satire": "false"}},
    variants={"articles": load, "buzzfeed": load_buzzfeed, "random": load_random},
    published_rows={"articles": 326, "buzzfeed": 101, "random": 225},
    real_rows={"articles": 326, "buzzfeed": 101, "random": 225},
    real_labels={"real": 128, "fake": 123, "satire": 75},
)
