"""Marks on evidence, so that a detector can be run with it and without it. Nothing is removed here.

A benchmark is easy for the wrong reason when the evidence holds the verdict (a fact-check of the
claim), the place the record was taken from, or the record itself. `filtered` marks social media,
which the filtered reading leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import polars as pl

from claimlab.core import packaged
from claimlab.core.types import JsonObject
from claimlab.text.normalise import strip_accents
from claimlab.text.tokens import tokenize
from claimlab.text.urls import canonical_url, registrable_domain

COPY_SHARE = 0.8  # of the shingles of the shorter text
SHINGLE = 4  # words
MIN_SHINGLES = 3  # fewer say nothing: two short texts may share a name and a verb


class EvidencePiece(Protocol):
    """What is read of a piece of evidence (claimlab.search.evidence.Evidence has it all)."""

    @property
    def url(self) -> str | None: ...
    @property
    def text(self) -> str | None: ...
    @property
    def review(self) -> object | None: ...


@dataclass(frozen=True)
class EvidenceMarks:
    filtered: bool
    guard_factcheck: bool
    guard_own_source: bool
    guard_copy: bool


@cache
def lists() -> dict[str, dict[str, frozenset[str]]]:
    """The domain lists (data/domains.toml)."""
    return {
        kind: {name: frozenset(values) for name, values in table.items()}
        for kind, table in packaged.toml("claimlab.text", "domains.toml").items()
    }


def mark(record: JsonObject, pieces: Sequence[EvidencePiece]) -> list[EvidenceMarks]:
    """The marks of each piece of evidence of one record."""
    own = own_places(record)
    copies = near_copies(record.get("text"), [p.text for p in pieces])
    return [
        EvidenceMarks(is_social(p.url), is_factcheck(p), bool(own & _places(p.url)), copy)
        for p, copy in zip(pieces, copies, strict=True)
    ]


def is_social(url: str | None) -> bool:
    return _domain(url) in lists()["social"]["domains"]


def is_academic(url: str | None) -> bool:
    domain = _domain(url)
    lists_of_kind = lists()["academic"]
    return domain is not None and (
        domain in lists_of_kind["domains"] or domain.endswith(tuple(lists_of_kind["suffixes"]))
    )


def is_factcheck(piece: EvidencePiece) -> bool:
    """It has a review, is on a fact-checker's site, or its address says that it is a fact-check."""
    if piece.review is not None:
        return True
    listed = lists()["factcheck"]
    if _domain(piece.url) in listed["domains"]:
        return True
    parts = (piece.url or "").lower().split("?")[0].replace("//", "/").replace(".", "/").split("/")
    return any(part in listed["paths"] for part in parts)


def own_places(record: JsonObject) -> set[str | None]:
    """The record's own address and domain, and its source where that is a domain."""
    places: set[str | None] = set()
    for value in (record.get("url"), record.get("source")):
        if value and " " not in value:
            places |= _places(value)
    # anyone can post on social media: not a common source
    return places - {None} - lists()["social"]["domains"]


def _places(url: str | None) -> set[str | None]:
    return {canonical_url(url), registrable_domain(url)} if url else set()


def near_copies(text: str | None, others: Sequence[str | None]) -> list[bool]:
    """Whether another text holds nearly all of this one, or is nearly all taken from it: by runs of
    four words.
    """
    if not text:
        return [False] * len(others)
    cut = tokenize(strip_accents(pl.Series([text, *others], dtype=pl.String))).to_list()
    own, *theirs = map(_shingles, cut)
    copies = []
    for other in theirs:
        smaller = min(len(own), len(other))
        copies.append(smaller >= MIN_SHINGLES and len(own & other) / smaller >= COPY_SHARE)
    return copies


def _shingles(words: list[str] | None) -> set[tuple[str, ...]]:
    tokens = words or []
    return {tuple(tokens[i : i + SHINGLE]) for i in range(len(tokens) - SHINGLE + 1)}


def _domain(url: str | None) -> str | None:
    return registrable_domain(url) if url else None
