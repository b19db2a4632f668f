"""The model rewriter: any endpoint plays the agents. The profile is the agent; claim, context and
evidence are data.

What the endpoint sees of datasets is fenced (`untrusted`) and said to be data. A refusal is
recorded and never asked round. The prompt asks for what this person would plainly pass on, not for
what would convince or spread.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from claimlab.core.errors import UsageError
from claimlab.core.types import JsonObject
from claimlab.llm.layers import Validated
from claimlab.llm.messages import Request as Ask
from claimlab.llm.messages import untrusted
from claimlab.llm.open import open_provider
from claimlab.llm.prompts import Prompt, Prompts
from claimlab_simulate.evolve.contracts import ActorSettings
from claimlab_simulate.evolve.rewrite.asking import Asking
from claimlab_simulate.evolve.rewriter import Request, Rewrite

LONGEST = 4000  # characters of context or evidence that are shown
CLAIM, REASON = (
    600,
    240,
)  # characters; where an endpoint binds the schema, a small model cannot ramble past them
MAX_TOKENS = 320
TEMPERATURE = 0.7
PROMPT = "retell"


class Retold(BaseModel):
    claim: str = Field(max_length=CLAIM, description="the statement as this person passes it on")
    influencing_attributes: list[str] = Field(
        max_length=3, description="up to three attributes of the profile"
    )
    influencing_reason: str = Field(
        max_length=REASON, description="why they shaped it, in one short sentence"
    )


class _Role(BaseModel):
    role: Literal["producer", "bystander"] = Field(
        description=(
            "producer: the profile fits the aim, so the person rewords it; bystander: passes it on"
            " as it is"
        )
    )


class Decided(Retold, _Role):
    pass


def question(request: Request, prompt: Prompt) -> Ask[Any]:
    """What the model is asked for one turn."""
    profile = "\n".join(f"- {name}: {value}" for name, value in request.profile.items())
    parts = [
        f"The person:\n{profile}",
        f"The statement they heard:\n{untrusted(request.text, 'statement')}",
    ]
    if request.context:
        parts.append(f"Where it came from:\n{untrusted(request.context[:LONGEST], 'context')}")
    for text in request.evidence:
        parts.append(f"Something else they may have read:\n{untrusted(text[:LONGEST], 'evidence')}")
    if request.opinion is not None:
        opinion = ", ".join(f"{name}: {value}" for name, value in request.opinion.items())
        parts.append(prompt.text("opinion", heard=opinion))
    if request.target is not None:
        parts.append(
            prompt.text(
                "target", target=request.target, definition=request.target.meaning.definition
            )
        )
        parts.append(prompt.text("must" if request.must_rewrite else "may"))
    if request.diagnosis:
        parts.append(
            f"Reviewers said of the statement so far: {untrusted(request.diagnosis, 'review')}"
        )
    return Ask.of(
        "\n\n".join(parts),
        system=prompt.text("system"),
        schema=Retold if request.must_rewrite else Decided,
        temperature=TEMPERATURE,
        max_tokens=MAX_TOKENS,
        seed=request.seed % (1 << 31),
        tag=request.claim,
        prompt_name=PROMPT,
    )


class ModelRewriter(Asking):
    name = "model"

    def __init__(self, provider: Validated, prompts: Prompts) -> None:
        super().__init__(provider)
        self.prompts = prompts

    async def rewrite(self, request: Request) -> Rewrite:
        answer = await self.provider.ask(question(request, self.prompts[PROMPT]))
        cost = answer.cost  # what it cost when it was made: a replay writes the same trace
        if answer.value is None:
            return Rewrite.failed(request, answer.failure or "no value", answer.detail, cost)
        reply: Retold | Decided = answer.value
        text = " ".join(reply.claim.split())
        if not text:
            return Rewrite.failed(request, "empty", "The model gave an empty statement.", cost)
        if isinstance(reply, Decided) and reply.role == "bystander":
            return Rewrite(
                request.text, "bystander", reason=reply.influencing_reason or None, cost=cost
            )
        named = tuple(
            dict.fromkeys(a for a in reply.influencing_attributes if a in request.profile)
        )[:3]
        return Rewrite(
            text, "producer", attributes=named, reason=reply.influencing_reason or None, cost=cost
        )

    def describe(self) -> JsonObject:
        described = self.describe_with(temperature=TEMPERATURE)
        return described | {"prompts": self.prompts.lineage(PROMPT)}


def REWRITER(settings: ActorSettings) -> ModelRewriter:
    """Open the model of a profile."""
    if settings.profile is None:
        raise UsageError(
            "No model was named to write for the agents.",
            "Pass `profile`; see: claimlab llm profiles",
        )
    provider = open_provider(settings.profile, model=settings.model, calls=settings.calls)
    return ModelRewriter(provider, settings.prompts)
