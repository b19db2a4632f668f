"""What an address says about which rows to show: the same names for pages, their JSON twins and
links between them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Annotated, Any, ClassVar
from urllib.parse import urlencode

from pydantic import BaseModel, BeforeValidator, Field

from claimlab.core.errors import UsageError
from claimlab.core.record import SCHEMA

BLANK = BeforeValidator(
    lambda value: None if value == "" else value
)  # what an empty field of a form sends
Day = Annotated[date | None, BLANK]
Part = Annotated[
    int, Field(ge=0, le=100_000, description="Which run of a folder that holds several, from 0.")
]
Values = Annotated[list[Annotated[str, Field(max_length=500)]], Field(max_length=50)]
COLUMNS = [
    "id",
    "text",
    "veracity",
    "split",
    "language",
    "date",
    "source",
    "topic",
    "kind",
]  # of a row in a list
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
SORTABLE = ("id", "veracity", "split", "language", "date", "source", "topic", "kind")


class Filters(BaseModel):
    """The base of all: words to look for, order and page."""

    aside: ClassVar[frozenset[str]] = frozenset({"sort", "page", "size"})  # they do not choose rows

    q: Annotated[
        str, Field(max_length=300, description="Words that the text holds, in any case.")
    ] = ""
    sort: Annotated[
        str, Field(max_length=40, description="A column; with - before it, from the end.")
    ] = ""
    page: Annotated[int, Field(ge=1, le=10_000_000)] = 1
    size: Annotated[int, Field(ge=1, le=200, description="Rows on a page.")] = 50

    @property
    def key(self) -> str:
        """One text for everything that chooses rows."""
        return self.model_dump_json(exclude=set(self.aside), exclude_defaults=True)

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

    def toggled(self, name: str, value: str) -> list[str]:
        """The values of a filter with `value` added, or taken away where it is there."""
        values: list[str] = getattr(self, name)
        return [v for v in values if v != value] if value in values else [*values, value]


class RecordFilters(Filters):
    """Which records of a dataset."""

    word: Annotated[str, Field(max_length=100, description="A whole word that the text holds.")] = (
        ""
    )
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
    audit: Annotated[
        str, Field(max_length=500, description="An audit, together with one of its findings.")
    ] = ""
    finding: Annotated[int | None, Field(ge=0, le=100_000)] = None

    def chosen(self) -> dict[str, list[str]]:
        """The values that were chosen, by column."""
        return {name: values for name in (*FACETS, "group") if (values := getattr(self, name))}


def check_sort(sort: str, columns: Iterable[str]) -> None:
    known = list(columns)
    if sort and sort.removeprefix("-") not in known:
        raise UsageError(
            f"Rows cannot be sorted by '{sort[:40]}'.", f"Use one of: {', '.join(known)}."
        )


class Turning(BaseModel):
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


def turning(filters: Filters, base: str, total: int | None, number: int | None = None) -> Turning:
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


class FacetValue(BaseModel):
    name: str
    count: int | None
    link: str
    chosen: bool


class Facet(BaseModel):
    name: str
    title: str
    open: bool
    values: list[FacetValue]


def facet(
    filters: Filters,
    base: str,
    name: str,
    title: str,
    counts: Iterable[tuple[str | None, int | None]],
) -> Facet:
    """A filter with its values: each a link that adds the value or takes it away."""
    chosen: list[str] = getattr(filters, name)
    known = {value or "": n for value, n in counts}
    rows = {**dict.fromkeys(chosen), **known}
    values = [
        FacetValue(
            name=v,
            count=n,
            link=filters.link(base, **{name: filters.toggled(name, v)}),
            chosen=v in chosen,
        )
        for v, n in rows.items()
    ]
    return Facet(name=name, title=title, open=bool(chosen) or len(values) <= 6, values=values)


assert set(SORTABLE) <= set(SCHEMA)
