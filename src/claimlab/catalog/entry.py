"""What one file in `catalog/datasets/` defines: DATASET = Entry(card, maps, variants, sample).

A loader takes a `Bundle` (zip, folder or file) and returns `Loaded`: records with `label_raw` (the catalogue
maps it to `veracity`), side tables, and notes for the user. It keeps the file's own row order, because published
seeded splits depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import polars as pl

from claimlab.catalog.card import Card
from claimlab.catalog.made_up import Content
from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.labels import LabelMap
from claimlab.files.bundle import Bundle


@dataclass
class Loaded:
    """What a loader found. `records` may lack any column but `text` or `tweet_id`; ids are given where absent."""

    records: pl.DataFrame
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    synthetic: bool = False  # holds text that a model wrote; each such record says so in `authorship` and `meta`


Loader = Callable[[Bundle], Loaded]


@dataclass(frozen=True)
class Sample:
    """Made-up raw files in the real layout, and what loading them must give: the entry's own test."""

    files: Mapping[str, Content]
    rows: Mapping[str, int]  # variant -> records
    veracity: Mapping[str, int] = field(default_factory=dict)  # of the default variant under the default map


@dataclass(frozen=True)
class Entry:
    """A dataset of the catalogue. The first map and the first variant are the defaults."""

    card: Card
    maps: Mapping[str, LabelMap] = field(default_factory=dict)
    variants: Mapping[str, Loader] = field(default_factory=dict)
    sample: Sample | None = None
    no_loader: str | None = None  # why there is none, when there is none
    real_rows: Mapping[str, int] = field(default_factory=dict)  # variant -> rows in the published files, where counted
    real_labels: Mapping[str, int] = field(default_factory=dict)  # label_raw -> rows, default variant
    published_rows: Mapping[str, int | None] = field(default_factory=dict)  # variant -> rows its publishers state

    def map_named(self, name: str | None) -> LabelMap | None:
        if not self.maps:
            return None
        chosen = name or next(iter(self.maps))
        if chosen not in self.maps:
            raise UnknownName(f"verdict map of {self.card.name}", chosen, self.maps)
        return self.maps[chosen]

    def loader_named(self, name: str | None) -> tuple[str, Loader]:
        if not self.variants:
            raise UsageError(
                f"{self.card.title} has no loader: {self.no_loader}",
                f"See: claimlab catalog show {self.card.name}",
            )
        chosen = name or next(iter(self.variants))
        if chosen not in self.variants:
            raise UnknownName(f"variant of {self.card.name}", chosen, self.variants)
        return chosen, self.variants[chosen]
