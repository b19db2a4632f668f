"""The services behind HTTP: how each is asked, and what it calls the parts of a result.

Brave has an index of its own: https://api-dashboard.search.brave.com/app/documentation/web-search
Exa searches one by meaning: https://exa.ai/docs/reference/search
Serper gives Google's results: https://serper.dev
Tavily answers with passages: https://docs.tavily.com/documentation/api-reference
SearXNG is a service you host yourself: https://docs.searxng.org/dev/search_api.html
Google Fact Check Tools find fact-checks that were published with ClaimReview (claims:search):
https://developers.google.com/fact-check/tools/api/reference/rest/v1alpha1/claims/search
"""

from __future__ import annotations

from datetime import datetime, time

from claimlab.core.errors import SearchFailed
from claimlab.core.types import Json, JsonObject
from claimlab.search.claimreview import api_review
from claimlab.search.fields import address, mapping, number, strings, table, text
from claimlab.search.http import Call
from claimlab.search.query import Query
from claimlab.search.terms import terms
from claimlab.search.web import Page, WebProvider, two_letters

# Brave answers 422 to a language it does not list, and spells some in its own way.
LANGUAGES = (
    "ar bg bn ca cs da de el en es et eu fi fr gl gu he hi hr hu is it kn ko lt lv ml mr ms nl pa"
    " pl ro ru sk sl sr sv ta te th tr uk vi"
)
SPELLINGS = {"ja": "jp", "zh": "zh-hans", "no": "nb", "nb": "nb", "pt": "pt-pt"}
RESULTS_INCLUDED = 10  # results in the price of a call to Exa
EXTRA_DOLLARS = 0.001  # dollars for each further one


class Brave(WebProvider):
    name = "brave"
    endpoint = "https://api.search.brave.com/res/v1/web/search"
    needs = ("BRAVE_SEARCH_API_KEY",)
    header = "X-Subscription-Token: {}"
    page_size = 20
    results = ("web", "results")
    searched = ("query", "type")
    parts = {"title": "title", "text": "description", "url": "url", "language": "language"}
    dates = ("page_age", "age")

    def ask(self, query: Query, wanted: int, page: Json) -> Call:
        params = {
            "q": query.plain(max_chars=400, max_words=50),  # longer queries are refused
            "count": self.page_size if page else wanted,  # pages are counted in steps of `count`
            "offset": page,
            "country": query.country,
            "search_lang": _brave_language(query),
            "freshness": f"1970-01-01to{query.before.isoformat()}" if query.before else None,
            "result_filter": "web",
            "text_decorations": "false",
        }
        return self.call(wanted, params=params)

    def read(self, answer: Json, query: Query, retrieved: datetime, page: Json) -> Page:
        listing = super().read(answer, query, retrieved, page)
        about = mapping(answer.get("query"))
        if about.get("more_results_available") is True and len(listing.evidence) >= self.page_size:
            listing.following = (page or 0) + 1
        altered = text(about.get("altered"))
        if altered and altered != text(about.get("original")):
            listing.notes.append(f"Brave searched for '{altered}' instead.")
        return listing

    def hit(self, hit: JsonObject) -> JsonObject:
        profile = mapping(hit.get("profile"))
        site = text(profile.get("long_name")) or text(profile.get("name"))
        return {**super().hit(hit), "site": site}


def _brave_language(query: Query) -> str | None:
    code = two_letters(query)
    if code == "pt" and query.country == "BR":
        return "pt-br"
    return SPELLINGS.get(code, code if code in LANGUAGES.split() else None) if code else None


class Exa(WebProvider):
    name = "exa"
    endpoint = "https://api.exa.ai/search"
    needs = ("EXA_API_KEY",)
    header = "x-api-key: {}"
    page_size = 100
    parts = {"title": "title", "text": "summary", "url": "url", "score": "score"}
    dates = ("publishedDate",)

    def price(self, wanted: int) -> float | None:
        base = super().price(wanted)
        return None if base is None else base + max(0, wanted - RESULTS_INCLUDED) * EXTRA_DOLLARS

    def cost(self, answer: Json, wanted: int) -> float | None:
        total = number(mapping(mapping(answer).get("costDollars")).get("total"))
        return self.price(wanted) if total is None else total

    def ask(self, query: Query, wanted: int, page: Json) -> Call:  # noqa: ARG002
        last = datetime.combine(query.before, time(23, 59, 59)) if query.before else None
        body = {
            "query": query.text,
            "type": "auto",
            "numResults": wanted,
            "contents": {"highlights": {"maxCharacters": 1000}},
            "endPublishedDate": f"{last.isoformat()}.000Z" if last else None,
            "userLocation": query.country or None,
        }
        return self.call(wanted, body=body)

    def hit(self, hit: JsonObject) -> JsonObject:
        parts = super().hit(hit)
        highlights = text(" … ".join(strings(hit.get("highlights"))))
        words = highlights or text(hit.get("text")) or parts["text"]
        return {**parts, "text": words, "author": text(hit.get("author"))}


