"""Brave Search: an index of its own, plain JSON.
https://api-dashboard.search.brave.com/app/documentation/web-search
"""

from __future__ import annotations

from datetime import datetime

from claimlab.core.languages import normalise
from claimlab.core.types import Json
from claimlab.search.fields import address, mapping, table, text
from claimlab.search.http import Call
from claimlab.search.query import Query
from claimlab.search.web import Page, WebProvider, two_letters

# Brave answers 422 to a language it does not list, and spells some in its own way.
LANGUAGES = (
    "ar bg bn ca cs da de el en es et eu fi fr gl gu he hi hr hu is it kn ko lt lv ml mr ms nl pa"
    " pl ro ru sk sl sr sv ta te th tr uk vi"
)
SPELLINGS = {"ja": "jp", "zh": "zh-hans", "no": "nb", "nb": "nb", "pt": "pt-pt"}


class Brave(WebProvider):
    name = "brave"
    endpoint = "https://api.search.brave.com/res/v1/web/search"
    needs = ("BRAVE_SEARCH_API_KEY",)
    page_size = 20

    def ask(self, query: Query, wanted: int, page: Json) -> Call:
        key = self.key("BRAVE_SEARCH_API_KEY")
        params = {
            "q": query.plain(max_chars=400, max_words=50),  # longer queries are refused
            "count": self.page_size if page else wanted,  # pages are counted in steps of `count`
            "offset": page,
            "country": query.country,
            "search_lang": _language(query),
            "freshness": f"1970-01-01to{query.before.isoformat()}" if query.before else None,
            "result_filter": "web",
            "text_decorations": "false",
        }
        return self.call(wanted, key, params=params, headers={"X-Subscription-Token": key})

    def read(self, answer: Json, query: Query, retrieved: datetime, page: Json) -> Page:
        hits = table(self.name, answer, "web", "results", or_else=("query", "type"))
        about = mapping(answer.get("query"))
        more = about.get("more_results_available") is True and len(hits) >= self.page_size
        results = Page(following=(page or 0) + 1 if more else None)
        for hit in hits:
            profile = mapping(hit.get("profile"))
            language = text(hit.get("language"))
            results.evidence.append(
                self.piece(
                    query,
                    retrieved,
                    title=text(hit.get("title")),
                    text=text(hit.get("description")),
                    url=address(hit.get("url")),
                    dates=(hit.get("page_age"), hit.get("age")),
                    language=normalise(language) if language else None,
                    site=text(profile.get("long_name")) or text(profile.get("name")),
                )
            )
        altered = text(about.get("altered"))
        if altered and altered != text(about.get("original")):
            results.notes.append(f"Brave searched for '{altered}' instead.")
        return results


def _language(query: Query) -> str | None:
    code = two_letters(query)
    if code == "pt" and query.country == "BR":
        return "pt-br"
    return SPELLINGS.get(code, code if code in LANGUAGES.split() else None) if code else None


PROVIDER = Brave
