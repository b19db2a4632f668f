"""The replay rewriter: what agents said once, said again, with no model and no network."""

from __future__ import annotations

from claimlab.core.types import JsonObject
from claimlab.evolve.contracts import ActorSettings, Request, Rewrite, Rewriter, Role
from claimlab.evolve.hop import Recording, Start


class Replay(Rewriter):
    """Lives are replayed whole (`recording`): the recorded agents, in their order, say their
    recorded words.
    """

    name = "replay"

    def __init__(self, recording: Recording) -> None:
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
    return Replay(Recording.open(settings.recording))
