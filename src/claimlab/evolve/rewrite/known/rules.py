"""The rule rewriter: offline, seeded, English. Operators are drawn by a table that anybody can read and change."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from claimlab.evolve.rewrite.operators.all import operators, serving
from claimlab.evolve.rewrite.rewriter import Fired, Request, Rewrite, Settings
from claimlab.evolve.rewrite.weights import Weights


class Rules:
    name = "rules"

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self._known: dict[tuple[tuple[str, str], ...], dict[str, float]] = {}

    async def rewrite(self, request: Request) -> Rewrite:
        await asyncio.sleep(0)  # rules never wait for anything: without this, Ctrl-C would be heard late
        return self.turn(request)

    async def close(self) -> None:
        """Nothing is held."""

    def describe(self) -> dict[str, Any]:
        return {"rewriter": self.name, "weights": self.weights.digest, "operators": len(operators())}

    def turn(self, request: Request) -> Rewrite:
        if request.language not in (None, "eng"):
            return Rewrite.failed(request, "language", f"The rules are English; the claim is '{request.language}'.")
        draw = random.Random(request.seed)
        weights = self._weights(request)
        if request.target is None:
            tried = self._unsteered(request, weights, draw)
        else:
            wanted = {name: weights[name] for name in serving(request.target)}
            pull = sum(wanted.values())
            if not request.must_rewrite and draw.random() >= pull / (pull + self.weights.role.bystander):
                return Rewrite(request.text, "bystander", reason=f"Not drawn to {request.target}.")
            tried = self._several(wanted, draw)
            if draw.random() < self.weights.role.habit:
                tried = [*self._unsteered(request, weights, draw)[:1], *tried]  # the aim has the last word
        return self._apply(request, tried, draw)

    def _unsteered(self, request: Request, weights: dict[str, float], draw: random.Random) -> list[str]:
        if request.opinion is None:
            return self._several(weights, draw)
        heard = self._profile_weights(dict(request.opinion))
        share = 1 / self.weights.role.hub
        return self._several({name: w * heard[name] ** share for name, w in weights.items()}, draw)

    def _several(self, weights: dict[str, float], draw: random.Random) -> list[str]:
        """Different operators, in proportion to their weights; one at least."""
        left = {name: weight for name, weight in weights.items() if weight > 0}
        chosen: list[str] = []
        while left and len(chosen) < self.weights.role.most:
            if chosen and draw.random() >= self.weights.role.eager:
                break
            name = draw.choices(list(left), weights=list(left.values()))[0]
            chosen.append(name)
            del left[name]
        return chosen

    def _apply(self, request: Request, tried: list[str], draw: random.Random) -> Rewrite:
        text, marks = request.text, []
        for name in tried:
            text, fired = operators()[name].apply(text, draw, request.context)
            marks.append(Fired(name, fired))
        done = [mark.name for mark in marks if mark.fired]
        attributes = self.weights.moved_by(request.profile, done)
        because = ", ".join(f"{a} ({request.profile[a]})" for a in attributes) or "no attribute in particular"
        reason = (
            f"Did {', '.join(done)}; moved by {because}." if done else "Tried, but there was nothing left to change."
        )
        return Rewrite(text, "producer", tuple(marks), attributes, reason)

    def _weights(self, request: Request) -> dict[str, float]:
        return self._profile_weights(dict(request.profile))

    def _profile_weights(self, profile: dict[str, str]) -> dict[str, float]:
        key = tuple(sorted(profile.items()))
        if key not in self._known:
            self._known[key] = self.weights.of(profile)
        return self._known[key]


def REWRITER(settings: Settings) -> Rules:
    """Open the rule rewriter with the user's weights, or those that ship."""
    return Rules(Weights.read(settings.weights))
