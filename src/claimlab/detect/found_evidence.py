"""The pieces of evidence that a search finds, as a model reads them: with the pages of the first,
and the part of each that fits the query best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from claimlab.core.errors import PageRefused
from claimlab.detect.evidence import RATED, UNNAMED
from claimlab.detect.verdicts import PIECE_CHARACTERS
from claimlab.search.analysis import EXACT, terms_of
from claimlab.search.evidence import Evidence
from claimlab.search.passage import best_passage
from claimlab.search.snapshot import PageReader, with_page

PAGES_READ = 2  # results of a search that are read whole
PAGE_CHARACTERS = 6000  # characters that a local index gives of a document
PASSAGE_CHARACTERS = 2000  # characters of a page that a model reads


async def with_pages(
    pieces: Sequence[Evidence], pages: int, reader: PageReader | None, count: Callable[[str], None]
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


def words_of(piece: Evidence, query: str, language: str | None, page: str | None) -> str:
    """A piece as a model reads it: day, title, the part that fits the query best, and a
    fact-checker's rating.
    """
    day = f"({piece.published:%Y-%m-%d}) " if piece.published is not None else ""
    whole, limit = (
        (piece.text or "", PIECE_CHARACTERS) if page is None else (page, PASSAGE_CHARACTERS)
    )
    text = best_passage(whole, set(terms_of(query, EXACT, language)), limit, fill=True)
    review = piece.review
    rated = review is not None and review.rating
    rating = RATED.format(review.publisher or UNNAMED, review.rating) if review and rated else ""
    return f"{day}{': '.join(part for part in (piece.title, text) if part)}{rating}"
