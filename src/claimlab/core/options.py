"""The declaration of a verb: the typed signature of its function, with a sentence for each option.

    def audit(
        data: Annotated[Source, Argument("A claimlab dataset folder.")],
        *,
        checks: Annotated[Sequence[str], Option("Run only this check.", flag="--check")] = (),
        seed: Seed = 0,
        **calls: Unpack[CallOptions],
    ) -> Audited: ...

Name, type, default and sentence of an option are written there and nowhere else. The command line
(`cli/command`), its help, the reference and the study file read them with `parameters_of`; a type
checker and an editor read the signature itself, and `help` prints both (`core/docstring`). A
parameter for Python alone has its sentence in `InPython`. A sentence names other options as the
library's messages do (`by=time`): the command line says them as flags.

What many verbs share is declared here once. The rarely used options of calls are taken as
`**calls: Unpack[CallOptions]` and travel inside as that one value. A verb with many options of its
own takes them in the same way, in a TypedDict that adds to it: `divided` tells them apart.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import date
from functools import cache
from pathlib import Path
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypedDict,
    TypeVar,
    Union,
    Unpack,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Option:
    """What an option is for, in a sentence, and how it is typed on the command line."""

    help: str
    _: KW_ONLY
    flag: str | None = None  # made of the name by default
    short: str | None = None
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    complete: str | None = None  # whose names a shell offers: a function of cli/complete
    kind: type | None = None  # what the command line reads, where the type allows several
    default: Any = None  # of an option in a TypedDict, which has no place for it
    required: bool = False  # on the command line, where Python can do without it


@dataclass(frozen=True)
class InPython:
    """What a parameter is for that Python alone has, in a sentence."""

    help: str


@dataclass(frozen=True)
class Argument(Option):
    """An option that is given by its place: what the verb reads."""


@dataclass(frozen=True)
class Setting(Option):
    """An option that is rarely used: on the command line it is given by --set NAME=VALUE."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a verb's function: `option` is null where only Python has it."""

    name: str
    hint: Any
    default: Any
    option: Option | None

    @property
    def sentence(self) -> str:
        """What it is for, wherever it can be given; the outermost word counts."""
        words = getattr(self.hint, "__metadata__", ())
        said = [part.help for part in words if isinstance(part, Option | InPython)]
        return said[-1] if said else ""

    @property
    def is_many(self) -> bool:
        """Whether several values can be given."""
        return any(map(_is_list, types_in(self.hint)))

    @property
    def kind(self) -> type:
        """What the command line reads for it, or for each of several."""
        if self.option is not None and self.option.kind is not None:
            return self.option.kind
        inside = {part for type_ in types_in(self.hint) for part in (type_, *_within(type_))}
        return next(
            (type_ for type_ in (Path, bool, int, float, str, date) if type_ in inside), str
        )

    @property
    def flag(self) -> str:
        """How it is named on the command line; an argument by its place."""
        if isinstance(self.option, Argument):
            return self.name.upper()
        flag = None if self.option is None else self.option.flag
        return flag or f"--{self.name.replace('_', '-')}"


OUTPUT = Option("Folder to write the result to.", short="-o", required=True)
TASK = Option("A task or any column; what the labels are about, by default.")


