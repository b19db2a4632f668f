"""The replay rewriter: what agents said once, said again, with no model and no network."""

from __future__ import annotations

from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.contracts import ActorSettings
from claimlab_simulate.evolve.hop import Start, TraceRecording
from claimlab_simulate.evolve.rewriter import Request, Rewrite, Rewriter, Role


class Replay(Rewriter):
    """Lives are replayed whole (`recording`): the recorded agents, in their order, say their
    recorded words.
    """

    name = "replay"

    def __init__(self, recording: TraceRecording) -> None:
        self.recording = recording

    async def rewrite(self, request: Request) -> Rewrite:
        start = Start(request.claim, request.origin, target=request.target)
        hop = self.recording.hop(start, request.round, request.step)
        acted: dict[str, Role] = {"producer": "producer", "failed": "failed"}
        role = acted.get(hop.role, "bystander")
        done = tuple(hop.operators)
        return Rewrite(hop.output, role, done, tuple(hop.attributes), hop.why, hop.failure)

    def describe(self) -> JsonObject:
        return {
            "rewriter": self.name,
            "recording": self.recording.name,
            "sha256": self.recording.digest,
        }


def REWRITER(settings: ActorSettings) -> Replay:
    """Open the recording."""
    return Replay(TraceRecording.open(settings.recording))
