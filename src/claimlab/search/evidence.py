"""What a search found: pieces of evidence, each with its own date, source and, for fact-checks,
rating and verdict. An evidence id is a hash of what the piece says and where, so the same page
found twice, by two queries or two providers, carries the same id.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import NamedTuple

from claimlab.core.labels import general
from claimlab.core.record import meta_json
from claimlab.core.types import JsonObject

DomainOf = Callable[[str], str | None]


@dataclass(frozen=True)
class FactCheckReview:
    """A fact-check in the terms of schema.org ClaimReview: who rated what, in the words they
    used.
    """

    publisher: str | None = None
    rating: str | None = None
    claim: str | None = None
    claimant: str | None = None
    claim_date: datetime | None = None
    mapped: str | None = None  # the verdict, where the source already gives it in our four words

    @property
    def verdict(self) -> str | None:
        """true | false | mixed | unknown by the general map; null without a rating, or with one it
        does not know.
        """
        return self.mapped or general().verdict(self.rating)

    def to_json(self) -> JsonObject:
        return {**self.__dict__, "claim_date": _iso(self.claim_date)}

    @classmethod
    def from_json(cls, raw: JsonObject) -> FactCheckReview:
        return cls(**{**raw, "claim_date": _time(raw["claim_date"])})


@dataclass(frozen=True)
class Evidence:
    """One result. Times are UTC without a zone. `dated_from` says where `published` was read."""

    title: str | None
    text: str | None
    url: str | None
    retrieved: datetime
    provider: str
    query: str
    published: datetime | None = None
    dated_from: str | None = None  # result | relative | page | url
    language: str | None = None
    score: float | None = None
    review: FactCheckReview | None = None
    more: JsonObject = field(
        default_factory=dict
    )  # what else the provider said, JSON-safe; goes into `meta`

    @property
    def evidence_id(self) -> str:
        parts = json.dumps([self.url, self.title, self.text], ensure_ascii=False)
        return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def to_json(self) -> JsonObject:
        """Every field as JSON, to be read back by `from_json`."""
        return {
            **self.__dict__,
            "retrieved": self.retrieved.isoformat(),
            "published": _iso(self.published),
            "review": self.review.to_json() if self.review else None,
        }

    @classmethod
    def from_json(cls, raw: JsonObject) -> Evidence:
        return cls(
            **{
                **raw,
                "retrieved": datetime.fromisoformat(raw["retrieved"]),
                "published": _time(raw["published"]),
                "review": FactCheckReview.from_json(raw["review"]) if raw["review"] else None,
            }
        )

    def row(self, record_id: str, rank: int, domain_of: DomainOf | None) -> JsonObject:
        """The row of the evidence table (core/record.py)."""
        review = self.review or FactCheckReview()
        meta = {
            **self.more,
            "dated_from": self.dated_from,
            "language": self.language,
            "score": self.score,
            "claim": review.claim,
            "claimant": review.claimant,
            "claim_date": _iso(review.claim_date),
        }
        return {
            "record_id": record_id,
            "evidence_id": self.evidence_id,
            "rank": rank,
            "title": self.title,
            "text": self.text,
            "url": self.url,
            "domain": (
                domain_of(self.url) if domain_of is not None and self.url is not None else None
            ),
            "published": self.published,
            "retrieved": self.retrieved,
            "provider": self.provider,
            "query": self.query,
            "publisher": review.publisher,
            "rating": review.rating,
            "verdict": review.verdict,
            "meta": meta_json(meta),
        }


class AsOf(NamedTuple):
    """Evidence sorted by one day: what stood then, what came after it, and what has no date."""

    kept: list[Evidence]
    newer: list[Evidence]
    undated: list[Evidence]

    def counts(self) -> dict[str, int]:
        return {name: len(pieces) for name, pieces in self._asdict().items()}


def as_of(evidence: Iterable[Evidence], when: date | datetime) -> AsOf:
    """Sort `evidence` by the date we read ourselves, whatever filter the provider was asked to
    apply.

    Two instants are compared as instants. Where either side knows only the day (midnight), days are
    compared, and the same day counts as not newer. What has no date is returned separately: it may
    be older or newer.
    """
    sorted_out = AsOf([], [], [])
    for piece in evidence:
        if piece.published is None:
            sorted_out.undated.append(piece)
        elif is_newer(piece.published, when):
            sorted_out.newer.append(piece)
        else:
            sorted_out.kept.append(piece)
    return sorted_out


def is_newer(published: datetime, when: date | datetime) -> bool:
    if not isinstance(when, datetime) or when.time() == time.min or published.time() == time.min:
        day = when.date() if isinstance(when, datetime) else when
        return published.date() > day
    return published > when


def _iso(value: datetime | None) -> str | None:
    return value.isoformat() if value is not None else None


def _time(value: str | None) -> datetime | None:
    return datetime.fromisoformat(value) if value is not None else None
