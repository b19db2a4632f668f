"""The rule rewriter: offline, seeded, English. An agent does what agents of the released traces
did, as often.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Mapping

from claimlab.core.types import JsonObject
from claimlab.evolve.rewrite.frequencies import Frequencies, frequencies
from claimlab.evolve.rewrite.operators.all import operators, serving
from claimlab.evolve.rewrite.rewriter import Fired, Request, Rewrite, Settings
from claimlab.evolve.rewrite.weights import Weights

LANGUAGES = ("eng",)


class Rules:
    name = "rules"

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self._known: dict[tuple[tuple[str, str], ...], dict[str, float]] = {}

    async def rewrite(self, request: Request) -> Rewrite:
        await asyncio.sleep(
            0
        )  # rules never wait for anything: without this, Ctrl-C would be heard late
        return self.turn(request)

    async def close(self) -> None:
        """Nothing is held."""

    def describe(self) -> JsonObject:
        return {
            "rewriter": self.name,
            "weights": self.weights.digest,
            "operators": len(operators()),
        }

    def turn(self, request: Request) -> Rewrite:
        if request.language not in (None, *LANGUAGES):
            wrong = f"The rules know English only; the claim is in '{request.language}'."
            return Rewrite.failed(request, "language", wrong)
        draw, known = random.Random(request.seed), frequencies(request.target)
        weights = self._weights(request, known)
        if (
            request.target is not None
            and not request.must_rewrite
            and not self._produces(request, known, draw)
        ):
            return Rewrite(request.text, "bystander", reason=f"Not drawn to {request.target}.")
        return self._edited(request, weights, known, draw)

    def _produces(self, request: Request, known: Frequencies, draw: random.Random) -> bool:
        """As many agents rewrite as in the released traces; those whose attributes are near the
        target more often.
        """
        assert request.target is not None
        wanted = serving(request.target)
        profile = self._of_profile(dict(request.profile))
        nearness = sum(profile[name] for name in wanted) / sum(
            self.weights.base.get(name, 1.0) for name in wanted
        )
        chance = known.producers * nearness
        return draw.random() < chance / (chance + 1 - known.producers)

    def _weights(self, request: Request, known: Frequencies) -> dict[str, float]:
        """Of every operator: how often edits of its kind occur, shared among the kind, times what
        the agent is like.
        """
        own = self._of_profile(dict(request.profile))
        if request.opinion is not None:
            opinion, share = self._of_profile(dict(request.opinion)), 1 / self.weights.role.hub
            own = {name: weight * opinion[name] ** share for name, weight in own.items()}
        shares = known.at(request.step if request.round == 1 else 3).shares
        members = Counter(operator.kind for operator in operators().values())
        against = _undoing(request) if request.target is not None else frozenset()
        return {
            name: (
                0.0
                if name in against
                else shares[operator.kind] * own[name] / members[operator.kind]
            )
            for name, operator in operators().items()
        }

    def _edited(
        self,
        request: Request,
        weights: Mapping[str, float],
        known: Frequencies,
        draw: random.Random,
    ) -> Rewrite:
        """Edits of the agent's own, then one that serves the target; a turn that changes nothing is
        a bystander's.
        """
        edits = known.at(request.step).edits / self.weights.role.shows
        count = int(edits) + (draw.random() < edits - int(edits))
        most = known.most_words(request.origin or request.text)
        text, marks = request.text, list[Fired]()
        wanted = (
            {name: weights[name] or 0.01 for name in serving(request.target)}
            if request.target is not None
            else {}
        )
        others = {name: weight for name, weight in weights.items() if name not in wanted}
        serve = max(1, round(count / 2)) if wanted else 0
        for pool, wished in ((others, count - serve), (wanted, serve)):
            text = self._several(text, request, pool, wished, most, marks, draw)
        if text == request.text:  # one more look at everything, before the claim goes on as it came
            text = self._several(text, request, weights, 1, most, marks, draw)
        done = [mark.name for mark in marks if mark.fired]
        if text == request.text:
            return Rewrite(text, "bystander", tuple(marks), reason="There was nothing to change.")
        attributes = self.weights.moved_by(request.profile, done)
        because = (
            ", ".join(f"{a} ({request.profile[a]})" for a in attributes)
            or "no attribute in particular"
        )
        return Rewrite(
            text,
            "producer",
            tuple(marks),
            attributes,
            f"Did {', '.join(done)}; moved by {because}.",
        )

    def _several(
        self,
        text: str,
        request: Request,
        weights: Mapping[str, float],
        count: int,
        most: int,
        marks: list[Fired],
        draw: random.Random,
    ) -> str:
        """`count` operators that fire, drawn by weight, each tried once; what grows too long is not
        taken.
        """
        left = {name: weight for name, weight in weights.items() if weight > 0}
        while count > 0 and left:
            name = draw.choices(list(left), weights=list(left.values()))[0]
            del left[name]
            after, fired = operators()[name].apply(text, draw, request.context)
            taken = fired and (
                len(after.split()) <= most or len(after.split()) <= len(text.split())
            )
            marks.append(Fired(name, taken))
            if taken:
                text, count = after, count - 1
        return text

    def _of_profile(self, profile: dict[str, str]) -> dict[str, float]:
        key = tuple(sorted(profile.items()))
        if key not in self._known:
            self._known[key] = self.weights.of(profile)
        return self._known[key]


def _undoing(request: Request) -> frozenset[str]:
    """The operators that serve another value of the same dimension, and not this one."""
    assert request.target is not None
    return frozenset(
        name
        for name, operator in operators().items()
        if any(t.dimension == request.target.dimension for t in operator.serves)
        and request.target not in operator.serves
    )


def REWRITER(settings: Settings) -> Rules:
    """Open the rule rewriter with the user's weights, or those that ship."""
    return Rules(Weights.read(settings.weights))
