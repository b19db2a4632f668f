"""Google Custom Search (legacy): closed to new customers, and ending on 1 January 2027. Never a
default.

https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list
"""

from __future__ import annotations

from datetime import date, datetime

from claimlab.core.types import Json, JsonObject
from claimlab.search.evidence import Evidence, Review
from claimlab.search.fields import address, first, mapping, table, text
from claimlab.search.http import Call
from claimlab.search.query import Query
from claimlab.search.web import Page, WebProvider, two_letters

LAST_DAY = date(2026, 12, 31)
NOTE = (
    "Google Custom Search is closed to new customers and {tense} on 1 January 2027: move to another"
    " provider, such as brave or google-factcheck."
)


class GoogleCse(WebProvider):
    name = "google-cse"
    endpoint = "https://www.googleapis.com/customsearch/v1"
    note = NOTE.format(tense="ends")
    needs = ("GOOGLE_CSE_API_KEY", "GOOGLE_CSE_ID")

    def ask(self, query: Query, wanted: int, page: Json) -> Call:
        key = self.key("GOOGLE_CSE_API_KEY")
        language = two_letters(query)
        params = {
            "key": key,  # the service documents no header for it
            "cx": self.key("GOOGLE_CSE_ID"),
            "q": query.plain(),
            "num": wanted,
            "start": page,
            "lr": f"lang_{language}" if language else None,
            "gl": query.country.lower() if query.country else None,
            "sort": f"date:r::{query.before:%Y%m%d}" if query.before else None,
        }
        return self.call(wanted, key, params=params)

    def read(self, answer: Json, query: Query, retrieved: datetime, page: Json) -> Page:  # noqa: ARG002
        hits = table(self.name, answer, "items", or_else=("kind", "queries", "searchInformation"))
        following = first(mapping(answer.get("queries")).get("nextPage")).get("startIndex")
        over = retrieved.date() > LAST_DAY
        results = Page(
            following=following if isinstance(following, int) else None,
            notes=[NOTE.format(tense="ended" if over else "ends")],
        )
        results.evidence += [self._hit(hit, query, retrieved) for hit in hits]
        return results

    def _hit(self, hit: JsonObject, query: Query, retrieved: datetime) -> Evidence | None:
        page = mapping(hit.get("pagemap"))
        meta, article = first(page.get("metatags")), first(page.get("newsarticle"))
        return self.piece(
            query,
            retrieved,
            title=text(hit.get("title")),
            text=text(hit.get("snippet")),
            url=address(hit.get("link")),
            dates=(
                meta.get("article:published_time"),
                article.get("datepublished"),
                first(page.get("claimreview")).get("datepublished"),
            ),
            review=_review(page),
        )


def _review(page: JsonObject) -> Review | None:
    """The ClaimReview that the page carries, as Google flattens it."""
    claim, rating = first(page.get("claimreview")), first(page.get("rating"))
    if not claim:
        return None
    return Review(
        publisher=text(first(page.get("organization")).get("name")),
        rating=text(rating.get("alternatename")) or text(rating.get("name")),
        claim=text(claim.get("claimreviewed")),
    )


PROVIDER = GoogleCse
