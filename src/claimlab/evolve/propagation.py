"""How a claim moves: a walk or a cascade that nothing steers, or a walk that auditors steer towards
a target.

Unmitigated: every agent rewrites. On a network with hubs, one of them lends its opinion at every
step. Intervened: agents are producers or bystanders; auditors vote; a failed vote is diagnosed and
the claim rerouted. Two readings of the vote, by name:
  paper      all auditors after every step; rerouting among the neighbours of the agent who has the
             claim
  released   the first auditor after every step, the others at the end of a round; rerouting among
             all
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal, get_args

import numpy as np

from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.stats.streams import stream_seed
from claimlab.core.types import JsonObject
from claimlab.evolve.auditors.auditor import Auditor, Question, Vote, diagnosis, majority
from claimlab.evolve.auditors.known.replay import ReplayAuditor
from claimlab.evolve.hop import Hop, Life, Start
from claimlab.evolve.recording import Recording
from claimlab.evolve.rewrite.rewriter import Request, Rewrite, Rewriter
from claimlab.evolve.society.draws import Numbers
from claimlab.evolve.society.engine import Model
from claimlab.evolve.society.telling import neighbour
from claimlab.evolve.stage import Stage, Turn, paths

Kind = Literal["walk", "cascade", "intervened"]
VoteMode = Literal["paper", "released"]
Context = Literal["never", "first", "always"]


def reading(start: Start, context: Context, *, first: bool) -> JsonObject:
    """What an agent reads besides the claim: nothing in the paper, else the source that the claim
    came from.
    """
    if context == "never" or (context == "first" and not first):
        return {}
    return {"context": start.context, "evidence": start.evidence}


@dataclass(frozen=True)
class Cast:
    """Who takes part: the stage, the one who writes for every agent, and those who judge."""

    stage: Stage
    rewriter: Rewriter
    auditors: Sequence[Auditor]
    seed: int
    context: Context = "never"
    tick: Callable[[], None] = lambda: None  # called after every turn

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
            **reading(start, self.context, first=step == 1 and round == 1),
            opinion=None if hub is None else self.stage.profile(hub),
            target=start.target,
            diagnosis=diagnosis,
            must_rewrite=must_rewrite,
            round=round,
            step=step,
        )
        rewrite = await _rewritten(self.rewriter, request)
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
            operators=[{"name": o.name, "fired": o.fired} for o in rewrite.operators],
            diagnosis=diagnosis,
            hub=None if hub is None else self.stage.name(hub),
            parent=parent,
            depth=depth,
            seed=seed,
            failure=rewrite.failure,
            cost=rewrite.cost,
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
    """A fault in a rewriter costs this agent its turn, not the claim its life; what stops every
    turn is raised.
    """
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
        return Vote(
            auditor.name, None, f"{type(error).__name__}: {error}", failure="crash", cost=None
        )


@dataclass(frozen=True)
class Plan:
    """`steps` is per round. `context` says which agents read the source of the claim: none, the
    first, or all.

    `fan_out` and `reach` (agents at most) are of cascades, whose `steps` are their depth.
    """

    kind: Kind = "walk"
    steps: int = 30
    rounds: int = 1
    vote: VoteMode = "paper"
    hub_opinions: bool = True
    fan_out: int = 2
    reach: int = 30
    context: Context = "never"

    def __post_init__(self) -> None:
        choices = (
            ("kind", get_args(Kind)),
            ("vote", get_args(VoteMode)),
            ("context", get_args(Context)),
        )
        for name, known in choices:
            value = getattr(self, name)
            if value not in known:
                raise UsageError(
                    f"'{value}' is not a valid {name} of a run.", f"Use one of: {', '.join(known)}."
                )
        if min(self.steps, self.rounds, self.fan_out, self.reach) < 1:
            raise UsageError("Steps, rounds, fan-out and reach start at 1.", "Give larger numbers.")

    @property
    def most_turns(self) -> int:
        """Of one claim."""
        return self.reach if self.kind == "cascade" else self.steps * self.rounds

    def describe(self) -> JsonObject:
        """For the lineage, where the kind has always been called the mode."""
        known = asdict(self)
        return {"mode": known.pop("kind"), **known}


def ways(starts: Sequence[Start], plan: Plan, cast: Cast) -> list[Sequence[Turn]]:
    """The turns of claims that nothing steers, worked out together before the first text: paths do
    not depend on it.
    """
    if plan.kind == "intervened" or hasattr(cast.rewriter, "recording"):
        return [()] * len(starts)
    fan_out, most = (plan.fan_out, plan.reach) if plan.kind == "cascade" else (None, None)
    return paths(
        _seeds(starts, cast), cast.stage, plan.steps, fan_out, most, hubs=plan.hub_opinions
    )


def _seeds(starts: Sequence[Start], cast: Cast) -> Numbers:
    return np.array(
        [stream_seed(cast.seed, start.key, "path") for start in starts], dtype=np.uint64
    )


async def live(start: Start, plan: Plan, cast: Cast, path: Sequence[Turn] | None = None) -> Life:
    """The whole life of one claim; `path` is its own of `ways`, where those of many were worked out
    together.
    """
    recording: Recording | None = getattr(cast.rewriter, "recording", None)
    if recording is not None:
        return await _replayed(start, recording, cast)
    if plan.kind != "intervened":
        path = ways([start], plan, cast)[0] if path is None else path
        return await _unsteered(start, path, cast, cascade=plan.kind == "cascade")
    return await (_steered(start, plan, cast) if cast.auditors else _direct(start, cast))


async def _replayed(start: Start, recording: Recording, cast: Cast) -> Life:
    """The recorded agents, in their order; the votes are given anew by the auditors, if there are
    any.
    """
    known = recording.life(start.text, start.target, start.id)
    if (
        start.target is None
        or not cast.auditors
        or all(isinstance(a, ReplayAuditor) for a in cast.auditors)
    ):
        return Life(start.key, known.status, known.text, known.hops)
    hops = []
    for hop in known.hops:
        votes = await cast.votes(start, hop)
        hops.append(_voted(replace(hop, cost=0.0), votes, majority(votes)))
    return Life(start.key, "success" if hops[-1].passed else "failure", known.text, hops)


async def _unsteered(start: Start, path: Sequence[Turn], cast: Cast, *, cascade: bool) -> Life:
    """What a cascaded claim became is what the last agent at the greatest depth made of it; hops
    hold every version.
    """
    hops: list[Hop] = []
    for step, (agent, depth, parent, hub) in enumerate(path, 1):
        text = start.text if parent < 0 else hops[parent].output
        above, level = (parent + 1, depth + 1) if cascade else (None, None)  # steps count from 1
        hops.append(
            await cast.turn(start, text, agent, step=step, hub=hub, parent=above, depth=level)
        )
    return Life(start.key, "done", hops[-1].output, hops)


async def _direct(start: Start, cast: Cast) -> Life:
    """The ablation without auditors: one agent is asked once, and no one looks at what it says."""
    agent = int(cast.stage.starts(_seeds([start], cast))[0])
    hop = await cast.turn(start, start.text, agent, step=1)
    return Life(start.key, "unaudited", hop.output, [hop])


async def _steered(start: Start, plan: Plan, cast: Cast) -> Life:
    """A walk that auditors steer: whoever has the claim passes it to an agent near the target when
    a vote fails.
    """
    assert start.target is not None
    seeds, stage, released = _seeds([start], cast), cast.stage, plan.vote == "released"
    model = Model(stage.starts(seeds), seeds, agents=stage.ties.size)
    text, advice = start.text, None
    hops: list[Hop] = []
    round, step = 1, 1
    while round <= plan.rounds:
        agent = int(model.front.agent[0])
        hop = await cast.turn(
            start, text, agent, round=round, step=step, diagnosis=advice, must_rewrite=False
        )
        votes = await cast.votes(start, hop, slice(0, 1) if released else slice(None))
        first = votes[0].passed
        decides = not released or bool(first) or step == plan.steps
        if released and decides:
            votes += await cast.votes(start, hop, slice(1, None))
        # The mark of a step is the first auditor's as released, and the majority's in the paper.
        hops.append(_voted(hop, votes, first if released else majority(votes)))
        text, advice = hop.output, diagnosis(votes)
        if decides and majority(votes):
            return Life(start.key, "success", text, hops)
        model.pass_on(
            stage.near(start.target, among_all=released) if decides else neighbour(stage.ties)
        )
        ends_round = step == plan.steps or (released and decides)
        round, step = (round + 1, 1) if ends_round else (round, step + 1)
    return Life(start.key, "failure", text, hops)


def _voted(hop: Hop, votes: Sequence[Vote], passed: bool | None) -> Hop:
    reason = (
        " ".join(dict.fromkeys(v.reason for v in votes if v.reason and v.passed is passed)) or None
    )
    costs = [hop.cost, *(vote.cost for vote in votes)]
    return replace(
        hop,
        passed=passed,
        reason=reason,
        votes=[vote.record() for vote in votes],
        cost=None if any(c is None for c in costs) else sum(c for c in costs if c is not None),
    )
