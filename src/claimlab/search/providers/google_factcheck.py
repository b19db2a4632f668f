"""Google Fact Check Tools: fact-checks published with ClaimReview, found by the claim
(claims:search, v1alpha1).

https://developers.google.com/fact-check/tools/api/reference/rest/v1alpha1/claims/search
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from claimlab.core.languages import normalise
from claimlab.core.types import Json, JsonObject
from claimlab.search.dates import read_date
from claimlab.search.evidence import Evidence, Review
from claimlab.search.fields import address, mapping, table, text
from claimlab.search.http import Call, Http
from claimlab.search.query import Query
from claimlab.search.web import Page, WebProvider, two_letters


class GoogleFactCheck(WebProvider):
    """One piece of evidence per review. `max_age_days` counts back from today; `publisher_site`
    keeps one publisher.
    """

    name = "google-factcheck"
    endpoint = "https://factchecktools.googleapis.com/v1alpha1/claims:search"
    needs = ("GOOGLE_FACTCHECK_API_KEY",)

    def __init__(
        self,
        http: Http | None = None,
        *,
        endpoint: str | None = None,
        environ: Mapping[str, str] | None = None,
        max_age_days: int | None = None,
        publisher_site: str | None = None,
    ) -> None:
        super().__init__(http, endpoint=endpoint, environ=environ)
        self.max_age_days = max_age_days
        self.publisher_site = publisher_site

    def parameters(self) -> JsonObject:
        return {"max_age_days": self.max_age_days, "publisher_site": self.publisher_site}

    def ask(self, query: Query, wanted: int, page: Json) -> Call:
        key = self.key("GOOGLE_FACTCHECK_API_KEY")
        params = {
            "query": query.text,
            "languageCode": two_letters(query),  # the service ignores the region
            "maxAgeDays": self.max_age_days,
            "pageSize": min(
                self.page_size, query.max_results
            ),  # the same on every page, or the token is refused
            "pageToken": page,
            "reviewPublisherSiteFilter": self.publisher_site,
        }
        # in the header rather than the address, which ends up in logs
        return self.call(wanted, key, params=params, headers={"X-Goog-Api-Key": key})

    def read(self, answer: Json, query: Query, retrieved: datetime, page: Json) -> Page:  # noqa: ARG002
        results = Page(following=text(mapping(answer).get("nextPageToken")))
        if answer in ({}, {"claims": []}):
            return results  # as the service says that it knows no such claim
        for claim in table(self.name, answer, "claims", or_else=("nextPageToken",)):
            reviews = table(self.name, claim, "claimReview", or_else=("text",))
            results.evidence += [self._review(claim, r, query, retrieved) for r in reviews] or [
                None
            ]
        return results

    def _review(
        self, claim: JsonObject, review: JsonObject, query: Query, retrieved: datetime
    ) -> Evidence | None:
        publisher = mapping(review.get("publisher"))
        language = text(review.get("languageCode"))
        return self.piece(
            query,
            retrieved,
            title=text(review.get("title")),
            text=text(claim.get("text")),
            url=address(review.get("url")),
            dates=(review.get("reviewDate"),),
            language=normalise(language) if language else None,
            review=Review(
                publisher=text(publisher.get("name")) or text(publisher.get("site")),
                rating=text(review.get("textualRating")),
                claim=text(claim.get("text")),
                claimant=text(claim.get("claimant")),
                claim_date=read_date(claim.get("claimDate"), retrieved=retrieved).published,
            ),
        )


PROVIDER = GoogleFactCheck
