"""Every operator of the rule rewriter, by name."""

from __future__ import annotations

from functools import cache

from claimlab.evolve.claims.model import Target
from claimlab.evolve.rewrite.operators.details import detail_operators
from claimlab.evolve.rewrite.operators.operator import Operator
from claimlab.evolve.rewrite.operators.phrases import phrase_operators


@cache
def operators() -> dict[str, Operator]:
    return {operator.name: operator for operator in (*phrase_operators(), *detail_operators())}


@cache
def serving(target: Target) -> tuple[str, ...]:
    """The operators that help to reach `target`."""
    return tuple(name for name, operator in operators().items() if target in operator.serves)
