"""What is below a folder: every dataset, run, audit, report, trace, review and study that claimlab
wrote there, each read once for as long as its files stay the same.

The walk is bounded, follows no links and enters no hidden folder. An entry is known by its place
below the workspace, and only what the walk came by can be opened: no path of a request is ever
joined to a folder.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field

from claimlab.core.dataset import RECORDS, Manifest, read_manifest
from claimlab.core.errors import ClaimlabError, DataError, NotFound, UsageError
from claimlab.core.finding import Finding
from claimlab.core.guard import AUDIT, DATASET, kind_of
from claimlab.core.types import JsonObject
from claimlab.files.media import ENDS
from claimlab.web.memo import Memo, digest_of

if TYPE_CHECKING:
    from claimlab.audit.result import Audit

MOST_DEPTH, MOST_FOLDERS, MOST_FILES = 8, 20_000, 200_000
ARCHIVE = ".zip"
IMAGES = tuple(f".{end}" for end in ENDS)
REVIEW = "review.json"
STUDY = ("study.toml", "steps")
PAGE = "index.html"
NAME = re.compile(r"[\w][\w .-]{0,79}")
_FRESH = 2.0  # seconds for which a walk is believed
_HERE = "~"  # the workspace folder itself
AUDITS = "audit.json"
Kind = Literal["dataset", "run", "traces", "audit", "report", "review", "study"]
KINDS: tuple[Kind, ...] = get_args(Kind)
DATASETS = KINDS[:3]  # each is a dataset
Word = Annotated[str, Field(max_length=100)]  # what an address or a form may say
Line = Annotated[str, Field(max_length=500)]
Prose = Annotated[str, Field(max_length=20_000)]
Name = Annotated[
    str, Field(min_length=1, max_length=80, description="A folder below the workspace.")
]


class Shape(BaseModel):
    """What pages and their twins are made of. The text below a field describes it."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class FolderName(Shape):
    """The page of a place."""

    id: str
    name: str


class FolderEntry(Shape):
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
        rooms = {"traces": "traces", "study": "studies"}
        return f"/{rooms.get(self.kind, f'{self.kind}s')}/{self.id}"


@dataclass(frozen=True)
class WorkspaceFolder:
    """An entry with its folder, and its manifest where it is a dataset."""

    entry: FolderEntry
    folder: Path
    manifest: Manifest = field(default_factory=lambda: Manifest(name=""))

    @property
    def named(self) -> JsonObject:
        return {"id": self.entry.id, "name": self.entry.name}

    @property
    def digest(self) -> str:
        """The sha256 of the records, as the manifest has it."""
        return self.manifest.files.get(RECORDS, "")

    def table(self, name: str) -> Path | None:
        """The file of a side table, where the dataset lists one."""
        file = f"{name}.parquet"
        return self.folder / file if file in self.manifest.files else None


