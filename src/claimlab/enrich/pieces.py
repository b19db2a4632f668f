"""A piece of evidence that a search found for a record, and the one order in which the pieces of a
record are shown: what corresponds comes first, then what the search for the claim found, then the
rest. The tables, the number of pieces that a detector is shown, and the detectors all follow it, so
it decides what a model reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from claimlab.core.types import JsonObject
from claimlab.enrich.correspondence import Match, Rule, corresponds
from claimlab.search.evidence import Evidence
from claimlab.text.guard import EvidenceMarks

CLAIM_STAGES = frozenset({"claim", "factcheck-claim"})
UNDATED = "undated"


@dataclass(frozen=True)
class FoundPiece:
    """`stage` is the search that found it, `match` how it fits what was asked there."""

    evidence: Evidence
    stage: str
    match: Match | None
    as_of: str | None = None

    @property
    def fit(self) -> float:
        """How much of the query its best snippet holds, by rarity."""
        return 0.0 if self.match is None else self.match.held


def shown_order(pieces: Sequence[FoundPiece], rule: Rule) -> list[FoundPiece]:
    """What corresponds, the best first; then what the search for the claim found; then the rest.
    What has no date, where one was asked for, comes last: it counts as not found."""

    def place(piece: FoundPiece) -> tuple[bool, int, float]:
        if corresponds(piece.match, rule):
            return piece.as_of == UNDATED, 0, -piece.fit
        return piece.as_of == UNDATED, 1 if piece.stage in CLAIM_STAGES else 2, 0.0

    return sorted(pieces, key=place)


def to_json(piece: FoundPiece, marks: EvidenceMarks, rule: Rule) -> JsonObject:
    """What the journal and the evidence table keep of a piece."""
    return {
        "evidence": piece.evidence.to_json(),
        "stage": piece.stage,
        "share": None if piece.match is None else round(piece.match.share, 4),
        "cosine": None if piece.match is None else piece.match.cosine,
        "corresponds": corresponds(piece.match, rule),
        "as_of": piece.as_of,
        **marks.__dict__,
    }