def types_in(hint: Any) -> tuple[Any, ...]:
    """The types of a union, without what is said about them."""
    if get_origin(hint) is Annotated:
        return types_in(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return tuple(part for argument in get_args(hint) for part in types_in(argument))
    return (str,) if get_origin(hint) is Literal else (hint,)


def _is_list(hint: object) -> bool:
    """Whether a type is of several values; rows of a table are one."""
    kind = get_origin(hint)
    rows = get_origin(next(iter(get_args(hint)), None)) is Mapping
    return isinstance(kind, type) and issubclass(kind, Sequence) and not rows


def _within(hint: Any) -> tuple[Any, ...]:
    """The types that a collection holds."""
    return tuple(part for argument in get_args(hint) for part in types_in(argument))


@cache
def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of a function's parameters and of its result, with what is said about them."""
    return get_type_hints(function, include_extras=True)


@cache
def parameters_of(function: Callable[..., Any]) -> dict[str, Parameter]:
    """The parameters of a function by name; those of a typed `**` one by one."""
    hints = hints_of(function)
    parameters: dict[str, Parameter] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints.get(name, Any)
        if get_origin(hint) is Unpack:
            parameters |= _fields_of(get_args(hint)[0])
        else:
            parameters[name] = Parameter(name, hint, parameter.default, _option(hint))
    return parameters


def _fields_of(options: type) -> dict[str, Parameter]:
    assert is_typeddict(options)
    fields = {}
    hints = get_type_hints(options, include_extras=True)
    for name in sorted(hints, key=lambda name: name in BatchOptions.__annotations__):
        hint, option = hints[name], _option(hints[name])
        fields[name] = Parameter(name, hint, option.default if option else None, option)
    return fields


def _option(hint: Any) -> Option | None:
    """What is said about a type; the outermost word counts."""
    if get_origin(hint) is Annotated:
        words = [part for part in hint.__metadata__ if isinstance(part, Option)]
        return words[-1] if words else None
    return None


# What many verbs share.

Place = str | Path
OutputFolder = Annotated[Place | None, OUTPUT]
OptionalFolder = Annotated[
    Place | None, Option("Folder to write the result to; without it, only print.", short="-o")
]
Force = Annotated[bool, Option("Replace the output if it is a claimlab folder already.")]
Seed = Annotated[int, Option("Random seed.", least=0)]
Limit = Annotated[int | None, Option("Use only the first N records.", least=1)]
Sample = Annotated[int | None, Option("Use only N records, drawn at random.", least=1)]
Engine = Annotated[
    str | None, Option("Who does the work: local, local:N, dask, dask://HOST:PORT or shared.")
]
TaskName = Annotated[str | None, TASK]
TaskOfRun = Annotated[
    str | None, Option("A task or any column; by default the one that the run was made for.")
]
Profile = Annotated[str | None, Option("Model profile; see: claimlab llm profiles")]
ModelName = Annotated[str | None, Option("Another model of the same endpoint.")]
PromptFiles = Annotated[
    Mapping[str, Place] | Sequence[str],
    Setting(
        "Your own prompt; may be repeated. See: claimlab llm prompts",
        metavar="NAME=FILE",
        kind=str,
        default=(),
    ),
]
Concurrency = Annotated[int, Setting("Records to process at once.", least=1, most=512)]


class DataOptions(TypedDict, total=False):
    """Of data that is imported first (a data frame, rows, a file): its columns and its label map,
    as `import_files` takes them. For Python alone.
    """

    text: Annotated[str | None, InPython("Of data to import: the column of the text.")]
    label: Annotated[str | None, InPython("Of data to import: the column of the label.")]
    map: Annotated[
        Mapping[str, str] | Place | None,
        InPython("Of data to import: what its labels mean, as a mapping, a file or a map's name."),
    ]


class AskOptions(TypedDict, total=False):
    """How models and searches are asked, and the most that a run may take, over all its starts."""

    mode: Annotated[
        str,
        Setting(
            "'record' (and resume), 'replay' (no network) or 'live' (no recording).",
            default="record",
        ),
    ]
    max_cost: Annotated[
        float | None, Option("Most US dollars that this run may spend.", least=0, metavar="USD")
    ]
    max_calls: Annotated[
        int | None, Setting("Most calls to models and search that this run may make.", least=0)
    ]
    max_tokens: Annotated[int | None, Setting("Most tokens that this run may use.", least=0)]


class CallOptions(AskOptions, total=False):
    """The same, of a verb that is run by itself: its calls are recorded where it says."""

    cache: Annotated[Place | None, Setting("Folder of recorded calls (OUTPUT.cache).")]


class BatchOptions(CallOptions, total=False):
    """The same, of a verb that can send its questions as a batch."""

    batch: Annotated[
        bool,
        Setting(
            "Send the model's questions as a batch (cheaper, later); run the same again.",
            default=False,
        ),
    ]


Options = TypeVar("Options", bound=Mapping[str, object])


def divided(kind: type[Options], options: Options) -> tuple[Options, BatchOptions]:
    """The options of a verb's own, each given or its default, and those of its calls."""
    shared = BatchOptions.__annotations__
    own = {
        name: options.get(name, parameter.default)
        for name, parameter in _fields_of(kind).items()
        if name not in shared
    }
    calls = {name: value for name, value in options.items() if name in shared}
    return cast(Options, own), cast(BatchOptions, calls)


class DataCalls(CallOptions, DataOptions, total=False):
    """What a verb that reads a dataset and may ask a model takes besides its own options."""


class DataBatch(BatchOptions, DataOptions, total=False):
    """The same, of a verb that can send its questions as a batch."""


def columns_of(options: DataOptions) -> DataOptions:
    """What `options` say of the columns, without the rest."""
    columns: DataOptions = {}
    for name in ("text", "label", "map"):
        if options.get(name) is not None:
            columns[name] = options[name]
    return columns


def is_capped(calls: AskOptions) -> bool:
    """Whether a cap was set."""
    caps = calls.get("max_cost"), calls.get("max_calls"), calls.get("max_tokens")
    return any(cap is not None for cap in caps)
