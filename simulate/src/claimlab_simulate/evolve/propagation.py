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

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal, get_args

import numpy as np

from claimlab.core.errors import UsageError
from claimlab.core.stats.streams import stream_seed
from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.auditor import Vote, diagnosis, majority
from claimlab_simulate.evolve.auditors.known.replay import ReplayAuditor
from claimlab_simulate.evolve.cast import Cast, ContextReaders, TurnPlace
from claimlab_simulate.evolve.hop import Hop, Life, Start, TraceRecording
from claimlab_simulate.evolve.scene import AgentTurn, paths
from claimlab_simulate.evolve.society.draws import Numbers
from claimlab_simulate.evolve.society.engine import Model
from claimlab_simulate.evolve.society.telling import neighbour

RunKind = Literal["walk", "cascade", "intervened"]
VoteMode = Literal["paper", "released"]


@dataclass(frozen=True)
class PropagationPlan:
    """`steps` is per round. `context` says which agents read the source of the claim: none, the
    first, or all.

    `fan_out`, `threshold` and `reach` (agents at most) are of cascades, whose `steps` are their
    depth.
    """

    kind: RunKind = "walk"
    steps: int = 30
    rounds: int = 1
    vote: VoteMode = "paper"
    hub_opinions: bool = True
    fan_out: int = 2
    reach: int = 30
    threshold: float = 0
    context: ContextReaders = "never"

    def __post_init__(self) -> None:
        for name, kinds in (("kind", RunKind), ("vote", VoteMode), ("context", ContextReaders)):
            value, valid = getattr(self, name), get_args(kinds)
            if value not in valid:
                raise UsageError(
                    f"'{value}' is not a valid {name} of a run.", f"Use one of: {', '.join(valid)}."
                )
        if min(self.steps, self.rounds, self.fan_out, self.reach) < 1:
            raise UsageError("Steps, rounds, fan-out and reach start at 1.", "Give larger numbers.")

    @property
    def most_turns(self) -> int:
        """Of one claim."""
        return self.reach if self.kind == "cascade" else self.steps * self.rounds

    def describe(self) -> JsonObject:
        """For the lineage, where the kind has always been called the mode."""
        settings = asdict(self)
        return {"mode": settings.pop("kind"), **settings}


def ways(starts: Sequence[Start], plan: PropagationPlan, cast: Cast) -> list[Sequence[AgentTurn]]:
    """The turns of claims that nothing steers, worked out together before the first text: paths do
    not depend on it.
    """
    if plan.kind == "intervened" or hasattr(cast.rewriter, "recording"):
        return [()] * len(starts)
    spread = (plan.fan_out, plan.reach, plan.threshold) if plan.kind == "cascade" else ()
    return paths(_seeds(starts, cast), cast.stage, plan.steps, *spread, hubs=plan.hub_opinions)


def _seeds(starts: Sequence[Start], cast: Cast) -> Numbers:
    return np.array(
        [stream_seed(cast.seed, start.key, "path") for start in starts], dtype=np.uint64
    )


async def live(
    start: Start, plan: PropagationPlan, cast: Cast, path: Sequence[AgentTurn] | None = None
) -> Life:
    """The whole life of one claim; `path` is its own of `ways`, where those of many were worked out
    together.
    """
    recording: TraceRecording | None = getattr(cast.rewriter, "recording", None)
    if recording is not None:
        return await _replayed(start, recording, cast)
    if plan.kind != "intervened":
        path = ways([start], plan, cast)[0] if path is None else path
        return await _unsteered(start, path, cast, cascade=plan.kind == "cascade")
    return await (_steered(start, plan, cast) if cast.auditors else _direct(start, cast))


async def _replayed(start: Start, recording: TraceRecording, cast: Cast) -> Life:
    """The recorded agents, in their order; the votes are given anew by the auditors, if there are
    any.
    """
    recorded = recording.life(start.text, start.target, start.id)
    if (
        start.target is None
        or not cast.auditors
        or all(isinstance(a, ReplayAuditor) for a in cast.auditors)
    ):
        return Life(start.key, recorded.status, recorded.text, recorded.hops)
    hops = []
    for hop in recorded.hops:
        votes = await cast.votes(start, hop)
        hops.append(_voted(replace(hop, cost=0.0), votes, majority(votes)))
    return Life(start.key, "success" if hops[-1].passed else "failure", recorded.text, hops)


async def _unsteered(start: Start, path: Sequence[AgentTurn], cast: Cast, *, cascade: bool) -> Life:
    """What a cascaded claim became is what the last agent at the greatest depth made of it; hops
    hold every version.
    """
    hops: list[Hop] = []
    for step, (agent, depth, parent, hub) in enumerate(path, 1):
        text = start.text if parent < 0 else hops[parent].output
        above, level = (parent + 1, depth + 1) if cascade else (None, None)  # steps count from 1
        place = TurnPlace(agent, step, hub=hub, parent=above, depth=level)
        hops.append(await cast.turn(start, text, place))
    return Life(start.key, "done", hops[-1].output, hops)


async def _direct(start: Start, cast: Cast) -> Life:
    """The ablation without auditors: one agent is asked once, and no one looks at what it says."""
    agent = int(cast.stage.starts(_seeds([start], cast))[0])
    hop = await cast.turn(start, start.text, TurnPlace(agent, step=1))
    return Life(start.key, "unaudited", hop.output, [hop])


async def _steered(start: Start, plan: PropagationPlan, cast: Cast) -> Life:
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
        place = TurnPlace(agent, step, round, diagnosis=advice, must_rewrite=False)
        hop = await cast.turn(start, text, place)
        last = step == plan.steps
        votes, decides = await _asked(start, hop, cast, released=released, last=last)
        # The mark of a step is the first auditor's as released, and the majority's in the paper.
        hops.append(_voted(hop, votes, votes[0].passed if released else majority(votes)))
        text, advice = hop.output, diagnosis(votes)
        if decides and majority(votes):
            return Life(start.key, "success", text, hops)
        model.pass_on(
            stage.near(start.target, among_all=released) if decides else neighbour(stage.ties)
        )
        ends_round = last or (released and decides)
        round, step = (round + 1, 1) if ends_round else (round, step + 1)
    return Life(start.key, "failure", text, hops)


async def _asked(
    start: Start, hop: Hop, cast: Cast, *, released: bool, last: bool
) -> tuple[list[Vote], bool]:
    """The votes on a step, and whether they decide: as released, the others are asked only where
    the first auditor passes the text or the round ends.
    """
    if not released:
        return await cast.votes(start, hop), True
    votes = await cast.votes(start, hop, slice(0, 1))
    decides = bool(votes[0].passed) or last
    if decides:
        votes += await cast.votes(start, hop, slice(1, None))
    return votes, decides


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
