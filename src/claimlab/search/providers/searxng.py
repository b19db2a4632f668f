"""SearXNG: a search service you host yourself. https://docs.searxng.org/dev/search_api.html

It needs no key. SEARXNG_URL names the instance, whose settings must allow the JSON format (most
public ones do not).
"""

from __future__ import annotations

from datetime import datetime

from claimlab.core.errors import SearchFailed
from claimlab.core.types import Json
from claimlab.search.fields import address, number, strings, table, text
from claimlab.search.http import Call
from claimlab.search.query import Query
from claimlab.search.web import Page, WebProvider, two_letters


class SearxNG(WebProvider):
    """The service decides how many results a page has, so pages are requested until there are
    enough.
    """

    name = "searxng"
    endpoint = ""
    needs = ("SEARXNG_URL",)

    def ask(self, query: Query, wanted: int, page: Json) -> Call:
        where = self.address or self._instance()
        params: dict[str, str | int | None] = {
            "q": query.plain(),
            "format": "json",
            "language": two_letters(query),
            "pageno": page or 1,
        }
        return Call(
            self.name,
            "GET",
            f"{where}/search",
            params={k: v for k, v in params.items() if v is not None},
            most=self.price(wanted),
        )

    def read(self, answer: Json, query: Query, retrieved: datetime, page: Json) -> Page:
        hits = table(self.name, answer, "results")
        results = Page(
            following=(page or 1) + 1 if hits else None
        )  # the answer does not say whether there is more
        for hit in hits:
            results.evidence.append(
                self.piece(
                    query,
                    retrieved,
                    title=text(hit.get("title")),
                    text=text(hit.get("content")),
                    url=address(hit.get("url")),
                    dates=(hit.get("publishedDate"), hit.get("pubdate")),
                    score=number(hit.get("score")),
                    engines=sorted(strings(hit.get("engines"))) or None,
                )
            )
        for engine in answer.get("unresponsive_engines") or []:
            if isinstance(engine, list | tuple) and engine:
                results.notes.append(
                    f"The engine {' ('.join(map(str, engine[:2]))}) did not answer SearXNG."
                )
        return results

    def _instance(self) -> str:
        where = self.key("SEARXNG_URL").rstrip("/")
        if address(where) is None:
            raise SearchFailed(
                self.name,
                "refused",
                "SEARXNG_URL is not an http(s) address.",
                "Set it to your instance, such as http://localhost:8080",
            )
        return where


PROVIDER = SearxNG