class Workspace:
    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._lock = threading.Lock()
        self._walked = float("-inf")
        self._places: dict[str, WorkspaceFolder] = {}
        self._images: dict[str, list[Path]] | None = None
        # By folder and time of change of what describes it.
        self._known: dict[tuple[Path, int], WorkspaceFolder | None] = {}
        self.complete = True  # false where the walk met its bounds

    @property
    def name(self) -> str:
        return self.folder.name or str(self.folder)

    def places(self) -> dict[str, WorkspaceFolder]:
        """Everything by its id, as it is on disk now or was a moment ago."""
        with self._lock:
            if time.monotonic() - self._walked > _FRESH:
                self._places = {place.entry.id: place for place in self._walk()}
                self._walked, self._images = time.monotonic(), None
            return self._places

    def images(self) -> dict[str, list[Path]]:
        """The files of images, and the archives that may hold some, by their names."""
        closed = {place.folder for place in self.places().values() if place.digest}
        with self._lock:
            if self._images is None:
                self._images = {}
                folders = islice(folders_below(self.folder, closed.__contains__), MOST_FOLDERS)
                each = (file for folder in folders for file in files_in(folder, (*IMAGES, ARCHIVE)))
                for file in islice(each, MOST_FILES):
                    self._images.setdefault(file.name, []).append(file)
            return self._images

    def of(self, *kinds: Kind) -> list[WorkspaceFolder]:
        """The places of these kinds."""
        return [place for place in self.places().values() if place.entry.kind in kinds]

    def listed(self) -> list[FolderEntry]:
        """Everything but the steps of studies: these are on the pages of their studies."""
        return [place.entry for place in self.of(*KINDS) if place.entry.study is None]

    def refresh(self) -> None:
        """Look again at the next question: something was written."""
        self._walked = float("-inf")

    def get(self, id: str, *kinds: Kind) -> WorkspaceFolder:
        """The place with this id; `kinds` are those that will do."""
        place = self.places().get(id)
        if place is None or (kinds and place.entry.kind not in kinds):
            what = " or ".join(kinds) or "entry"
            raise NotFound(
                f"There is no {what} '{id[:200]}' in this workspace.", "Choose one from the list."
            )
        if place.entry.note:
            raise DataError(place.entry.note, "Make the dataset again.")
        return place

    def new_folder(self, name: str, *, free: bool = False) -> Path:
        """A folder right below the workspace that is to be written; with `free`, there is none."""
        clean = name.strip()
        if not NAME.fullmatch(clean) or clean.endswith("."):
            raise UsageError(
                f"'{clean[:80]}' is not a valid name for a folder.",
                "Use letters, digits, dashes and spaces.",
            )
        if free and (self.folder / clean).exists():
            raise UsageError(f"There is a folder '{clean}' already.", "Choose another name.")
        return self.folder / clean

    def free_name(self, name: str) -> str:
        """A name like this one that no folder has yet."""
        clean = re.sub(r"[^\w-]", "-", name)[:60].lstrip("-") or "data"
        names = (clean if number == 1 else f"{clean}-{number}" for number in range(1, 10_000))
        return next(name for name in names if not (self.folder / name).exists())

    def id_of(self, folder: Path) -> str:
        return folder.relative_to(self.folder).as_posix().replace("/", "~")

    def with_digest(self, digest: str) -> WorkspaceFolder | None:
        """The dataset that holds exactly these records, those without predictions first."""
        same = [p for p in self.places().values() if digest and p.digest == digest]
        return min(same, key=lambda p: (KINDS.index(p.entry.kind), p.entry.id), default=None)

    def _walk(self) -> list[WorkspaceFolder]:
        places: list[WorkspaceFolder] = []
        datasets: set[Path] = set()  # which hold no other folder of ours
        below = folders_below(self.folder, datasets.__contains__)
        for folder in islice(below, MOST_FOLDERS):
            if (place := self._look(folder)) is not None:
                places.append(place)
                if place.digest:
                    datasets.add(folder)
        self.complete = next(below, None) is None
        if [place.entry.name for place in places].count(self.name) > 1:  # the first is the folder
            name = {"name": f"{self.name} (the workspace itself)"}
            places[0] = replace(places[0], entry=places[0].entry.model_copy(update=name))
        return sorted(_in_studies(places), key=lambda p: (KINDS.index(p.entry.kind), p.entry.id))

    def _look(self, folder: Path) -> WorkspaceFolder | None:
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

    def _open(self, folder: Path) -> WorkspaceFolder | None:
        inside = folder.relative_to(self.folder).as_posix()
        id, name = (_HERE, self.name) if inside == "." else (inside.replace("/", "~"), inside)
        kind: Kind
        if (folder / REVIEW).is_file():
            kind = what = "review"
        elif _is_study(folder):
            kind = what = "study"
        elif (folder_kind := kind_of(folder)) == DATASET:
            return _dataset(folder, id, name)
        elif folder_kind == AUDIT:
            kind, what = "audit", folder_kind
        elif folder_kind is not None and (folder / PAGE).is_file():
            kind, what = "report", folder_kind
        else:
            return None
        return WorkspaceFolder(FolderEntry(id=id, kind=kind, name=name, what=what), folder)


