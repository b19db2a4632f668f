"""The one engine that claims move by: agents have a claim, something happens there, and it goes to
others.

    model = Model(starts, seeds, agents=network.size)       # one start and one seed for every claim
    while len(model.front):                                 # all who heard it last
        model.pass_on(telling)                              # whom they tell: a rule of `telling`

All visits of all claims are columns: a front is a few arrays, and a rule is evaluated on the whole
of it. The model holds no text and asks no one, so that all who let claims travel step the same
object and differ in one thing only, whom an agent tells: walks and cascades of a run that rewrites
(`propagation`), whose fronts are worked out before a text is touched; steered runs, whose fronts
are one agent; check-worthiness (`worth`) by users whom a language model plays, who decide for
themselves whether to tell. Reporters are functions of the
model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from claimlab.evolve.society.network import Flags, Floats, Ints, Longs, Network

# Random numbers without a state: what is drawn is a function of a claim's seed and of what it is
# drawn for.
#
#     numbers(seeds, depth)                   one number for every seed
#     numbers(seeds, depth, agents)           one for every seed and agent
#
# So whole fronts of many claims are drawn at once, and a claim among a million draws what it draws
# alone. The mixing is the finaliser of SplitMix64, over one name after the other.


Numbers = npt.NDArray[np.uint64]
Whole = npt.NDArray[np.integer]
# names of draws that are not made for a step: no depth and no agent is so large
START, HUB, SILENT = 1 << 40, 1 << 41, 1 << 42
_STRIDE = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(32)


def numbers(seeds: Numbers, *names: int | Whole) -> Numbers:
    """64 random bits for each seed and the names it is drawn for; a name is one number, or one for
    each seed.
    """
    for name in names:
        seeds = seeds + (np.atleast_1d(name).astype(np.uint64) + np.uint64(1)) * _STRIDE
        shifted = seeds >> np.uint64(30)
        seeds ^= shifted
        seeds *= _FIRST
        seeds ^= np.right_shift(seeds, np.uint64(27), out=shifted)
        seeds *= _SECOND
        seeds ^= np.right_shift(seeds, np.uint64(31), out=shifted)
    return seeds


def below(drawn: Numbers, sizes: Whole | int) -> Longs:
    """Whole numbers from 0 to below `sizes`, all alike (to one part in 2**32 divided by the
    size).
    """
    sizes = np.asarray(sizes).astype(np.uint64)
    return ((drawn >> _HALF) * sizes >> _HALF).astype(np.int64)


def shares(drawn: Numbers) -> Floats:
    """Numbers from 0 to below 1."""
    return (drawn >> np.uint64(11)).astype(np.float64) * 2.0**-53


Marks = npt.NDArray[np.uint32]
HEARD = np.uint32(2**32 - 1)


class Front(NamedTuple):
    """Visits of one depth, claim by claim, first come first; `parent` is who told, a row of the
    front before.
    """

    claim: Longs
    agent: Ints
    parent: Longs
    depth: int

    def __len__(self) -> int:
        return len(self.agent)


class Visits(NamedTuple):
    """All visits, claim by claim in the order of their turns. `parent` is a place within the claim
    (-1: the start).
    """

    claim: Longs
    agent: Ints
    depth: Longs
    parent: Longs


# A rule: rows of the model's front that tell another, one for each agent that is told, and those
# agents.
Telling = Callable[["Model", Longs], tuple[Longs, Ints]]


class Model:
    """Claims on their way: one front for every depth; the last is of those who have not told
    anybody yet.
    """

    def __init__(self, starts: npt.ArrayLike, seeds: Numbers | None = None, *, agents: int) -> None:
        first = np.atleast_1d(np.asarray(starts, dtype=np.int32))
        self.claims, self.agents = len(first), agents
        self.seeds = np.zeros(self.claims, dtype=np.uint64) if seeds is None else seeds
        self._everyone = np.arange(self.claims)
        self.fronts = [Front(self._everyone, first, np.full(self.claims, -1), 0)]
        self._marks: Marks | None = None
        self._marked = 0

    @property
    def front(self) -> Front:
        return self.fronts[-1]

    def pass_on(self, telling: Telling, willing: Flags | None = None) -> Front:
        """Those of the front who are willing (null: all) tell others, who are the new front."""
        front = self.front
        if len(self._everyone) != len(front):
            self._everyone = np.arange(len(front))
        rows, agents = telling(self, self._everyone if willing is None else np.flatnonzero(willing))
        claims = (
            front.claim if rows is self._everyone else front.claim[rows]
        )  # walks: the same claims every time
        self.fronts.append(Front(claims, agents, rows, front.depth + 1))
        return self.front

    def slots(self, claims: Longs, agents: Whole) -> Longs:
        """The place of an agent of a claim among all agents of all claims."""
        return claims * self.agents + agents

    def marks(self) -> Marks:
        """By slot: not 0 where the agent has heard the claim. Pages that are not touched take no
        memory.
        """
        if self._marks is None:
            self._marks = np.zeros(self.claims * self.agents, dtype=np.uint32)
        for front in self.fronts[self._marked :]:
            self._marks[self.slots(front.claim, front.agent)] = HEARD
        self._marked = len(self.fronts)
        return self._marks

    def visits(self) -> Visits:
        claim = np.concatenate([front.claim for front in self.fronts])
        sizes = [len(front) for front in self.fronts]
        before = np.cumsum([0, 0, *sizes[:-1]])[
            1:
        ]  # where each front begins; of the front before it: one to the left
        parent = np.concatenate(
            [f.parent + before[max(d - 1, 0)] for d, f in enumerate(self.fronts)]
        )
        order = np.argsort(claim, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        place -= np.searchsorted(claim[order], claim)  # within the claim
        parents = np.where(parent < 0, -1, place[parent])[order]
        agent = np.concatenate([front.agent for front in self.fronts])[order]
        return Visits(claim[order], agent, np.repeat(np.arange(len(sizes)), sizes)[order], parents)


def travel(
    model: Model, telling: Telling, depth: int, reach: int | None = None, threshold: float = 0
) -> Model:
    """All tell, until claims are `depth` hops from their starts or have come to `reach` agents.
    With a threshold, all but the first draw a number from 0 to 1 and tell where it is not below.
    """
    hearers = np.zeros(model.claims, dtype=np.int64)
    while (front := model.front).depth < depth and len(front):
        willing = None
        if reach is not None:
            hearers += np.bincount(front.claim, minlength=model.claims)
            willing = hearers[front.claim] < reach
        if threshold and front.depth:
            drawn = shares(numbers(model.seeds[front.claim], SILENT, front.agent)) >= threshold
            willing = drawn if willing is None else willing & drawn
        model.pass_on(telling, willing)
    return model


def depth(model: Model) -> Longs:
    """How many hops away from its start each claim was heard."""
    deepest = np.zeros(model.claims, dtype=np.int64)
    for front in model.fronts:
        deepest[front.claim] = front.depth
    return deepest


def size(model: Model) -> Longs:
    """How many agents heard each claim."""
    slots = np.unique(
        np.concatenate([model.slots(front.claim, front.agent) for front in model.fronts])
    )
    return np.bincount(slots // model.agents, minlength=model.claims)


# Whom an agent tells: rules that are evaluated on a whole front of agents at once.
#
#     neighbour(ties)             a neighbour, all alike; whoever had the claim may have it again
#                                 (walks)
#     weighted(lists, weights)    one of a list, by weight (steered claims)
#     Fresh(ties, fan_out)        at most so many neighbours who have not heard the claim, at random
#                                 (cascades)
#     Closest(ties, fan_out)      the same, closest first, then strangers (check-worthiness)
#
# Those of a front tell one after the other, and none is told twice: what a later agent can choose
# depends on those before it. All of them choose at once here, and where two choose the same agent,
# the one whose turn is later chooses again; the result is that of turns
# (`tests/evolve/test_engine.py` takes turns and compares).


_LOW = np.uint64(2**32 - 1)
_NEVER = np.uint64(2**64 - 1)


class Candidates(NamedTuple):
    """Who may be told, teller by teller: the place of the teller, the entry of the network, and the
    agent.
    """

    teller: Longs
    entry: Longs
    agent: Ints


def candidates(ties: Network, tellers: Ints) -> Candidates:
    begin = ties.indptr[tellers]
    counts = ties.indptr[tellers + 1] - begin
    entries = spans(begin, counts)
    return Candidates(np.repeat(np.arange(len(tellers)), counts), entries, ties.indices[entries])


def spans(begin: Longs, counts: Longs) -> Longs:
    """begin[0], begin[0] + 1, ... (as many as counts[0]), begin[1], ..."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(begin - ends + counts, counts)


