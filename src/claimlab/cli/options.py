"""The options that several verbs share, each declared once: the same name, meaning and wording
everywhere.

A verb annotates its parameter (`limit: LimitOption = None`); an option without a default is
required. A parameter may be a group of options, too (`calls: Calls = CALLS`): `expanded` puts them
in its place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from claimlab.core.types import JsonObject


def folders_argument(help: str) -> typer.models.ArgumentInfo:
    """Several folders, as a shell's pattern finds them: recordings of calls beside them (RUN.cache)
    are left out.
    """
    return typer.Argument(help=help, callback=_data_folders)  # type: ignore[no-any-return]


def listing_option(flag: str, what: str, show: Callable[[], None]) -> typer.models.OptionInfo:
    """An option that lists `what` exists and exits, whatever else is missing."""

    def listed(ctx: typer.Context, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            show()
            raise typer.Exit

    return typer.Option(flag, help=f"List {what}, and exit.", callback=listed)  # type: ignore[no-any-return]


def _data_folders(folders: list[Path] | None) -> list[Path] | None:
    from claimlab.core.calls.calls import without_recordings

    return without_recordings(folders) if folders else folders


DatasetArgument = Annotated[Path, typer.Argument(help="A claimlab dataset folder.")]
OutputOption = Annotated[
    Path, typer.Option("--output", "-o", help="Folder to write the result to.")
]
OptionalOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder to write the result to; without it, only print."),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Random seed.")]
LimitOption = Annotated[
    int | None, typer.Option("--limit", min=1, help="Use only the first N records.")
]
ForceFlag = Annotated[
    bool, typer.Option("--force", help="Replace the output if it is a claimlab folder already.")
]
OpenFlag = Annotated[
    bool, typer.Option("--open", help="Open the page in the browser when it is written.")
]
StrictFlag = Annotated[bool, typer.Option("--strict", help="Exit with 3 when a check fails.")]

TaskOption = Annotated[
    str, typer.Option("--task", help="A task (veracity, veracity-mixed, ...) or any column.")
]
OptionalTask = Annotated[
    str | None,
    typer.Option(
        "--task", help="A task or any column; by default the one that the run was made for."
    ),
]

ProfileOption = Annotated[
    str | None, typer.Option("--profile", help="Model profile; see: claimlab llm profiles")
]
ModelOption = Annotated[
    str | None, typer.Option("--model", help="Another model of the same endpoint.")
]
PromptOption = Annotated[
    list[str] | None,
    typer.Option(
        "--prompt",
        metavar="NAME=FILE",
        help="Your own prompt; may be repeated. See: claimlab llm prompts",
    ),
]
EstimateFlag = Annotated[
    bool, typer.Option("--estimate", help="Print what the run would cost, and exit.")
]
ConcurrencyOption = Annotated[
    int, typer.Option("--concurrency", min=1, max=512, help="Records to process at once.")
]
EngineOption = Annotated[
    str | None,
    typer.Option(
        "--engine", help="Who does the work: local, local:N, dask, dask://HOST:PORT or shared."
    ),
]

ModeOption = Annotated[
    str,
    typer.Option(
        "--mode", help="'record' (and resume), 'replay' (no network) or 'live' (no recording)."
    ),
]


@dataclass(frozen=True)
class _Recorded:
    cache: Annotated[
        Path | None, typer.Option("--cache", help="Folder of recorded calls (OUTPUT.cache).")
    ] = None
    mode: ModeOption = "record"


@dataclass(frozen=True)
class _Batch:
    batch: Annotated[
        bool,
        typer.Option(
            "--batch",
            help="Send the model's questions as a batch (cheaper, later); run the same again.",
        ),
    ] = False


@dataclass(frozen=True)
class Caps:
    """The most that a run may take."""

    max_cost: Annotated[
        float | None,
        typer.Option(
            "--max-cost", min=0, metavar="USD", help="Most US dollars that this run may spend."
        ),
    ] = None
    max_calls: Annotated[
        int | None,
        typer.Option(
            "--max-calls", min=0, help="Most calls to models and search that this run may make."
        ),
    ] = None
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", min=0, help="Most tokens that this run may use.")
    ] = None


@dataclass(frozen=True)
class Calls(Caps, _Recorded):
    """How models and searches are asked, and the most that this may take."""


@dataclass(frozen=True)
class BatchedCalls(Caps, _Batch, _Recorded):
    """The same, of a verb that can send its questions as a batch."""


CAPS, CALLS, BATCHED = Caps(), Calls(), BatchedCalls()
_OWN = {
    "estimate",
    "list_metrics",
    "open_page",
    "_list",
}  # what the function of a verb does not take


def arguments(options: Mapping[str, Any], *but: str) -> JsonObject:
    """The options of a verb (its `locals()`) as the arguments of its function, without those that
    only the verb needs (`but`, too); what was not given is left to the function's own defaults."""
    flat: JsonObject = {}
    for name, value in options.items():
        flat |= vars(value) if is_dataclass(value) else {name: value}
    return {
        name: value
        for name, value in flat.items()
        if value is not None and name not in _OWN | {*but}
    }


def expanded(function: Callable[..., Any]) -> Callable[..., Any]:
    """A verb as Typer reads it: each group of options as the options themselves."""
    hints = get_type_hints(function, include_extras=True)
    groups: JsonObject = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    if not groups:
        return function
    parameters = []
    for parameter in inspect.signature(function).parameters.values():
        group = groups.get(parameter.name)
        types = (
            {parameter.name: hints[parameter.name]}
            if group is None
            else get_type_hints(group, include_extras=True)
        )
        defaults = {
            parameter.name: parameter.default,
            **({} if group is None else vars(parameter.default)),
        }
        parameters += [
            inspect.Parameter(name, parameter.KEYWORD_ONLY, default=defaults[name], annotation=hint)
            for name, hint in types.items()
        ]

    @wraps(function)
    def verb(**options: Any) -> Any:
        for name, group in groups.items():
            options[name] = group(
                **{field.name: options.pop(field.name) for field in fields(group)}
            )
        return function(**options)

    verb.__dict__["__signature__"] = inspect.Signature(parameters)
    verb.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return verb
