"""Replay auditors: the votes of a recording, given again. The released traces hold the first
auditor's vote alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.auditor import Auditor, Question, Vote
from claimlab_simulate.evolve.contracts import ActorSettings
from claimlab_simulate.evolve.hop import Start, TraceRecording


class ReplayAuditor(Auditor):
    def __init__(self, recording: TraceRecording, number: int) -> None:
        self.name = f"replay-{number + 1}"
        self.recording, self._number = recording, number

    async def judge(self, question: Question) -> Vote:
        start = Start(question.claim, question.origin, target=question.target)
        votes = self.recording.hop(start, question.round, question.step).votes
        if self._number >= len(votes):
            return Vote(self.name, None, failure="not recorded")
        return Vote(**votes[self._number])

    def describe(self) -> JsonObject:
        return {
            "auditor": self.name,
            "recording": self.recording.name,
            "sha256": self.recording.digest,
        }


def replay_auditors(settings: ActorSettings, count: int) -> Sequence[ReplayAuditor]:
    """As many of the recorded votes as are asked for."""
    recording = TraceRecording.open(settings.recording)
    return [ReplayAuditor(recording, number) for number in range(count)]


AUDITOR = replay_auditors
