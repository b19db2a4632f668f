"""A deterministic fake: answers from a list, in turn, or from a function of the request. It asks no
model.

    Scripted(answers=['{"label": "false"}', Refuse()])        Scripted(answers=lambda request: …)

In a profile: `options = {answers = ["…", "…"]}`. Usage is counted by rule, so that caps and costs
can be tried too.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from claimlab.core.errors import UsageError
from claimlab.llm.estimate import rough_count
from claimlab.llm.messages import Answer, Request, T, Usage
from claimlab.llm.prices import Price
from claimlab.llm.profiles import Profile

STANDING = "scripted: no model was asked"


@dataclass(frozen=True)
class Refuse:
    """A scripted refusal."""

    text: str = "I cannot help with that."


@dataclass(frozen=True)
class Fail:
    """A scripted failure, such as Fail("http-500", transient=True)."""

    failure: str
    transient: bool = False
    retry_after: float | None = None


Line = str | Refuse | Fail
Script = Sequence[Line] | Callable[[Request[BaseModel]], Line | Awaitable[Line]]


class Scripted:
    def __init__(self, profile: Profile | None = None, answers: Script | None = None) -> None:
        free = {"*": Price(input=0, output=0)}
        self.profile = profile or Profile(
            name="scripted", provider="scripted", model="scripted", prices=free
        )
        script: Script | None = (
            answers if answers is not None else self.profile.options.get("answers")
        )
        if script is None:
            raise UsageError(
                "A scripted model needs its answers.", 'Give them: options = {answers = ["…"]}.'
            )
        self.answers: Script = script
        self.asked: list[Request[BaseModel]] = []

    async def ask(self, request: Request[T]) -> Answer[T]:
        self.asked.append(request)
        line = await self._line(request)
        model = self.profile.model or "scripted"
        if isinstance(line, Fail):
            return Answer(
                model=model,
                failure=line.failure,
                transient=line.transient,
                retry_after=line.retry_after,
            )
        text = line.text if isinstance(line, Refuse) else line
        usage = Usage(sum(rough_count(m.content) for m in request.messages), rough_count(text))
        return Answer(
            model=model,
            text=text,
            failure="refusal" if isinstance(line, Refuse) else None,
            usage=usage,
            cost=self.profile.cost(usage),
            notes=(self.profile.standing or STANDING,),
        )

    async def _line(self, request: Request[BaseModel]) -> Line:
        if callable(self.answers):
            line = self.answers(request)
            return await line if inspect.isawaitable(line) else line
        turn = len(self.asked) - 1
        if turn >= len(self.answers):
            raise UsageError(
                f"The script has {len(self.answers)} answers and was asked a further one.",
                "Add answers.",
            )
        return self.answers[turn]

    async def close(self) -> None:
        pass


PROVIDER = Scripted
