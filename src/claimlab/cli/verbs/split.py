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
    lists={"strategies": lambda: {name: one.summary for name, one in SPLITTERS.all().items()}},
)
def split(call: Call[Split], strict: Strict = False) -> None:
    done = call()
    splits = done.all or (done,)
    _show(splits, done.impossible, call)
    if strict and any(one.checked.leaking for one in splits):
        raise typer.Exit(3)


def _show(splits: Sequence[Split], impossible: Sequence[Failed], call: Call[Split]) -> None:
    output = call["output"]
    if wants_json() and call["every"]:
        rows = [{"output": _name(one.dataset.path), **one.to_json()} for one in splits]
        failed = [vars(one) for one in impossible]
        emit({"output": _name(output), "splits": rows, "impossible": failed})
    elif wants_json() and output is None:
        emit({"output": None, "split": splits[0].to_json()})
    elif wants_json():
        written(splits[0].dataset, more={"split": splits[0].to_json()})
    else:
        _print(splits, call["task"])
        for one in impossible:
            say(f"Not made for '{one.value}': {in_flags(one.why, 'split')}")
        first = splits[0].dataset
        suggest(
            "the same with -o DIR to write it"
            if first.path is None
            else following(first, first.path, "claimlab detect {} -o RUN", task=call["task"])
        )


def _name(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _print(splits: Sequence[Split], task: str | None) -> None:
    for one in splits:
        echo(headline(one))
        show_blocks(blocks(one.checked))
        echo()
        note([*left_out(one), *one.notes(), *limits(one.dataset, task)], "split")
        if one.dataset.path is not None:
            written(one.dataset)
