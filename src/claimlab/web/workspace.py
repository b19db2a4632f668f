"""What is below a folder: every dataset, run, audit, report, trace, review and study that claimlab
wrote there.

The walk is bounded, follows no links and enters no hidden folder. An entry is known by its place
below the workspace, and only what the walk came by can be opened: no path of a request is ever
joined to a folder.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel

from claimlab.core.dataset import RECORDS, Manifest, read_manifest
from claimlab.core.errors import ClaimlabError, NotFound
from claimlab.core.guard import AUDIT, DATASET, kind_of

Kind = Literal["dataset", "run", "traces", "audit", "report", "review", "study"]
KINDS: tuple[Kind, ...] = get_args(Kind)
DEPTH, FOLDERS = 8, 20_000
REVIEW = "review.json"
STUDY = ("study.toml", "steps")
PAGE = "index.html"
_FRESH = 2.0  # seconds for which a walk is believed
_HERE = "~"  # the workspace folder itself


class Entry(BaseModel):
    """Something to open. `id` is its place below the workspace, with ~ between folders."""

    id: str
    kind: Kind
    name: str
    what: str  # what the folder says it is: "dataset", "evaluation", "drift report"
    records: int | None = None
    note: str = ""
    study: str | None = None  # the id of the study that it is a step of

    @property
    def link(self) -> str:
        rooms = {
            "audit": "audits",
            "run": "runs",
            "traces": "traces",
            "report": "reports",
            "review": "reviews",
            "study": "studies",
        }
        return f"/{rooms.get(self.kind, 'datasets')}/{self.id}"


@dataclass(frozen=True)
class Place:
    """An entry with its folder, and its manifest where it is a dataset."""

    entry: Entry
    folder: Path
    manifest: Manifest | None = None

    @property
    def digest(self) -> str:
        """The sha256 of the records, as the manifest has it."""
        return self.manifest.files.get(RECORDS, "") if self.manifest else ""


class Workspace:
    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._lock = threading.Lock()
        self._walked = float("-inf")
        self._places: dict[str, Place] = {}
        self._known: dict[
            tuple[Path, int], Place | None
        ] = {}  # by folder and time of change of what describes it
        self.complete = True  # false where the walk met its bounds

    @property
    def name(self) -> str:
        return self.folder.name or str(self.folder)

    def places(self) -> dict[str, Place]:
        """Everything by its id, as it is on disk now or was a moment ago."""
        with self._lock:
            if time.monotonic() - self._walked > _FRESH:
                self._places = {place.entry.id: place for place in self._walk()}
                self._walked = time.monotonic()
            return self._places

    def entries(self, kind: Kind | None = None) -> list[Entry]:
        return [p.entry for p in self.places().values() if kind in (None, p.entry.kind)]

    def listed(self) -> list[Entry]:
        """Everything but the steps of studies: these are on the pages of their studies."""
        return [entry for entry in self.entries() if entry.study is None]

    def refresh(self) -> None:
        """Look again at the next question: something was written."""
        self._walked = float("-inf")

    def get(self, id: str, *kinds: Kind) -> Place:
        """The place with this id; `kinds` are those that will do."""
        place = self.places().get(id)
        if place is None or (kinds and place.entry.kind not in kinds):
            what = " or ".join(kinds) or "entry"
            raise NotFound(
                f"There is no {what} '{id[:200]}' in this workspace.", "Choose one from the list."
            )
        return place

    def with_digest(self, digest: str) -> Place | None:
        """The dataset that holds exactly these records, those without predictions first."""
        same = [p for p in self.places().values() if digest and p.digest == digest]
        return min(same, key=lambda p: (KINDS.index(p.entry.kind), p.entry.id), default=None)

    def _walk(self) -> list[Place]:
        places: list[Place] = []
        todo: list[tuple[Path, int]] = [(self.folder, 0)]
        seen = 0
        self.complete = True
        while todo:
            folder, depth = todo.pop()
            seen += 1
            if seen > FOLDERS:
                self.complete = False
                break
            if (place := self._look(folder)) is not None:
                places.append(place)
                if place.manifest is not None:
                    continue  # a dataset holds no other folder of ours
            if depth < DEPTH:
                todo += [(inner, depth + 1) for inner in _folders(folder)]
        return sorted(_in_studies(places), key=lambda p: (KINDS.index(p.entry.kind), p.entry.id))

    def _look(self, folder: Path) -> Place | None:
        """What a folder is, read again only when what describes it has changed."""
        try:
            times = [(folder / name).stat().st_mtime_ns for name in _describing(folder)]
        except OSError:
            return None
        if not times:
            return None
        key = (folder, max(times))
        if key not in self._known:
            self._known[key] = self._open(folder)
        return self._known[key]

    def _open(self, folder: Path) -> Place | None:
        inside = folder.relative_to(self.folder).as_posix()
        id, name = (_HERE, self.name) if inside == "." else (inside.replace("/", "~"), inside)
        if (folder / REVIEW).is_file():
            return Place(Entry(id=id, kind="review", name=name, what="review"), folder)
        if _is_study(folder):
            return Place(Entry(id=id, kind="study", name=name, what="study"), folder)
        what = kind_of(folder)
        if what == DATASET:
            return _dataset(folder, id, name)
        if what == AUDIT:
            return Place(Entry(id=id, kind="audit", name=name, what=what), folder)
        if what is not None and (folder / PAGE).is_file():
            return Place(Entry(id=id, kind="report", name=name, what=what), folder)
        return None


def _dataset(folder: Path, id: str, name: str) -> Place | None:
    try:
        manifest = read_manifest(folder)
    except ClaimlabError as error:
        return Place(Entry(id=id, kind="dataset", name=name, what=DATASET, note=str(error)), folder)
    kind: Kind = "dataset"
    if "predictions.parquet" in manifest.files:
        kind = "run"
    elif "traces.parquet" in manifest.files:
        kind = "traces"
    records = manifest.counts.get("records")
    entry = Entry(
        id=id,
        kind=kind,
        name=name,
        what=DATASET,
        records=records if isinstance(records, int) else None,
    )
    return Place(entry, folder, manifest)


def _describing(folder: Path) -> list[str]:
    names = (".claimlab.json", "dataset.json", "claimlab.json", REVIEW)
    files = [name for name in names if (folder / name).is_file()]
    return [*files, *STUDY] if _is_study(folder) else files


def _is_study(folder: Path) -> bool:
    """A study that is under way has its steps already, and no cells yet."""
    return (folder / STUDY[0]).is_file() and (folder / STUDY[1]).is_dir()


def inner_id(id: str, inside: str) -> str:
    """The id of a folder that is inside the one with `id`."""
    return "~".join(([] if id == _HERE else [id]) + inside.split("/"))


def _in_studies(places: list[Place]) -> list[Place]:
    """The places, with those inside the folder of a study marked as its own."""
    studies = [place for place in places if place.entry.kind == "study"]
    marked = []
    for place in places:
        outer = next((one for one in studies if one.folder in place.folder.parents), None)
        entry = (
            place.entry
            if outer is None
            else place.entry.model_copy(update={"study": outer.entry.id})
        )
        marked.append(place if outer is None else replace(place, entry=entry))
    return marked


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as inner:
            dirs = [
                e.name
                for e in inner
                if not e.name.startswith(".") and e.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return []
    return [folder / name for name in sorted(dirs, reverse=True)]
