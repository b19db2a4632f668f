"""An operator: one small, named change to a claim. Twice does what once does, and it says whether it fired."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from claimlab.evolve.claims.model import Target

Change = Callable[[str, random.Random, str | None], str]


@dataclass(frozen=True)
class Operator:
    """`change(text, draw, context)` gives the new text, or the same one where there is nothing (more) to do.

    Every change must be idempotent whatever is drawn: `change(change(t, a), b) == change(t, a)`. A test holds each
    operator to it. Claims saturate because of that: an agent who does what another has done changes nothing.
    """

    name: str
    summary: str
    change: Change
    serves: tuple[Target, ...] = ()

    def apply(self, text: str, draw: random.Random, context: str | None = None) -> tuple[str, bool]:
        """The text after the operator, and whether it fired."""
        after = self.change(text, draw, context)
        return (after, True) if after != text else (text, False)
