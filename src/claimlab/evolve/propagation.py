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
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple, TypeVar, get_args

import numpy as np

from claimlab.core.errors import ClaimlabError, DataError, UnknownName, UsageError
from claimlab.core.stats.streams import stream_seed
from claimlab.core.types import JsonObject
from claimlab.evolve.auditors.known.table import ReplayAuditor
from claimlab.evolve.claims.model import Target
from claimlab.evolve.contracts import (
    Auditor,
    Question,
    Request,
    Rewrite,
    Rewriter,
    Vote,
    diagnosis,
    majority,
)
from claimlab.evolve.hop import Hop, Life, Recording, Start
from claimlab.evolve.rewrite.weights import Weights
from claimlab.evolve.society.engine import (
    HUB,
    START,
    Fresh,
    Lists,
    Model,
    Numbers,
    Telling,
    below,
    neighbour,
    numbers,
    travel,
    weighted,
)
from claimlab.evolve.society.network import Floats, Ints, Longs, Network
from claimlab.evolve.society.population import Population

# The stage that claims move on: the population, the network, who may follow whom, and where claims
# go by themselves.  A claim asks three things: where it starts, who is next, and whose opinion is
# in the air. All draws depend on the claim's own seed alone, so that claims may move side by side
# in any order.


CELLS = 1 << 24  # agents times claims that move at once
T = TypeVar("T")


class Turn(NamedTuple):
    """Whose turn it is, and in whose wake: `parent` is the place of an earlier turn (-1: the
    start).
    """

    agent: int
    depth: int
    parent: int
    hub: int | None


class Scene:
    """`within`: claims stay in the group they start in; `group`: they start (and stay) in this
    one.
    """

    def __init__(
        self,
        population: Population,
        network: Network,
        *,
        within: bool = False,
        group: str | None = None,
        weights: Weights | None = None,
    ) -> None:
        if network.size != population.size:
            raise DataError(
                f"The network has {network.size:,} agents and the population {population.size:,}.",
                "Give the population that the network was made for.",
            )
        self.population, self.network = population, network
        self.within = within or group is not None
        self.group = group
        self.weights = weights or Weights.read()
        self._groups = population.codes("group") if self.within else None
        if group is not None and group not in population.values("group"):
            raise UnknownName("group of agents", group, population.values("group"))
        self.ties = network  # who may follow whom
        if self._groups is not None:
            same = self._groups[network.owners] == self._groups[network.indices]
            self.ties = network.having(same)
        able = self.ties.degrees > 0
        if group is not None:
            able &= population.codes("group") == population.values("group").index(group)
        self._able = np.flatnonzero(able).astype(np.int32)
        self._ids = population.ids.to_list()
        self.profile = lru_cache(maxsize=65_536)(population.profile)
        self._near: dict[tuple[Target, bool], Telling] = {}

    def name(self, agent: int) -> str:
        return str(self._ids[agent])

    def starts(self, seeds: Numbers) -> Ints:
        """For each seed an agent who can pass the claim on."""
        if not len(self._able):
            raise DataError(
                "No agent in this society can pass a claim on.",
                "Give a network with ties, or another group.",
            )
        return self._able[below(numbers(seeds, START), len(self._able))]

    def hubs(self, seeds: Numbers, turns: Longs) -> Ints | None:
        """For each seed and turn one of the hubs, neighbour or not; null where the network has
        none.
        """
        hubs = self.network.hubs
        return hubs[below(numbers(seeds, HUB, turns), len(hubs))] if len(hubs) else None

    def near(self, target: Target, *, among_all: bool) -> Telling:
        """The rule that takes a claim to an agent whose attributes are near to the target: a
        neighbour, or any.
        """
        if (target, among_all) not in self._near:
            pull = self.affinities(target)
            if not among_all:
                lists = Lists(self.ties.indptr[:-1], self.ties.indptr[1:], self.ties.indices)
            else:
                everyone = np.zeros(self.population.size, dtype=np.int64)
                groups = everyone if self._groups is None else self._groups
                able = np.flatnonzero(self.ties.degrees > 0)  # others could not pass it on
                begin, end = np.searchsorted(np.sort(groups[able]), [groups, groups + 1])
                lists = Lists(begin, end, able[np.argsort(groups[able], kind="stable")])
            self._near[target, among_all] = weighted(lists, pull)
        return self._near[target, among_all]

    def describe(self) -> JsonObject:
        """For the lineage."""
        return {
            "population": {"size": self.population.size, **self.population.source},
            "network": {
                "kind": self.network.kind,
                "agents": self.network.size,
                "edges": self.network.edges,
                "hubs": len(self.network.hubs),
                **self.network.parameters,
            },
            "within_group": self.within,
            "group": self.group,
        }

    def affinities(self, target: Target) -> Floats:
        """How near every agent is to the target, attribute by attribute: arrays, so that a million
        agents are quick.
        """
        total = np.zeros(self.population.size)
        for habit in self.weights.habits(target):
            product = np.full(self.population.size, self.weights.base.get(habit, 1.0))
            for attribute in self.population.attributes:
                values = self.population.values(attribute)
                factors = [self.weights.factor(attribute, value, habit) for value in values]
                known = np.array([*factors, 1.0])  # the last, of code -1: not known
                product *= known[self.population.codes(attribute)]
            total += product
        return total


