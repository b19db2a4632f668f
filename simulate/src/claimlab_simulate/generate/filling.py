"""Put one seed through a chain, and say what became of it.

When an answer cannot be parsed (by `llm/layers`), or a text of it is in another language than asked
for, the model is asked once more and the sample is marked. A chain that stops (a refusal, a second
bad answer, a failed call) keeps what its roles had written, with its status. A refusal is a result:
the question is not rephrased and asked again.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from claimlab.core.types import JsonObject
from claimlab.llm.asking import Fault, ask_again
from claimlab.llm.messages import Answer, Request
from claimlab.llm.prompts import Prompt
from claimlab.llm.provider import Provider
from claimlab.text.langid import other_language
from claimlab_simulate.generate.chain import Chain
from claimlab_simulate.generate.plan import Job
from claimlab_simulate.generate.requests import Style, form_request, role_request

COMPLETE = "complete"


@dataclass
class ChainOutcome:
    """What became of a job. `status` is "complete", or why the chain stopped; `stopped` is the role
    it stopped at.
    """

    filled: dict[str, JsonObject] = field(default_factory=dict)
    status: str = COMPLETE
    stopped: str | None = None
    detail: str | None = None
    asked_again: int = 0
    calls: int = 0
    cost: float | None = 0.0
    tokens: int = 0

    def add(self, answer: Answer[BaseModel]) -> None:
        """Count what an answer took. More than one call means that the first answer could not be
        used.
        """
        self.calls += answer.calls
        self.asked_again += answer.calls > 1
        self.tokens += answer.usage.total or 0
        self.cost = None if self.cost is None or answer.cost is None else self.cost + answer.cost

    def stop(self, answer: Answer[BaseModel], role: str) -> ChainOutcome:
        self.status, self.stopped, self.detail = answer.failure or "empty", role, answer.detail
        return self

    def status_in_words(self) -> str:
        complete = self.status == COMPLETE
        return COMPLETE if complete else f"stopped at {self.stopped}: {self.status}"

    def to_json(self) -> JsonObject:
        return asdict(self)


async def make(
    job: Job, provider: Provider, prompt: Prompt, style: Style, seed: int
) -> ChainOutcome:
    """Every role's slots, or those of the roles before the chain stopped."""
    chain, outcome = job.configuration.chain, ChainOutcome()
    if style == "form":
        answer = await ask_again(
            provider, form_request(job, prompt, seed), right_language(job, prompt)
        )
        outcome.add(answer)
        if answer.value is not None:
            outcome.filled = answer.value.model_dump()
            return outcome
        outcome.filled = salvaged(chain, answer.text if answer.failure != "refusal" else None)
        rest = [role.name for role in chain.roles if role.name not in outcome.filled]
        return outcome.stop(answer, rest[0] if rest else chain.roles[-1].name)
    for role in chain.roles:
        request = role_request(job, prompt, role, outcome.filled, seed)
        reply = await ask_again(provider, request, right_language(job, prompt, role.name))
        outcome.add(reply)
        if reply.value is None:
            return outcome.stop(reply, role.name)
        outcome.filled[role.name] = reply.value.model_dump()
    return outcome


def right_language(job: Job, prompt: Prompt, only: str | None = None) -> Fault[BaseModel]:
    """Says of an answer (of the role `only`, else of all) which texts are in another language than
    their slot.
    """
    chosen = job.configuration

    def fault(_request: Request[BaseModel], answer: Answer[BaseModel]) -> str | None:
        words = answer.value.model_dump() if answer.value is not None else {}
        filled: JsonObject = {only: words} if only else words
        wrong = []
        for name, places in chosen.chain.texts.items():
            wanted = chosen.target if name.endswith("translation") else chosen.source
            for role, _, slot in (place.partition(".") for place in places):
                text = filled.get(role, {}).get(slot)
                if isinstance(text, str) and (other := other_language(text, "", wanted)):
                    wrong.append(f"`{slot}` ({role}) is in {other['given']}, not {other['wanted']}")
        return prompt.text("language", wrong="; ".join(wrong)) if wrong else None

    return fault


def salvaged(chain: Chain, text: str | None) -> dict[str, JsonObject]:
    """What the roles wrote before the point where a form breaks off or has a wrong value."""
    body = (text or "")[(text or "").find("{") :]
    try:
        form = from_json(body, allow_partial=True)
    except ValueError:
        return {}
    if not isinstance(form, dict):
        return {}
    if not body.rstrip("` \n").endswith("}"):
        form = dict(list(form.items())[:-1])  # the last role of a form that breaks off
    filled: dict[str, JsonObject] = {}
    for role in chain.roles:
        if role.name not in form:
            break
        try:
            value = role.schema_().model_validate(form[role.name], strict=True)
        except ValidationError:
            break
        filled[role.name] = value.model_dump()
    return filled
