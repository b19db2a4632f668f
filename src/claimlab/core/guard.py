"""What stops an output from replacing something that matters: the input, another kind of folder, a
file of the user.

A folder that claimlab writes says so itself: in `.claimlab.json` (its kind and its files), or in
its manifest: `dataset.json` of a dataset, `claimlab.json` of an export. `force` replaces a folder
of the same kind that holds nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from claimlab.core.atomic import read_object, recover
from claimlab.core.errors import OutputExists, UsageError
from claimlab.core.grants import is_inner

MARK_FILE = ".claimlab.json"
DATASET, EXPORT, AUDIT = "dataset", "export", "audit report"
_MANIFESTS = {
    "dataset.json": DATASET,
    "claimlab.json": EXPORT,
}  # each lists the files of its folder
_OF_THE_SYSTEM = {
    ".DS_Store",
    "Thumbs.db",
    "desktop.ini",
}  # file managers leave these behind in every folder


def refuse_taken(target: Path, *, force: bool, kind: str, reads: Sequence[Path] = ()) -> None:
    """Raise before any work is done if `target` may not be written.

    `kind` names what will be written ("dataset", "audit report"): `force` replaces only a folder of
    that kind, and none that holds a file claimlab did not write. With or without `force`, nothing
    in `reads` is overwritten, written into, or removed with a folder around it.
    """
    recover(target)
    for source in reads:
        refuse_input(target, source)
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not force:
        raise OutputExists(target)
    present = kind_of(target)
    if present is None:
        todo = "Choose another output; `force=True` does not remove it."
        raise OutputExists(target, "holds something that claimlab did not write", todo)
    if present != kind:
        todo = f"Choose another output; `force=True` replaces only a claimlab {kind} here."
        raise OutputExists(target, f"holds a claimlab {present}", todo)
    if others := foreign_files(target):
        names = ", ".join(f"'{name}'" for name in others[:5]) + (", …" if len(others) > 5 else "")
        todo = "Move them away, or choose another output."
        raise OutputExists(target, f"holds files that claimlab did not write ({names})", todo)


def refuse_file(target: Path, *, force: bool, kind: str, sign: str) -> None:
    """The same for an output that is one file: `force` replaces only one that has `sign` near its
    start.
    """
    if not target.exists():
        return
    if not force:
        raise OutputExists(target)
    start = b""
    if target.is_file():
        with target.open("rb") as file:
            start = file.read(2_000)
    if sign not in start.decode("utf-8", "replace"):
        todo = "Choose another output; `force=True` does not remove it."
        raise OutputExists(target, f"is not a {kind} that claimlab wrote", todo)


def seal_folder(folder: Path, kind: str) -> None:
    """Note in `folder` what it is and which files claimlab wrote there; the last thing to write."""
    content = {"kind": kind, "files": [name for name in _files(folder) if name != MARK_FILE]}
    (folder / MARK_FILE).write_text(
        json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )


def kind_of(folder: Path) -> str | None:
    """What claimlab wrote there; null for everything else."""
    kind = read_object(folder / MARK_FILE).get("kind")
    if isinstance(kind, str):
        return kind
    return next((kind for name, kind in _MANIFESTS.items() if (folder / name).is_file()), None)


def files_of(folder: Path) -> list[str]:
    """The files that claimlab wrote there, as its mark lists them; none where there is no mark."""
    listed = read_object(folder / MARK_FILE).get("files")
    return [name for name in listed if is_inner(name)] if isinstance(listed, list) else []


def foreign_files(folder: Path) -> list[str]:
    """The files in `folder` that claimlab did not write, as paths inside it. A folder within that
    has a mark or a `dataset.json` of its own speaks for its own files."""
    own = {MARK_FILE}
    for place in [folder, *(p for p in sorted(folder.rglob("*")) if p.is_dir())]:
        prefix = place.relative_to(folder)
        names = [*files_of(place), MARK_FILE]
        for manifest in _MANIFESTS:
            hashes = read_object(place / manifest).get("files")
            names += [*hashes, manifest] if isinstance(hashes, dict) else []
        own |= {(prefix / name).as_posix() for name in names if isinstance(name, str)}
    return [
        name for name in _files(folder) if name not in own and Path(name).name not in _OF_THE_SYSTEM
    ]


def refuse_input(target: Path, source: Path) -> None:
    """Raise if writing `target` would replace `source`, or write into it."""
    out, inside = target.resolve(), source.resolve()
    if out == inside:
        raise UsageError(
            f"'{target}' is the input: it would be replaced.", "Choose another output."
        )
    if out in inside.parents:
        raise UsageError(f"'{target}' holds the input '{source}'.", "Choose another output.")
    if inside in out.parents and inside.is_dir():
        raise UsageError(
            f"'{target}' is inside the input '{source}'.", "Choose an output outside of it."
        )


def _files(folder: Path) -> list[str]:
    """Everything in `folder` that is not a folder itself, links included, as paths inside it."""
    return sorted(
        p.relative_to(folder).as_posix()
        for p in folder.rglob("*")
        if p.is_symlink() or not p.is_dir()
    )
