"""Model auditors: any endpoints, one each where several are named. Unvalidated until compared with
people.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from claimlab.core.errors import UsageError
from claimlab.core.types import JsonObject
from claimlab.llm.judge import JudgeCase, ModelJudge, Reasoned
from claimlab.llm.layers import Validated
from claimlab.llm.messages import untrusted
from claimlab.llm.open import open_provider
from claimlab.llm.prompts import Prompt, Prompts
from claimlab.llm.provider import Provider
from claimlab_simulate.evolve.auditor import Question, Vote
from claimlab_simulate.evolve.claims.model import dimensions
from claimlab_simulate.evolve.contracts import ActorSettings

MAX_TOKENS = 300
PROMPT = "auditor"


class Verdict(Reasoned):
    passed: bool = Field(description="true if the statement has the wanted property")
    diagnosis: str = Field(description="what is missing, in one short sentence; empty if it passed")


def judge_of(provider: Provider, prompts: Prompts, seed: int = 0) -> ModelJudge[Verdict]:
    return ModelJudge(
        provider,
        prompts[PROMPT],
        Verdict,
        value=lambda reply: str(reply.passed),
        seed=seed,
        max_tokens=MAX_TOKENS,
    )


def case_of(question: Question, prompt: Prompt) -> JudgeCase:
    target = question.target
    dimension = dimensions()[target.dimension]
    others = "\n".join(f"- {value.name}: {value.definition}" for value in dimension.values.values())
    text = prompt.text(
        "ask",
        dimension=target.dimension,
        question=dimension.question,
        values=others,
        value=target.value,
    )
    return JudgeCase(
        question.claim, f"{prompt.text('system')}\n\n{text}", untrusted(question.text, "statement")
    )


class ModelAuditor:
    def __init__(self, name: str, provider: Validated, number: int, prompts: Prompts) -> None:
        self.name, self.provider, self.prompts, self._number = name, provider, prompts, number

    async def judge(self, question: Question) -> Vote:
        # The number keeps two auditors of one model from being one call: they differ in their seed.
        judge = judge_of(self.provider, self.prompts, question.seed + self._number)
        opinion = await judge.one(case_of(question, judge.prompt))
        reply, cost = (
            opinion.reply,
            opinion.cost,
        )  # what it cost when it was made: a replay writes the same trace
        if reply is None:
            return Vote(self.name, None, opinion.detail, failure=opinion.failures[0], cost=cost)
        return Vote(
            self.name,
            reply.passed,
            reply.rationale or None,
            None if reply.passed else reply.diagnosis or None,
            cost=cost,
        )

    async def close(self) -> None:
        await self.provider.close()

    def describe(self) -> JsonObject:
        profile = self.provider.profile
        return {
            "auditor": self.name,
            "model": profile.model,
            "standing": profile.standing or "unvalidated",
            "prompts": self.prompts.lineage(PROMPT),
        }


def AUDITOR(settings: ActorSettings, count: int) -> Sequence[ModelAuditor]:
    """`count` auditors who take turns with the profiles."""
    if not settings.profiles:
        raise UsageError(
            "No model was named to audit.",
            "Pass `auditor_profile` or `profile`; see: claimlab llm profiles",
        )
    auditors = []
    for number in range(count):
        profile = settings.profiles[number % len(settings.profiles)]
        provider = open_provider(profile, model=settings.model, calls=settings.calls)
        auditors.append(ModelAuditor(f"model-{number + 1}", provider, number, settings.prompts))
    return auditors
