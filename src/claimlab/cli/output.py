"""What every verb prints, and where: results on stdout, everything else on stderr."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import typer

from claimlab.cli.flags import in_flags
from claimlab.core.plain import escape_json, one_line, plain
from claimlab.core.progress import Progress, silent
from claimlab.core.words import several as several

if TYPE_CHECKING:
    from claimlab.core.dataset import Dataset
    from claimlab.pages.blocks import Block


def verb(**settings: Any) -> typer.Typer:
    """The Typer app of a verb file, set up as all of them are."""
    return typer.Typer(rich_markup_mode=None, add_completion=False, no_args_is_help=True, **settings)


def emit(value: dict[str, Any]) -> None:
    """One JSON object on stdout."""
    sys.stdout.write(escape_json(json.dumps(value, ensure_ascii=False, indent=2, default=str)) + "\n")


def echo(message: str = "", *, styled: bool = False) -> None:
    """A line of the result, on stdout. Everything that a verb prints there as text goes through here, so that no
    value of a dataset can steer the terminal; `styled` is for lines that were made harmless before they were coloured.
    """
    sys.stdout.write((message if styled else plain(message)) + "\n")


def show_blocks(blocks: Iterable[Block], *, most: int | None = None) -> None:
    """`blocks` on stdout, as wide as the terminal, or at most `most` columns."""
    from claimlab.pages.terminal import to_text

    width, colour = screen()
    echo(to_text(blocks, width=min(width, most or width), colour=colour), styled=True)


def say(message: str) -> None:
    """A line for the person, on stderr."""
    sys.stderr.write(plain(message.rstrip()) + "\n")


def note(messages: Iterable[str], verb: str) -> None:
    """What the library noted, on stderr."""
    for message in messages:
        say(f"Note: {in_flags(message, verb)}")


def suggest(command: str, *, as_json: bool = False) -> None:
    """The last line of a verb, on stderr: what one does next, as a command to copy."""
    if not as_json:
        say(f"Next: {command}")


def screen() -> tuple[int, bool]:
    """How wide the terminal is, and whether to colour what is printed there: only where a person reads it."""
    return shutil.get_terminal_size().columns, sys.stdout.isatty() and "NO_COLOR" not in os.environ


def written(dataset: Dataset, *, as_json: bool, more: dict[str, Any] | None = None) -> None:
    """What every verb that writes a dataset folder prints: {"output", "counts", "lineage"} or one line."""
    counts = dataset.manifest().counts
    if as_json:
        lineage = [step.model_dump() for step in dataset.lineage]
        emit({"output": str(dataset.path), "counts": counts, "lineage": lineage, **(more or {})})
        return
    labels = counts.get("veracity", {})
    if labels and (rest := counts["records"] - sum(labels.values())):
        labels = {**labels, "no label": rest}
    shown = ", ".join(f"{k} {v:,}" for k, v in labels.items()) or "no labels"
    echo(f"Wrote {dataset.path}: {counts['records']:,} records ({shown}).")


def show_estimate(estimate: dict[str, Any], as_json: bool) -> None:
    if as_json:
        emit({"estimate": estimate})
        return
    for line in estimate["sentences"]:
        echo(line)


@contextlib.contextmanager
def progress_bar(enabled: bool = True) -> Iterator[Progress]:
    """A bar per stage on stderr when a person watches; silence otherwise."""
    if not enabled or not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def update(label: str, done: int, total: int | None) -> None:
            if label not in tasks:
                tasks[label] = bars.add_task(escape(one_line(label)), total=total)
            bars.update(tasks[label], completed=done, total=total)

        yield update
