"""How a dataset of a study comes in: a folder as it is, a catalogued dataset, a file to import, or
others merged.
"""

from __future__ import annotations

from dataclasses import fields
from hashlib import sha256
from pathlib import Path

from claimlab.core.dataset import read_manifest
from claimlab.core.digest import digest_file
from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.remote import to_read
from claimlab.files.raw import Options as Layout
from claimlab.study.file import Options, StudyFile
from claimlab.study.step import MISSING, SOURCES, Node, as_json, checked

LONGEST = 1_000  # characters of a path


def dataset_node(study: StudyFile, name: str) -> Node:
    """The step that brings a dataset in. One that is optional and not there is a step that fails,
    with the reason.
    """
    options = dict(study.datasets[name])
    if not options.pop("optional", False):
        return _dataset_node(study, name, options)
    try:
        return _dataset_node(study, name, options)
    except ClaimlabError as error:
        return Node(MISSING, as_json({"dataset": name, "why": str(error)}))


def _dataset_node(study: StudyFile, name: str, entry: Options) -> Node:
    kinds = [kind for kind in ("folder", *SOURCES) if kind in entry]
    if len(kinds) != 1:
        raise UsageError(
            f"[datasets.{name}] must say where the data comes from in one way.",
            "Give one of folder, load (with source), import, or merge.",
        )
    kind = kinds[0]
    value = entry.pop(kind)
    if kind == "folder":
        return Node(
            "folder", "{}", folder=str(value), inputs=read_manifest(to_read(value)).own_digest()
        )
    if kind == "merge":
        return Node("merge", as_json(entry), tuple(dataset_node(study, part) for part in value))
    verb = SOURCES[kind]
    if kind == "import":
        entry = _as_arguments(entry)
    options = checked(verb, {verb.main: value, **entry}, f"[datasets.{name}]")
    return Node(
        kind,
        as_json(options),
        inputs=digest_of(str(options["source"]) if "source" in options else value),
    )


def _as_arguments(options: Options) -> Options:
    """The options of `claimlab import` as arguments of its function: the layout is one of them, and
    so is the map.
    """
    layout = {
        name: options.pop(name)
        for name in (field.name for field in fields(Layout))
        if name in options
    }
    labels = {"labels": options.pop("map")} if "map" in options else {}
    if layout:
        Layout.of(layout)  # a word that is wrong is said before anything is done
    return {**options, **labels, **({"options": layout} if layout else {})}


def digest_of(path: str | list[str]) -> str:
    """The digest of a file, or of all files of a folder: a study notices that its data has
    changed.
    """
    files = [to_read(p) for p in ([path] if isinstance(path, str) else path)]
    paths = [
        f
        for p in files
        for f in (sorted(q for q in p.rglob("*") if q.is_file()) if p.is_dir() else [p])
    ]
    if missing := [str(f) for f in paths if not f.is_file()]:
        raise UsageError(f"There is no file '{missing[0]}'.", "Correct the path in the study file.")
    return sha256("".join(f"{f.name} {digest_file(f)}\n" for f in paths).encode()).hexdigest()


def digest_of_files(options: Options) -> str:
    """The digest of the files that the options of a step name (decisions, a profile, lists): empty
    without any.
    """
    texts = [
        text
        for value in options.values()
        for text in (value if isinstance(value, list) else [value])
    ]
    paths = [
        text for text in texts if isinstance(text, str) and "." in text and len(text) < LONGEST
    ]
    files = [path for path in paths if Path(path).is_file()]
    return digest_of(files) if files else ""
