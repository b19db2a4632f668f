"""What the providers behind HTTP share: keys, limits, pages, counting. A provider says how to ask
and how to read.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, TypeVar

from claimlab.core.errors import BudgetSpent, SearchFailed
from claimlab.core.grants import grant, sent_to
from claimlab.core.languages import normalise, to_iso1
from claimlab.core.types import Json, JsonObject
from claimlab.core.words import several
from claimlab.search.dates import date_of
from claimlab.search.evidence import Evidence, FactCheckReview
from claimlab.search.fields import address, number, table, wrong_shape
from claimlab.search.fields import text as one_line
from claimlab.search.http import Call, Http
from claimlab.search.query import Query
from claimlab.search.results import Results, now
from claimlab.search.terms import bucket_of, terms

MAX_PAGES = 10
T = TypeVar("T")


@dataclass
class Page:
    """One page of results. `following` is the provider's key for the next page (null: the end)."""

    evidence: list[Evidence | None] = field(
        default_factory=list
    )  # null: a result that could not be used
    following: Json = None
    notes: list[str] = field(default_factory=list)


class WebProvider(ABC):
    """Constructors store; nothing is read from the environment before a call is made."""

    name: ClassVar[str]
    endpoint: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()  # environment variables that must be set
    page_size: ClassVar[int] = 10  # the most results one call can give
    header: ClassVar[str] = ""  # that has the key, as "Name: {}"
    results: ClassVar[tuple[str, ...]] = ("results",)  # where they are in an answer
    parts: ClassVar[Mapping[str, str]] = {}  # of a result, and what the service calls each
    dates: ClassVar[tuple[str, ...]] = ()  # what it calls dates, the best first
    # fields by which an answer without them shows that the service searched and found nothing
    searched: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        http: Http | None = None,
        *,
        endpoint: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.http = http if http is not None else Http()
        self.address = (endpoint or self.endpoint).rstrip("/")
        self._environ = environ

    @abstractmethod
    def ask(self, query: Query, wanted: int, page: Json) -> Call:
        """The call for up to `wanted` results; `page` is null for the first page, else what `read`
        returned.

        Parameters
        ----------
        query : Query
            The words to look for, and how many results, of which language and how late.
        wanted : int
            Most results that this call may bring.
        page : Json
            Null for the first page, else what `read` named as the following one.

        Returns
        -------
        Call
            The call, with its key in a header.
        """

    def read(self, answer: Json, query: Query, retrieved: datetime, page: Json) -> Page:  # noqa: ARG002
        """The evidence in the answer to that page, best first.

        Parameters
        ----------
        answer : Json
            The JSON that the service sent.
        query : Query
            The query that was asked.
        retrieved : datetime
            The time of the answer.
        page : Json
            The page that was asked for.

        Returns
        -------
        Page
            Its results, and the key of the next page.
        """
        hits = table(self.name, answer, *self.results, or_else=self.searched)
        return Page([self.piece(query, retrieved, **self.hit(hit)) for hit in hits])

    def hit(self, hit: JsonObject) -> JsonObject:
        """One result of the answer: the arguments of `piece`, as the service gives them.

        Parameters
        ----------
        hit : JsonObject
            One of `results` in an answer.

        Returns
        -------
        JsonObject
            Title, text, address and dates, by the names that `piece` has for them.
        """
        parts = {part: hit.get(key) for part, key in self.parts.items()}
        return {**parts, "dates": tuple(map(hit.get, self.dates))}

    def parameters(self) -> JsonObject:
        return {}

    def call(
        self,
        wanted: int,
        *,
        params: Mapping[str, str | int | None] | None = None,
        body: JsonObject | None = None,
    ) -> Call:
        """A call for `wanted` results with its key in a header: a POST where there is a body. What
        is null is left out.
        """
        key = self.key(self.needs[0]) if self.header else None
        name, _, value = self.header.partition(": ")
        return Call(
            self.name,
            "GET" if body is None else "POST",
            self.place(),
            params=_known(params or {}),
            headers={name: value.format(key)} if key else {},
            body=None if body is None else _known(body),
            secret=key,
            alias="" if self.address else self.name,
            most=self.price(wanted),
            cost_of=lambda answer: self.cost(answer, wanted),
        )

    def place(self) -> str:
        return self.address

    def key(self, variable: str) -> str:
        """A key from the environment: it is never stored, printed or recorded."""
        grant(sent_to(variable, self.address or self.name))
        environ = os.environ if self._environ is None else self._environ
        value = environ.get(variable, "").strip()
        if not value:
            raise SearchFailed(
                self.name,
                "no-key",
                f"{self.name} needs {variable}, which is not set.",
                f"Set it: export {variable}=…",
            )
        return value

    def price(self, wanted: int) -> float | None:  # noqa: ARG002
        """The most that one call for `wanted` results can cost."""
        return terms(self.name).price

    def cost(self, answer: Json, wanted: int) -> float | None:  # noqa: ARG002
        """What a call has cost, where the answer says so; else its price."""
        return self.price(wanted)

    async def search(self, query: Query) -> Results:
        retrieved = now()
        pieces: dict[str, Evidence] = {}  # by id: services repeat results from page to page
        notes: list[str] = []
        malformed, cost, page = 0, 0.0, None
        unpriced = False
        for _ in range(MAX_PAGES):
            wanted = min(self.page_size, query.max_results - len(pieces))
            try:
                answer, price = await self._page(query, wanted, page, retrieved)
            except (SearchFailed, BudgetSpent) as failure:
                if not pieces:
                    raise
                notes.append(
                    f"There may be more: after {several(len(pieces), 'result')}, {failure.problem}"
                )
                break
            before = len(pieces)
            for piece in (e for e in answer.evidence if e is not None):
                pieces.setdefault(piece.evidence_id, piece)
            malformed += answer.evidence.count(None)
            notes += [n for n in answer.notes if n not in notes]
            cost += price or 0.0
            unpriced |= price is None
            page = answer.following
            if page is None or len(pieces) >= query.max_results or len(pieces) == before:
                break
        return Results(
            query=query,
            provider=self.name,
            evidence=tuple(pieces.values())[: query.max_results],
            retrieved=retrieved,
            cost=None if unpriced else cost,
            malformed=malformed,
            notes=tuple(notes),
        )

    async def _page(
        self, query: Query, wanted: int, page: Json, retrieved: datetime
    ) -> tuple[Page, float | None]:
        """One page of results, and what it cost."""
        reply = await self.http.json(self.ask(query, wanted, page), bucket_of(self.name))
        answer = self.read(reply.answer, query, retrieved, page)
        if answer.evidence and not any(answer.evidence):  # a list, but not of results
            raise wrong_shape(self.name, ())
        return answer, reply.cost

    def piece(  # noqa: PLR0913
        self,
        query: Query,
        retrieved: datetime,
        *,
        title: Json,
        text: Json,
        url: Json,
        dates: tuple[object, ...] = (),
        review: FactCheckReview | None = None,
        score: Json = None,
        language: Json = None,
        **more: Json,
    ) -> Evidence | None:
        """One result in the words of the house; null when it has nothing to show (no address, or no
        title and text).
        """
        place, heading, passage = address(url), one_line(title), one_line(text)
        if place is None or (heading is None and passage is None):
            return None
        when = date_of(*dates, url=place, retrieved=retrieved, language=query.language)
        spoken = one_line(language)
        return Evidence(
            title=heading,
            text=passage,
            url=place,
            retrieved=retrieved,
            provider=self.name,
            query=query.text,
            published=when.published,
            dated_from=when.dated_from,
            language=normalise(spoken) if spoken else None,
            score=number(score),
            review=review,
            more=_known(more),
        )


def _known(values: Mapping[str, T | None]) -> dict[str, T]:
    return {name: value for name, value in values.items() if value is not None}


def two_letters(query: Query) -> str | None:
    """The query's language as most providers spell it."""
    return to_iso1(query.language) if query.language else None
