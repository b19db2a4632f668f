"""`claimlab split`: train, dev and test by a named strategy, audited as it is made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

import claimlab as cl
from claimlab.cli.command import Call, Strict, verb
from claimlab.cli.flags import in_flags
from claimlab.cli.output import (
    echo,
    emit,
    following,
    note,
    say,
    show_blocks,
    suggest,
    wants_json,
    written,
)
from claimlab.split.run import Failed, Split
from claimlab.split.strategy import SPLITTERS
from claimlab.split.views import blocks, headline, left_out, limits

app = verb()


@app.of(
    cl.split,
    lists={
        "strategies": lambda: {name: strategy.summary for name, strategy in SPLITTERS.all().items()}
    },
)
def split(call: Call[Split], strict: Strict = False) -> None:
    results = call()
    splits = results.all or (results,)
    _show(splits, results.impossible, call)
    if strict and any(split.checked.leaking for split in splits):
        raise typer.Exit(3)


def _show(splits: Sequence[Split], impossible: Sequence[Failed], call: Call[Split]) -> None:
    output = call["output"]
    if wants_json() and call["every"]:
        rows = [{"output": _name(split.dataset.path), **split.to_json()} for split in splits]
        failed = [vars(leak) for leak in impossible]
        emit({"output": _name(output), "splits": rows, "impossible": failed})
    elif wants_json() and output is None:
        emit({"output": None, "split": splits[0].to_json()})
    elif wants_json():
        written(splits[0].dataset, more={"split": splits[0].to_json()})
    else:
        _print(splits, call["task"])
        for impossible_split in impossible:
            say(
                f"Not made for '{impossible_split.value}':"
                f" {in_flags(impossible_split.why, 'split')}"
            )
        first = splits[0].dataset
        suggest(
            "the same with -o DIR to write it"
            if first.path is None
            else following(first, first.path, "claimlab detect {} -o RUN", task=call["task"])
        )


def _name(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _print(splits: Sequence[Split], task: str | None) -> None:
    for split in splits:
        echo(headline(split))
        show_blocks(blocks(split.checked))
        echo()
        note([*left_out(split), *split.notes(), *limits(split.dataset, task)], "split")
        if split.dataset.path is not None:
            written(split.dataset)
