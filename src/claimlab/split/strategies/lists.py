"""A split that others published, by its lists of ids: BLUFF's uuid lists, a file per side, or a
table of ids and sides. A list is a foreign key. Names that the data lacks, and names in two lists,
are counted, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import polars as pl

from claimlab.catalog.readers import bluff
from claimlab.core.errors import DataError, UnreadableFile, UsageError, check_name
from claimlab.core.types import Json
from claimlab.files.bundle import Bundle
from claimlab.files.read import user_table
from claimlab.files.tables import read_json
from claimlab.split.strategy import Impossible, Material, Parts, SplitRequest

SIDE_OF_WORD = {"train": "train", "training": "train", "dev": "dev", "test": "test", **bluff.SPLITS}
KEYS = ("id", "record_id", "uuid", "group")
SCHEMA = {"key": pl.String, "split": pl.String}


class PublishedLists:
    name = "lists"
    summary = (
        "As published lists say (`lists`: a file or a BLUFF tree; else the dataset's own;"
        " `setting`: which one)."
    )
    takes = frozenset({"lists", "setting"})

    def split(self, material: Material, request: SplitRequest) -> Parts:
        lists = open_lists(request.lists, request.setting, material.tables)
        rows = lists.rows.unique(maintain_order=True)
        torn = rows.filter(pl.col("key").is_duplicated())["key"].unique()
        once = rows.filter(~pl.col("key").is_duplicated())
        listed = rows["key"].unique()

        def missing(column: str) -> int:
            return int((~listed.is_in(material.records[column].drop_nulls().implode())).sum())

        column = min(("id", "group"), key=missing)
        keys, orphans = material.records[column], missing(column)
        if orphans == listed.len():
            raise Impossible(
                f"None of the {listed.len():,} ids in the lists is in the data.",
                "Check that they belong together.",
            )
        side = keys.replace_strict(once["key"], once["split"], default=None, return_dtype=pl.String)
        doubled = keys.is_in(torn.to_list()).fill_null(False)
        reasons = {
            "its id is in several lists": int(doubled.sum()),
            "its id is in no list": int((side.is_null() & ~doubled).sum()),
        }
        notes = [
            f"The lists are keyed by '{column}': {listed.len():,} ids, {orphans:,} of them not in"
            " the data."
        ]
        if "test" not in set(rows["split"]):
            notes.append("No list for test: the authors withhold it, or it was not given.")
        return Parts(
            side=side.alias("split"),
            name=f"lists:{lists.setting}" if lists.setting else "lists",
            whole=keys,
            left_out=reasons,
            notes=tuple(notes),
            required=("train",),
        )


STRATEGY = PublishedLists()


@dataclass(frozen=True)
class SplitLists:
    """`rows` has a key (of a record or a group) and a split for each entry; `setting` names one set
    of several.
    """

    rows: pl.DataFrame
    setting: str | None = None


def open_lists(
    path: Path | None, setting: str | None, tables: Mapping[str, pl.DataFrame]
) -> SplitLists:
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
            if PurePosixPath(n).stem.lower() in SIDE_OF_WORD and n.lower().endswith(".json")
        ]
        if names and path.suffix.lower() not in (".json", ".csv"):
            rows = [(n, key) for n in names for key in _keys(read_json(bundle.text(n), n), n)]
            paths = [(key, PurePosixPath(n)) for n, key in rows]
            listed = [(key, p.parent.as_posix(), SIDE_OF_WORD[p.stem.lower()]) for key, p in paths]
            return _chosen(pl.DataFrame(listed, schema=bluff.SCHEMA, orient="row"), setting)
        return SplitLists(_one_file(bundle))


def _chosen(lists: pl.DataFrame, setting: str | None) -> SplitLists:
    """One setting of several: the one that is named, the only one, or BLUFF's multilingual one."""
    settings = lists["setting"].unique().sort().to_list()
    picked = setting
    if picked is None:
        picked = (
            settings[0]
            if len(settings) == 1
            else bluff.DEFAULT
            if bluff.DEFAULT in settings
            else None
        )
    if picked is None:
        raise UsageError(
            "There are several split lists.",
            f"Choose one with `setting`: {', '.join(settings[:12])}.",
        )
    check_name("split setting", picked, settings)
    of_setting = lists.filter(setting=picked).select(pl.col("group").alias("key"), "split")
    return SplitLists(_words(of_setting), picked)


def _one_file(bundle: Bundle) -> pl.DataFrame:
    names = bundle.names()
    if len(names) != 1:
        raise UnreadableFile(
            f"'{bundle.path.name}' holds no split lists.",
            "Give a BLUFF tree, a folder with train.json, dev.json and test.json, or a table with"
            " 'id' and 'split'.",
        )
    name = names[0]
    if rows := _by_side(bundle, name):
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


def _by_side(bundle: Bundle, name: str) -> list[tuple[str, str]]:
    """The keys and sides of a JSON object of lists by side; none where it is something else."""
    value = read_json(bundle.text(name), name) if name.lower().endswith(".json") else None
    if not isinstance(value, dict) or not {side.lower() for side in value} <= {*SIDE_OF_WORD}:
        return []
    return [(key, side) for side, listed in value.items() for key in _keys(listed, name)]


def _words(rows: pl.DataFrame) -> pl.DataFrame:
    """The sides as train, dev and test; any other is an error, since its rows would silently be
    lost.
    """
    complete = rows.drop_nulls()
    words = complete["split"].str.strip_chars().str.to_lowercase()
    strange = sorted(set(words.unique()) - set(SIDE_OF_WORD))
    if strange:
        raise DataError(
            f"The lists name {', '.join(map(repr, strange[:5]))}, which is not a side of a split.",
            f"Use: {', '.join(sorted(SIDE_OF_WORD))}.",
        )
    return complete.with_columns(split=words.replace_strict(SIDE_OF_WORD, return_dtype=pl.String))


def _keys(value: Json, name: str) -> Iterator[str]:
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