class Serper(WebProvider):
    name = "serper"
    endpoint = "https://google.serper.dev/search"
    needs = ("SERPER_API_KEY",)
    header = "X-API-KEY: {}"
    page_size = 100
    results = ("organic",)
    searched = ("searchParameters",)
    parts = {"title": "title", "text": "snippet", "url": "link"}
    dates = ("date",)

    def price(self, wanted: int) -> float | None:
        credit = super().price(wanted)
        return None if credit is None else credit * (1 if wanted <= 10 else 2)

    def cost(self, answer: Json, wanted: int) -> float | None:
        """Credits that the answer says were taken, at the price of one."""
        credits, price = number(mapping(answer).get("credits")), terms(self.name).price
        return self.price(wanted) if credits is None or price is None else credits * price

    def ask(self, query: Query, wanted: int, page: Json) -> Call:  # noqa: ARG002
        last = query.before
        body = {
            "q": query.plain(max_chars=2000),
            "num": max(10, wanted),  # fewer cost the same
            "gl": query.country.lower() if query.country else None,
            "hl": two_letters(query),
            "tbs": f"cdr:1,cd_max:{last.month}/{last.day}/{last.year}" if last else None,
        }
        return self.call(wanted, body=body)


class Tavily(WebProvider):
    """Language and country are not sent: the service wants a country's English name, and only
    boosts by it.
    """

    name = "tavily"
    endpoint = "https://api.tavily.com/search"
    needs = ("TAVILY_API_KEY",)
    header = "Authorization: Bearer {}"
    page_size = 20
    parts = {"title": "title", "text": "content", "url": "url", "score": "score"}
    dates = ("published_date",)

    def ask(self, query: Query, wanted: int, page: Json) -> Call:  # noqa: ARG002
        body = {
            "query": query.plain(max_chars=400),
            "max_results": wanted,
            "search_depth": "basic",
            "include_answer": False,
            "end_date": query.before.isoformat() if query.before else None,
        }
        return self.call(wanted, body=body)


class SearxNG(WebProvider):
    """It needs no key: SEARXNG_URL names the instance, whose settings must allow the JSON format
    (most public ones do not). It decides how many results a page has, so pages are requested until
    there are enough.
    """

    name = "searxng"
    endpoint = ""
    needs = ("SEARXNG_URL",)
    parts = {"title": "title", "text": "content", "url": "url", "score": "score"}
    dates = ("publishedDate", "pubdate")

    def ask(self, query: Query, wanted: int, page: Json) -> Call:
        params = {
            "q": query.plain(),
            "format": "json",
            "language": two_letters(query),
            "pageno": page or 1,
        }
        return self.call(wanted, params=params)

    def read(self, answer: Json, query: Query, retrieved: datetime, page: Json) -> Page:
        listing = super().read(answer, query, retrieved, page)
        if listing.evidence:  # the answer does not say whether there is more
            listing.following = (page or 1) + 1
        for engine in answer.get("unresponsive_engines") or []:
            if isinstance(engine, list | tuple) and engine:
                listing.notes.append(
                    f"The engine {' ('.join(map(str, engine[:2]))}) did not answer SearXNG."
                )
        return listing

    def hit(self, hit: JsonObject) -> JsonObject:
        return {**super().hit(hit), "engines": sorted(strings(hit.get("engines"))) or None}

    def place(self) -> str:
        where = self.address or self.key("SEARXNG_URL").rstrip("/")
        if address(where) is None:
            raise SearchFailed(
                self.name,
                "refused",
                "SEARXNG_URL is not an http(s) address.",
                "Set it to your instance, such as http://localhost:8080",
            )
        return f"{where}/search"


class GoogleFactCheck(WebProvider):
    """One piece of evidence per review. The key is in a header rather than the address, which ends
    up in logs.
    """

    name = "google-factcheck"
    endpoint = "https://factchecktools.googleapis.com/v1alpha1/claims:search"
    needs = ("GOOGLE_FACTCHECK_API_KEY",)
    header = "X-Goog-Api-Key: {}"

    def parameters(self) -> JsonObject:
        return {"max_age_days": None, "publisher_site": None}  # as in recordings made so far

    def ask(self, query: Query, wanted: int, page: Json) -> Call:
        params = {
            "query": query.text,
            "languageCode": two_letters(query),  # the service ignores the region
            # the same on every page, or the token is refused
            "pageSize": min(self.page_size, query.max_results),
            "pageToken": page,
        }
        return self.call(wanted, params=params)

    def read(self, answer: Json, query: Query, retrieved: datetime, page: Json) -> Page:  # noqa: ARG002
        listing = Page(following=text(mapping(answer).get("nextPageToken")))
        if answer in ({}, {"claims": []}):
            return listing  # as the service says that it knows no such claim
        for claim in table(self.name, answer, "claims", or_else=("nextPageToken",)):
            reviews = table(self.name, claim, "claimReview", or_else=("text",))
            listing.evidence += [
                self.piece(
                    query,
                    retrieved,
                    title=review.get("title"),
                    text=claim.get("text"),
                    url=review.get("url"),
                    dates=(review.get("reviewDate"),),
                    language=review.get("languageCode"),
                    review=api_review(claim, review, retrieved),
                )
                for review in reviews
            ] or [None]
        return listing


ENTRIES = (Brave, Exa, Serper, Tavily, SearxNG, GoogleFactCheck)
