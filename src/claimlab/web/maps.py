"""A map of the texts of a dataset by meaning: its own page, because a model has to read them."""

from __future__ import annotations

import numpy as np

from claimlab.core.dataset import RECORDS
from claimlab.core.errors import DataError
from claimlab.core.tables import read_parquet
from claimlab.pages.charts import map_figure
from claimlab.web.memo import Memo, digest_of
from claimlab.web.page import Data, page
from claimlab.web.workspace import FolderName, Shape, WorkspaceFolder, record_link

MOST_DOTS = 400  # texts, drawn at random where there are more: a few seconds
_maps = Memo(16)


class MapDot(Shape):
    id: str
    label: str | None
    x: float
    y: float
    link: str


class MapPage(FolderName):
    """Where texts are on the map; `missing` of those drawn have no text that the encoder can
    read.
    """

    records: int
    sampled: int
    missing: int
    method: str
    dots: list[MapDot]
    caption: str
    alt: str
    svg: str


@page("/datasets/{place}/map", "map.html.jinja")
def map_page(place: Data) -> MapPage:
    """Texts of a dataset by meaning."""
    return _maps.get((place.entry.id, digest_of(place.folder / RECORDS)), lambda: _map(place))


def _map(place: WorkspaceFolder) -> MapPage:
    from claimlab.text.map import FEWEST_POINTS, text_map

    table = read_parquet(place.folder / RECORDS, columns=["id", "text", "language", "veracity"])
    drawn = np.sort(np.random.default_rng(0).permutation(table.height)[:MOST_DOTS])
    rows = table[drawn.tolist()]
    placed = text_map(rows["text"], rows["language"])
    readable = rows[placed.rows.tolist()]
    if readable.height < FEWEST_POINTS:
        todo = "Only texts in the 16 languages of the encoder can be placed."
        raise DataError(f"'{place.entry.name}' has too few texts for a map.", todo)
    ids, labels, points = (
        readable["id"].to_list(),
        readable["veracity"].to_list(),
        placed.points.tolist(),
    )
    figure = map_figure(points, labels, ids, method=placed.method)
    dots = [
        MapDot(id=id, label=label, x=x, y=y, link=record_link(place.entry.id, id))
        for id, label, (x, y) in zip(ids, labels, points, strict=True)
    ]
    return MapPage(
        **place.named,
        records=table.height,
        sampled=rows.height,
        missing=rows.height - readable.height,
        method=placed.method,
        dots=dots,
        caption=figure.caption,
        alt=figure.alt,
        svg=figure.svg,
    )
