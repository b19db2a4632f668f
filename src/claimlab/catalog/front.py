"""The catalogue as a user asks for it: the datasets that match, as a list, a table or a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Unpack

import polars as pl

from claimlab.catalog import query
from claimlab.catalog.entry import Entry, loader_state
from claimlab.catalog.query import Criterion, Filters
from claimlab.catalog.views.overview import TITLE, report
from claimlab.core.atomic import atomic_text
from claimlab.core.call import in_storage
from claimlab.core.guard import refuse_file
from claimlab.core.options import Force, Option, Place
from claimlab.core.shown import Shown
from claimlab.core.words import several
from claimlab.pages.html import to_html


@dataclass(frozen=True, repr=False)
class Listing(Shown):
    """The entries that meet every criterion in `asked`, of those in `pool`."""

    entries: list[Entry]
    pool: list[Entry]
    criteria: list[Criterion]
    notes: tuple[str, ...] = ()
    path: Path | None = None  # the page, where one was written

    def headline(self) -> str:
        return f"{len(self.entries)} of {len(self.pool)} datasets"

    @property
    def table(self) -> pl.DataFrame:
        """A row for each dataset."""
        kinds: dict[str, pl.DataType | type[pl.DataType]] = {
            "size": pl.Int64,
            "modality": pl.List(pl.String),
            "languages": pl.List(pl.String),
        }
        names = ("name", "title", "size", "modality", "topic", "region", "languages", "licence")
        rows = [
            {**{n: getattr(e.card, n) for n in names}, "loader": loader_state(e)}
            for e in self.entries
        ]
        return pl.DataFrame(
            rows, schema={name: kinds.get(name, pl.String) for name in (*names, "loader")}
        )

    def alone(self) -> list[tuple[str, int]]:
        """How many entries match each criterion alone, which shows the criterion to relax."""
        return [(c.words, sum(map(c.keeps, self.pool))) for c in self.criteria]

    def save(self, output: str | Path, *, force: bool = False) -> Path:
        """Write one HTML page, to a file `.html` or into a folder."""
        target = page_in(output)
        refuse_file(
            target, force=force, kind="page of the catalogue", sign=f"<title>{TITLE}</title>"
        )
        criteria = ", ".join(c.words.replace("` `", ", ").strip("`") for c in self.criteria)
        atomic_text(target, to_html(report(self.entries, criteria=criteria)))
        return target


def page_in(output: str | Path) -> Path:
    place = Path(output)
    return place if place.suffix.lower() in (".html", ".htm") else place / "index.html"


@in_storage()
def catalog(
    entries: Sequence[Entry] | None = None,
    *,
    output: Annotated[
        Place | None, Option("Write one HTML page: a file .html, or a folder for it.", short="-o")
    ] = None,
    force: Force = False,
    **filters: Unpack[Filters],
) -> Listing:
    """List the datasets of the catalogue that meet every criterion; all of them without any.

    `entries` are searched instead of the catalogue. `topic`, `region` and `licence` are words that
    a card has; the data reach into the time from `since` to `until`.
    """
    pool = query.everything() if entries is None else list(entries)
    criteria = query.criteria_of(filters, pool)
    matching = [e for e in pool if all(c.keeps(e) for c in criteria)]
    unnamed = query.unnamed_languages(pool) if filters.get("language") else 0
    note = (
        f"{several(unnamed, 'dataset')} with only a number of languages cannot be matched by"
        " `language`."
    )
    listing = Listing(matching, pool, criteria, (note,) if unnamed else ())
    return listing if output is None else replace(listing, path=listing.save(output, force=force))
