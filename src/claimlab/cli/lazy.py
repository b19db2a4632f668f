"""The verbs by name: each file is imported when its verb is asked for, so that `claimlab --help`
feels instant.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command as to_command

from claimlab.cli.asked import GENERAL, JSON, without_general
from claimlab.cli.complete import COMPLETING, words_of
from claimlab.core import packaged
from claimlab.core.companions import also_said, with_companions
from claimlab.core.errors import ClaimlabError, UsageError, either
from claimlab.core.registry import Registry

# A file of `cli/verbs`, or a module that an installed package names; `app` has its commands.
VERBS: Registry[Any] = Registry(
    "command", package="claimlab.cli.verbs", attribute="app", group="claimlab.verbs"
)
_WORDS = packaged.toml("claimlab.cli", "verbs.toml")
# What is in each group of the help: verb -> summary.
GROUPS: dict[str, dict[str, str]] = with_companions(_WORDS["groups"])
ALSO: dict[str, str] = _WORDS["also"] | also_said()
_ALWAYS = "-q, --quiet for results and errors only; --debug for the traceback of an error."
_OURS = {
    "a valid integer": "Give a whole number",
    "a valid number": "Give a number",
    "((?:greater|less) than .*)": r"Give a number \1",
}


def verb_names() -> list[str]:
    return VERBS.names()


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
        if not VERBS.offers(cmd_name):
            return None
        if COMPLETING in os.environ:
            return to_command(words_of(cmd_name, VERBS.place(cmd_name)) or VERBS.get(cmd_name))
        command: Any = to_command(VERBS.get(cmd_name))
        command.name = cmd_name
        _say_what_all_share(command)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if not VERBS.offers(args[0]):
            raise VERBS.absent(args[0]) or UsageError(
                f"There is no command named '{args[0]}'.", _instead(args[0])
            )
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
        """Every verb with its summary; those of a companion that is not installed say so."""
        listed = {name for group in GROUPS.values() for name in group}
        rest = {name: self._summary(ctx, name) for name in verb_names() if name not in listed}
        for title, group in {**GROUPS, "More": rest}.items():
            rows = [(f"{name:<8}", summary) for name, summary in group.items()]
            missing = next(filter(None, map(_absent, group)), None)
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
                    if missing:
                        formatter.write_text(str(missing).replace("'", ""))

    def _summary(self, ctx: Any, name: str) -> str:
        """Of a verb of another package, which may not load."""
        try:
            summary: str = self.get_command(ctx, name).get_short_help_str(66)
        except ClaimlabError as error:
            return error.problem
        return summary


def _absent(name: str) -> ClaimlabError | None:
    return None if VERBS.offers(name) else VERBS.absent(name)


def _instead(word: str) -> str:
    """What a mistyped verb was probably meant to be."""
    verb = ALSO.get(word.lower())
    alike = difflib.get_close_matches(word.lower(), verb_names(), n=2, cutoff=0.6)
    near = [verb] if verb else alike
    return f"Did you mean {either(near)}?" if near else "To see them all: claimlab --help"


def _no_such_option(error: Any) -> UsageError:
    """A mistyped option, with the one that was probably meant."""
    place, word = error.ctx.command_path, error.option_name
    command = error.ctx.command
    flags = {option for parameter in command.params for option in parameter.opts}
    names = sorted(flag[2:] for flag in {*flags, *command.general} if flag.startswith("--"))
    bare = word.lower().lstrip("-")  # two dashes are alike in all options
    if bare.replace("-", "_") in getattr(error.ctx.command, "settings", ()):
        todo = f"It is a setting: --set {bare.replace('-', '_')}=VALUE"
        return UsageError(f"'{place}' has no option {word}.", todo)
    meant = _WORDS["also_options"].get(bare)
    near = [meant] if meant in names else difflib.get_close_matches(bare, names, n=2, cutoff=0.7)
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


_IN_OUR_WORDS: dict[str, Callable[[Any], UsageError]] = {
    "NoSuchOption": _no_such_option,
    "BadParameter": _bad_value,
    "MissingParameter": _missing,
}
