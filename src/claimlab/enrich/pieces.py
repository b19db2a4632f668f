"""What was found for one record, marked and in the order in which it is shown: what corresponds
comes first.

The tables, the number of pieces that a detector is shown, and the detectors all follow this order,
so it decides what a model reads: evidence that corresponds, then what the search for the claim
found, then the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from claimlab.core.types import JsonObject
from claimlab.enrich.correspondence import Match, Rule, corresponds
from claimlab.search.evidence import Evidence
from claimlab.text.guard import Marks, mark

CLAIM_STAGES = frozenset({"claim", "factcheck-claim"})
UNDATED = "undated"


@dataclass(frozen=True)
class Piece:
    """`stage` is the search that found it, `match` how it fits what was asked there."""

    evidence: Evidence
    stage: str
    match: Match | None
    as_of: str | None = None

    @property
    def share(self) -> float:
        return 0.0 if self.match is None else self.match.share


def shown_order(pieces: Sequence[Piece], rule: Rule) -> list[Piece]:
    """What corresponds, the best first; then what the search for the claim found; then the rest.
    What has no date, where one was asked for, comes last: it counts as not found."""

    def place(piece: Piece) -> tuple[bool, int, float]:
        if corresponds(piece.match, rule):
            return piece.as_of == UNDATED, 0, -piece.share
        return piece.as_of == UNDATED, 1 if piece.stage in CLAIM_STAGES else 2, 0.0

    return sorted(pieces, key=place)


def marked(record: Mapping[str, Any], pieces: Sequence[Piece]) -> list[Marks]:
    return mark(dict(record), [piece.evidence for piece in pieces])


def to_json(piece: Piece, marks: Marks, rule: Rule) -> JsonObject:
    """What the journal and the evidence table keep of a piece."""
    return {
        "evidence": piece.evidence.to_json(),
        "stage": piece.stage,
        "share": None if piece.match is None else round(piece.share, 4),
        "corresponds": corresponds(piece.match, rule),
        "as_of": piece.as_of,
        **marks.__dict__,
    }
