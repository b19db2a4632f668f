"""Library messages as the command line says them: the library names arguments (`force=True`), a person here types
flags (--force)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from claimlab.cli.lazy import LazyVerbs

_ARGUMENT = re.compile(r"`(\w+)(?:=(?:(True|False)|[\"']([^`\"']*)[\"']|([\w.]+)))?`")


def in_flags(message: str, command: str | Sequence[str]) -> str:
    """`message` with the flags of `command` ("split", or the arguments it was called with); what that does not offer is
    left as it is."""
    flags = _flags(_command(command.split() if isinstance(command, str) else command))

    def flag(argument: re.Match[str]) -> str:
        name, switch, words, number = argument.groups()
        if switch == "False":
            return flags.get(f"no_{name}") or flags.get(f"not {name}") or argument[0]
        if name not in flags:
            return argument[0]
        value = words or number
        return flags[name] if not value else f"{flags[name]} {value}"

    return _ARGUMENT.sub(flag, message)


def _command(args: Sequence[str]) -> Any:
    """The command that `args` name: a verb, or a sub-command of one; null when there is none."""
    verb: Any = LazyVerbs().get_command(None, args[0]) if args else None
    below = getattr(verb, "commands", {})
    return next((below[name] for name in args[1:] if name in below), verb)


def _flags(command: Any) -> dict[str, str]:
    """Argument -> flag; "not ARGUMENT" -> the flag that switches it off, where a pair is offered."""
    options = [o for o in getattr(command, "params", ()) if o.opts and o.opts[0].startswith("--")]
    off = {f"not {o.name}": o.secondary_opts[0] for o in options if o.secondary_opts}
    return {**{o.name: o.opts[0] for o in options}, **off}
