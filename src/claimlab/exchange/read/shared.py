"""Files read in other processes, each a shard: for an import of many files that was told to share
its work.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.digest import write_parquet
from claimlab.core.engine import run_stage
from claimlab.core.engine.names import place, shares
from claimlab.core.engine.reads import reads
from claimlab.core.errors import UnreadableFile
from claimlab.core.progress import Progress
from claimlab.core.types import JsonObject
from claimlab.exchange.read.choose import Member
from claimlab.exchange.vocabulary import HEADER_WORDS
from claimlab.files.bundle import Bundle
from claimlab.files.objects import NotATable
from claimlab.files.raw import Layout, Options, RawTable, Refused
from claimlab.files.read import read_table

_FRAME, _ABOUT = "frame.parquet", "about.json"
Read = RawTable | NotATable | UnreadableFile


def shared_tables(members: Sequence[Member], options: Options, progress: Progress) -> list[Read]:
    """The table of each member, or why it has none; nothing at all where the run does not share its
    work.
    """
    if not shares() or len(members) < 2:
        return []
    shards = [
        {**_stamp(bundle.path, name), "member": name, "options": asdict(options)}
        for bundle, name in members
    ]
    with place() as here:
        outputs = run_stage(do_table, shards, folder=here, name="files", progress=progress)
        return [_opened(output) for output in outputs]


def _stamp(path: Path, name: str) -> JsonObject:
    """Where it is, and the digest of its file: one that was changed after a stop is read again."""
    return {
        "path": str(path.absolute()),
        "file": reads(path / name if (path / name).is_file() else path),
    }


def do_table(shard: Any, output: Path) -> None:
    """Read one member of a folder, an archive or a file."""
    output.mkdir()
    about: JsonObject = {}
    try:
        with Bundle.open(shard["path"]) as bundle:
            table = read_table(bundle, shard["member"], Options(**shard["options"]), HEADER_WORDS)
    except NotATable as error:
        about["no_table"] = [error.problem, error.todo]
    except UnreadableFile as error:
        about["unreadable"] = [error.problem, error.todo]
    else:
        write_parquet(table.frame, output / _FRAME)
        refused = {
            "reasons": dict(table.refused.reasons),
            "listed": table.refused.listed,
            "unit": table.refused.unit,
        }
        about = {
            "name": table.name,
            "layout": asdict(table.layout),
            "literal": sorted(table.literal),
            "refused": refused,
            "blank": table.blank,
            "notes": table.notes,
        }
    (output / _ABOUT).write_text(json.dumps(about, ensure_ascii=False), encoding="utf-8")


def _opened(folder: Path) -> Read:
    about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
    if "no_table" in about:
        return NotATable(*about["no_table"])
    if "unreadable" in about:
        return UnreadableFile(*about["unreadable"])
    refused = about["refused"]
    return RawTable(
        about["name"],
        pl.read_parquet(folder / _FRAME),
        Layout(**about["layout"]),
        frozenset(about["literal"]),
        Refused(
            Counter(refused["reasons"]),
            [(line, why) for line, why in refused["listed"]],
            refused["unit"],
        ),
        about["blank"],
        about["notes"],
    )
