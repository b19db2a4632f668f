"""A command of the command line, made from the function that does the work.

    @app.of(front.audit, lists={"checks": summaries})
    def audit(call: Call[Audited], verbose: Annotated[bool, Option("...")] = False) -> None:
        audited = call()
        ...

The options are those that the signature of the function declares (`core/options`): the sentence,
the type and the default are read from there. What the command line adds are the parameters of the
function that prints the result, declared in the same words; one that has the name of an option
takes its place. `Setting`s have no flag of their own: --set NAME=VALUE gives them. Every command
understands `--json`, those that write a page `--open`, and those that ask a model or a search
`--estimate` (`cli/asked`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import starmap, takewhile
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from claimlab.cli import complete
from claimlab.cli.asked import ESTIMATE, JSON, OPEN, is_asked
from claimlab.cli.flags import with_flags
from claimlab.cli.output import listing, page, progress_bar, refuse_nothing_to_open, show_estimate
from claimlab.core.calls.estimate import cost_of
from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.fetch.schemes import as_address, is_address
from claimlab.core.options import REQUIRED, Argument, Option, Parameter, Setting, parameters_of
from claimlab.core.types import JsonObject

T = TypeVar("T")
Summaries = Callable[[], Mapping[str, str]]
SET = "--set"
_NUMBERS = {int: "a whole number", float: "a number"}
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

ALWAYS = "always"  # a page is written whatever the options are
Strict = Annotated[bool, Option("Exit with 3 when a check fails.")]
_SET = Parameter(
    "settings_",
    Sequence[str],
    (),
    Option("A setting, of those below; may be repeated.", flag=SET, metavar="NAME=VALUE"),
)


@dataclass(frozen=True)
class Call(Generic[T]):
    """The function of a verb with the options that were typed."""

    function: Callable[..., T]
    options: JsonObject
    start: str = "starting"
    page: str = ""  # the option whose folder a page is written to

    def __call__(self, **more: Any) -> T:
        """Do the work, with a bar where a person watches; or print what it would cost, and exit.
        `more` are arguments that are not what was typed.
        """
        if is_asked(ESTIMATE):
            show_estimate(cost_of(self.function, **(self.options | more)))
            raise typer.Exit
        with progress_bar(start=self.start):
            return self.function(**(self.options | more))

    def __getitem__(self, name: str) -> Any:
        """The value of an option, or its default."""
        return self.options.get(name, parameters_of(self.function)[name].default)

    @property
    def output(self) -> Path:
        """Where the result was written; only where that was asked for."""
        return Path(self["output"])

    def show_page(self, *inside: str) -> None:
        """Say where the page is, if one was written, and open it where that was asked for."""
        if (folder := self[self.page]) is not None:
            page(Path(folder, *inside, "index.html"))


class WithSettings:
    """A command that lists its settings below its options."""

    settings: Mapping[str, Parameter] = {}
    general: Sequence[str] = (JSON,)  # the words of `cli/asked` that it understands

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What must be given is without brackets; Typer puts it in braces."""
        return [piece.strip("{").replace("}", "") for piece in super().collect_usage_pieces(ctx)]  # type: ignore[misc]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        super().format_options(ctx, formatter)  # type: ignore[misc]
        flags = flags_of(self)  # type: ignore[arg-type]
        rows = [
            (
                f"{name}={setting.option.metavar or setting.kind.__name__.upper()}",
                f"{with_flags(setting.option.help, flags)}{_default(setting)}",
            )
            for name, setting in self.settings.items()
            if setting.option is not None
        ]
        if rows:
            with formatter.section(f"Settings ({SET} NAME=VALUE)"):
                formatter.write_dl(rows)


def build(
    function: Callable[..., T],
    show: Callable[..., None],
    *,
    lists: Mapping[str, Summaries] = {},
    flags: Sequence[str] = (),
    start: str = "starting",
    page: str = "",
    can_ask: bool = True,
) -> tuple[JsonObject, Callable[..., None]]:
    """What a command has (settings and general words), and its callback, as Typer takes it. `lists`
    are options that list what exists and exit; `flags` names settings that have a flag of their own
    here after all; `start` is what the progress bar says first; `page` names the option whose
    folder a page is written to; `can_ask` is false where a recording is only read.
    """
    own = {name: parameter for name, parameter in parameters_of(show).items() if name != "call"}
    typed, settings = _typed_and_set(parameters_of(function) | own, own, flags)
    theirs = {name: parameter for name, parameter in (typed | settings).items() if name not in own}
    understood = {OPEN: bool(page), ESTIMATE: can_ask and "max_cost" in theirs}
    general = [word for word, is_understood in understood.items() if is_understood]
    rest = next((name for name, parameter in typed.items() if parameter.flag == SET), None)
    parameters = _parameters(typed, settings, rest) + list(starmap(_listing, lists.items()))

    def callback(**values: Any) -> None:
        values = _given(values)
        _refuse_unknown(general)
        if page not in ("", ALWAYS):
            refuse_nothing_to_open(values.get(page), typed[page].flag)
        values |= _settings(values.pop(rest or _SET.name, []), settings, rest)
        values |= {name: _typed(typed[name], values[name]) for name in typed if name in values}
        own_values = {name: value for name, value in values.items() if name in own}
        options = {name: values[name] for name in theirs if name in values}
        defaults = {name: parameter.default for name, parameter in theirs.items()}
        call = Call(function, options, start.format_map(defaults | options), page)
        show(*([] if function is show else [call]), **own_values)

    callback.__dict__["__signature__"] = inspect.Signature(parameters)  # Typer reads it
    return {"settings": settings, "general": (*general, JSON)}, callback


