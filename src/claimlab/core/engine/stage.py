"""One stage in a folder: what is to be done, what is done, and how one shard is done whole or not at all.

NAME/stage.json       the function (module:function) and its shards, plain JSON
NAME/outputs/00012    what a shard wrote: a file or a folder
NAME/done/00012       its completion marker, with the size of the output and the key of the stage: written last
NAME/failed/00012     its last error, and how often it was tried
NAME/building/KEY/    what is being written

The key is a hash of stage.json. A run that begins anew with other shards cannot end the workers of other machines: what
such a worker still writes is neither taken for a shard of the new stage nor found beside it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from claimlab import __version__
from claimlab.core import errors
from claimlab.core.atomic import put, quick_text
from claimlab.core.engine.current import working
from claimlab.core.errors import ClaimlabError, DataError, UsageError
from claimlab.core.memory import was_disk
from claimlab.core.remote import refuse_remote

STAGE = "stage.json"
Work = Callable[[Any, Path], None]
MODULES = "CLAIMLAB_ENGINE_MODULES"  # further packages whose functions may be run, with commas


@dataclass(frozen=True)
class Failure:
    """Why a shard was not done. `kind` is the class of an error that claimlab explains, `disk`, `lost` (its process
    ended) or `error`."""

    kind: str
    problem: str
    todo: str = ""
    attempts: int = 1

    @classmethod
    def of(cls, error: Exception, attempts: int = 1) -> Failure:
        if isinstance(error, ClaimlabError):
            return cls(type(error).__name__, error.problem, error.todo, attempts)
        kind = "disk" if was_disk(error) else "error"
        return cls(kind, f"{type(error).__name__}: {error}", attempts=attempts)

    def error(self) -> ClaimlabError | None:
        """The error that claimlab raised; null for a failure that may pass when the shard is done again."""
        kind = getattr(errors, self.kind, None)
        if not (isinstance(kind, type) and issubclass(kind, ClaimlabError)):
            return None
        error = kind.__new__(kind)
        ClaimlabError.__init__(error, self.problem, self.todo)
        return error


Result = tuple[int, Failure | None]


class Stage:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            text = (folder / STAGE).read_bytes()
            content, self.key = json.loads(text), _key(text)
            self.work, self.tool = str(content["work"]), str(content["tool"])
            self.shards: list[Any] = content["shards"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"'{folder}' has no stage that can be read ({error}).",
                "Every worker must see the folder of the run under the same path: use shared storage.",
            ) from None

    @classmethod
    def open(cls, folder: Path, work: Work, shards: Sequence[Any]) -> Stage:
        """The stage as an earlier start left it, or a new one where it did something else."""
        folder = folder.absolute()
        content = {"work": f"{work.__module__}:{work.__qualname__}", "tool": __version__, "shards": list(shards)}
        text = json.dumps(content, ensure_ascii=False)
        file = folder / STAGE
        if not (file.is_file() and file.read_text(encoding="utf-8") == text):
            shutil.rmtree(folder, ignore_errors=True)
            for name in ("outputs", "done", "failed", "building"):
                (folder / name).mkdir(parents=True)
            quick_text(file, text)
        for note in (folder / "failed").glob("*"):  # of an earlier start: every shard has all its tries again
            note.unlink(missing_ok=True)
        return cls(folder)

    @property
    def name(self) -> str:
        return self.folder.name

    def output(self, number: int) -> Path:
        return self.folder / "outputs" / f"{number:05}"

    def is_done(self, number: int) -> bool:
        """Whether the marker of this very stage is there, and the output has the size that it says."""
        try:
            marker = json.loads((self.folder / "done" / f"{number:05}").read_text(encoding="utf-8"))
            return bool(marker == {"bytes": size_of(self.output(number)), "stage": self.key})
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def is_current(self) -> bool:
        """Whether the folder still has this stage: the run may have ended, or begun anew with other shards."""
        try:
            return _key((self.folder / STAGE).read_bytes()) == self.key
        except OSError:
            return False

    def missing(self) -> list[int]:
        return [number for number in range(len(self.shards)) if not self.is_done(number)]

    def failure(self, number: int) -> Failure | None:
        try:
            return Failure(**json.loads((self.folder / "failed" / f"{number:05}").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def do(self, number: int) -> Failure | None:
        """Do one shard, unless it is done: write its output beside, move it into place whole, then set its marker.
        Doing it twice at the same time does no harm."""
        if self.is_done(number):
            return None
        building = self.folder / "building" / self.key / f"{number:05}-{uuid.uuid4().hex[:12]}"
        note = self.folder / "failed" / f"{number:05}"
        try:
            self._check()
            building.parent.mkdir(parents=True, exist_ok=True)
            with working("local:1", None):  # a worker starts no workers of its own
                named(self.work)(self.shards[number], building)
            if not self.is_current():
                raise FileNotFoundError("the run has ended, or began anew")
            put(building, self.output(number))
            self._note("done", number, {"bytes": size_of(self.output(number)), "stage": self.key})
            note.unlink(missing_ok=True)
        except Exception as error:
            before = self.failure(number)
            failure = Failure.of(error, 1 + (before.attempts if before else 0))
            _remove(building)
            with contextlib.suppress(OSError):  # a full disk has no room for its own note
                if self.is_current():
                    self._note("failed", number, asdict(failure))
            return failure
        return None

    def _note(self, kind: str, number: int, content: dict[str, Any]) -> None:
        """Written beside under a name of its own: two workers may do the same shard."""
        building = self.folder / "building" / self.key / f"{kind}-{uuid.uuid4().hex[:12]}"
        building.write_text(json.dumps(content), encoding="utf-8")
        building.replace(self.folder / kind / f"{number:05}")

    def sweep(self) -> None:
        """Remove what killed workers left; only where no other machine can be at work here."""
        shutil.rmtree(self.folder / "building", ignore_errors=True)

    def _check(self) -> None:
        if self.tool != __version__:
            raise DataError(
                f"The run was started with claimlab {self.tool}, and this worker has {__version__}.",
                "Install the same version on every machine.",
            )


def stages_of(run: Path) -> list[Stage]:
    """The stages that a run has begun, the oldest first: `run` is its output, or a folder with stages."""
    refuse_remote(run, "the work of an engine")
    places = [run.parent / f".{run.name}.work", run]
    stages = {}
    for file in [file for place in places if place.is_dir() for file in place.rglob(STAGE)]:
        with contextlib.suppress(DataError, OSError):  # removed since it was listed: the run has ended
            stages[file.stat().st_mtime_ns, str(file)] = Stage(file.parent)
    return [stages[key] for key in sorted(stages)]


def do_shard(folder: str, number: int) -> dict[str, Any] | None:
    """Do one shard of the stage in `folder`, in whatever process this is: null when it is done, else its failure."""
    try:
        failure = Stage(Path(folder)).do(number)
    except ClaimlabError as error:  # the folder is not there: this machine does not see it
        failure = Failure("error", error.problem, error.todo)
    return None if failure is None else asdict(failure)


def named(name: str) -> Callable[..., Any]:
    """The function that `module:function` names. The name comes from a file: only claimlab's functions are run, and
    those of packages that the environment names."""
    module, _, attribute = name.partition(":")
    if module.split(".")[0] not in {"claimlab", *os.environ.get(MODULES, "").split(",")}:
        raise UsageError(f"A worker does not run '{name}'.", f"Name its package in {MODULES}, if you trust it.")
    function: Callable[..., Any] = getattr(import_module(module), attribute)
    return function


def _key(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files of a folder."""
    if not path.is_dir():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.lexists(path):
        path.unlink(missing_ok=True)