def neighbour(ties: Network) -> Telling:
    def tell(model: Model, rows: Longs) -> tuple[Longs, Ints]:
        front = model.front
        begin = ties.indptr[front.agent[rows]]
        degrees = ties.indptr[front.agent[rows] + 1] - begin
        if not degrees.all():
            rows, begin, degrees = rows[degrees > 0], begin[degrees > 0], degrees[degrees > 0]
        drawn = numbers(model.seeds[front.claim[rows]], front.depth)
        return rows, ties.indices[begin + below(drawn, degrees)]

    return tell


@dataclass(frozen=True)
class Lists:
    """For every agent, a stretch of `members`."""

    begin: Longs
    end: Longs
    members: Whole


def weighted(lists: Lists, weights: Floats) -> Telling:
    """`weights` are of agents; in a list without any weight, all are alike."""
    total = np.concatenate([[0.0], np.cumsum(weights[lists.members])])

    def tell(model: Model, rows: Longs) -> tuple[Longs, Ints]:
        front = model.front
        begin, end = lists.begin[front.agent[rows]], lists.end[front.agent[rows]]
        drawn = numbers(model.seeds[front.claim[rows]], front.depth)
        mass = total[end] - total[begin]
        place = np.searchsorted(total, total[begin] + shares(drawn) * mass, side="right") - 1
        place = np.where(
            mass > 0, np.clip(place, begin, end - 1), begin + below(drawn, end - begin)
        )
        return rows, lists.members[place].astype(np.int32)

    return tell


