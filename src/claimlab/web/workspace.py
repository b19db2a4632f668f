"""What is below a folder: every dataset, run, audit, report, trace, review and study that claimlab
wrote there, each read once for as long as its files stay the same.

The walk is bounded, follows no links and enters no hidden folder. An entry is known by its place
below the workspace, and only what the walk came by can be opened: no path of a request is ever
joined to a folder.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from pydantic import BaseModel

from claimlab.audit.result import Audit
from claimlab.core.dataset import RECORDS, Manifest, read_manifest
from claimlab.core.digest import digest_file
from claimlab.core.errors import ClaimlabError, NotFound
from claimlab.core.finding import Finding
from claimlab.core.guard import AUDIT, DATASET, kind_of

T = TypeVar("T")


class Memo:
    """A cache of the latest results by key; each is computed once, however many threads ask for
    it.
    """

    def __init__(self, most: int = 64) -> None:
        self._most, self._lock = most, threading.Lock()
        self._results: OrderedDict[Any, Any] = OrderedDict()
        self._locks: dict[Any, threading.Lock] = {}

    def get(self, key: Any, work: Callable[[], T]) -> T:
        with self._lock:
            mine = self._locks.setdefault(key, threading.Lock())
        with mine:
            with self._lock:
                if key in self._results:
                    self._results.move_to_end(key)
                    return self._results[key]  # type: ignore[no-any-return]
            result = work()
            with self._lock:
                self._results[key] = result
                while len(self._results) > self._most:
                    self._locks.pop(self._results.popitem(last=False)[0], None)
            return result

    def clear(self) -> list[Any]:
        """What was kept; from now on, nothing is."""
        with self._lock:
            results = list(self._results.values())
            self._results.clear()
            return results

    def __contains__(self, key: Any) -> bool:
        return key in self._results


_digests = Memo(1_000)


def state_of(file: Path) -> tuple[Path, int, int]:
    """What is another when the file is: its time of change and size. Hashing a large file takes
    longer than a page.
    """
    try:
        now = file.stat()
    except OSError:
        raise NotFound(f"'{file.name}' is not there any more.", "Reload the workspace.") from None
    return file, now.st_mtime_ns, now.st_size


def digest_of(file: Path) -> str:
    """The sha256 of a file, read again when its size or time of change differs."""
    return _digests.get(state_of(file), lambda: digest_file(file))


def digest_known(file: Path) -> bool:
    return state_of(file) in _digests


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
        rooms = {"traces": "traces", "study": "studies"}
        return f"/{rooms.get(self.kind, f'{self.kind}s')}/{self.id}"


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
        kind: Kind
        if (folder / REVIEW).is_file():
            kind = what = "review"
        elif _is_study(folder):
            kind = what = "study"
        elif (known := kind_of(folder)) == DATASET:
            return _dataset(folder, id, name)
        elif known == AUDIT:
            kind, what = "audit", known
        elif known is not None and (folder / PAGE).is_file():
            kind, what = "report", known
        else:
            return None
        return Place(Entry(id=id, kind=kind, name=name, what=what), folder)


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
        for outer in studies:
            if outer.folder in place.folder.parents:
                entry = place.entry.model_copy(update={"study": outer.entry.id})
                place = replace(place, entry=entry)
                break
        marked.append(place)
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


AUDITS = "audit.json"
_audits = Memo()


def audits_in(place: Place) -> list[Audit]:
    from claimlab.audit.result import read_audits

    file = place.folder / AUDITS
    return _audits.get(digest_of(file), lambda: read_audits(file))


def findings_in(place: Place) -> list[tuple[Audit, Finding]]:
    """Every finding of the audits in a folder, in one order: a finding is known by its number in
    it.
    """
    return [(audit, finding) for audit in audits_in(place) for finding in audit.findings]


def finding_at(place: Place, number: int) -> tuple[Audit, Finding]:
    """A finding by its number, with the audit that it is of."""
    findings = findings_in(place)
    if not 0 <= number < len(findings):
        raise NotFound(
            f"The audit '{place.entry.name}' has no finding {number}.", "Choose one from its list."
        )
    return findings[number]
