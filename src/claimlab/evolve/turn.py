"""One agent's turn and one round of votes: the contracts are called here, and what goes wrong becomes an event."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass

from claimlab.core.errors import ClaimlabError
from claimlab.core.stats.streams import stream_seed
from claimlab.evolve.auditors.auditor import Auditor, Question, Vote
from claimlab.evolve.hop import Hop, Start
from claimlab.evolve.rewrite.rewriter import Request, Rewrite, Rewriter
from claimlab.evolve.stage import Stage


@dataclass(frozen=True)
class Cast:
    """Who takes part: the stage, the one who writes for every agent, and those who judge."""

    stage: Stage
    rewriter: Rewriter
    auditors: Sequence[Auditor]
    seed: int

    async def turn(
        self,
        start: Start,
        text: str,
        agent: int,
        *,
        round: int = 1,
        step: int,
        hub: int | None = None,
        diagnosis: str | None = None,
        must_rewrite: bool = True,
        parent: int | None = None,
        depth: int | None = None,
    ) -> Hop:
        """`agent` receives `text` and passes on what it makes of it."""
        seed = stream_seed(self.seed, start.key, round, step, parent)
        request = Request(
            text=text,
            profile=self.stage.profile(agent),
            seed=seed,
            agent=self.stage.name(agent),
            claim=start.id,
            origin=start.text,
            language=start.language,
            context=start.context,
            evidence=start.evidence,
            opinion=None if hub is None else self.stage.profile(hub),
            target=start.target,
            diagnosis=diagnosis,
            must_rewrite=must_rewrite,
            round=round,
            step=step,
        )
        done = await _rewritten(self.rewriter, request)
        return Hop(
            round=round,
            step=step,
            agent=request.agent,
            role=done.role,
            input=text,
            output=done.text,
            attributes=list(done.attributes),
            why=done.reason,
            operators=[{"name": o.name, "fired": o.fired} for o in done.operators],
            diagnosis=diagnosis,
            hub=None if hub is None else self.stage.name(hub),
            parent=parent,
            depth=depth,
            seed=seed,
            failure=done.failure,
            cost=done.cost,
        )

    async def votes(self, start: Start, hop: Hop, which: slice = slice(None)) -> list[Vote]:
        """What the auditors say of the text after `hop`; those asked are asked at the same time."""
        assert start.target is not None
        chosen = list(self.auditors)[which]
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
        if len(chosen) == 1:
            return [await _vote(chosen[0], question)]
        return list(await asyncio.gather(*(_vote(auditor, question) for auditor in chosen)))


async def _rewritten(rewriter: Rewriter, request: Request) -> Rewrite:
    """A fault in a rewriter costs this agent its turn, not the claim its life; what stops every turn is raised."""
    try:
        return await rewriter.rewrite(request)
    except ClaimlabError:
        raise
    except Exception as error:
        if os.environ.get("CLAIMLAB_DEBUG"):
            raise
        return Rewrite.failed(request, "crash", f"{type(error).__name__}: {error}", cost=None)


async def _vote(auditor: Auditor, question: Question) -> Vote:
    try:
        return await auditor.judge(question)
    except ClaimlabError:
        raise
    except Exception as error:
        if os.environ.get("CLAIMLAB_DEBUG"):
            raise
        return Vote(auditor.name, None, f"{type(error).__name__}: {error}", failure="crash", cost=None)