def _parameters(
    typed: Mapping[str, Parameter], settings: Mapping[str, Parameter], rest: str | None
) -> list[inspect.Parameter]:
    """The options as Typer takes them, and --set where there are settings."""
    names = {name: parameter.flag for name, parameter in typed.items()}
    names |= {name: f"{SET} {name}=" for name in settings}
    on_the_line = [*typed.values(), _SET] if settings and rest is None else typed.values()
    return [_typer_parameter(parameter, names) for parameter in on_the_line]


def _given(values: JsonObject) -> JsonObject:
    return {name: value for name, value in values.items() if value not in (None, [], ())}


def _typed_and_set(
    parameters: Mapping[str, Parameter], own: Mapping[str, Parameter], flags: Sequence[str]
) -> tuple[dict[str, Parameter], dict[str, Parameter]]:
    """The parameters that have a flag or a place, and those that --set gives."""
    typed, settings = {}, {}
    for name, parameter in parameters.items():
        if isinstance(parameter.option, Setting) and name not in flags:
            settings[name] = parameter
        elif parameter.option is not None or name in own:
            typed[name] = parameter
    return typed, settings


def _refuse_unknown(general: Sequence[str]) -> None:
    for word in (OPEN, ESTIMATE):
        if is_asked(word) and word not in general:
            raise UsageError(f"This command has no option {word}.", "Leave it out.")


def _typer_parameter(parameter: Parameter, names: Mapping[str, str]) -> inspect.Parameter:
    """A parameter as Typer reads it."""
    if parameter.hint is typer.Context:
        return _keyword(parameter.name, parameter.hint)
    option = parameter.option
    assert option is not None, f"{parameter.name} has no sentence"
    kind: Any = str if parameter.kind is date else parameter.kind
    kind = list[kind] if parameter.is_many else kind
    single = isinstance(parameter.default, str | int | float) and not parameter.is_many
    plain = parameter.default if single else None
    info = _info(parameter, option, with_flags(option.help, names), plain)
    if parameter.default is REQUIRED or option.required:
        return _keyword(parameter.name, Annotated[kind, info])
    kind = kind if plain is not None else kind | None
    return _keyword(parameter.name, Annotated[kind, info], plain)


def _keyword(name: str, annotation: Any, default: Any = REQUIRED) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _info(parameter: Parameter, option: Option, sentence: str, plain: object) -> Any:
    """What Typer is told about a parameter besides its type."""
    placed = isinstance(option, Argument)
    details: JsonObject = {
        "help": sentence,
        "metavar": option.metavar or (parameter.name.upper() if placed else None),
        "min": option.least,
        "max": option.most,
    }
    if plain is None and _default(parameter):
        details["show_default"] = _shown(parameter.default)
    if option.complete is not None:
        details["autocompletion"] = getattr(complete, option.complete)
    if placed:
        return typer.Argument(**details)
    return typer.Option(*filter(None, (parameter.flag, option.short)), **details)


def _shown(default: Any) -> str:
    """A default for a person: of an object its name, of several their names."""
    if isinstance(default, tuple | list):
        return ",".join(map(str, default))
    return str(default if isinstance(default, Path) else getattr(default, "name", default))


def _default(parameter: Parameter) -> str:
    empty = parameter.default in (None, REQUIRED, (), [], False, "")
    return "" if empty else f"  [default: {_shown(parameter.default)}]"


