"""Join a linked table to the records by a key: texts in one file, labels or reviews in another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from claimlab.core.errors import DataError, UsageError
from claimlab.core.words import several, several_of, verb
from claimlab.exchange.vocabulary import HEADER_WORDS, fold_name
from claimlab.files.bundle import Bundle
from claimlab.files.raw import Options, RawTable
from claimlab.files.read import read_table
from claimlab.files.typed import literal_text


def read_linked(
    bundles: Sequence[Bundle], join: str, options: Options
) -> tuple[RawTable, str, str]:
    """The table that `join` ("FILE:KEY" or "FILE:KEY=ITS_KEY") names, the key of the records, and
    its own key.

    FILE is a file of its own, or a member of what is imported.
    """
    file, _, keys = join.rpartition(":")
    if not file or not keys:
        raise UsageError(
            f"`join` cannot be '{join}'.", "Write it as FILE:KEY, such as reviews.csv:news_id."
        )
    key, _, its_key = keys.partition("=")
    if Path(file).is_file():
        with Bundle.open(file) as bundle:
            return read_table(bundle, bundle.names()[0], options, HEADER_WORDS), key, its_key or key
    for bundle in bundles:
        if members := bundle.match(file):
            return read_table(bundle, members[0], options, HEADER_WORDS), key, its_key or key
    raise DataError(
        f"There is no file '{file}' to join.",
        "Give its path, or its name inside the folder or zip.",
    )


def joined(
    frame: pl.DataFrame, linked: RawTable, key: str, its_key: str
) -> tuple[pl.DataFrame, str]:
    """The rows of `frame` (plain text) with the columns of the one row of `linked` that has their
    key; and how many have one."""
    mine, theirs = (
        _column(frame, key, "the records"),
        _column(linked.frame, its_key, f"'{linked.name}'"),
    )
    other = linked.frame.with_columns(
        literal_text(linked.frame[c]) for c in linked.literal
    ).drop_nulls(theirs)
    if repeated := other.height - other[theirs].n_unique():
        rows = f"{several(repeated, 'row')} {verb(repeated, 'repeats', 'repeat')}"
        raise DataError(
            f"In '{linked.name}', {rows} a value of '{theirs}'.",
            "Join by a key that names one row, or remove the other rows.",
        )
    names = {
        c: c if c not in frame.columns else f"{c} ({Path(linked.name).stem})"
        for c in other.columns
        if c != theirs
    }
    known = frame.join(other, left_on=mine, right_on=theirs, how="semi").height
    out = frame.join(
        other.rename(names), left_on=mine, right_on=theirs, how="left", maintain_order="left"
    )
    matched = f"{several_of(known, frame.height, 'row')} {verb(known, 'has', 'have')} a match"
    return out, f"{matched} in '{linked.name}' (by '{mine}')."


def _column(frame: pl.DataFrame, name: str, where: str) -> str:
    alike = [c for c in frame.columns if c == name] or [
        c for c in frame.columns if fold_name(c) == fold_name(name)
    ]
    if len(alike) != 1:
        raise DataError(
            f"There is no column '{name}' in {where} to join by.",
            f"There are: {', '.join(frame.columns[:12])}.",
        )
    return alike[0]
