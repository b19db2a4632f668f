"""What an address says about which rows to show: the same names for pages, their JSON twins and
links between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from typing import Annotated, Any, ClassVar
from urllib.parse import urlencode

import polars as pl
from pydantic import BeforeValidator, Field, field_validator

from claimlab.core.errors import UsageError
from claimlab.core.types import JsonObject
from claimlab.web.workspace import Line, Shape, Word

# What an empty field of a form sends.
BLANK = BeforeValidator(lambda value: None if value == "" else value)
Day = Annotated[date | None, BLANK]
Part = Annotated[
    int, Field(ge=0, le=100_000, description="Which run of a folder that holds several, from 0.")
]
Length = Annotated[int | None, Field(ge=0, le=1_000_000_000), BLANK]
Values = Annotated[list[Line], Field(max_length=50)]
FACETS = {
    "veracity": "Label",
    "split": "Split",
    "language": "Language",
    "topic": "Topic",
    "source": "Source",
    "label_raw": "Label in the source",
    "author": "Author",
    "kind": "Kind",
    "authorship": "Authorship",
}
CHIPS = FACETS | {
    "q": "Words",
    "word": "Word",
    "group": "Group",
    "since": "From",
    "until": "To",
    "shortest": "Characters from",
    "longest": "Characters to",
}
SORTABLE = ("id", "veracity", "split", "language", "date", "source", "topic", "kind")
COLUMNS = [*SORTABLE, "text"]  # of a row in a list

PLACED = ("id", "at", "page", "size")  # they say where in a list, and choose no rows


class PageFilters(Shape):
    """The base of all: words to look for, order and page."""

    sortable: ClassVar[tuple[str, ...]] = ()

    q: Line = ""
    """Words that the text holds, in any case."""
    sort: Word = ""
    """A column; with - before it, from the end."""
    page: Annotated[int, Field(ge=1, le=10_000_000)] = 1
    size: Annotated[int, Field(ge=1, le=200)] = 50
    """Rows on a page."""

    @field_validator("sort")
    @classmethod
    def _known(cls, sort: str) -> str:
        if sort and cls.sortable and sort.removeprefix("-") not in cls.sortable:
            todo = f"Use one of: {', '.join(cls.sortable)}."
            raise UsageError(f"Rows cannot be sorted by '{sort[:40]}'.", todo)
        return sort

    @property
    def key(self) -> str:
        """One text for everything that chooses rows."""
        return self.model_dump_json(exclude={*PLACED, "sort", "mark"}, exclude_defaults=True)

    def searched(self) -> list[pl.Expr]:
        """That a text holds the words, in any case."""
        text = pl.col("text").str.to_lowercase()
        return [text.str.contains(word.lower(), literal=True) for word in self.q.split()]

    def pairs(self, **changes: Any) -> list[tuple[str, str]]:
        """What the address would say after `changes`; a filter that changes leads back to the first
        page.
        """
        changes = changes if "page" in changes or not changes else {"page": 1, **changes}
        values = {name: getattr(self, name) for name in type(self).model_fields} | changes
        defaults = {
            name: field.get_default(call_default_factory=True)
            for name, field in type(self).model_fields.items()
        }
        out: list[tuple[str, str]] = []
        for name, value in values.items():
            if value is not None and value != defaults[name]:
                out += [(name, str(v)) for v in (value if isinstance(value, list) else [value])]
        return out

    def link(self, base: str, **changes: Any) -> str:
        query = urlencode(self.pairs(**changes))
        return f"{base}?{query}" if query else base

    def sort_links(self, base: str) -> dict[str, str]:
        """For each column: sorted by it, then from the end, then as it was."""
        following = {self.sort: "" if self.sort.startswith("-") else f"-{self.sort}"}
        return {
            column: self.link(base, sort=following.get(f"-{column}", following.get(column, column)))
            for column in self.sortable
        }

    def on_page(self, table: pl.DataFrame, number: int) -> Iterator[tuple[int, JsonObject]]:
        """The rows of a page, each with its place in the list."""
        start = (number - 1) * self.size
        return enumerate(table.slice(start, self.size).iter_rows(named=True), start)

    def one_link(self, base: str, id: str, at: int) -> str:
        """The page of a row, which says where in the list it is."""
        pairs = [pair for pair in self.pairs() if pair[0] not in PLACED]
        return f"{base}?{urlencode([('id', id), ('at', str(at)), *pairs])}"


class RowChoice(PageFilters):
    """A row, and where it is in the list of those that pass the filters."""

    id: Annotated[str, Field(max_length=2_000)]
    at: Annotated[int | None, Field(ge=0, le=2_000_000_000)] = None

    def beside(self, base: str, step: int, id_at: Callable[[int], str | None]) -> str | None:
        """The page of the row before or after this one; `id_at` knows the list."""
        if self.at is None or self.at + step < 0:
            return None
        id = id_at(self.at + step)
        return None if id is None else self.one_link(base, id, self.at + step)

    def back(self, base: str) -> str:
        """The page of the list that the row is on."""
        return self.link(base, page=(self.at or 0) // self.size + 1, id=None, at=None)


class RecordFilters(PageFilters):
    """Which records of a dataset."""

    sortable = SORTABLE
    word: Word = ""
    """A whole word that the text holds."""
    veracity: Values = []
    split: Values = []
    language: Values = []
    topic: Values = []
    source: Values = []
    label_raw: Values = []
    author: Values = []
    kind: Values = []
    authorship: Values = []
    group: Values = []
    since: Day = None
    until: Day = None
    shortest: Length = None
    """The fewest characters of a text."""
    longest: Length = None
    audit: Line = ""
    """An audit, together with one of its findings."""
    finding: Annotated[int | None, Field(ge=0, le=100_000)] = None
    mark: bool = False
    """Mark words that tell the classes apart."""

    def chips(self, base: str) -> dict[str, str]:
        """What was chosen, in words, each with the address that leaves it out."""
        chips = {}
        for name, value in self.pairs():
            if name in CHIPS:
                old = getattr(self, name)
                rest = (
                    [option for option in old if option != value] if isinstance(old, list) else None
                )
                blank = "" if isinstance(old, str) else rest
                chips[f"{CHIPS[name]}: {value or 'none'}"] = self.link(base, **{name: blank})
        return chips

    def chosen(self) -> dict[str, list[str]]:
        """The values that were chosen, by column."""
        return {name: values for name in (*FACETS, "group") if (values := getattr(self, name))}


class Turning(Shape):
    """Where a page is among its pages, and links to the others. `pages` and `total` are null until
    they are counted.
    """

    number: int
    pages: int | None
    total: int | None
    first: str | None = None
    previous: str | None = None
    next: str | None = None
    last: str | None = None


def turning(
    filters: PageFilters, base: str, total: int | None, number: int | None = None
) -> Turning:
    """The page of the filters, or the last one where there are fewer. Where `total` is not known, a
    page follows.
    """
    pages = None if total is None else max(1, -(-total // filters.size))
    here = number or min(filters.page, pages or filters.page)

    def link(page: int | None) -> str | None:
        wanted = page is not None and page != here and 1 <= page <= (pages or here + 1)
        return filters.link(base, page=page) if wanted else None

    return Turning(
        number=here,
        pages=pages,
        total=total,
        first=link(1),
        previous=link(here - 1),
        next=link(here + 1),
        last=link(pages),
    )


class FacetValue(Shape):
    name: str
    count: int | None
    link: str
    chosen: bool


class Facet(Shape):
    name: str
    title: str
    open: bool
    values: list[FacetValue]


def facet(
    filters: PageFilters,
    base: str,
    name: str,
    title: str,
    counts: Iterable[tuple[str | None, int | None]],
) -> Facet:
    """A filter with its values: each a link that adds the value or takes it away."""
    chosen: list[str] = getattr(filters, name)
    rows = {**dict.fromkeys(chosen), **{value or "": n for value, n in counts}}
    values = []
    for value, count in rows.items():
        others = [option for option in chosen if option != value]
        link = filters.link(base, **{name: others if value in chosen else [*chosen, value]})
        values.append(FacetValue(name=value, count=count, link=link, chosen=value in chosen))
    return Facet(name=name, title=title, open=bool(chosen) or len(values) <= 6, values=values)


def tally(values: pl.Series) -> list[tuple[str, int]]:
    """The most frequent values."""
    counts = values.alias("value").value_counts().sort("count", "value", descending=[True, False])
    return counts.head(50).rows()
