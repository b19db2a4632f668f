"""The catalogue as a user asks for it: the datasets that match, as a list, a table or a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from claimlab.catalog import query
from claimlab.catalog.entry import Entry
from claimlab.catalog.query import Criterion, loader_state
from claimlab.catalog.views.overview import TITLE, report
from claimlab.core.atomic import atomic_text
from claimlab.core.call import in_storage
from claimlab.core.guard import refuse_file
from claimlab.core.settings import each_of
from claimlab.core.shown import Shown
from claimlab.core.words import several
from claimlab.pages.html import to_html

Words = str | Sequence[str]


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
    topic: Words = (),
    language: Words = (),
    modality: Words = (),
    region: Words = (),
    licence: Words = (),
    min_size: int | None = None,
    max_size: int | None = None,
    since: str | None = None,
    until: str | None = None,
    quality: Words = (),
    passes: Words = (),
    survey: Words = (),
    evidence: bool = False,
    loadable: bool = False,
    tested: bool = False,
    output: str | Path | None = None,
    force: bool = False,
) -> Listing:
    """The datasets of the catalogue (or of `entries`) that meet every criterion; all of them
    without any.

    Several values of one criterion mean "any of these". `topic`, `region` and `licence` are words
    that a card has, `language` is a language in any spelling, `modality` a kind (claims, articles,
    tweets, ...), `since` and `until` are a year, month or day that the data reach into, `quality`
    is a published verdict ("time=fail"), `passes` a published pass ("keywords"), `survey` a place
    in the guide ("cdl-claims"). With `evidence`, `loadable` and `tested`, only datasets that come
    with evidence, have a loader, or one that is tested on the published files. With `output`, one
    HTML page is written there: a file `.html`, or a folder for it.
    """
    pool = query.everything() if entries is None else list(entries)
    words = {"topic": each_of(topic), "region": each_of(region), "licence": each_of(licence)}
    lists = ((query.in_language, language), (query.of_kind, modality), (query.in_survey, survey))
    flags = {"evidence": evidence, "loadable": loadable, "tested": tested}
    criteria = [
        *(query.worded(option, values, pool) for option, values in words.items() if values),
        *(criterion(each_of(values)) for criterion, values in lists if values),
        *(query.graded("quality", text) for text in each_of(quality)),
        *(query.graded("passes", f"{mark}=pass") for mark in each_of(passes)),
        *query.sized(min_size, max_size),
        *query.dated(since, until),
        *(query.flagged(option) for option, wanted in flags.items() if wanted),
    ]
    matching = [e for e in pool if all(c.keeps(e) for c in criteria)]
    unnamed = query.unnamed_languages(pool) if language else 0
    note = (
        f"{several(unnamed, 'dataset')} with only a number of languages cannot be matched by"
        " `language`."
    )
    listing = Listing(matching, pool, criteria, (note,) if unnamed else ())
    return listing if output is None else replace(listing, path=listing.save(output, force=force))
