"""Lists of uuids as splits. Test lists are withheld by the authors; where a tree has some, they are
read as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import polars as pl

from claimlab.catalog.readers.bluff.layout import parts
from claimlab.core.errors import UnknownName, UnreadableFile
from claimlab.files.bundle import Bundle
from claimlab.files.tables import read_json

DEFAULT = "multilingual"
SPLITS = {"val": "dev", "valid": "dev", "validation": "dev"}
SCHEMA = {"group": pl.String(), "setting": pl.String(), "split": pl.String()}


def settings(bundle: Bundle) -> list[str]:
    """The settings that the tree has lists for, such as "cross_lingual_family/Turkic"."""
    return sorted({part.setting for part in parts(bundle, "splits") if part.setting is not None})


def read_lists(bundle: Bundle, setting: str | None = None) -> pl.DataFrame:
    """uuid ("group"), setting and split, of one setting or of all; rows in file order."""
    known = settings(bundle)
    if setting is not None and setting not in known:
        raise UnknownName("split setting", setting, known)
    rows = []
    for part in parts(bundle, "splits"):
        if setting is not None and part.setting != setting:
            continue
        stem = PurePosixPath(part.name).stem.lower()
        value = read_json(bundle.text(part.name), part.name)
        rows += [(uuid, part.setting, SPLITS.get(stem, stem)) for uuid in _uuids(value, part.name)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def membership(lists: pl.DataFrame, setting: str) -> tuple[dict[str, str], list[str]]:
    """The split of each uuid in one setting; and the uuids that are in several, which get none."""
    rows = lists.filter(pl.col("setting") == setting).unique(
        ["group", "split"], maintain_order=True
    )
    twice = (
        rows.filter(pl.col("group").is_duplicated())["group"].unique(maintain_order=True).to_list()
    )
    once = rows.filter(~pl.col("group").is_duplicated()).select("group", "split")
    return dict(once.iter_rows()), twice


def _uuids(value: Any, name: str) -> Iterator[str]:
    """The card has lists of uuids; lists of rows with a uuid, and one list inside an object, are
    read too.
    """
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if not isinstance(value, list):
        raise UnreadableFile(
            f"'{name}' is not a list of uuids.",
            "Give the split lists in the layout of the data card.",
        )
    for item in value:
        uuid = item.get("uuid") if isinstance(item, dict) else item
        if not isinstance(uuid, str):
            raise UnreadableFile(
                f"'{name}' holds {str(item)[:40]!r}, which is not a uuid.", "Fix the list."
            )
        yield uuid
