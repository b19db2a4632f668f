"""Library messages as the command line says them: the library names arguments (`force=True`) and
calls (`split(DIR, by='group')`), a person here types flags (--force) and commands (claimlab split
DIR --by group).
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from claimlab.cli.lazy import LazyVerbs, verb_names

_CALL = re.compile(r"`(\w+)\(([^`]*)\)`")
_ARGUMENT = re.compile(r"`(\w+(?:=[^`]+)?)`")


def in_flags(message: str, command: str | Sequence[str]) -> str:
    """`message` with the flags of `command` ("split", or the arguments it was called with); what
    that does not offer is left as it is."""
    if "`" not in message:  # to build a command costs more than most messages
        return message
    flags = _flags(command.split() if isinstance(command, str) else command)
    message = _CALL.sub(lambda call: _command(call[1], call[2]) or call[0], message)
    return with_flags(message, flags)


def with_flags(message: str, flags: Mapping[str, str]) -> str:
    """`message` with `flags` (argument -> flag) in place of the arguments that it names."""
    return _ARGUMENT.sub(lambda argument: _flag(argument[1], flags) or argument[0], message)


def as_flag(argument: str, value: str | list[str], command: Sequence[str]) -> list[str]:
    """The words that give an argument of a command its value; a list is the flag several times."""
    if not isinstance(value, str):
        return [word for part in value for word in as_flag(argument, part, command)]
    flag = _flags(command).get(argument, f"--{argument.replace('_', '-')}")
    if flag.endswith("="):
        return [*flag.split()[:1], f"{argument}={value}"]
    return [f"{flag}={value}"] if value.startswith("-") else [flag, value]


def _command(name: str, arguments: str) -> str | None:
    """A call as a command; null when no verb has that name."""
    verb = {"import_files": "import"}.get(name, name)
    if verb not in verb_names():
        return None
    flags = _flags([verb])
    words = [word.strip() for word in arguments.split(",") if word.strip()]
    return " ".join(
        [
            "claimlab",
            verb,
            *((_flag(word, flags) if "=" in word else None) or word for word in words),
        ]
    )


def _flag(argument: str, flags: Mapping[str, str]) -> str | None:
    """`name`, `name=True`, `name=False` or `name=value` as a flag; null when the command has
    none.
    """
    name, _, value = argument.partition("=")
    flag = flags.get(name, "")
    if flag.endswith("="):  # a setting: --set name=value
        return flag + (value.strip(chr(34) + chr(39)).lower() if value else "VALUE")
    if value == "False":
        return flags.get(f"no_{name}")
    if name not in flags or value in ("", "True"):
        return flags.get(name)
    if value.startswith("["):  # a list is the same flag several times
        return " ".join(f"{flags[name]} {shlex.quote(item)}" for item in ast.literal_eval(value))
    return f"{flags[name]} {shlex.quote(value.strip(chr(34) + chr(39)))}"


def _flags(args: Sequence[str]) -> dict[str, str]:
    """Argument -> flag of the command that `args` name (a verb, or a sub-command of one)."""
    verb: Any = LazyVerbs().get_command(None, args[0]) if args else None
    below = getattr(verb, "commands", {})
    command = next((below[name] for name in args[1:] if name in below), verb)
    general = {"debug": "--debug", "as_json": "--json", "estimate": "--estimate"}
    typed = {
        parameter.name: parameter.name.upper()
        if parameter.param_type_name == "argument"
        else parameter.opts[0]
        for parameter in getattr(command, "params", ())
    }
    return general | typed | {name: f"--set {name}=" for name in getattr(command, "settings", ())}
