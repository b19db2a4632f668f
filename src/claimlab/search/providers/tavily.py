"""Tavily: web search that answers with passages of the pages.
https://docs.tavily.com/documentation/api-reference
"""

from __future__ import annotations

from datetime import datetime

from claimlab.core.types import Json
from claimlab.search.fields import address, number, table, text
from claimlab.search.http import Call
from claimlab.search.query import Query
from claimlab.search.web import Page, WebProvider


class Tavily(WebProvider):
    """Language and country are not sent: the service wants a country's English name, and only
    boosts by it.
    """

    name = "tavily"
    endpoint = "https://api.tavily.com/search"
    needs = ("TAVILY_API_KEY",)
    page_size = 20

    def ask(self, query: Query, wanted: int, page: Json) -> Call:  # noqa: ARG002
        key = self.key("TAVILY_API_KEY")
        body = {
            "query": query.plain(max_chars=400),
            "max_results": wanted,
            "search_depth": "basic",
            "include_answer": False,
            "end_date": query.before.isoformat() if query.before else None,
        }
        return self.call(wanted, key, headers={"Authorization": f"Bearer {key}"}, body=body)

    def read(self, answer: Json, query: Query, retrieved: datetime, page: Json) -> Page:  # noqa: ARG002
        results = Page()
        for hit in table(self.name, answer, "results"):
            results.evidence.append(
                self.piece(
                    query,
                    retrieved,
                    title=text(hit.get("title")),
                    text=text(hit.get("content")),
                    url=address(hit.get("url")),
                    dates=(hit.get("published_date"),),
                    score=number(hit.get("score")),
                )
            )
        return results


PROVIDER = Tavily
