"""Benjamin Political News (Horne and Adalı 2017): political articles, real, fake or satire, from
two collections.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Loaded,
    UnreadableFile,
    meta_column,
    unique_ids,
)
from claimlab.catalog.plain import article_text

PARTS = (
    "buzzfeed",
    "random",
)  # "Buzzfeed Political News Dataset" and, as its folder spells it, "Random Poltical News Dataset"
LABELS = ("Real", "Fake", "Satire")


def load(bundle: Bundle, parts: Sequence[str] = PARTS) -> Loaded:
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
        headline = article_text(bundle, title) if title else None
        yield (
            f"{part}-{PurePosixPath(name).stem}",
            article_text(bundle, name),
            label.lower(),
            headline,
            part,
        )
