"""A command as a person would type it, from the declaration of its verb and the values chosen."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence

from claimlab.core.options import Parameter, Setting, parameters_of
from claimlab.core.types import Json

Value = Json | Sequence[str]


def words_of(
    verb: str, function: Callable[..., object], data: Sequence[str], options: Mapping[str, Value]
) -> list[str]:
    """The words after `claimlab`: what is read, and an option for each value that is given."""
    declared = parameters_of(function)
    places = [f"./{place}" if place.startswith("-") else place for place in data]
    flags = [word for name, value in options.items() for word in _option(declared[name], value)]
    return [verb, *places, *flags]


def shell(words: Sequence[str]) -> str:
    """The command to copy."""
    return shlex.join(["claimlab", *words])


def flag_of(parameter: Parameter) -> str:
    """How a person would type the option, without its value."""
    if isinstance(parameter.option, Setting):
        return " ".join(("--set", parameter.name))
    return parameter.flag.partition("/")[0]


def _option(parameter: Parameter, value: Value) -> list[str]:
    option = parameter.option
    assert option is not None, parameter.name
    flag, name = option.short or parameter.flag, ""
    if isinstance(option, Setting):
        flag, name = "--set", f"{parameter.name}="
    elif isinstance(value, bool):
        on, _, off = (option.flag or parameter.flag).partition("/")
        return [on] if value else off.split()
    values = value if isinstance(value, list | tuple) else [value]
    return [word for item in values for word in _pair(flag, name + _text(item))]


def _pair(flag: str, value: str) -> list[str]:
    """A flag with its value; one that looks like a flag itself is tied to it."""
    return [f"{flag}={value}"] if value.startswith("-") else [flag, value]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
