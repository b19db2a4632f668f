"""Put one seed through a chain: one prompt with a form to fill in, or a call for each role.

When an answer cannot be parsed, the model is asked once more (by `llm/layers`) and the sample is
marked. A chain that stops (a refusal, a second bad answer, a failed call) keeps what its roles had
written, with its status. A refusal is a result: the question is not rephrased and asked again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from claimlab.core.languages import describe
from claimlab.core.types import JsonObject
from claimlab.generate.plan import Chain, Configuration, Job, Role
from claimlab.llm.estimate import rough_count
from claimlab.llm.judge import fenced
from claimlab.llm.messages import Answer, Request
from claimlab.llm.prompts import Prompt
from claimlab.llm.provider import Provider

Style = Literal["form", "roles"]
STYLES: tuple[Style, ...] = get_args(Style)
# most tokens of an answer: a base, and more per token of the source
FORM_TOKENS, ROLE_TOKENS = (1_000, 24), (400, 8)
COMPLETE = "complete"


@dataclass
class Outcome:
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

    def stop(self, answer: Answer[BaseModel], role: str) -> Outcome:
        self.status, self.stopped, self.detail = answer.failure or "empty", role, answer.detail
        return self

    def status_in_words(self) -> str:
        complete = self.status == COMPLETE
        return COMPLETE if complete else f"stopped at {self.stopped}: {self.status}"

    def to_json(self) -> JsonObject:
        return asdict(self)


async def make(job: Job, provider: Provider, prompt: Prompt, style: Style, seed: int) -> Outcome:
    """Every role's slots, or those of the roles before the chain stopped."""
    chain, outcome = job.configuration.chain, Outcome()
    if style == "form":
        answer = await provider.ask(form_request(job, prompt, seed))
        outcome.add(answer)
        if answer.value is not None:
            outcome.filled = answer.value.model_dump()
            return outcome
        outcome.filled = salvaged(chain, answer.text if answer.failure != "refusal" else None)
        rest = [role.name for role in chain.roles if role.name not in outcome.filled]
        return outcome.stop(answer, rest[0] if rest else chain.roles[-1].name)
    for role in chain.roles:
        reply = await provider.ask(role_request(job, prompt, role, outcome.filled, seed))
        outcome.add(reply)
        if reply.value is None:
            return outcome.stop(reply, role.name)
        outcome.filled[role.name] = reply.value.model_dump()
    return outcome


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


def form_request(job: Job, prompt: Prompt, seed: int) -> Request[BaseModel]:
    chain, values = job.configuration.chain, words_of(job.configuration)
    roles = "\n".join(
        f"{number}. {prompt.text(role.name, **values)}"
        for number, role in enumerate(chain.roles, 1)
    )
    system = f"{prompt.text('system', **values)}\n{prompt.text('form', roles=roles)}"
    return _request(job, prompt, system, {}, chain.form(), FORM_TOKENS, seed)


def role_request(
    job: Job, prompt: Prompt, role: Role, filled: Mapping[str, JsonObject], seed: int
) -> Request[BaseModel]:
    values = words_of(job.configuration)
    step = prompt.text("step", role=prompt.text(role.name, **values))
    system = f"{prompt.text('system', **values)}\n{step}"
    form = {"form": json.dumps(filled, ensure_ascii=False, indent=1)} if filled else {}
    return _request(job, prompt, system, form, role.schema_(), ROLE_TOKENS, seed)


def requests_of(job: Job, prompt: Prompt, style: Style, seed: int) -> list[Request[BaseModel]]:
    """What `make` would ask, for an estimate: texts are taken to stay as long as the source."""
    if style == "form":
        return [form_request(job, prompt, seed)]
    text, out = job.seed["text"], []
    filled: dict[str, JsonObject] = {}
    for role in job.configuration.chain.roles:
        out.append(role_request(job, prompt, role, filled, seed))
        filled[role.name] = {
            slot: text if kind == "text" else [] for slot, kind in role.slots.items()
        }
    return out


def words_of(configuration: Configuration) -> dict[str, str]:
    chain = configuration.chain
    source, target = (
        known.name if (known := describe(code)) else code
        for code in (configuration.source, configuration.target)
    )
    return {
        "technique": " ".join(chain.techniques[name] for name in configuration.techniques),
        "degree": chain.degrees[configuration.degree][1],
        "source_language": source,
        "target_language": target,
    }


def _request(
    job: Job,
    prompt: Prompt,
    system: str,
    more: Mapping[str, str],
    schema: type[BaseModel],
    tokens: tuple[int, int],
    seed: int,
) -> Request[BaseModel]:
    """A translation into another script takes several times the tokens of its source; a model that
    rambles is cut.
    """
    text: str = job.seed["text"]
    base, per_token = tokens
    return Request.of(
        fenced({"source": text, **more}),
        system=system,
        schema=schema,
        temperature=0.7,
        max_tokens=base + per_token * rough_count(text),
        seed=seed % (1 << 31),
        tag=job.id,
        prompt_name=prompt.name,
    )