def _listing(what: str, summaries: Summaries) -> inspect.Parameter:
    """An option that lists what exists, and exits, whatever else is missing."""

    def listed(ctx: typer.Context, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            listing(what, dict(summaries()), verb=ctx.info_name or "")
            raise typer.Exit

    info = typer.Option(
        f"--{what}", help=f"List the {what}, and exit.", callback=listed, is_eager=True
    )
    return _keyword(f"list_{what}", Annotated[bool, info], False)


def flags_of(command: Command | WholeSummaries) -> dict[str, str]:
    """Parameter -> flag of a command."""
    typed = {param.name: param.opts[0] for param in command.params if param.name}
    return typed | {name: f"{SET} {name}=" for name in command.settings}


def _settings(
    words: Sequence[str], settings: Mapping[str, Parameter], rest: str | None
) -> JsonObject:
    """NAME=VALUE as arguments. Names that are not known go to the argument `rest`, where there is
    one: they are settings of what the verb makes.
    """
    values: JsonObject = {}
    for word in words:
        name, equals, text = word.partition("=")
        name = name.strip().replace("-", "_")
        if name in settings and equals:
            value = _value(settings[name], text)
            values[name] = [*values.get(name, []), value] if settings[name].is_many else value
        elif rest is not None:
            values.setdefault(rest, []).append(word)
        elif not equals:
            raise UsageError(f"'{word}' is not a setting.", f"Write: {SET} NAME=VALUE")
        else:
            raise UnknownName("setting", name, sorted(settings))
    return values


def _typed(parameter: Parameter, value: Any) -> Any:
    """Days and addresses of data are read here: Typer knows days only with a time, and takes an
    address for a path."""
    if isinstance(value, list):
        return [_typed(parameter, each) for each in value]
    if isinstance(value, Path):
        return as_address(value) or value
    return _value(parameter, value) if parameter.kind is date and isinstance(value, str) else value


def _value(parameter: Parameter, text: str) -> Any:
    """The value of a setting, by its declaration."""
    option, kind = parameter.option, parameter.kind
    assert option is not None
    try:
        value = _WORDS[text.lower()] if kind is bool else _read(kind, text)
    except (KeyError, ValueError):
        should = "true or false" if kind is bool else _NUMBERS.get(kind, "a day: YYYY-MM-DD")
        raise _refused(parameter, f"Give {should}.") from None
    if option.least is not None and value < option.least:
        raise _refused(parameter, f"Give a number greater than or equal to {option.least:g}.")
    if option.most is not None and value > option.most:
        raise _refused(parameter, f"Give a number less than or equal to {option.most:g}.")
    return value


def _read(kind: type, text: str) -> Any:
    if kind is Path and is_address(text):
        return text
    return date.fromisoformat(text) if kind is date else kind(text)


def _refused(parameter: Parameter, todo: str) -> UsageError:
    return UsageError(f"The value of {SET} {parameter.name} is not valid.", todo)


class Command(WithSettings, TyperCommand):
    """A command with settings."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The last of two values would win without a word."""
        words = list(takewhile(lambda word: word != "--", args))
        for param in self.params:
            takes_one = isinstance(param, TyperOption) and not (param.multiple or param.is_flag)
            if takes_one and sum(word.split("=")[0] in param.opts for word in words) > 1:
                raise UsageError(f"{param.opts[0]} is given twice.", "Give it once.")
        return super().parse_args(ctx, args)


class WholeSummaries(WithSettings, TyperGroup):
    """Sub-commands with their summaries in full: Typer would cut them at the end of the line."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        commands = self.list_commands(ctx)
        if args[0] not in commands and not args[0].startswith("-"):
            raise UnknownName(f"command of '{ctx.command_path}'", args[0], commands)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        named = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        rows = [
            (name, " ".join((summary.help or "").split("\n\n")[0].split()))
            for name, summary in named.items()
            if summary
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class Verb(typer.Typer):
    """The commands of a verb."""

    def of(
        self,
        function: Callable[..., Any] | None,
        name: str | None = None,
        *,
        group: type[WholeSummaries] | None = None,
        **details: Any,
    ) -> Callable[[Callable[..., None]], Callable[..., None]]:
        """Make a command of `function`; what is decorated prints its result (`cli/command`). Null:
        what is decorated does it all, for the command line alone. With `group`, the verb itself is
        the command, beside its sub-commands.
        """

        def register(show: Callable[..., None]) -> Callable[..., None]:
            features, callback = build(function or show, show, **details)
            doc = show.__doc__ or (function.__doc__ if function else None)
            about = inspect.cleandoc(doc or "").split("\n\n")[0]
            cls = type("Command", (group or Command,), features)
            if group is None:
                self.command(name or show.__name__, cls=cls, help=about)(callback)
            else:
                self.callback(
                    cls=cls, help=about, invoke_without_command=True, no_args_is_help=False
                )(callback)
            return show

        return register


def verb(**settings: Any) -> Verb:
    """The Typer app of a verb file, set up as all of them are."""
    return Verb(
        cls=WholeSummaries,
        rich_markup_mode=None,
        add_completion=False,
        no_args_is_help=True,
        **settings,
    )
