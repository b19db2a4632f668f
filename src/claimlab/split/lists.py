"""Split lists that others published: BLUFF's lists of uuids, a file per side, or a table of ids and
sides.

A list is a foreign key. Names that the data lacks, and names in two lists, are counted, never
guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from claimlab.catalog.readers.bluff import layout as bluff
from claimlab.core.errors import DataError, UnknownName, UnreadableFile, UsageError
from claimlab.files.bundle import Bundle
from claimlab.files.read import user_table
from claimlab.files.tables import read_json

WORDS = {"train": "train", "training": "train", "dev": "dev", "test": "test", **bluff.SPLITS}
KEYS = ("id", "record_id", "uuid", "group")
SCHEMA = {"key": pl.String, "split": pl.String}


@dataclass(frozen=True)
class Lists:
    """`rows` has a key (of a record or a group) and a split for each entry; `setting` names one set
    of several.
    """

    rows: pl.DataFrame
    setting: str | None = None


def open_lists(path: Path | None, setting: str | None, tables: Mapping[str, pl.DataFrame]) -> Lists:
    """The lists at `path` (a BLUFF tree, a folder or zip of lists, a table), or those the dataset
    came with.
    """
    if path is None:
        if "splits" not in tables:
            raise UsageError(
                "The dataset brings no split lists.",
                "Pass a file or folder as `lists`; see docs/split.md.",
            )
        return _chosen(tables["splits"], setting)
    with Bundle.open(path) as bundle:
        if bluff.settings(bundle):
            return _chosen(bluff.read_lists(bundle), setting)
        names = [
            n
            for n in bundle.names()
            if PurePosixPath(n).stem.lower() in WORDS and n.lower().endswith(".json")
        ]
        if names and path.suffix.lower() not in (".json", ".csv"):
            rows = [(n, key) for n in names for key in _keys(read_json(bundle.text(n), n), n)]
            listed = [(key, _setting(n), WORDS[PurePosixPath(n).stem.lower()]) for n, key in rows]
            return _chosen(pl.DataFrame(listed, schema=bluff.SCHEMA, orient="row"), setting)
        return Lists(_one_file(bundle))


def _setting(name: str) -> str:
    return PurePosixPath(name).parent.as_posix()


def _chosen(lists: pl.DataFrame, setting: str | None) -> Lists:
    """One setting of several: the one that is named, the only one, or BLUFF's multilingual one."""
    known = lists["setting"].unique().sort().to_list()
    picked = setting
    if picked is None:
        picked = known[0] if len(known) == 1 else bluff.DEFAULT if bluff.DEFAULT in known else None
    if picked is None:
        raise UsageError(
            "There are several split lists.", f"Choose one with `setting`: {', '.join(known[:12])}."
        )
    if picked not in known:
        raise UnknownName("split setting", picked, known)
    mine = lists.filter(pl.col("setting") == picked).select(pl.col("group").alias("key"), "split")
    return Lists(_words(mine), picked)


def _one_file(bundle: Bundle) -> pl.DataFrame:
    names = bundle.names()
    if len(names) != 1:
        raise UnreadableFile(
            f"'{bundle.path.name}' holds no split lists.",
            "Give a BLUFF tree, a folder with train.json, dev.json and test.json, or a table with"
            " 'id' and 'split'.",
        )
    name = names[0]
    if name.lower().endswith(".json"):
        value = read_json(bundle.text(name), name)
        if isinstance(value, dict) and value and all(k.lower() in WORDS for k in value):
            rows = [(key, side) for side, listed in value.items() for key in _keys(listed, name)]
            return _words(pl.DataFrame(rows, schema=SCHEMA, orient="row"))
    table = user_table(bundle, *KEYS, "split")
    key = next((k for k in KEYS if k in table.columns), None)
    if key is None or "split" not in table.columns:
        raise UnreadableFile(
            f"'{name}' has the columns {', '.join(table.columns) or 'none'}.",
            f"A table of a split needs 'split' and one of: {', '.join(KEYS)}.",
        )
    return _words(
        table.select(pl.col(key).cast(pl.String).alias("key"), pl.col("split").cast(pl.String))
    )


def _words(rows: pl.DataFrame) -> pl.DataFrame:
    """The sides as train, dev and test; any other is an error, since its rows would silently be
    lost.
    """
    known = rows.drop_nulls()
    words = known["split"].str.strip_chars().str.to_lowercase()
    strange = sorted(set(words.unique().to_list()) - set(WORDS))
    if strange:
        raise DataError(
            f"The lists name {', '.join(map(repr, strange[:5]))}, which is not a side of a split.",
            f"Use: {', '.join(sorted(WORDS))}.",
        )
    return known.with_columns(words.replace_strict(WORDS, return_dtype=pl.String).alias("split"))


def _keys(value: Any, name: str) -> Iterator[str]:
    if not isinstance(value, list):
        raise UnreadableFile(
            f"'{name}' is not a list of ids.", 'Write a JSON list such as ["id-1", "id-2"].'
        )
    for item in value:
        key = next((item[k] for k in KEYS if k in item), None) if isinstance(item, dict) else item
        if not isinstance(key, str | int) or isinstance(key, bool):
            raise UnreadableFile(
                f"'{name}' holds {str(item)[:40]!r}, which is not an id.", "Fix the list."
            )
        yield str(key)
