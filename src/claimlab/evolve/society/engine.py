"""The one engine that claims move by: agents have a claim, something happens there, and it goes to
others.

    model = Model(starts, seeds, agents=network.size)       # one start and one seed for every claim
    while len(model.front):                                 # all who heard it last
        model.pass_on(telling)                              # whom they tell: a rule of `telling`

All visits of all claims are columns: a front is a few arrays, and a rule is evaluated on the whole
of it. The model holds no text and asks no one, so that all who let claims travel step the same
object and differ in one thing only, whom an agent tells: walks and cascades of a run that rewrites
(`propagation`), whose fronts are worked out before a text is touched; steered runs, whose fronts
are one agent; check-worthiness by features (`worth/spread`) and by users whom a language model
plays (`worth/agents`), who decide for themselves whether to tell. Reporters are functions of the
model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from claimlab.evolve.society.draws import Numbers

Ints = npt.NDArray[np.int64]
Agents = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]
HEARD = np.uint32(2**32 - 1)


class Front(NamedTuple):
    """Visits of one depth, claim by claim, first come first; `parent` is who told, a row of the
    front before.
    """

    claim: Ints
    agent: Agents
    parent: Ints
    depth: int

    def __len__(self) -> int:
        return len(self.agent)


class Visits(NamedTuple):
    """All visits, claim by claim in the order of their turns. `parent` is a place within the claim
    (-1: the start).
    """

    claim: Ints
    agent: Agents
    depth: Ints
    parent: Ints


# A rule: rows of the model's front that tell another, one for each agent that is told, and those
# agents.
Telling = Callable[["Model", Ints], tuple[Ints, Agents]]


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
        self._marks: npt.NDArray[np.uint32] | None = None
        self._marked = 0

    @property
    def front(self) -> Front:
        return self.fronts[-1]

    def pass_on(self, telling: Telling, willing: Mask | None = None) -> Front:
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

    def slots(self, claims: Ints, agents: npt.NDArray[np.integer]) -> Ints:
        """The place of an agent of a claim among all agents of all claims."""
        return claims * self.agents + agents

    def marks(self) -> npt.NDArray[np.uint32]:
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


def travel(model: Model, telling: Telling, depth: int, reach: int | None = None) -> Model:
    """All tell, until claims are `depth` hops from their starts or have come to `reach` agents."""
    hearers = np.zeros(model.claims, dtype=np.int64)
    while model.front.depth < depth and len(model.front):
        if reach is None:
            model.pass_on(telling)
        else:
            hearers += np.bincount(model.front.claim, minlength=model.claims)
            model.pass_on(telling, hearers[model.front.claim] < reach)
    return model


def depth(model: Model) -> Ints:
    """How many hops away from its start each claim was heard."""
    deepest = np.zeros(model.claims, dtype=np.int64)
    for front in model.fronts:
        deepest[front.claim] = front.depth
    return deepest


def size(model: Model) -> Ints:
    """How many agents heard each claim."""
    slots = np.unique(
        np.concatenate([model.slots(front.claim, front.agent) for front in model.fronts])
    )
    return np.bincount(slots // model.agents, minlength=model.claims)
