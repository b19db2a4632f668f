"""The options that several verbs share, each declared once: the same name, meaning and wording everywhere.

A verb annotates its parameter (`limit: LimitOption = None`); an option without a default is required.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer


def folders_argument(help: str) -> typer.models.ArgumentInfo:
    """Several folders, as a shell's pattern finds them: recordings of calls beside them (RUN.cache) are left out."""
    return typer.Argument(help=help, callback=_data_folders)  # type: ignore[no-any-return]


def listing_option(flag: str, what: str, show: Callable[[bool], None]) -> typer.models.OptionInfo:
    """An option that lists `what` exists and exits, whatever else is missing; `show` gets whether to print JSON."""

    def listed(ctx: typer.Context, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            show(bool(ctx.params.get("as_json")))
            raise typer.Exit

    return typer.Option(flag, help=f"List {what}, and exit.", callback=listed)  # type: ignore[no-any-return]


def _data_folders(folders: list[Path] | None) -> list[Path] | None:
    from claimlab.core.calls.calls import without_recordings

    return without_recordings(folders) if folders else folders


DatasetArgument = Annotated[Path, typer.Argument(help="A claimlab dataset folder.")]
OutputOption = Annotated[Path, typer.Option("--output", "-o", help="Folder to write the result to.")]
OptionalOutput = Annotated[
    Path | None, typer.Option("--output", "-o", help="Folder to write the result to; without it, only print.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Random seed.")]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="Use only the first N records.")]
ForceFlag = Annotated[bool, typer.Option("--force", help="Replace the output if it is a claimlab folder already.")]
JsonFlag = Annotated[  # known first, so that options that list something and stop can print JSON, too
    bool, typer.Option("--json", is_eager=True, help="Print the result as one JSON object on stdout.")
]
OpenFlag = Annotated[bool, typer.Option("--open", help="Open the page in the browser when it is written.")]
StrictFlag = Annotated[bool, typer.Option("--strict", help="Exit with 3 when a check fails.")]

TaskOption = Annotated[str, typer.Option("--task", help="A task (veracity, veracity-mixed, ...) or any column.")]
OptionalTask = Annotated[
    str | None, typer.Option("--task", help="A task or any column; by default the one that the run was made for.")
]

ProfileOption = Annotated[str | None, typer.Option("--profile", help="Model profile; see: claimlab llm profiles")]
ModelOption = Annotated[str | None, typer.Option("--model", help="Another model of the same endpoint.")]
CacheOption = Annotated[Path | None, typer.Option("--cache", help="Folder of recorded calls (OUTPUT.cache).")]
ModeOption = Annotated[
    str, typer.Option("--mode", help="'record' (and resume), 'replay' (no network) or 'live' (no recording).")
]
MaxCostOption = Annotated[
    float | None, typer.Option("--max-cost", min=0, metavar="USD", help="Most US dollars that this run may spend.")
]
MaxCallsOption = Annotated[
    int | None, typer.Option("--max-calls", min=0, help="Most calls to models and search that this run may make.")
]
MaxTokensOption = Annotated[int | None, typer.Option("--max-tokens", min=0, help="Most tokens that this run may use.")]
PromptOption = Annotated[
    list[str] | None,
    typer.Option("--prompt", metavar="NAME=FILE", help="Your own prompt; may be repeated. See: claimlab llm prompts"),
]
BatchFlag = Annotated[
    bool, typer.Option("--batch", help="Send the model's questions as a batch (cheaper, later); run the same again.")
]
EstimateFlag = Annotated[bool, typer.Option("--estimate", help="Print what the run would cost, and exit.")]
ConcurrencyOption = Annotated[int, typer.Option("--concurrency", min=1, max=512, help="Records to process at once.")]
EngineOption = Annotated[
    str | None,
    typer.Option("--engine", help="Who does the work: local, local:N, dask, dask://HOST:PORT or shared."),
]
