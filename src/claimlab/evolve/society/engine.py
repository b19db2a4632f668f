"""The one engine that claims move by: an agent has the claim, something happens there, and it goes to others.

    model = Model(start)
    while (visit := model.step()) is not None:          # whose turn it is
        model.pass_on(visit, others)                    # whom that agent tells

The model holds no text, asks nobody and draws nothing, so that all who let a claim travel step the same object and
differ in one thing only, whom an agent tells: a run that rewrites (`propagation`), a score by features
(`worth/spread`) and users played by a language model, a whole front at once (`worth/agents`). On a walk an agent tells
one neighbour, who may have had the claim before; in a cascade, several who have not. Reporters are functions of the
model.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Visit(NamedTuple):
    """An agent who has the claim. Visits are numbered from 0; `parent` is the visit it came from (null: the start)."""

    number: int
    agent: int
    depth: int = 0
    parent: int | None = None


class Model:
    """One claim on its way: `visits` in the order in which agents heard it, `heard` the agents among them."""

    def __init__(self, start: int) -> None:
        self.visits = [Visit(0, start)]
        self.heard = {start}
        self._turn = 0

    def step(self) -> Visit | None:
        """The first visit whose agent has not had its turn, first come, first served; null when all have."""
        if self._turn == len(self.visits):
            return None
        self._turn += 1
        return self.visits[self._turn - 1]

    def front(self) -> list[Visit]:
        """All visits that wait for their turn; they have it now, together."""
        waiting, self._turn = self.visits[self._turn :], len(self.visits)
        return waiting

    def pass_on(self, visit: Visit, others: Iterable[int]) -> None:
        """The agent of `visit` tells `others`."""
        for agent in others:
            self.visits.append(Visit(len(self.visits), agent, visit.depth + 1, visit.number))
            self.heard.add(agent)


def depth(model: Model) -> int:
    """How many hops away from its start the claim was heard."""
    return max(visit.depth for visit in model.visits)


def size(model: Model) -> int:
    """How many agents heard the claim."""
    return len(model.heard)
