"""Folders that the libraries of Hugging Face keep: a repository in the hub's cache, and what
`save_to_disk` writes.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

from claimlab.core.errors import UnreadableFile

PREFIX = (  # datasets--OWNER--NAME/snapshots/REVISION/..., links into datasets--OWNER--NAME/blobs
    "datasets--"
)
INFO, STATE = "dataset_info.json", "state.json"  # beside each table that `datasets` writes
DICT = "dataset_dict.json"  # above its splits


def snapshot(place: Path) -> Path:
    """The files of a cached repository at the revision that `main` names; any other folder is
    itself.
    """
    if not place.name.startswith(PREFIX) or not (place / "snapshots").is_dir():
        return place
    revisions = sorted(p for p in (place / "snapshots").iterdir() if p.is_dir())
    main = place / "refs" / "main"
    wanted = main.read_text(encoding="utf-8").strip() if main.is_file() else None
    chosen = [p for p in revisions if p.name == wanted] or revisions
    if len(chosen) != 1:
        raise UnreadableFile(
            f"'{place}' holds {len(revisions)} revisions, none of them named by refs/main.",
            (
                f"Give one of them, such as '{chosen[0]}'."
                if chosen
                else "Download the dataset again."
            ),
        )
    return chosen[0]


def is_cached(link: Path) -> bool:
    """Whether a link is one of the cache's own, which lead to the files of the same repository and
    nowhere else.
    """
    repository = next((p for p in link.absolute().parents if p.name.startswith(PREFIX)), None)
    return repository is not None and link.resolve().parent == repository.resolve() / "blobs"


def name_in(place: Path) -> str | None:
    """The name of a cached dataset, from its folder or that of a revision; null for any other
    folder.
    """
    folder = next(
        (p for p in (place.absolute(), *place.absolute().parents[:2]) if p.name.startswith(PREFIX)),
        None,
    )
    return None if folder is None else folder.name.rpartition("--")[2]


def class_names(info: str | bytes | None) -> dict[str, list[str]]:
    """The columns that hold numbers for classes, and the name of each number, from what `datasets`
    says of a table.
    """
    try:
        content = json.loads(info or "{}")
        features = content.get("info", content).get("features") or {}
        kinds = {column: kind for column, kind in features.items() if isinstance(kind, dict)}
    except (ValueError, AttributeError):
        return {}
    return {
        c: [str(n) for n in k["names"]]
        for c, k in kinds.items()
        if isinstance(k.get("names"), list)
    }


def info_beside(member: str) -> str:
    """The name of the file that says what the columns of a table are."""
    return str(PurePosixPath(member).with_name(INFO))
