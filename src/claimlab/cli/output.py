"""What every verb prints, and where: results on stdout, everything else on stderr."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from claimlab.cli.asked import OPEN, is_asked, is_quiet
from claimlab.cli.asked import wants_json as wants_json
from claimlab.cli.flags import in_flags
from claimlab.core.errors import UsageError
from claimlab.core.places import named
from claimlab.core.plain import escape_json, plain
from claimlab.core.progress import reporting, silent
from claimlab.core.types import JsonObject
from claimlab.core.words import several as several

if TYPE_CHECKING:
    from claimlab.core.dataset import Dataset
    from claimlab.pages.blocks import Block, Table

_TONES = {
    "Error": "31;1",
    "Failed": "31",
    "Refused": "31",
    "Warning": "33",
    "Note": "33",
    "Next": "36",
    "Report": "36",
}
ALIKE = 20_000  # texts that are compared without case and marks; all are compared as they are


def emit(value: JsonObject) -> None:
    """One JSON object on stdout."""
    sys.stdout.write(
        escape_json(named(json.dumps(value, ensure_ascii=False, indent=2, default=str))) + "\n"
    )


def echo(message: str = "", *, styled: bool = False) -> None:
    """A line of the result, on stdout. Everything that a verb prints there as text goes through
    here, so that no value of a dataset can steer the terminal; `styled` is for lines that were made
    harmless before they were coloured.
    """
    sys.stdout.write((message if styled else plain(named(message))) + "\n")


def show_blocks(blocks: Iterable[Block], *, most: int | None = None) -> None:
    """`blocks` on stdout, as wide as the terminal, or at most `most` columns."""
    from claimlab.pages.terminal import to_text

    width, colour = screen()
    echo(to_text(blocks, width=min(width, most or width), colour=colour), styled=True)


def say(message: str) -> None:
    """A line for the person, on stderr; nothing under --quiet."""
    if not is_quiet():
        complain(message)


def complain(message: str) -> None:
    """A line on stderr that is printed under --quiet, too: an error."""
    text = plain(named(message.rstrip()))
    head, colon, rest = text.partition(":")
    if head in _TONES and colon and sys.stderr.isatty() and "NO_COLOR" not in os.environ:
        text = f"\x1b[{_TONES[head]}m{head}:\x1b[0m{rest}"
    sys.stderr.write(text + "\n")


def note(messages: Iterable[str], verb: str) -> None:
    """What the library noted, on stderr."""
    for message in messages:
        say(f"Note: {in_flags(message, verb)}")


def suggest(command: str) -> None:
    """The last line of a verb, on stderr: what one does next, as a command to copy."""
    if not wants_json():
        say(f"Next: {command}")


def suggest_serving(output: Path) -> None:
    """Next is a look at `output` in the workspace, which shows local folders only."""
    from claimlab.core.remote import is_remote

    if not is_remote(output):
        suggest(f"claimlab serve {output.parent}")


def page(path: Path) -> None:
    """Say where a page is, and open it where that was asked for."""
    say(f"Report: {path}")
    if is_asked(OPEN):
        open_in_browser(path)


def open_in_browser(path: Path) -> None:
    import webbrowser

    from claimlab.core.remote import copy_of, is_remote

    path = copy_of(path) if is_remote(path) else path.resolve()
    if not webbrowser.open(path.as_uri()):
        say("Warning: no browser could be opened; open the page yourself.")


def refuse_nothing_to_open(place: Path | None, flag: str) -> None:
    """A page can only be opened where one is written: better said before the work than after it."""
    if is_asked(OPEN) and place is None:
        raise UsageError(
            "There is no page to open with --open, because none is written.", f"Add {flag} DIR."
        )


def listing(key: str, rows: dict[str, str], *, verb: str) -> None:
    """What exists (checks, detectors, formats), with a line each."""
    from claimlab.pages.blocks import Table

    if wants_json():
        emit({key: [{"name": name, "summary": summary} for name, summary in rows.items()]})
        return
    show_blocks(
        [Table(("", ""), [(name, in_flags(summary, verb)) for name, summary in rows.items()])],
        most=100,
    )


def show_grid(table: Table, whole: int = -1) -> None:
    """A table with a line for each row: what does not fit the terminal is cut, but for the first
    `whole` columns; all but the last.
    """
    from claimlab.pages.terminal import grid

    width, colour = screen()
    for line in grid(table, width=width, colour=colour, whole=table.columns[:whole], cut=True):
        echo(line, styled=True)


def screen() -> tuple[int, bool]:
    """How wide the terminal is, and whether to colour what is printed there: only where a person
    reads it.
    """
    return shutil.get_terminal_size().columns, is_read() and "NO_COLOR" not in os.environ


def is_read() -> bool:
    """Whether a person reads what is printed, not a file or another program."""
    return sys.stdout.isatty()


def written(dataset: Dataset, *, more: JsonObject | None = None) -> None:
    """What every verb that writes a dataset folder prints: {"output", "counts", "lineage"} or one
    line.
    """
    counts = dataset.manifest().counts
    if wants_json():
        lineage = [step.model_dump() for step in dataset.lineage]
        emit({"output": str(dataset.path), "counts": counts, "lineage": lineage, **(more or {})})
        return
    labels = counts.get("veracity", {})
    if labels and (rest := counts["records"] - sum(labels.values())):
        labels = {**labels, "no label": rest}
    tally = ", ".join(f"{k} {v:,}" for k, v in labels.items()) or "no labels"
    echo(f"Wrote {dataset.path}: {several(counts['records'], 'record')} ({tally}).")


def show_estimate(estimate: JsonObject) -> None:
    if wants_json():
        emit({"estimate": estimate})
        return
    for line in estimate["sentences"]:
        echo(line)


@contextlib.contextmanager
def progress_bar(start: str = "starting") -> Iterator[None]:
    """What the block reports as a bar on stderr when a person watches, in a file where
    CLAIMLAB_PROGRESS names one, otherwise as a line a minute for logs.
    """
    from claimlab.cli.bar import bar, to_file, to_log

    with contextlib.ExitStack() as stack:
        if file := os.environ.get("CLAIMLAB_PROGRESS"):
            listener = to_file(Path(file))
        elif is_quiet():
            listener = silent
        elif sys.stderr.isatty():
            listener = stack.enter_context(bar(start))
        else:
            listener = to_log(sys.stderr)
        stack.enter_context(reporting(listener))
        yield


def following(
    dataset: Dataset,
    folder: Path,
    otherwise: str,
    *,
    task: str | None = None,
    copies: int | None = None,
) -> str:
    """A look at the labels where there are fewer than two classes, cleaning where texts occur twice
    (`copies`, as they are written; null asks for none), or else `otherwise`, in which {} is the
    folder."""
    from claimlab.tasks import open_task, own_task
    from claimlab.text.normalise import normal_form

    place = shlex.quote(str(folder))
    if len(open_task(own_task(dataset, task), dataset.records).classes_in(dataset.records)) < 2:
        return f"claimlab show {place} --column label_raw"
    if copies is not None:
        plain = normal_form(dataset.records["text"].drop_nulls().head(ALIKE))
        if copies or plain.n_unique() < plain.len():
            return f"claimlab clean {place} -o {shlex.quote(f'{folder}-clean')}"
    return otherwise.format(place)
