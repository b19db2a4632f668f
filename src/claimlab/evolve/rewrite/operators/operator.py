"""An operator: one named edit of a claim, of a kind that the released traces show (edits.py)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from claimlab.evolve.claims.model import Target
from claimlab.evolve.rewrite.english.forms import fix_articles
from claimlab.evolve.rewrite.english.grammar import sound

SHORTEST = 6  # words that a cut must leave
Change = Callable[[str, random.Random, str | None], str]


@dataclass(frozen=True)
class Operator:
    """`change(text, draw, context)` gives the new text, or the same one where there is nothing to
    do.

    `kind` is one of `edits.KINDS`, by which operators are drawn as often as agents made such edits.
    `serves` are the targets that it brings a text nearer to.
    """

    name: str
    summary: str
    kind: str
    change: Change
    serves: tuple[Target, ...] = ()

    def apply(self, text: str, draw: random.Random, context: str | None = None) -> tuple[str, bool]:
        """The text after the operator, and whether it fired; a result with a new mistake is not
        taken.
        """
        changed = self.change(text, draw, context)
        after = fix_articles(changed) if changed != text else text
        return (after, True) if after != text and sound(text, after) else (text, False)


def targets(*words: str) -> tuple[Target, ...]:
    return tuple(Target.parse(word) for word in words)
