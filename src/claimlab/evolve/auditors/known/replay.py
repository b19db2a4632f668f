"""Replay auditors: the votes of a recording, given again. The released traces hold the first
auditor's vote alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from claimlab.core.types import JsonObject
from claimlab.evolve.auditors.auditor import Question, Settings, Vote
from claimlab.evolve.hop import Recording, Start


class ReplayAuditor:
    def __init__(self, recording: Recording, number: int) -> None:
        self.name = f"replay-{number + 1}"
        self.recording, self._number = recording, number

    async def judge(self, question: Question) -> Vote:
        start = Start(question.claim, question.origin, target=question.target)
        votes = self.recording.hop(start, question.round, question.step).votes
        if self._number >= len(votes):
            return Vote(self.name, None, failure="not recorded")
        vote = votes[self._number]
        return Vote(
            vote["auditor"],
            vote["passed"],
            vote.get("reason"),
            vote.get("diagnosis"),
            vote.get("failure"),
        )

    async def close(self) -> None:
        """Nothing is held."""

    def describe(self) -> JsonObject:
        return {
            "auditor": self.name,
            "recording": self.recording.name,
            "sha256": self.recording.digest,
        }


def AUDITOR(settings: Settings, count: int) -> Sequence[ReplayAuditor]:
    """As many of the recorded votes as are asked for."""
    recording = Recording.open(settings.recording)
    return [ReplayAuditor(recording, number) for number in range(count)]