@dataclass(frozen=True)
class Fresh:
    ties: Network
    fan_out: int

    def __call__(self, model: Model, rows: Longs) -> tuple[Longs, Ints]:
        front = model.front
        known = candidates(self.ties, front.agent[rows])
        slots = model.slots(front.claim[rows][known.teller], known.agent)
        fresh = np.flatnonzero(model.marks()[slots] == 0)
        teller, agent = known.teller[fresh], known.agent[fresh]
        own: Numbers = numbers(model.seeds[front.claim[rows]], front.depth, front.agent[rows])
        choices = in_turn(
            teller, slots[fresh], numbers(own[teller], agent) >> _HALF, model.marks(), self.fan_out
        )
        return rows[teller[choices]], agent[choices]


class Closest:
    """Strong ties before moderate ones, the most alike first within a tier; those held by the other
    alone come third.

    Without tiers, in the order of the network. One shuffled ring of everyone is the weak tier
    (`strangers`), entered at the agent's own place: no list per agent.
    """

    def __init__(
        self, ties: Network, fan_out: int, *, strangers: bool = True, seed: int = 0
    ) -> None:
        self.ties, self.fan_out, self.strangers = ties, fan_out, strangers
        self.ring = np.random.default_rng(seed).permutation(ties.size)
        self.place = np.argsort(self.ring)

    def __call__(self, model: Model, rows: Longs) -> tuple[Longs, Ints]:
        """Strangers are looked at only when an agent runs out of ties, and twice as many each
        time.
        """
        window = 0
        while True:
            teller, agent, rank = self._lists(model.front.agent[rows], window)
            slots, marks = model.slots(model.front.claim[rows][teller], agent), model.marks()
            fresh = marks[slots] == 0
            teller, agent, slots, rank = teller[fresh], agent[fresh], slots[fresh], rank[fresh]
            choices = in_turn(teller, slots, rank, marks, self.fan_out)
            short = (np.bincount(teller[choices], minlength=len(rows)) < self.fan_out).any()
            if not self.strangers or window >= self.ties.size - 1 or not short:
                return rows[teller[choices]], agent[choices].astype(np.int32)
            marks[slots] = 0
            window = min(max(4 * self.fan_out, 4 * window), self.ties.size - 1)

    def _lists(self, tellers: Ints, window: int) -> tuple[Longs, Whole, Numbers]:
        known = candidates(self.ties, tellers)
        rank = self._rank(known.entry)
        if not window:
            return known.teller, known.agent, rank
        teller = np.repeat(np.arange(len(tellers)), window)
        steps = np.tile(np.arange(1, window + 1), len(tellers))
        agent = self.ring[(self.place[tellers][teller] + steps) % self.ties.size]
        teller, agent = np.concatenate([known.teller, teller]), np.concatenate([known.agent, agent])
        rank = np.concatenate([rank, np.full(len(steps), _LOW)])
        _, first = np.unique(
            teller * self.ties.size + agent, return_index=True
        )  # a tie may also be on the ring
        first.sort()
        order = first[np.argsort(teller[first], kind="stable")]
        return teller[order], agent[order], rank[order]

    def _rank(self, entry: Longs) -> Numbers:
        """Two bits of tier, thirty of likeness: a positive float sorts as its bits do, and none up
        to 1 has more.
        """
        if self.ties.tiers is None:
            return np.zeros(len(entry), dtype=np.uint64)
        tier = self.ties.tiers[entry].astype(np.uint64)
        tier[tier == 0] = 3
        assert self.ties.scores is not None  # what has tiers has scores
        one = np.float32(1).view(np.uint32).astype(np.uint64)
        return tier << np.uint64(30) | one - self.ties.scores[entry].view(np.uint32).astype(
            np.uint64
        )


