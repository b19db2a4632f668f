"""Exa: search by meaning over an index of its own. https://exa.ai/docs/reference/search"""

from __future__ import annotations

from datetime import datetime, time

from claimlab.core.types import Json
from claimlab.search.fields import address, mapping, number, strings, table, text
from claimlab.search.http import Call
from claimlab.search.query import Query
from claimlab.search.web import Page, WebProvider

INCLUDED = 10  # results in the price of a call
EXTRA = 0.001  # dollars for each further one


class Exa(WebProvider):
    name = "exa"
    endpoint = "https://api.exa.ai/search"
    needs = ("EXA_API_KEY",)
    page_size = 100

    def price(self, wanted: int) -> float | None:
        base = super().price(wanted)
        return None if base is None else base + max(0, wanted - INCLUDED) * EXTRA

    def ask(self, query: Query, wanted: int, page: Json) -> Call:  # noqa: ARG002
        key = self.key("EXA_API_KEY")
        last = datetime.combine(query.before, time(23, 59, 59)) if query.before else None
        body = {
            "query": query.text,
            "type": "auto",
            "numResults": wanted,
            "contents": {"highlights": {"maxCharacters": 1000}},
            "endPublishedDate": f"{last.isoformat()}.000Z" if last else None,
            "userLocation": query.country or None,
        }
        return self.call(
            wanted,
            key,
            headers={"x-api-key": key},
            body=body,
            cost_of=lambda answer: _cost(answer, self.price(wanted)),
        )

    def read(self, answer: Json, query: Query, retrieved: datetime, page: Json) -> Page:  # noqa: ARG002
        results = Page()
        for hit in table(self.name, answer, "results"):
            results.evidence.append(
                self.piece(
                    query,
                    retrieved,
                    title=text(hit.get("title")),
                    text=text(" … ".join(strings(hit.get("highlights"))))
                    or text(hit.get("text"))
                    or text(hit.get("summary")),
                    url=address(hit.get("url")),
                    dates=(hit.get("publishedDate"),),
                    score=number(hit.get("score")),
                    author=text(hit.get("author")),
                )
            )
        return results


def _cost(answer: Json, otherwise: float | None) -> float | None:
    """What the answer says it cost, else the list price."""
    total = number(mapping(mapping(answer).get("costDollars")).get("total"))
    return total if total is not None else otherwise


PROVIDER = Exa
