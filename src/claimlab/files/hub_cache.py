"""A folder of the Hugging Face hub's cache: which revision of a repository it stands for, which of
its links are the cache's own, and what the dataset is called.
"""

from __future__ import annotations

from pathlib import Path

from claimlab.core.errors import UnreadableFile

# in the hub's cache: datasets--OWNER--NAME/snapshots/REVISION/..., links into its blobs
CACHED_PREFIX = "datasets--"


def snapshot(place: Path) -> Path:
    """The files of a cached repository at the revision that `main` names; any other folder is
    itself.
    """
    if not place.name.startswith(CACHED_PREFIX) or not (place / "snapshots").is_dir():
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
    repository = next(
        (p for p in link.absolute().parents if p.name.startswith(CACHED_PREFIX)), None
    )
    return repository is not None and link.resolve().parent == repository.resolve() / "blobs"


def name_in(place: Path) -> str | None:
    """The name of a cached dataset, from its folder or that of a revision; null for any other
    folder.
    """
    folder = next(
        (
            p
            for p in (place.absolute(), *place.absolute().parents[:2])
            if p.name.startswith(CACHED_PREFIX)
        ),
        None,
    )
    return None if folder is None else folder.name.rpartition("--")[2]
