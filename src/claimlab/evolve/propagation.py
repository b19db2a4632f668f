"""How a claim moves: a walk or a cascade that nothing steers, or a walk that auditors steer towards a target.

Unmitigated: every agent rewrites. On a network with hubs, one of them lends its opinion at every step.
Intervened: agents are producers or bystanders; auditors vote; a failed vote is diagnosed and the claim rerouted.
Two readings of the vote, by name:
  paper      all auditors after every step; rerouting among the neighbours of the agent who has the claim
  released   the first auditor after every step, the others at the end of a round; rerouting among everybody
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from claimlab.core.errors import UsageError
from claimlab.evolve.auditors.auditor import Vote, diagnosis, majority
from claimlab.evolve.auditors.known.replay import ReplayAuditor
from claimlab.evolve.draw import stream
from claimlab.evolve.hop import Hop, Life, Start, Status
from claimlab.evolve.recording import Recording
from claimlab.evolve.turn import Cast

Mode = Literal["walk", "cascade", "intervened"]
VoteMode = Literal["paper", "released"]


@dataclass(frozen=True)
class Plan:
    """`steps` is per round. `fan_out` and `reach` (agents at most) are of cascades, whose `steps` are their depth."""

    mode: Mode = "walk"
    steps: int = 30
    rounds: int = 1
    vote: VoteMode = "paper"
    hub_opinions: bool = True
    fan_out: int = 2
    reach: int = 30

    def __post_init__(self) -> None:
        for name, value, known in (("mode", self.mode, get_args(Mode)), ("vote", self.vote, get_args(VoteMode))):
            if value not in known:
                raise UsageError(f"There is no {name} '{value}'.", f"Choose one of: {', '.join(known)}.")
        if min(self.steps, self.rounds, self.fan_out, self.reach) < 1:
            raise UsageError("Steps, rounds, fan-out and reach start at 1.", "Give larger numbers.")


async def live(start: Start, plan: Plan, cast: Cast) -> Life:
    """The whole life of one claim."""
    recording: Recording | None = getattr(cast.rewriter, "recording", None)
    if recording is not None:
        return await _replayed(start, recording, cast)
    if plan.mode == "cascade":
        return await _cascade(start, plan, cast)
    if plan.mode == "walk":
        return await _walk(start, plan, cast)
    if not cast.auditors:
        return await _direct(start, cast)
    return await (_paper if plan.vote == "paper" else _released)(start, plan, cast)


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


async def _walk(start: Start, plan: Plan, cast: Cast) -> Life:
    draw = stream(cast.seed, start.key, "path")
    agent, text, hops = cast.stage.start(draw), start.text, []
    for step in range(1, plan.steps + 1):
        hub = cast.stage.hub(draw) if plan.hub_opinions else None
        hop = await cast.turn(start, text, agent, step=step, hub=hub)
        hops.append(hop)
        text, agent = hop.output, cast.stage.next(agent, draw)
    return Life(start.key, "done", text, hops)


async def _cascade(start: Start, plan: Plan, cast: Cast) -> Life:
    """Breadth first: who has heard the claim tells it to some who have not; nobody is told twice.

    What the claim became is what the last agent at the greatest depth made of it; the hops hold every version.
    """
    draw = stream(cast.seed, start.key, "path")
    first = cast.stage.start(draw)
    heard = {first}
    hops: list[Hop] = []
    line: list[tuple[int, str, int, int]] = [(first, start.text, 0, 1)]  # agent, what it hears, parent step, depth
    while line and len(hops) < plan.reach:
        agent, text, parent, depth = line.pop(0)
        hub = cast.stage.hub(draw) if plan.hub_opinions else None
        step = len(hops) + 1
        hop = await cast.turn(start, text, agent, step=step, hub=hub, parent=parent, depth=depth)
        hops.append(hop)
        if depth < plan.steps:
            fresh = [i for i in cast.stage.following(agent) if i not in heard]
            told = draw.sample(fresh, min(plan.fan_out, len(fresh)))
            heard.update(told)
            line += [(i, hop.output, step, depth + 1) for i in told]
    return Life(start.key, "done", hops[-1].output, hops)


async def _direct(start: Start, cast: Cast) -> Life:
    """The ablation without auditors: one agent is asked once, and nobody looks at what it says."""
    draw = stream(cast.seed, start.key, "path")
    hop = await cast.turn(start, start.text, cast.stage.start(draw), step=1)
    return Life(start.key, "unaudited", hop.output, [hop])


async def _paper(start: Start, plan: Plan, cast: Cast) -> Life:
    assert start.target is not None
    draw = stream(cast.seed, start.key, "path")
    agent, text, told = cast.stage.start(draw), start.text, None
    hops: list[Hop] = []
    for round in range(1, plan.rounds + 1):
        for step in range(1, plan.steps + 1):
            hop = await cast.turn(start, text, agent, round=round, step=step, diagnosis=told, must_rewrite=False)
            votes = await cast.votes(start, hop)
            hops.append(_voted(hop, votes, majority(votes)))
            text = hop.output
            if majority(votes):
                return Life(start.key, "success", text, hops)
            told = diagnosis(votes)
            agent = cast.stage.reroute(agent, start.target, draw, among_all=False)
    return Life(start.key, "failure", text, hops)


async def _released(start: Start, plan: Plan, cast: Cast) -> Life:
    assert start.target is not None
    draw = stream(cast.seed, start.key, "path")
    agent, text, told = cast.stage.start(draw), start.text, None
    hops: list[Hop] = []
    status: Status = "failure"
    for round in range(1, plan.rounds + 1):
        votes: list[Vote] = []
        for step in range(1, plan.steps + 1):
            hop = await cast.turn(start, text, agent, round=round, step=step, diagnosis=told, must_rewrite=False)
            votes = await cast.votes(start, hop, slice(0, 1))
            hops.append(_voted(hop, votes, votes[0].passed))
            text = hop.output
            if votes[0].passed or step == plan.steps:
                break
            told = diagnosis(votes)
            agent = cast.stage.next(agent, draw)
        votes += await cast.votes(start, hops[-1], slice(1, None)) if len(cast.auditors) > 1 else []
        hops[-1] = _voted(
            hops[-1], votes, votes[0].passed
        )  # the step's own mark stays the first auditor's, as released
        if majority(votes):
            status = "success"
            break
        told = diagnosis(votes)
        agent = cast.stage.reroute(agent, start.target, draw, among_all=True)
    return Life(start.key, status, text, hops)


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
