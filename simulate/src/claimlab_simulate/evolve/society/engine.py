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
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from claimlab_simulate.evolve.society.draws import SILENT, Numbers, Whole, numbers, shares
from claimlab_simulate.evolve.society.network import Flags, Ints, Longs

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
