"""How a claim moves: a walk or a cascade that nothing steers, or a walk that auditors steer towards a target.

Unmitigated: every agent rewrites. On a network with hubs, one of them lends its opinion at every step.
Intervened: agents are producers or bystanders; auditors vote; a failed vote is diagnosed and the claim rerouted.
Two readings of the vote, by name:
  paper      all auditors after every step; rerouting among the neighbours of the agent who has the claim
  released   the first auditor after every step, the others at the end of a round; rerouting among everybody
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.stats.streams import stream, stream_seed
from claimlab.evolve.auditors.auditor import Auditor, Question, Vote, diagnosis, majority
from claimlab.evolve.auditors.known.replay import ReplayAuditor
from claimlab.evolve.hop import Hop, Life, Start
from claimlab.evolve.recording import Recording
from claimlab.evolve.rewrite.rewriter import Request, Rewrite, Rewriter
from claimlab.evolve.society.engine import Model
from claimlab.evolve.stage import Stage

Kind = Literal["walk", "cascade", "intervened"]
VoteMode = Literal["paper", "released"]
Context = Literal["never", "first", "always"]


def reading(start: Start, context: Context, *, first: bool) -> dict[str, Any]:
    """What an agent reads besides the claim: nothing in the paper, else the source that the claim came from."""
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


@dataclass(frozen=True)
class Plan:
    """`steps` is per round. `context` says which agents read the source of the claim: none, the first, or all.

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
        choices = ("kind", get_args(Kind)), ("vote", get_args(VoteMode)), ("context", get_args(Context))
        for name, known in choices:
            value = getattr(self, name)
            if value not in known:
                raise UsageError(f"'{value}' is not a valid {name} of a run.", f"Use one of: {', '.join(known)}.")
        if min(self.steps, self.rounds, self.fan_out, self.reach) < 1:
            raise UsageError("Steps, rounds, fan-out and reach start at 1.", "Give larger numbers.")

    @property
    def most_turns(self) -> int:
        """Of one claim."""
        return self.reach if self.kind == "cascade" else self.steps * self.rounds

    def describe(self) -> dict[str, Any]:
        """For the lineage, where the kind has always been called the mode."""
        known = asdict(self)
        return {"mode": known.pop("kind"), **known}


async def live(start: Start, plan: Plan, cast: Cast) -> Life:
    """The whole life of one claim."""
    recording: Recording | None = getattr(cast.rewriter, "recording", None)
    if recording is not None:
        return await _replayed(start, recording, cast)
    if plan.kind != "intervened":
        return await _unsteered(start, plan, cast)
    return await (_steered(start, plan, cast) if cast.auditors else _direct(start, cast))


async def _replayed(start: Start, recording: Recording, cast: Cast) -> Life:
    """The recorded agents, in their order; the votes are given anew by the auditors, if there are any."""
    known = recording.life(start.text, start.target, start.id)
    if start.target is None or not cast.auditors or all(isinstance(a, ReplayAuditor) for a in cast.auditors):
        return Life(start.key, known.status, known.text, known.hops)
    hops = []
    for hop in known.hops:
        votes = await cast.votes(start, hop)
        hops.append(_voted(replace(hop, cost=0.0), votes, majority(votes)))
    return Life(start.key, "success" if hops[-1].passed else "failure", known.text, hops)


async def _unsteered(start: Start, plan: Plan, cast: Cast) -> Life:
    """A walk: every agent tells one neighbour. A cascade: every agent tells some who have not heard the claim.

    What a cascaded claim became is what the last agent at the greatest depth made of it; the hops hold every version.
    """
    draw = stream(cast.seed, start.key, "path")
    model = Model(cast.stage.start(draw))
    cascade = plan.kind == "cascade"
    hops: list[Hop] = []
    while len(hops) < (plan.reach if cascade else plan.steps) and (visit := model.step()) is not None:
        text = start.text if visit.parent is None else hops[visit.parent].output
        parent = 0 if visit.parent is None else visit.parent + 1  # steps count from 1
        hop = await cast.turn(
            start,
            text,
            visit.agent,
            step=visit.number + 1,
            hub=cast.stage.hub(draw) if plan.hub_opinions else None,
            parent=parent if cascade else None,
            depth=visit.depth + 1 if cascade else None,
        )
        hops.append(hop)
        if not cascade:
            model.pass_on(visit, [cast.stage.next(visit.agent, draw)])
        elif visit.depth + 1 < plan.steps:
            fresh = [i for i in cast.stage.following(visit.agent) if i not in model.heard]
            model.pass_on(visit, draw.sample(fresh, min(plan.fan_out, len(fresh))))
    return Life(start.key, "done", hops[-1].output, hops)


async def _direct(start: Start, cast: Cast) -> Life:
    """The ablation without auditors: one agent is asked once, and nobody looks at what it says."""
    draw = stream(cast.seed, start.key, "path")
    hop = await cast.turn(start, start.text, cast.stage.start(draw), step=1)
    return Life(start.key, "unaudited", hop.output, [hop])


async def _steered(start: Start, plan: Plan, cast: Cast) -> Life:
    """A walk that auditors steer: whoever has the claim passes it to somebody near the target when a vote fails."""
    assert start.target is not None
    draw = stream(cast.seed, start.key, "path")
    model = Model(cast.stage.start(draw))
    released = plan.vote == "released"
    text, advice = start.text, None
    hops: list[Hop] = []
    round, step = 1, 1
    while round <= plan.rounds and (visit := model.step()) is not None:
        hop = await cast.turn(start, text, visit.agent, round=round, step=step, diagnosis=advice, must_rewrite=False)
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
        if decides:
            model.pass_on(visit, [cast.stage.reroute(visit.agent, start.target, draw, among_all=released)])
        else:
            model.pass_on(visit, [cast.stage.next(visit.agent, draw)])
        ends_round = step == plan.steps or (released and decides)
        round, step = (round + 1, 1) if ends_round else (round, step + 1)
    return Life(start.key, "failure", text, hops)


def _voted(hop: Hop, votes: Sequence[Vote], passed: bool | None) -> Hop:
    reason = " ".join(dict.fromkeys(v.reason for v in votes if v.reason and v.passed is passed)) or None
    costs = [hop.cost, *(vote.cost for vote in votes)]
    return replace(
        hop,
        passed=passed,
        reason=reason,
        votes=[vote.record() for vote in votes],
        cost=None if any(c is None for c in costs) else sum(c for c in costs if c is not None),
    )
