"""`claimlab split`: train, dev and test by a named strategy, audited as it is made."""

from __future__ import annotations

from datetime import datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claimlab.cli.output import (
    ForceFlag,
    JsonFlag,
    LimitOption,
    SeedOption,
    emit,
    progress_bar,
    say,
    screen,
    several,
    verb,
    written,
)

if TYPE_CHECKING:
    from claimlab.split.run import Failed, Split

app = verb()


@app.command()
def split(
    folder: Annotated[Path | None, typer.Argument(help="A claimlab dataset folder.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder to write the split dataset to.")] = None,
    by: Annotated[str, typer.Option("--by", help="The strategy; see --strategies.")] = "group",
    shares: Annotated[str, typer.Option(help="train/dev/test, or train/test.")] = "70/10/20",
    hold_out: Annotated[
        list[str] | None, typer.Option("--hold-out", help="A value that is tested on only; may be repeated.")
    ] = None,
    train_on: Annotated[
        list[str] | None, typer.Option("--train-on", help="A value that is trained on, all others are tested on.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="One split for each value that can be held out, each in its own folder.")
    ] = False,
    mode: Annotated[str, typer.Option(help="With --all: 'leave-one-out' or 'train-on-one'.")] = "leave-one-out",
    column: Annotated[str | None, typer.Option(help="With --by column: which one (topic, meta.KEY).")] = None,
    before: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="With --by time: train before this day.")
    ] = None,
    external: Annotated[
        Path | None, typer.Option(help="With --by external: the dataset folder that is the test.")
    ] = None,
    lists: Annotated[
        Path | None, typer.Option(help="With --by lists: a table, a folder or zip of lists, or a BLUFF tree.")
    ] = None,
    setting: Annotated[str | None, typer.Option(help="With --by lists: which of several settings.")] = None,
    keep_together: Annotated[
        list[str] | None,
        typer.Option(help="Keep on one side: group, exact, near-duplicates; may be repeated."),
    ] = None,
    stratify: Annotated[str, typer.Option(help="Even shares by: label,language or label or none.")] = "label,language",
    small_test: Annotated[
        int | None, typer.Option(min=1, help="At most so many test rows per class and language.")
    ] = None,
    no_changed_in_test: Annotated[
        bool, typer.Option("--no-changed-in-test", help="Rows that validation changed stay out of dev and test.")
    ] = False,
    drop_leaks: Annotated[
        bool, typer.Option("--drop-leaks", help="Leave out train and dev rows whose text is on a later side too.")
    ] = False,
    task: Annotated[str, typer.Option(help="Which classes: a task (veracity, ...) or any column.")] = "veracity",
    preview: Annotated[bool, typer.Option("--preview", help="Print the tables and write nothing.")] = False,
    strategies: Annotated[
        bool, typer.Option("--strategies", "--ways", help="List the strategies of splitting, and stop.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 when something leaks.")] = False,
    seed: SeedOption = 0,
    limit: LimitOption = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Split a dataset into train, dev and test, and audit the split as it is made."""
    if strategies:
        _strategies(as_json)
        return
    from claimlab.core.errors import UsageError

    if preview and output is not None:
        raise UsageError("--preview writes nothing.", "Leave out -o to look, or --preview to write.")
    if folder is None or (output is None and not preview):
        raise UsageError(
            "claimlab split needs a dataset folder and an output.", "Write: claimlab split DIR -o DIR, or DIR --preview"
        )
    options: dict[str, Any] = {
        "shares": shares, "hold_out": tuple(hold_out or ()), "train_on": tuple(train_on or ()),
        "mode": _one_of(mode, "mode"), "column": column, "before": before.date() if before else None,
        "lists": lists, "setting": setting, "stratify": _strata(stratify), "small_test": small_test,
        "keep_together": None if keep_together is None else tuple(_one_of(k, "keep-together") for k in keep_together),
        "changed_in_test": not no_changed_in_test, "drop_leaks": drop_leaks, "task": task, "seed": seed,
    }  # fmt: skip
    if external is not None:
        from claimlab.core.dataset import Dataset

        options["external"] = Dataset.open(external)
    made = _make(folder, output, by, options, every=every, limit=limit, force=force)
    done = [one for one, _ in made]
    if as_json:
        _emit(made, output, every)
    else:
        _print(made)
    if strict and any(one.checked.leaking for one in done if not _failed(one)):
        raise typer.Exit(3)


Made = list[tuple[Any, Path | None]]


def _make(
    folder: Path, output: Path | None, by: str, options: dict[str, Any], *, every: bool, limit: int | None, force: bool
) -> Made:
    """Every split that was asked for, written where it belongs."""
    from claimlab.core.dataset import Dataset, refuse_overwrite
    from claimlab.core.errors import DataError, OutputExists
    from claimlab.split.run import Failed, split_all
    from claimlab.split.run import split as split_one

    if output is not None and not every:
        refuse_overwrite(output, force, reads=folder)
    if output is not None and every and output.is_dir() and any(output.iterdir()) and not force:
        raise OutputExists(output)
    dataset = Dataset.open(folder).limited(limit)
    with progress_bar() as progress:
        if not every:
            one = split_one(dataset, by, progress=progress, **options)
            if output is not None:
                one.dataset.write(output, force=force)
            return [(one, output)]
        made: Made = []
        for each in split_all(dataset, by, progress=progress, **options):
            target = None
            if output is not None and not isinstance(each, Failed):
                target = output / _slug(each.name, {t.name for _, t in made if t is not None})
                each.dataset.write(target, force=force)
            made.append((each, target))
    if all(_failed(one) for one, _ in made):
        raise DataError(f"None of the splits by {by} can be made: {made[0][0].why}", "Use another strategy.")
    return made


def _emit(made: Made, output: Path | None, every: bool) -> None:
    if not every:
        one, target = made[0]
        if target is None:
            emit({"output": None, "split": one.to_json()})
        else:
            written(one.dataset, as_json=True, more={"split": one.to_json()})
        return
    splits = [{"output": str(t) if t else None, **one.to_json()} for one, t in made if not _failed(one)]
    impossible = [{"value": one.value, "why": one.why} for one, _ in made if _failed(one)]
    emit({"output": str(output) if output else None, "splits": splits, "impossible": impossible})


def _print(made: Made) -> None:
    from claimlab.cli.app import in_flags
    from claimlab.pages.terminal import to_text
    from claimlab.split.views import blocks

    width, colour = screen()
    for one, target in made:
        if _failed(one):
            say(f"Not made for '{one.value}': {one.why}")
            continue
        typer.echo(f"{one.name}" + (f": held out {_some(one.parts.held_out)}" if one.parts.held_out else ""))
        typer.echo(to_text(blocks(one.checked), width=width, colour=colour) + "\n")
        for why, n in one.parts.left_out.items():
            say(f"Note: {several(n, 'record')} unused: {why}.")
        for note in one.notes():
            say(f"Note: {in_flags(note, ['split'])}")
        if target is not None:
            written(one.dataset, as_json=False)


def _some(values: tuple[str, ...]) -> str:
    shown = ", ".join(values[:6])
    return shown + (f" and {len(values) - 6} more" if len(values) > 6 else "")


def _failed(one: Split | Failed) -> bool:
    return not hasattr(one, "checked")


def _strata(text: str) -> tuple[str, ...]:
    words = [w.strip() for w in text.split(",") if w.strip()]
    return () if words == ["none"] else tuple(_one_of(w, "stratify") for w in words)


def _one_of(word: str, option: str) -> str:
    from claimlab.core.errors import UnknownName
    from claimlab.split.material import KEPT, STRATA
    from claimlab.split.strategy import MODES

    known: dict[str, tuple[str, ...]] = {"mode": MODES, "keep-together": KEPT, "stratify": STRATA}
    if word not in known[option]:
        raise UnknownName(f"choice for --{option}", word, known[option])
    return word


def _slug(name: str, taken: set[str]) -> str:
    """A folder name: letters and digits stay, all else is a dash; short, and numbered where it is taken."""
    plain = "-".join("".join(c if c.isalnum() else " " for c in name).split())[:60]
    numbers = (plain if i == 1 else f"{plain}-{i}" for i in count(1))
    return next(name for name in numbers if name.casefold() not in {t.casefold() for t in taken})


def _strategies(as_json: bool) -> None:
    from claimlab.cli.app import in_flags
    from claimlab.split.strategy import SPLITTERS

    found = SPLITTERS.all()
    if as_json:
        emit({"strategies": [{"name": name, "summary": entry.summary} for name, entry in found.items()]})
        return
    for name, entry in found.items():
        typer.echo(f"{name}: {in_flags(entry.summary, ['split'])}")
