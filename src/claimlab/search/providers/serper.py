"""Serper: Google's results as JSON. https://serper.dev"""

from __future__ import annotations

from datetime import datetime

from claimlab.core.types import Json
from claimlab.search.fields import address, mapping, number, table, text
from claimlab.search.http import Call
from claimlab.search.query import Query
from claimlab.search.terms import terms
from claimlab.search.web import Page, WebProvider, two_letters


class Serper(WebProvider):
    name = "serper"
    endpoint = "https://google.serper.dev/search"
    needs = ("SERPER_API_KEY",)
    page_size = 100

    def price(self, wanted: int) -> float | None:
        credit = super().price(wanted)
        return None if credit is None else credit * (1 if wanted <= 10 else 2)

    def ask(self, query: Query, wanted: int, page: Json) -> Call:  # noqa: ARG002
        key = self.key("SERPER_API_KEY")
        before = query.before
        body = {
            "q": query.plain(max_chars=2000),
            "num": max(10, wanted),  # fewer cost the same
            "gl": query.country.lower() if query.country else None,
            "hl": two_letters(query),
            "tbs": f"cdr:1,cd_max:{before.month}/{before.day}/{before.year}" if before else None,
        }
        return self.call(
            wanted,
            key,
            headers={"X-API-KEY": key},
            body=body,
            cost_of=lambda answer: _cost(answer, self.price(wanted)),
        )

    def read(self, answer: Json, query: Query, retrieved: datetime, page: Json) -> Page:  # noqa: ARG002
        results = Page()
        for hit in table(self.name, answer, "organic", or_else=("searchParameters",)):
            results.evidence.append(
                self.piece(
                    query,
                    retrieved,
                    title=text(hit.get("title")),
                    text=text(hit.get("snippet")),
                    url=address(hit.get("link")),
                    dates=(hit.get("date"),),
                )
            )
        return results


def _cost(answer: Json, otherwise: float | None) -> float | None:
    """Credits that the answer says were taken, at the price of one; else the list price."""
    credits = number(mapping(answer).get("credits"))
    price = terms(Serper.name).price
    return credits * price if credits is not None and price is not None else otherwise


PROVIDER = Serper