def in_turn(teller: Longs, slots: Longs, rank: Numbers, marks: Marks, fan_out: int) -> Longs:
    """Tellers take turns; each takes the first `fan_out` by rank that none took before it. Gives
    places, in order.

    `teller` ascends; `marks` of the slots are 0 and become the taker's. All ask for their next
    choice at once; a slot goes to the earliest of those who ask, whoever had it before, and the
    others ask for their next.
    """
    if not len(teller):
        return teller
    begin = np.flatnonzero(np.r_[True, teller[1:] != teller[:-1]])
    counts = np.diff(np.r_[begin, len(teller)])
    left = (rank << _HALF) | np.arange(len(teller), dtype=np.uint64)  # what has not been asked for
    bids = (HEARD - np.repeat(np.arange(len(begin)), counts)).astype(
        np.uint32
    )  # the earlier, the higher
    need = np.minimum(fan_out, counts)
    asks = np.arange(len(begin))
    while len(asks):
        if len(asks) == len(begin):
            best = np.minimum.reduceat(left, begin)
        else:
            size = counts[asks]
            best = np.minimum.reduceat(left[spans(begin[asks], size)], np.cumsum(size) - size)
        need[asks[best == _NEVER]] = 0  # the list has no one left
        asks = asks[best != _NEVER]
        place = (best[best != _NEVER] & _LOW).astype(np.int64)
        left[place] = _NEVER
        bid, slot = bids[place], slots[place]
        before = marks[slot]
        np.maximum.at(marks, slot, bid)
        wins = marks[slot] == bid
        need[asks[wins]] -= 1
        ousted = (HEARD - before[wins & (before > 0)]).astype(np.int64)
        np.add.at(need, ousted, 1)
        asks = np.flatnonzero(need > 0)
    choices = np.flatnonzero(marks[slots] == bids)
    order = (
        teller[choices].astype(np.uint64) << _HALF | rank[choices]
    )  # nearly sorted, which a stable sort makes use of
    return choices[np.argsort(order, kind="stable")]