def paths(
    seeds: Numbers,
    stage: Scene,
    steps: int,
    fan_out: int | None = None,
    reach: int | None = None,
    threshold: float = 0,
    *,
    hubs: bool,
) -> list[Sequence[Turn]]:
    """The turns of one claim for each seed. A walk: every agent tells one neighbour.

    A cascade (`fan_out`): every agent tells some who have not heard the claim, until `reach` agents
    have; those below the `threshold` tell no one.
    """
    telling = neighbour(stage.ties) if fan_out is None else Fresh(stage.ties, fan_out)
    at_once = max(1, CELLS // stage.ties.size)
    turns: list[Sequence[Turn]] = []
    for first in range(0, len(seeds), at_once):
        some = seeds[first : first + at_once]
        model = Model(stage.starts(some), some, agents=stage.ties.size)
        travel(model, telling, steps - 1, reach, threshold)
        visits = model.visits()
        begin = np.searchsorted(visits.claim, np.arange(len(some) + 1))
        place = np.arange(len(visits.claim)) - begin[visits.claim]
        opinions = stage.hubs(some[visits.claim], place) if hubs else None
        named = [None] * len(place) if opinions is None else opinions.tolist()
        rows = list(
            map(Turn, visits.agent.tolist(), visits.depth.tolist(), visits.parent.tolist(), named)
        )
        turns += [rows[a:b][:reach] for a, b in pairwise(begin)]
    return turns


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
class Place:
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
    context: Context = "never"
    tick: Callable[[], None] = lambda: None  # called after every turn

    async def turn(self, start: Start, text: str, place: Place) -> Hop:
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


@dataclass(frozen=True)
class PropagationPlan:
    """`steps` is per round. `context` says which agents read the source of the claim: none, the
    first, or all.

    `fan_out`, `threshold` and `reach` (agents at most) are of cascades, whose `steps` are their
    depth.
    """

    kind: Kind = "walk"
    steps: int = 30
    rounds: int = 1
    vote: VoteMode = "paper"
    hub_opinions: bool = True
    fan_out: int = 2
    reach: int = 30
    threshold: float = 0
    context: Context = "never"

    def __post_init__(self) -> None:
        for name, kinds in (("kind", Kind), ("vote", VoteMode), ("context", Context)):
            value, known = getattr(self, name), get_args(kinds)
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


def ways(starts: Sequence[Start], plan: PropagationPlan, cast: Cast) -> list[Sequence[Turn]]:
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
    start: Start, plan: PropagationPlan, cast: Cast, path: Sequence[Turn] | None = None
) -> Life:
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
        place = Place(agent, step, hub=hub, parent=above, depth=level)
        hops.append(await cast.turn(start, text, place))
    return Life(start.key, "done", hops[-1].output, hops)


async def _direct(start: Start, cast: Cast) -> Life:
    """The ablation without auditors: one agent is asked once, and no one looks at what it says."""
    agent = int(cast.stage.starts(_seeds([start], cast))[0])
    hop = await cast.turn(start, start.text, Place(agent, step=1))
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
        place = Place(agent, step, round, diagnosis=advice, must_rewrite=False)
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
