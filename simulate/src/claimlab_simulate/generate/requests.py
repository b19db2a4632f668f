"""The requests to a model about a seed: one form to fill in, or a call for each role."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal, get_args

from pydantic import BaseModel

from claimlab.core.languages import describe
from claimlab.core.types import JsonObject
from claimlab.llm.estimate import rough_count
from claimlab.llm.judge import fenced
from claimlab.llm.messages import Request
from claimlab.llm.prompts import Prompt
from claimlab_simulate.generate.chain import Role
from claimlab_simulate.generate.plan import Configuration, Job

Style = Literal["form", "roles"]
STYLES: tuple[Style, ...] = get_args(Style)
# most tokens of an answer: a base, and more per token of the source
FORM_TOKENS, ROLE_TOKENS = (1_000, 24), (400, 8)


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
        language.name if (language := describe(code)) else code
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
