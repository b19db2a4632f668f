"""`claimlab split`: train, dev and test by a named strategy, audited as it is made."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from claimlab.cli import options as o
from claimlab.cli.complete import strategies
from claimlab.cli.flags import in_flags
from claimlab.cli.following import following
from claimlab.cli.output import (
    echo,
    emit,
    listing,
    note,
    progress_bar,
    say,
    show_blocks,
    suggest,
    verb,
    written,
)
from claimlab.core.errors import UsageError

app = verb()


HoldOutOption = Annotated[
    list[str] | None,
    typer.Option("--hold-out", help="A value to use for testing only; may be repeated."),
]
TrainOnOption = Annotated[
    list[str] | None,
    typer.Option("--train-on", help="A value to train on; all others are used for testing."),
]
EveryOption = Annotated[
    bool,
    typer.Option("--all", help="One split per value that can be held out, each in its own folder."),
]
BeforeOption = Annotated[
    datetime | None,
    typer.Option(formats=["%Y-%m-%d"], help="With --by time: train before this day."),
]
ExternalOption = Annotated[
    Path | None, typer.Option(help="With --by external: the dataset folder that is the test.")
]
ListsOption = Annotated[
    Path | None,
    typer.Option(help="With --by lists: a table, a folder or zip of lists, or a BLUFF tree."),
]
KeepTogetherOption = Annotated[
    list[str] | None,
    typer.Option(help="Keep in one part: group, exact, near-duplicates; may be repeated."),
]
SmallTestOption = Annotated[
    int | None, typer.Option(min=1, help="At most N test rows per class and language.")
]
NoChangedInTestOption = Annotated[
    bool,
    typer.Option(
        "--no-changed-in-test", help="Rows that validation changed stay out of dev and test."
    ),
]
DropLeaksOption = Annotated[
    bool,
    typer.Option(
        "--drop-leaks", help="Leave out train and dev rows whose text is also in a later part."
    ),
]
WhereHelp = "row must have, COLUMN=VALUE; may be repeated (meta.KEY, resource=head)."
TrainWhereOption = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN=VALUE", help=f"What a train or dev {WhereHelp}")
]
TestWhereOption = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN=VALUE", help=f"What a test {WhereHelp}")
]


def _list_strategies(as_json: bool) -> None:
    from claimlab.split.strategy import SPLITTERS

    rows = {name: strategy.summary for name, strategy in SPLITTERS.all().items()}
    listing("strategies", rows, as_json=as_json, verb="split")


StrategiesOption = Annotated[
    bool, o.listing_option("--strategies", "the strategies", _list_strategies)
]


@app.command()
def split(
    folder: Annotated[Path | None, typer.Argument(help="A claimlab dataset folder.")] = None,
    output: o.OptionalOutput = None,
    by: Annotated[
        str, typer.Option("--by", help="The strategy; see --strategies.", autocompletion=strategies)
    ] = "group",
    shares: Annotated[str, typer.Option(help="train/dev/test, or train/test.")] = "70/10/20",
    hold_out: HoldOutOption = None,
    train_on: TrainOnOption = None,
    every: EveryOption = False,
    mode: Annotated[
        str, typer.Option(help="With --all: 'leave-one-out' or 'train-on-one'.")
    ] = "leave-one-out",
    column: Annotated[
        str | None, typer.Option(help="With --by column: which one (topic, meta.KEY).")
    ] = None,
    before: BeforeOption = None,
    external: ExternalOption = None,
    lists: ListsOption = None,
    setting: Annotated[
        str | None, typer.Option(help="With --by lists: which of several settings.")
    ] = None,
    keep_together: KeepTogetherOption = None,
    stratify: Annotated[
        str, typer.Option(help="Keep shares equal by: label,language or label or none.")
    ] = "label,language",
    small_test: SmallTestOption = None,
    no_changed_in_test: NoChangedInTestOption = False,
    drop_leaks: DropLeaksOption = False,
    train_where: TrainWhereOption = None,
    test_where: TestWhereOption = None,
    task: o.TaskOption = "veracity",
    preview: Annotated[
        bool, typer.Option("--preview", help="Print the tables and write nothing.")
    ] = False,
    _list: StrategiesOption = False,
    strict: o.StrictFlag = False,
    seed: o.SeedOption = 0,
    limit: o.LimitOption = None,
    force: o.ForceFlag = False,
    as_json: o.JsonFlag = False,
) -> None:
    """Split a dataset into train, dev and test, and audit the split as it is made."""
    if preview and output is not None:
        raise UsageError(
            "--preview writes nothing.", "Leave out -o to look, or --preview to write."
        )
    if folder is None or (output is None and not preview):
        raise UsageError(
            "claimlab split needs a dataset folder and an output.",
            "Write: claimlab split DIR -o DIR, or DIR --preview",
        )
    with progress_bar() as progress:
        from claimlab.split import run as room

        make: Callable[..., Any] = room.split_all if every else room.split
        done = make(
            folder,
            by,
            output=output,
            shares=shares,
            hold_out=hold_out or (),
            train_on=train_on or (),
            mode=mode,
            column=column,
            before=before.date() if before else None,
            external=external,
            lists=lists,
            setting=setting,
            keep_together=keep_together,
            stratify=_words(stratify),
            small_test=small_test,
            changed_in_test=not no_changed_in_test,
            drop_leaks=drop_leaks,
            train_where=train_where or (),
            test_where=test_where or (),
            task=task,
            seed=seed,
            limit=limit,
            force=force,
            progress=progress,
        )
    splits = [one for one in done if isinstance(one, room.Split)] if every else [done]
    impossible = [one for one in done if not isinstance(one, room.Split)] if every else []
    _show(splits, impossible, output, every, task, as_json)
    if strict and any(one.checked.leaking for one in splits):
        raise typer.Exit(3)


def _show(
    splits: list[Any],
    impossible: list[Any],
    output: Path | None,
    every: bool,
    task: str,
    as_json: bool,
) -> None:
    if as_json and every:
        rows = [{"output": _name(one.dataset.path), **one.to_json()} for one in splits]
        emit(
            {
                "output": _name(output),
                "splits": rows,
                "impossible": [vars(one) for one in impossible],
            }
        )
    elif as_json and output is None:
        emit({"output": None, "split": splits[0].to_json()})
    elif as_json:
        written(splits[0].dataset, as_json=True, more={"split": splits[0].to_json()})
    else:
        _print(splits)
        for one in impossible:
            say(f"Not made for '{one.value}': {in_flags(one.why, 'split')}")
        first = splits[0].dataset
        suggest(
            "the same with -o DIR to write it"
            if first.path is None
            else following(first, first.path, "claimlab detect {} -o RUN", task=task)
        )


def _words(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    return [] if words == ["none"] else words


def _name(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _print(splits: list[Any]) -> None:
    from claimlab.split.views import blocks, headline, left_out

    for one in splits:
        echo(headline(one))
        show_blocks(blocks(one.checked))
        echo()
        note([*left_out(one), *one.notes()], "split")
        if one.dataset.path is not None:
            written(one.dataset, as_json=False)
