"""The learned rewriter: the embedded model with an adapter that `claimlab evolve learn` wrote.

It was taught one thing, to bring a claim to a target, with the very prompt that is written here. It
does not read the profile of the agent. A claim that nothing steers is passed on. The log of a hop
is computed from its two texts.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from claimlab.core.errors import UsageError
from claimlab.core.types import JsonObject
from claimlab.llm.adapter import ADAPTER, adapter_digest
from claimlab.llm.layers import Validated
from claimlab.llm.messages import CUT
from claimlab.llm.messages import Request as Ask
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import find_profile
from claimlab.text.changes import changes
from claimlab_simulate.evolve.claims.model import Target, dimensions
from claimlab_simulate.evolve.contracts import ActorSettings
from claimlab_simulate.evolve.rewrite.asking import Asking
from claimlab_simulate.evolve.rewriter import Request, Rewrite

MAX_TOKENS = 160
STANDING = "a 135M model with an adapter: read what it writes before you use it"


def prompt(text: str, target: Target) -> str:
    """What the model is asked, in training and after it. A mark of the format inside the text is
    broken up, so that a text cannot end its own turn.
    """
    dimension = dimensions()[target.dimension].title.lower()
    return (
        f'Rewrite this claim so that its {dimension} becomes "{target.meaning.title}".'
        f" Answer with the new claim only.\n\nClaim: {text.replace('<|', '< |')}"
    )


class Learned(Asking):
    name = "learned"

    def __init__(self, provider: Validated, digest: str) -> None:
        super().__init__(provider)
        self.digest = digest

    async def rewrite(self, request: Request) -> Rewrite:
        if request.target is None:
            reason = "Nothing steers this claim, and the adapter has learned to steer only."
            return Rewrite(request.text, "bystander", reason=reason)
        question: Ask[BaseModel] = Ask.of(
            prompt(request.text, request.target), max_tokens=MAX_TOKENS, tag=request.claim
        )
        answer = await self.provider.ask(question)
        failure = answer.failure or ("cut" if CUT in answer.notes else None)
        if failure is not None:
            return Rewrite.failed(request, failure, answer.detail, answer.cost)
        text = " ".join((answer.text or "").split())
        log = changes(request.text, text)
        if not log:
            return Rewrite(text, "bystander", reason="Nothing was changed.", cost=answer.cost)
        reason = "Steered to the target, whoever the agent is."
        return Rewrite(text, "producer", tuple(log), reason=reason, cost=answer.cost)

    def describe(self) -> JsonObject:
        return self.describe_with(adapter=self.digest)


def REWRITER(settings: ActorSettings) -> Learned:
    """Open the embedded model with the adapter."""
    if settings.adapter is None:
        raise UsageError(
            "No adapter was named to write for the agents.",
            "Pass `adapter`, the folder that claimlab evolve learn has written.",
        )
    folder = Path(settings.adapter)
    digest, embedded = adapter_digest(folder), find_profile("embedded")
    bounded = {
        # by its digest, so that no recorded answer of another adapter is taken for its own
        "model": f"{embedded.model}+{digest[:12]}",
        "options": {"adapter": str(folder / ADAPTER)},
        "standing": STANDING,
    }
    profile = embedded.model_copy(update=bounded)
    return Learned(open_provider(profile, calls=settings.calls), digest)
