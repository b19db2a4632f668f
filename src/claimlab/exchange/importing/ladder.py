"""One way to decide which it is: the meaning of a label, the files that are the records, the column
of a role, the annotator of a row. Candidates have a score, made of the evidence for each; the best
one is taken where its score is enough and no other comes close. Otherwise the close ones become a
question. Every threshold and every weight of evidence is in one table, `data/meaning.toml`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from claimlab.core import packaged

_TABLE = packaged.toml("claimlab.exchange", "meaning.toml")
THRESHOLDS: Mapping[str, Mapping[str, float]] = _TABLE["thresholds"]
EVIDENCE: Mapping[str, Mapping[str, float]] = _TABLE["evidence"]
SHARES: Mapping[str, float] = _TABLE["shares"]


class Scored(Protocol):
    """A candidate: anything with a score."""

    @property
    def score(self) -> float: ...


Candidate = TypeVar("Candidate", bound=Scored)


def close(candidates: Sequence[Candidate], question: str) -> list[Candidate]:
    """The best of the candidates whose score is enough and those that come near it, the best
    first: one where it is decided, more where it is a question, none where nothing is enough."""
    enough, lead = (THRESHOLDS[question][name] for name in ("enough", "lead"))
    ranked = sorted(candidates, key=lambda candidate: -candidate.score)
    if not ranked or ranked[0].score < enough:
        return []
    return [one for one in ranked if one.score > ranked[0].score - lead]


def is_ahead(score: float, others: Sequence[float], question: str) -> bool:
    """Whether a score is enough and leads all others by as much as this question wants."""
    enough, lead = (THRESHOLDS[question][name] for name in ("enough", "lead"))
    return score >= enough and all(score >= other + lead for other in others)
