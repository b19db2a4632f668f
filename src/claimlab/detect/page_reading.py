"""Whole pages for a detector that searches: fetched where a result has an address, and shown by the
part that fits.

A snippet often stops before what matters. Of each search the first `pages` results are read whole:
from the web through a guarded fetcher (claimlab.search.snapshot), from a local index as far as it
gives them. What a model is shown of a page is bounded, so that a run stays within its caps whatever
a page holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from claimlab.core.errors import PageRefused
from claimlab.detect.evidence import RATED, UNNAMED
from claimlab.detect.questions import PIECE
from claimlab.search.analysis import EXACT, terms_of
from claimlab.search.evidence import Evidence
from claimlab.search.passage import best_passage
from claimlab.search.snapshot import Snapshot, with_page

PAGES = 2  # results of a search that are read whole
PAGE = 6000  # characters of a page that a condensing model reads
PASSAGE = 2000  # characters of a page where no model condenses it


class Pages(Protocol):
    """What fetches a page; claimlab.search.snapshot.PageFetcher does."""

    async def fetch(self, url: str) -> Snapshot: ...


async def with_pages(
    pieces: Sequence[Evidence], pages: int, reader: Pages | None, count: Callable[[str], None]
) -> tuple[list[Evidence], dict[str, str]]:
    """The pieces with what the pages of the first say of themselves (a better date, a fact-check),
    and the text of those pages by evidence id. A page that cannot be had is counted by its reason,
    and its snippet stays.
    """
    read, texts = list(pieces), {}
    for number, piece in enumerate(read[:pages]):
        if piece.text:
            texts[piece.evidence_id] = piece.text
        if reader is None or piece.url is None or piece.provider == "local":
            continue
        try:
            page = await reader.fetch(piece.url)
        except PageRefused as refusal:
            count(f"page_{refusal.kind}")
            continue
        count("pages_read")
        read[number] = with_page(piece, page)
        texts[piece.evidence_id] = page.text
    return read, texts


def words_of(piece: Evidence, query: str, language: str | None, page: str | None, room: int) -> str:
    """A piece as a model reads it: day, title, the part that fits the query best, and a
    fact-checker's rating.
    """
    day = f"({piece.published:%Y-%m-%d}) " if piece.published is not None else ""
    whole = piece.text if page is None else page
    limit = PIECE if page is None else room
    text = (
        best_passage(whole, set(terms_of(query, EXACT, language)), limit, fill=True)
        if whole
        else None
    )
    review = piece.review
    rating = (
        RATED.format(review.publisher or UNNAMED, review.rating)
        if review is not None and review.rating
        else ""
    )
    return f"{day}{': '.join(part for part in (piece.title, text) if part)}{rating}"
