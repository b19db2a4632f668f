"""One record through the two stages: search with the query; where nothing corresponds, extract the
claim, search again.

    query -> web search -> corresponding? -> else claim -> web search again;  fact-check search with
    both

Every end has its own name, because they mean different things: `corresponding`, `not-corresponding`
(something was found), `nothing-found`, `no-claim` (nothing corresponds to the query, and the text
makes no claim to search for), `not-measured` (the same, but the offline rules do not know the
language of the text, so it may make one), `failed` (unknown), `no-query` (the record has no words
to search with).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

from claimlab.core.errors import PageRefused, SearchFailed
from claimlab.core.types import JsonObject
from claimlab.enrich import correspondence
from claimlab.enrich.correspondence import Rarity
from claimlab.enrich.extract import NO_RULES, ByModel, Extractor
from claimlab.enrich.pieces import UNDATED, FoundPiece, shown_order, to_json
from claimlab.enrich.query import QueryText, Rule
from claimlab.search.evidence import Evidence, as_of
from claimlab.search.fusion import SentenceEncoder
from claimlab.search.query import Query
from claimlab.search.results import Provider
from claimlab.search.snapshot import PageReader, with_page
from claimlab.text.guard import mark

NOT_MEASURED = "not-measured"
OUTCOMES = (
    *("corresponding", "not-corresponding", "nothing-found", "no-claim", NOT_MEASURED),
    *("failed", "no-query"),
)
CLAIM_DATE = "claim-date"
STOPS = frozenset({"no-key", "no-index"})  # what would fail for every record in the same way


@dataclass(frozen=True)
class EnrichSettings:
    """`as_of` is null, "claim-date" or one day for all. `countries` maps a language, or "*", to two
    letters, `sites` a site to the user's level of its reliability.
    """

    query_rule: Rule = "paper"
    correspondence_rule: correspondence.Rule = "measured"
    results: int = 5
    as_of: str | None = None
    countries: Mapping[str, str] = field(default_factory=dict)
    sites: Mapping[str, str] = field(default_factory=dict)

    def country(self, record: Mapping[str, Any], language: str | None) -> str | None:
        own = record.get("country")
        return str(own) if own else self.countries.get(language or "", self.countries.get("*"))

    def when(self, record: Mapping[str, Any]) -> date | datetime | None:
        if self.as_of == CLAIM_DATE:
            return record.get("date")
        return date.fromisoformat(self.as_of) if self.as_of else None


@dataclass(frozen=True)
class Doors:
    """What a flow may call; all but `web` may be left out. `rarity` is of the words of the
    dataset."""

    web: Provider
    factcheck: Provider | None = None
    extractor: Extractor | None = None
    pages: PageReader | None = None
    meaning: SentenceEncoder | None = None
    rarity: Rarity | None = None


@dataclass
class Enriched:
    """What was done for one record, JSON-safe, so that a stopped run can take it up again."""

    record_id: str
    outcome: str = "no-query"
    outcome_filtered: str = "no-query"
    query: str | None = None
    how: str | None = None
    needed_extraction: bool = False
    no_claim: bool = False
    no_rules: bool = False  # no claim was found, and the offline rules do not know the language
    claims: list[str] = field(default_factory=list)
    method: str | None = None
    claim_meta: JsonObject = field(default_factory=dict)
    evidence: list[JsonObject] = field(default_factory=list)
    newer: int = 0
    undated: int = 0
    failures: list[JsonObject] = field(default_factory=list)
    pages: dict[str, JsonObject] = field(default_factory=dict)

    def fail(self, stage: str, kind: str, reason: str | None) -> None:
        self.failures.append({"stage": stage, "kind": kind, "reason": reason})


async def enrich_record(
    record: Mapping[str, Any],
    text: str | None,
    query: QueryText | None,
    doors: Doors,
    settings: EnrichSettings,
) -> Enriched:
    """`text` is the prepared text the extractor reads, `query` what the rules made of it."""
    enriched = Enriched(str(record["id"]))
    if query is None or text is None:
        return enriched
    enriched.query, enriched.how = query
    job = _Job(record, doors, settings, enriched)
    await job.look_for_a_claim(text)
    first = await job.search(doors.web, "query", query.text)
    if doors.factcheck is not None:
        await job.search(doors.factcheck, "factcheck-query", query.text)
    if first is not None and not job.any_corresponds(first):
        enriched.needed_extraction = True
        if doors.extractor is not None:
            await job.second_stage(doors.extractor, text)
    job.close()
    return enriched


class _Job:
    """The searches of one record, and what they found so far."""

    def __init__(
        self, record: Mapping[str, Any], doors: Doors, settings: EnrichSettings, enriched: Enriched
    ) -> None:
        self.record, self.doors, self.settings, self.enriched = record, doors, settings, enriched
        self.language: str | None = record.get("language")
        self.when = settings.when(record)
        self.pieces: dict[str, FoundPiece] = {}

    async def look_for_a_claim(self, text: str) -> None:
        """A text without a claim cannot correspond to anything. Rules say so at once; asking a
        model costs money, so it is asked only where the query brings nothing."""
        extractor = self.doors.extractor
        if extractor is not None and not isinstance(extractor, ByModel):
            extraction = await extractor.extract(text, self.language)
            self.enriched.no_claim = extraction.failure is None and not extraction.claims

    async def second_stage(self, extractor: Extractor, text: str) -> None:
        extraction = await extractor.extract(text, self.language, tag=self.enriched.record_id)
        self.enriched.method, self.enriched.claim_meta = extractor.name, extraction.meta
        if extraction.failure == NO_RULES:
            self.enriched.no_rules = True
            self.enriched.claim_meta = {**extraction.meta, NO_RULES: extraction.detail}
            return
        if extraction.failure is not None:
            self.enriched.fail("extract", extraction.failure, extraction.detail)
            return
        self.enriched.claims = list(extraction.claims)
        self.enriched.no_claim = not extraction.claims
        for claim in extraction.claims:
            if claim == self.enriched.query:
                continue  # the same question again would bring the same answer
            await self.search(self.doors.web, "claim", claim)
            if self.doors.factcheck is not None:
                await self.search(self.doors.factcheck, "factcheck-claim", claim)

    async def search(self, provider: Provider, stage: str, words: str) -> list[FoundPiece] | None:
        """What was found and may be used; null when the search failed."""
        day = self.when.date() if isinstance(self.when, datetime) else self.when
        country = self.settings.country(self.record, self.language)
        query = Query(words, self.language, country, self.settings.results, before=day)
        try:
            results = await provider.search(query)
        except SearchFailed as failure:
            if failure.kinds <= STOPS:
                raise
            self.enriched.fail(stage, failure.kind, failure.problem)
            return None
        self.enriched.newer += results.newer
        evidence = [await self._with_page(piece) for piece in results.evidence]
        sorted_out = self._sorted_by_day(evidence)
        texts = [_words(piece) for piece, _ in sorted_out]
        fits = correspondence.matches(
            words, texts, self.language, self.doors.rarity, self.doors.meaning
        )
        if self.enriched.no_claim:
            fits = [None] * len(fits)
        pieces = [
            FoundPiece(e, stage, match, day)
            for (e, day), match in zip(sorted_out, fits, strict=True)
        ]
        for piece in pieces:
            self._keep(piece)
        return [p for p in pieces if p.as_of != UNDATED]

    def _sorted_by_day(self, evidence: list[Evidence]) -> list[tuple[Evidence, str | None]]:
        """What stood on the day, then what has no date, apart; what is newer is dropped and
        counted.
        """
        if self.settings.as_of is None:
            return [(piece, None) for piece in evidence]
        if self.when is None:
            return [(piece, "claim-undated") for piece in evidence]
        parts = as_of(evidence, self.when)
        self.enriched.newer += len(parts.newer)
        self.enriched.undated += len(parts.undated)
        return [*((p, "before") for p in parts.kept), *((p, UNDATED) for p in parts.undated)]

    async def _with_page(self, piece: Evidence) -> Evidence:
        if self.doors.pages is None or piece.url is None:
            return piece
        try:
            page = await self.doors.pages.fetch(piece.url)
        except PageRefused as refusal:
            return replace(piece, more={**piece.more, "page_failure": refusal.kind})
        self.enriched.pages[page.sha256] = page.to_json()
        return with_page(piece, page)

    def _keep(self, piece: FoundPiece) -> None:
        """A piece found twice is kept once, with the question it answers better, and with the
        fact-check that either search knows it to be."""
        identity = piece.evidence.evidence_id
        before = self.pieces.get(identity)
        if before is None:
            self.pieces[identity] = piece
            return
        best = max(
            before, piece, key=lambda candidate: (self.any_corresponds([candidate]), candidate.fit)
        )
        review = before.evidence.review or piece.evidence.review
        self.pieces[identity] = replace(best, evidence=replace(best.evidence, review=review))

    def close(self) -> None:
        rule = self.settings.correspondence_rule
        pieces = shown_order(list(self.pieces.values()), rule)
        marked = list(
            zip(pieces, mark(dict(self.record), [p.evidence for p in pieces]), strict=True)
        )
        self.enriched.evidence = [to_json(piece, marks, rule) for piece, marks in marked]
        usable = [(piece, marks) for piece, marks in marked if piece.as_of != UNDATED]
        self.enriched.outcome = self._outcome([piece for piece, _ in usable])
        self.enriched.outcome_filtered = self._outcome(
            [p for p, marks in usable if not marks.filtered]
        )

    def any_corresponds(self, pieces: list[FoundPiece]) -> bool:
        return any(
            correspondence.corresponds(p.match, self.settings.correspondence_rule) for p in pieces
        )

    def _outcome(self, pieces: list[FoundPiece]) -> str:
        if self.any_corresponds(pieces):
            return "corresponding"
        if self.enriched.failures:
            return "failed"  # what was not asked might have corresponded
        if self.enriched.no_claim:
            return "no-claim"
        if self.enriched.no_rules:
            return NOT_MEASURED
        return "not-corresponding" if pieces else "nothing-found"


def _words(piece: Evidence) -> str | None:
    return ".\n".join(part for part in (piece.title, piece.text) if part) or None
