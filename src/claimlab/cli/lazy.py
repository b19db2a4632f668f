"""The verbs by name: each file is imported when its verb is asked for, so that `claimlab --help`
feels instant.
"""

from __future__ import annotations

import difflib
import importlib
import os
import pkgutil
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command as to_command

from claimlab.cli import verbs
from claimlab.cli.asked import GENERAL, JSON, without_general
from claimlab.cli.complete import COMPLETING, words_of
from claimlab.core import packaged
from claimlab.core.errors import UsageError, either

_WORDS = packaged.toml("claimlab.cli", "verbs.toml")
GROUPS: dict[str, dict[str, str]] = _WORDS["groups"]
_ALWAYS = "-q, --quiet for results and errors only; --debug for the traceback of an error."


@cache
def verb_names() -> list[str]:
    return sorted(
        m.name.rstrip("_")
        for m in pkgutil.iter_modules(verbs.__path__)
        if not m.name.startswith("_")
    )


def _say_what_all_share(command: Any) -> None:
    general = "; ".join(f"{word} {GENERAL[word]}" for word in getattr(command, "general", (JSON,)))
    command.epilog = f"Also: {general}; {_ALWAYS}"
    for below in getattr(command, "commands", {}).values():
        _say_what_all_share(below)


class LazyVerbs(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return verb_names()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, without_general(args))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in verb_names():
            return None
        if COMPLETING in os.environ:
            return to_command(words_of(cmd_name))
        file = "import_" if cmd_name == "import" else cmd_name
        module = importlib.import_module(f"claimlab.cli.verbs.{file}")
        command: Any = to_command(module.app)
        command.name = cmd_name
        _say_what_all_share(command)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in verb_names():
            raise UsageError(f"There is no command named '{args[0]}'.", _instead(args[0]))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            words = _IN_OUR_WORDS.get(
                type(error).__name__
            )  # the classes are in a private module of typer
            if words is None:
                raise
            raise words(error) from None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        listed = {name for group in GROUPS.values() for name in group}
        rest = {
            name: self.get_command(ctx, name).get_short_help_str(66)
            for name in verb_names()
            if name not in listed
        }
        for title, group in {**GROUPS, "More": rest}.items():
            rows = [(name, summary) for name, summary in group.items() if name in verb_names()]
            if rows:
                with formatter.section(title):
                    formatter.write_dl([(f"{name:<8}", summary) for name, summary in rows])


def _instead(word: str) -> str:
    """What a mistyped verb was probably meant to be."""
    known = _WORDS["also"].get(word.lower())
    near = (
        [known] if known else difflib.get_close_matches(word.lower(), verb_names(), n=2, cutoff=0.6)
    )
    return f"Did you mean {either(near)}?" if near else "To see them all: claimlab --help"


def _no_such_option(error: Any) -> UsageError:
    """A mistyped option, with the one that was probably meant."""
    place, word = error.ctx.command_path, error.option_name
    command = error.ctx.command
    flags = {option for parameter in command.params for option in parameter.opts}
    known = sorted(flag[2:] for flag in {*flags, *command.general} if flag.startswith("--"))
    bare = word.lower().lstrip("-")  # two dashes are alike in all options
    if bare.replace("-", "_") in getattr(error.ctx.command, "settings", ()):
        todo = f"It is a setting: --set {bare.replace('-', '_')}=VALUE"
        return UsageError(f"'{place}' has no option {word}.", todo)
    meant = _WORDS["also_options"].get(bare)
    near = [meant] if meant in known else difflib.get_close_matches(bare, known, n=2, cutoff=0.7)
    todo = (
        f"Did you mean {' or '.join(f'--{name}' for name in near)}?"
        if near
        else f"To see its options: {place} --help"
    )
    return UsageError(f"'{place}' has no option {word}.", todo)


def _bad_value(error: Any) -> UsageError:
    """A value that an option cannot take; what it should be is said in pydantic's words, which are
    made ours.
    """
    option = error.param.opts[0] if error.param is not None else "An argument"
    words = error.message.rstrip(".")
    for theirs, ours in _OURS.items():
        words = re.sub(f"^Input should be {theirs}.*", ours, words, flags=re.DOTALL)
    return UsageError(f"The value of {option} is not valid.", f"{words}.")


def _missing(error: Any) -> UsageError:
    """An argument or option that a command cannot do without, with what its help says of it."""
    place, param = error.ctx.command_path, error.param
    name = param.opts[0] if param.opts[0].startswith("-") else (param.metavar or param.name)
    words = param.help.rstrip(".")
    if not words[1:2].isupper():  # CSV stays CSV
        words = words[:1].lower() + words[1:]
    return UsageError(f"'{place}' needs {name} ({words}).", f"To see its options: {place} --help")


_OURS = {
    "a valid integer": "Give a whole number",
    "a valid number": "Give a number",
    "((?:greater|less) than .*)": r"Give a number \1",
}
_IN_OUR_WORDS: dict[str, Callable[[Any], UsageError]] = {
    "NoSuchOption": _no_such_option,
    "BadParameter": _bad_value,
    "MissingParameter": _missing,
}
