"""Those who take part in a run, and one turn of theirs: an agent writes, auditors vote."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from claimlab.core.errors import ClaimlabError
from claimlab.core.stats.streams import stream_seed
from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.auditor import Auditor, Question, Vote
from claimlab_simulate.evolve.hop import Hop, Start
from claimlab_simulate.evolve.rewriter import Request, Rewrite, Rewriter
from claimlab_simulate.evolve.scene import Scene

T = TypeVar("T")
ContextReaders = Literal["never", "first", "always"]


def reading(start: Start, context: ContextReaders, *, first: bool) -> JsonObject:
    """What an agent reads besides the claim: nothing in the paper, else the source that the claim
    came from.
    """
    if context == "never" or (context == "first" and not first):
        return {}
    return {"context": start.context, "evidence": start.evidence}


@dataclass(frozen=True)
class TurnPlace:
    """Whose turn it is in the life of a claim, and what the agent is told besides the claim."""

    agent: int
    step: int
    round: int = 1
    hub: int | None = None  # whose opinion is in the air
    diagnosis: str | None = None
    must_rewrite: bool = True
    parent: int | None = None
    depth: int | None = None


@dataclass(frozen=True)
class Cast:
    """Who takes part: the stage, the one who writes for every agent, and those who judge."""

    stage: Scene
    rewriter: Rewriter
    auditors: Sequence[Auditor]
    seed: int
    context: ContextReaders = "never"
    tick: Callable[[], None] = lambda: None  # called after every turn

    async def turn(self, start: Start, text: str, place: TurnPlace) -> Hop:
        """The agent of `place` receives `text` and passes on what it makes of it."""
        round, step, hub = place.round, place.step, place.hub
        seed = stream_seed(self.seed, start.key, round, step, place.parent)
        request = Request(
            text=text,
            profile=self.stage.profile(place.agent),
            seed=seed,
            agent=self.stage.name(place.agent),
            claim=start.id,
            origin=start.text,
            language=start.language,
            **reading(start, self.context, first=step == 1 and round == 1),
            opinion=None if hub is None else self.stage.profile(hub),
            target=start.target,
            diagnosis=place.diagnosis,
            must_rewrite=place.must_rewrite,
            round=round,
            step=step,
        )
        rewrite = await _answer(
            self.rewriter.rewrite(request),
            lambda why: Rewrite.failed(request, "crash", why, cost=None),
        )
        self.tick()
        return Hop(
            round=round,
            step=step,
            agent=request.agent,
            role=rewrite.role,
            input=text,
            output=rewrite.text,
            attributes=list(rewrite.attributes),
            why=rewrite.reason,
            operators=list(rewrite.operators),
            diagnosis=place.diagnosis,
            hub=None if hub is None else self.stage.name(hub),
            parent=place.parent,
            depth=place.depth,
            seed=seed,
            failure=rewrite.failure,
            cost=rewrite.cost,
        )

    async def votes(self, start: Start, hop: Hop, which: slice = slice(None)) -> list[Vote]:
        """What the auditors say of the text after `hop`; those asked are asked at the same time."""
        assert start.target is not None
        chosen = self.auditors[which]
        question = Question(
            text=hop.output,
            target=start.target,
            seed=hop.seed or 0,
            origin=start.text,
            context=start.context,
            claim=start.id,
            round=hop.round,
            step=hop.step,
        )
        return list(await asyncio.gather(*(_vote(auditor, question) for auditor in chosen)))


async def _answer(call: Awaitable[T], failed: Callable[[str], T]) -> T:
    """A fault in a rewriter or an auditor costs this turn, not the claim its life; what stops every
    turn is raised.
    """
    try:
        return await call
    except ClaimlabError:
        raise
    except Exception as error:
        if os.environ.get("CLAIMLAB_DEBUG"):
            raise
        return failed(f"{type(error).__name__}: {error}")


async def _vote(auditor: Auditor, question: Question) -> Vote:
    return await _answer(
        auditor.judge(question),
        lambda why: Vote(auditor.name, None, why, failure="crash", cost=None),
    )