def _dataset(folder: Path, id: str, name: str) -> WorkspaceFolder | None:
    try:
        manifest = read_manifest(folder)
    except ClaimlabError as error:
        return WorkspaceFolder(
            FolderEntry(id=id, kind="dataset", name=name, what=DATASET, note=str(error)), folder
        )
    kind: Kind = "dataset"
    if "predictions.parquet" in manifest.files:
        kind = "run"
    elif "traces.parquet" in manifest.files:
        kind = "traces"
    records = manifest.counts.get("records")
    entry = FolderEntry(
        id=id,
        kind=kind,
        name=name,
        what=DATASET,
        records=records if isinstance(records, int) else None,
    )
    return WorkspaceFolder(entry, folder, manifest)


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


def record_link(dataset: str, record: str) -> str:
    return f"/datasets/{dataset}/record?{urlencode({'id': record})}"


def _in_studies(places: list[WorkspaceFolder]) -> Iterator[WorkspaceFolder]:
    """The places, with those inside the folder of a study marked as its own."""
    studies = {place.folder: place.entry.id for place in places if place.entry.kind == "study"}
    for place in places:
        outer = next(
            (studies[parent] for parent in place.folder.parents if parent in studies), None
        )
        yield replace(place, entry=place.entry.model_copy(update={"study": outer}))


def folders_below(folder: Path, closed: Callable[[Path], object]) -> Iterator[Path]:
    """The folder and those below it, not too deep, without hidden ones and links. What is `closed`,
    once it was looked at, is not entered.
    """
    todo = [(folder, 0)]
    while todo:
        here, depth = todo.pop()
        yield here
        if depth < MOST_DEPTH and not closed(here):
            inner = [
                here / entry.name for entry in _inside(here) if entry.is_dir(follow_symlinks=False)
            ]
            todo += [(folder, depth + 1) for folder in sorted(inner, reverse=True)]


def files_in(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    """The files right inside, without hidden ones and links."""
    files = [entry for entry in _inside(folder) if entry.is_file(follow_symlinks=False)]
    return sorted(folder / file.name for file in files if file.name.lower().endswith(endings))


def _inside(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as inner:
            return [file for file in inner if not file.name.startswith(".")]
    except OSError:
        return []


def digests_of(place: WorkspaceFolder) -> set[str]:
    """The records at `place` and those that they were made from; the first step read raw files."""
    steps = place.manifest.lineage[1:]
    return {place.digest} | {digest for step in steps for digest in step.inputs.values()}


_audits = Memo()


def audits_in(place: WorkspaceFolder) -> list[Audit]:
    from claimlab.audit.result import read_audits

    file = place.folder / AUDITS
    return _audits.get(digest_of(file), lambda: read_audits(file))


def audits_of(
    workspace: Workspace, digests: Iterable[str]
) -> Iterator[tuple[WorkspaceFolder, Audit]]:
    """The audits of records with these digests, and where they are."""
    wanted = set(digests)
    for place in workspace.of("audit"):
        yield from ((place, audit) for audit in audits_in(place) if audit.digest in wanted)


def findings_in(place: WorkspaceFolder) -> list[tuple[Audit, Finding]]:
    """Every finding of the audits in a folder, in one order: a finding is known by its number in
    it.
    """
    return [(audit, finding) for audit in audits_in(place) for finding in audit.findings]


def finding_at(place: WorkspaceFolder, number: int) -> tuple[Audit, Finding]:
    """A finding by its number, with the audit that it is of."""
    findings = findings_in(place)
    if not 0 <= number < len(findings):
        raise NotFound(
            f"The audit '{place.entry.name}' has no finding {number}.", "Choose one from its list."
        )
    return findings[number]
