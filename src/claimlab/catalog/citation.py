"""The works that a card cites, and a BibTeX entry for each."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from claimlab.catalog.entry import Card

WORK = re.compile(
    r"(?>[a-z ]+: |after |\w[\w ]* as in )?(?P<who>[^(]*?) ?\((?P<year>\d{4})\), (?P<rest>.+)"
)
UNDATED = re.compile(r"(?P<who>(?>.+? and )[^,]+), (?P<year>)(?P<rest>.+)")
SPECIAL = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"})


@dataclass(frozen=True)
class CitedWork:
    authors: tuple[str, ...]
    year: str | None
    title: str
    venue: str | None


def works(citation: str) -> list[CitedWork]:
    """The works that a citation names; one without authors of its own has those of the work before
    it.
    """
    out: list[CitedWork] = []
    for part in re.split(r"; (?=[^;]*\(\d{4}\), )", citation.strip().rstrip(".")):
        match = WORK.fullmatch(part) or UNDATED.fullmatch(part)
        if match is None:
            continue
        title, _, venue = match["rest"].rpartition(", ")
        authors = _authors(match["who"]) or (out[-1].authors if out else ())
        out.append(
            CitedWork(authors, match["year"] or None, title or venue, venue if title else None)
        )
    return out


def bibtex(card: Card) -> str:
    """An entry for each work; the page of the dataset is the address of the first."""
    entries = []
    for number, work in enumerate(works(card.citation)):
        fields = {
            "author": " and ".join(f"{{{a}}}" if " " in a else a for a in work.authors),
            "title": f"{{{work.title.translate(SPECIAL)}}}",
            "year": work.year,
            "howpublished": work.venue and work.venue.translate(SPECIAL),
            "url": card.homepage if number == 0 else None,
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        entries.append("\n".join([f"@misc{{{_key(work, card.name)},", *lines, "}"]))
    return "\n\n".join(entries)


def _authors(text: str) -> tuple[str, ...]:
    text = text.replace(" et al.", ", others").replace(" and ", ", ")
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _key(work: CitedWork, dataset: str) -> str:
    first = unicodedata.normalize("NFKD", work.authors[0] if work.authors else "")
    letters = "".join(c for c in first.lower() if c.isascii() and c.isalpha())
    return f"{letters}{work.year or ''}-{dataset}"
