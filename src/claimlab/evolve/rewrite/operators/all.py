"""Every operator of the rule rewriter, by name."""

from __future__ import annotations

from functools import cache

from claimlab.evolve.claims.model import Target
from claimlab.evolve.rewrite.operators.cause import cause_operators
from claimlab.evolve.rewrite.operators.figures import figure_operators
from claimlab.evolve.rewrite.operators.lexical import lexical_operators
from claimlab.evolve.rewrite.operators.modal import modal_operators
from claimlab.evolve.rewrite.operators.operator import Operator
from claimlab.evolve.rewrite.operators.order import order_operators
from claimlab.evolve.rewrite.operators.parts import part_operators
from claimlab.evolve.rewrite.operators.wrap import wrap_operators

_ALL = (
    lexical_operators,
    order_operators,
    part_operators,
    figure_operators,
    modal_operators,
    cause_operators,
    wrap_operators,
)


@cache
def operators() -> dict[str, Operator]:
    return {operator.name: operator for room in _ALL for operator in room()}


@cache
def serving(target: Target) -> tuple[str, ...]:
    """The operators that help to reach `target`."""
    return tuple(name for name, operator in operators().items() if target in operator.serves)
