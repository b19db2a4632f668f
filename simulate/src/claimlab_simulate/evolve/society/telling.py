"""Whom an agent tells: rules that are evaluated on a whole front of agents at once.

    neighbour(ties)             a neighbour, all alike; whoever had the claim may have it again
                                (walks)
    weighted(lists, weights)    one of a list, by weight (steered claims)
    Fresh(ties, fan_out)        at most so many neighbours who have not heard the claim, at random
                                (cascades)
    Closest(ties, fan_out)      the same, closest first, then strangers (check-worthiness)

Those of a front tell one after the other, and none is told twice: what a later agent can choose
depends on those before it. All of them choose at once here, and where two choose the same agent,
the one whose turn is later chooses again; the result is that of turns (`test_engine.py` takes turns
and compares).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from claimlab_simulate.evolve.society.draws import HALF_BITS, Numbers, Whole, below, numbers, shares
from claimlab_simulate.evolve.society.engine import HEARD, Marks, Model, Telling
from claimlab_simulate.evolve.society.network import Floats, Ints, Longs, Network

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
        choice = candidates(self.ties, front.agent[rows])
        slots = model.slots(front.claim[rows][choice.teller], choice.agent)
        fresh = np.flatnonzero(model.marks()[slots] == 0)
        teller, agent = choice.teller[fresh], choice.agent[fresh]
        own: Numbers = numbers(model.seeds[front.claim[rows]], front.depth, front.agent[rows])
        choices = in_turn(
            teller,
            slots[fresh],
            numbers(own[teller], agent) >> HALF_BITS,
            model.marks(),
            self.fan_out,
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
        choice = candidates(self.ties, tellers)
        rank = self._rank(choice.entry)
        if not window:
            return choice.teller, choice.agent, rank
        teller = np.repeat(np.arange(len(tellers)), window)
        steps = np.tile(np.arange(1, window + 1), len(tellers))
        agent = self.ring[(self.place[tellers][teller] + steps) % self.ties.size]
        teller, agent = (
            np.concatenate([choice.teller, teller]),
            np.concatenate([choice.agent, agent]),
        )
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
        one_in_bits = np.float32(1).view(np.uint32).astype(np.uint64)
        return tier << np.uint64(30) | one_in_bits - self.ties.scores[entry].view(np.uint32).astype(
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
    left = (rank << HALF_BITS) | np.arange(
        len(teller), dtype=np.uint64
    )  # what has not been asked for
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
        teller[choices].astype(np.uint64) << HALF_BITS | rank[choices]
    )  # nearly sorted, which a stable sort makes use of
    return choices[np.argsort(order, kind="stable")]
