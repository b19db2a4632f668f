"""A function that takes what another takes: same signature, same defaults, same refusals."""

from __future__ import annotations

import inspect

import pytest

from claimlab.core.arguments import Arguments, same_arguments


def add(first: int, second: int = 2, *, times: int = 1) -> int:
    return (first + second) * times


@same_arguments(add)
def shown(call: Arguments) -> str:
    return f"({call.first} + {call.second}) * {call.times}"


@same_arguments(add, required="second")
def strictly(call: Arguments) -> int:
    return add(**vars(call))


def test_the_arguments_and_defaults_are_those_of_the_other_function() -> None:
    assert shown(1) == "(1 + 2) * 1"
    assert shown(1, 5, times=3) == "(1 + 5) * 3"
    assert inspect.signature(shown).parameters == inspect.signature(add).parameters
    assert inspect.signature(shown).return_annotation == "str"


def test_what_the_other_function_does_not_take_is_refused() -> None:
    with pytest.raises(TypeError, match="unexpected"):
        shown(1, many=3)  # type: ignore[call-arg]


def test_an_argument_can_lose_its_default() -> None:
    with pytest.raises(TypeError, match="second"):
        strictly(1)
    assert strictly(1, 3) == 4
