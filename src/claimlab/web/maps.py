"""The map of a dataset: texts by meaning. A page of its own, because texts have to be read by a
model for it.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from pydantic import BaseModel

from claimlab.core.dataset import RECORDS
from claimlab.core.errors import DataError
from claimlab.pages.textmap import map_figure
from claimlab.text.vectors import FEWEST, text_map
from claimlab.web.datasets import ALL, record_link
from claimlab.web.page import Pages
from claimlab.web.rows import Memo, digest_of
from claimlab.web.workspace import Place

MOST = 400  # texts, drawn at random where there are more: a few seconds
_maps = Memo(16)


class Dot(BaseModel):
    id: str
    label: str | None
    x: float
    y: float
    link: str


class MapPage(BaseModel):
    """Where texts are on the map; `missing` of those drawn have no text that the encoder can
    read.
    """

    id: str
    name: str
    records: int
    sampled: int
    missing: int
    method: str
    dots: list[Dot]
    caption: str
    alt: str
    svg: str


def add_maps(pages: Pages) -> None:
    @pages.add("/datasets/{dataset}/map", "map.html.jinja", title="Texts of a dataset by meaning")
    def text_map_page(dataset: str) -> MapPage:
        place = pages.workspace.get(dataset, *ALL)
        if place.manifest is None:
            raise DataError(place.entry.note, "Make the dataset again.")
        return _maps.get(
            (place.entry.id, digest_of(place.folder / RECORDS)), lambda: map_page(place)
        )


def map_page(place: Place) -> MapPage:
    table = pl.read_parquet(place.folder / RECORDS, columns=["id", "text", "language", "veracity"])
    drawn = np.sort(np.random.default_rng(0).permutation(table.height)[:MOST])
    rows = table[drawn.tolist()]
    placed = text_map(rows["text"], rows["language"])
    shown = rows[placed.rows.tolist()]
    if shown.height < FEWEST:
        todo = "Only texts in the 16 languages of the encoder can be placed."
        raise DataError(f"'{place.entry.name}' has too few texts for a map.", todo)
    figure = map_figure(
        placed.points.tolist(),
        shown["veracity"].to_list(),
        shown["id"].to_list(),
        method=placed.method,
    )
    dots = [
        Dot(id=id, label=label, x=x, y=y, link=record_link(place.entry.id, id))
        for (id, label), (x, y) in zip(
            shown.select("id", "veracity").iter_rows(), placed.points.tolist(), strict=True
        )
    ]
    return MapPage(
        id=place.entry.id,
        name=place.entry.name,
        records=table.height,
        sampled=rows.height,
        missing=rows.height - shown.height,
        method=placed.method,
        dots=dots,
        caption=figure.caption,
        alt=figure.alt,
        svg=figure.svg,
    )
