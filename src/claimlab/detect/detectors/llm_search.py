"""A language model that answers or searches again: it reads what was found, and cites what its
answer rests on.

    ask -> "search": search, read pages, screen, show -> ask again, at most `searches` times ->
    "answer"

Of the first `pages` results of a search the whole page is read (`reader` fetches it), of
the others the snippet. `screen` says which pieces a model may not see (the guards of claimlab
enrich are passed in by the command line).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Literal

import polars as pl
from pydantic import Field, create_model

from claimlab.core.errors import SearchFailed
from claimlab.core.types import JsonObject
from claimlab.detect.asking import (
    CLAIM,
    CONCURRENCY,
    Asking,
    Question,
    Row,
    check_day,
    evidence_in,
    priced,
    rows_with_text,
)
from claimlab.detect.detector import Prediction
from claimlab.detect.found_evidence import (
    PAGES_READ,
    PASSAGE_CHARACTERS,
    with_pages,
    words_of,
)
from claimlab.detect.verdicts import (
    PIECE_CHARACTERS,
    Cited,
    Handles,
    ModelVerdict,
    Reply,
    Tenth,
    as_prediction,
    bounded,
    failed,
    labels_of,
    verdict_schema,
)
from claimlab.llm.judge import Reasoned
from claimlab.llm.messages import Message
from claimlab.llm.provider import Provider
from claimlab.search.evidence import Evidence, as_of
from claimlab.search.query import Query
from claimlab.search.results import Provider as SearchProvider
from claimlab.search.results import Results
from claimlab.search.snapshot import PageReader
from claimlab.search.terms import terms

MOST_SEARCHES, RESULTS_KEPT = 3, 5
QUERY_CHARACTERS = 100  # for a model that would not stop
HOPELESS = frozenset({"no-key", "no-index"})  # would fail for every record in the same way


@dataclass(frozen=True)
class Screen:
    """What a model may not see of what was found: `bars` says it of each piece, `name` goes into
    the lineage.
    """

    name: str
    bars: Callable[[Row, Sequence[Evidence]], list[bool]]


class SearchMove(Reasoned):
    """One move of the model: a query, or an answer. `label` is narrowed by `turn_schema`."""

    next: Literal["search", "answer"]
    query: str | None
    label: str | None
    confidence: float | None = Field(ge=0, le=1)
    evidence: list[str]


@lru_cache(maxsize=64)
def move_schema(
    classes: tuple[str, ...], abstain: bool, room: int | None = None
) -> type[SearchMove]:
    narrowed: JsonObject = {"label": (labels_of(classes, abstain) | None, ...), **bounded(room)}
    if room is not None:
        narrowed |= {
            "query": (Annotated[str, Field(max_length=QUERY_CHARACTERS)] | None, ...),
            "confidence": (Tenth | None, ...),
        }
    return create_model("Turn", __base__=SearchMove, **narrowed)


class LlmSearch(Asking):
    name = "llm-search"
    summary = (
        "A language model that searches, reads, answers or searches again, and cites its evidence."
    )
    handles = ("model", "search")
    asks = ("search",)

    def __init__(  # noqa: PLR0913
        self,
        *,
        model: Provider | None = None,
        search: SearchProvider | None = None,
        screen: Screen | None = None,
        reader: PageReader | None = None,
        searches: int = MOST_SEARCHES,
        results: int = RESULTS_KEPT,
        pages: int = PAGES_READ,
        before_claim: bool = False,
        abstain: bool = False,
        context: bool = True,
        known_until: str = CLAIM,
        max_tokens: int = 512,
        concurrency: int = CONCURRENCY,
    ) -> None:
        super().__init__(
            model=model, context=context, max_tokens=max_tokens, concurrency=concurrency
        )
        self.search, self.screen, self.reader = search, screen, reader
        self.searches, self.results, self.pages = searches, results, pages
        self.before_claim, self.abstain = before_claim, abstain
        self.known_until = check_day(known_until)

    def parameters(self) -> dict[str, object]:
        search, screen = self.search, self.screen
        return {
            **super().parameters(),
            "search": search and {search.name: search.parameters()},
            "screen": screen and screen.name,
            "reader": self.reader is not None,
        }

    def requests(self, records: pl.DataFrame) -> Iterable[Question]:
        """The most that can be asked: every search made, every result as long as it may be."""
        whole = min(self.pages, self.results)
        filler = "x" * (whole * PASSAGE_CHARACTERS + (self.results - whole) * PIECE_CHARACTERS)
        for row in rows_with_text(records):
            messages = self._opening(row, Handles())
            for _ in range(self.searches):
                yield self._request(row, messages, last=False)
                messages = [*messages, Message("assistant", "x" * 400), Message("user", filler)]
            yield self._request(row, messages, last=True)

    async def one(self, row: Row) -> Prediction:
        case = _Case(row)
        messages = self._opening(row, case.handles)
        left = self.searches
        while left >= 0:
            answer = await self.ask(row, self._request(row, messages, last=left == 0))
            case.answers.append(answer)
            move = answer.value
            if move is None:
                return case.close(failed(answer))
            verdict = move if isinstance(move, ModelVerdict) else _verdict(move)
            if verdict is not None:
                prediction = as_prediction(verdict, self.classes, case.handles)
                return case.close(self.noted(prediction, row, answer))
            results = await self._look(move.query, case)
            # who repeats a query, or gives none, will do so again
            stuck = case.counts["repeated_queries"] or case.counts["empty_queries"]
            left = 0 if stuck else left - 1
            ask = self.prompt.text("left" if left > 0 else "last", left=left)
            messages = [
                *messages,
                Message("assistant", answer.text or ""),
                Message("user", f"{results}\n\n{ask}"),
            ]
        return case.close(Prediction(None, failure="no-answer"))

    def _opening(self, row: Row, handles: Handles) -> list[Message]:
        decide = "abstain" if self.abstain else "decide"
        parts = ("role", "task", "loop", "knowledge", *self.on_evidence, "answer", "cite", decide)
        own = evidence_in(row)
        shown = self.shown(row, [handles.show(own)] if own else [])
        return [Message("system", self.system(*parts)), Message("user", "\n\n".join(shown))]

    def _request(self, row: Row, messages: Sequence[Message], *, last: bool) -> Question:
        schema = verdict_schema if last else move_schema
        return self.request(row, messages, schema(self.classes, self.abstain, self.room))

    async def _look(self, words: str | None, case: _Case) -> str:
        """The message to the model after a search: the results, or why there are none."""
        query = " ".join((words or "").split())
        if not any(map(str.isalnum, query)):
            case.count("empty_queries")
            return "You asked for a search without giving a query."
        if query.lower() in case.queries:
            case.count("repeated_queries")
            return "You made that search before; its results are above."
        case.queries.append(query.lower())
        try:
            results = await self._search(query, case.row)
        except SearchFailed as failure:
            if failure.kinds <= HOPELESS:
                raise
            case.count(f"search_failed_{failure.kind}")
            return "The search failed. Nothing is known of what it would have found."
        case.spend(_list_price(results))
        case.count("newer", results.newer)
        read, texts = await with_pages(results.evidence, self.pages, self.reader, case.count)
        pieces = self._allowed(read, case)
        if not pieces:
            return "The search found nothing."
        case.found |= {piece.evidence_id: piece for piece in pieces}
        language = case.row.get("language")
        shown = [
            (p.evidence_id, words_of(p, query, language, texts.get(p.evidence_id))) for p in pieces
        ]
        return case.handles.show(shown, piece=PASSAGE_CHARACTERS + PIECE_CHARACTERS)

    async def _search(self, query: str, row: Row) -> Results:
        assert self.search is not None, "a run looks at the handles before it starts"
        when: datetime | None = row.get("date") if self.before_claim else None
        day = when.date() if when is not None else None
        return await self.search.search(
            Query(query, row.get("language"), max_results=self.results, before=day)
        )

    def _allowed(self, pieces: Sequence[Evidence], case: _Case) -> list[Evidence]:
        """Without what is screened and, where that was asked for, what is newer than the claim or
        has no date.
        """
        usable = list(pieces)
        when = case.row.get("date")
        if self.before_claim and when is not None:
            sorted_out = as_of(usable, when)
            usable = sorted_out.kept
            case.count("newer", len(sorted_out.newer))
            case.count("undated", len(sorted_out.undated))
        if self.screen is None:
            return usable
        barred = self.screen.bars(case.row, usable)
        case.count("screened", sum(barred))
        return [piece for piece, bar in zip(usable, barred, strict=True) if not bar]


@dataclass
class _Case:
    """One record under way: what was asked, found, spent and counted."""

    row: Row
    handles: Handles = field(default_factory=Handles)
    answers: list[Reply] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    found: dict[str, Evidence] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    cost: float | None = 0.0

    def count(self, what: str, n: int = 1) -> None:
        if n:
            self.counts[what] += n

    def spend(self, price: float | None) -> None:
        self.cost = None if price is None or self.cost is None else self.cost + price

    def close(self, prediction: Prediction) -> Prediction:
        searches = {"searches": len(self.queries), "queries": self.queries or None}
        notes = {**prediction.notes, **self.counts, **searches}
        whole = replace(prediction, found=tuple(self.found.values()), notes=notes)
        return priced(whole, self.answers, self.cost)


def _verdict(move: SearchMove) -> ModelVerdict | None:
    """The answer in a move; null when it is a search. An answer without a label or a confidence
    counts as a search.
    """
    if move.next == "search" or move.label is None or move.confidence is None:
        return None
    return Cited(**move.model_dump(exclude={"next", "query"}))


def _list_price(results: Results) -> float | None:
    """What the search costs by the providers' published prices: the same when it is answered from a
    recording.
    """
    names = [a.provider for a in results.attempts if a.outcome != "failed"] or [results.provider]
    prices = [terms(name).price for name in names]
    prices_known = [p for p in prices if p is not None]
    return sum(prices_known) if len(prices_known) == len(prices) else None


DETECTOR = LlmSearch
