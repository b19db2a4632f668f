"""One stage in a folder: what is to be done, what is done, and how one shard is done whole or not
at all.

NAME/stage.json       the name of a function (functions.py) and its shards, plain JSON
NAME/outputs/00012    what a shard wrote: a file or a folder
NAME/done/00012       its completion marker, with the digest of the output and the name of the
                      stage: written last
NAME/failed/00012     its last error, and how often it was tried
NAME/building/ID/     what is being written

The id is a hash of stage.json. A run that begins anew with other shards cannot end the workers of
other machines: what such a worker still writes is neither taken for a shard of the new stage nor
found beside it.

Stage, markers and errors are sealed (secret.py), and so is the digest of all that a shard reads
(reads.py): what another user puts into the folder is neither done nor taken for done.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from claimlab.core import errors
from claimlab.core.atomic import atomic_text, put, read_object
from claimlab.core.engine.functions import function_named, name_of
from claimlab.core.engine.names import working
from claimlab.core.engine.reads import checked, digest_of
from claimlab.core.engine.secret import VARIABLE, holding, is_sealed, own_secret, seal, stage_key
from claimlab.core.errors import ClaimlabError, DataError, NotFound
from claimlab.core.remote import refuse_remote
from claimlab.core.shortage import was_disk
from claimlab.core.types import Json, JsonObject
from claimlab.core.version import __version__

STAGE = "stage.json"
Work = Callable[[Json, Path], None]
_SEEN = "Every worker must see the folder of the run under the same path: use shared storage."


@dataclass(frozen=True)
class Failure:
    """Why a shard was not done. `kind` is the class of an error that claimlab explains, `disk`,
    `lost` (its process ended) or `error`."""

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
        """The error that claimlab raised; null for a failure that may pass when the shard is done
        again.
        """
        kind = getattr(errors, self.kind, None)
        if not (isinstance(kind, type) and issubclass(kind, ClaimlabError)):
            return None
        error = kind.__new__(kind)
        ClaimlabError.__init__(error, self.problem, self.todo)
        return error


Result = tuple[int, Failure | None]


Unlock = Callable[[str], bytes]  # the key of a stage, from the random word in its file


class Stage:
    """A stage as its file says it. With `unlock`, its seal is checked first; without, nothing of it
    can be done.
    """

    def __init__(self, folder: Path, unlock: Unlock | None) -> None:
        self.folder = folder
        try:
            text = (folder / STAGE).read_bytes()
            content = json.loads(text)
            mark = content.pop("seal")
            self.work, self.tool, salt = (str(content[name]) for name in ("work", "tool", "salt"))
            self.shards: list[Json] = content["shards"]
            if not isinstance(self.shards, list):
                raise TypeError("its shards are not a list")
        except OSError as error:
            raise NotFound(f"'{folder}' has no stage that can be read ({error}).", _SEEN) from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DataError(
                f"'{folder / STAGE}' is not a stage of claimlab ({_reason(error)}).", _SEEN
            ) from None
        self.id = _id(text)
        self.key = None if unlock is None else unlock(salt)
        if self.key is not None and not is_sealed(self.key, mark, "stage", self.name, content):
            raise DataError(
                f"'{folder / STAGE}' was not written by a run that has the secret of this process.",
                f"Give workers the secret of the run (`secret`, or {VARIABLE}); if they have it,"
                " someone else wrote the file: delete it.",
            )

    @classmethod
    def open(cls, folder: Path, work: Work, shards: Sequence[Json]) -> Stage:
        """The stage as an earlier start left it, or a new one where it did something else."""
        folder, secret = folder.absolute(), own_secret()
        file = folder / STAGE
        # as it is read again: with lists for tuples, and words for keys
        known = json.loads(json.dumps(list(shards)))
        what = {"work": name_of(work), "tool": __version__, "shards": known}

        def text(salt: str) -> str:
            content = {**what, "salt": salt}
            mark = seal(stage_key(secret, salt), "stage", folder.name, content)
            return json.dumps({**content, "seal": mark}, ensure_ascii=False)

        before = read_object(file).get("salt")
        if not isinstance(before, str) or file.read_text(encoding="utf-8") != text(before):
            shutil.rmtree(folder, ignore_errors=True)
            for part in ("outputs", "done", "failed", "building"):
                (folder / part).mkdir(parents=True)
            atomic_text(file, text(secrets.token_hex(16)))
        for note in (folder / "failed").glob(
            "*"
        ):  # of an earlier start: every shard has all its tries again
            note.unlink(missing_ok=True)
        return cls(folder, partial(stage_key, secret))

    @property
    def name(self) -> str:
        return self.folder.name

    def output(self, number: int) -> Path:
        return self.folder / "outputs" / f"{number:05}"

    def is_done(self, number: int) -> bool:
        """Whether the marker of this very stage is there, and the output is what it says."""
        try:
            marker = json.loads((self.folder / "done" / f"{number:05}").read_bytes())
            digest, mark = marker["sha256"], marker["seal"]
            if self.key is None:  # only to look
                return bool(marker["stage"] == self.id)
            sealed = is_sealed(self.key, mark, "done", self.id, number, digest)
            return sealed and bool(digest_of(self.output(number)) == digest)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def is_current(self) -> bool:
        """Whether the folder still has this stage: the run may have ended, or begun anew with other
        shards.
        """
        try:
            return _id((self.folder / STAGE).read_bytes()) == self.id
        except OSError:
            return False

    def missing(self) -> list[int]:
        """The shards that are not done; outputs are hashed side by side, as there may be many."""
        with ThreadPoolExecutor() as threads:
            done = list(threads.map(self.is_done, range(len(self.shards))))
        return [number for number, is_done in enumerate(done) if not is_done]

    def failure(self, number: int) -> Failure | None:
        try:
            content = json.loads(
                (self.folder / "failed" / f"{number:05}").read_text(encoding="utf-8")
            )
            mark = content.pop("seal")
            sealed = self.key is None or is_sealed(
                self.key, mark, "failed", self.id, number, content
            )
            return Failure(**content) if sealed else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def do(self, number: int) -> Failure | None:
        """Do one shard, unless it is done: write its output beside, move it into place whole, then
        set its marker. Doing it twice at the same time does no harm."""
        assert self.key is not None, "a stage whose seal was not checked"
        if self.is_done(number):
            return None
        building = self.folder / "building" / self.id / f"{number:05}-{uuid.uuid4().hex[:12]}"
        try:
            if self.tool != __version__:
                raise DataError(
                    f"The run was started with claimlab {self.tool}, and this worker has"
                    f" {__version__}.",
                    "Install the same version on every machine.",
                )
            building.mkdir(mode=0o700, parents=True)  # no other user can put a link in its way
            with (
                working("local:1", None),
                holding(self.key),
            ):  # a worker starts no workers of its own
                function_named(self.work)(checked(self.shards[number]), building / "output")
            if not self.is_current():
                raise FileNotFoundError("the run has ended, or began anew")
            self._finish(number, building / "output")
        except Exception as error:
            before = self.failure(number)
            failure = Failure.of(error, 1 + (before.attempts if before else 0))
            with contextlib.suppress(OSError):  # a full disk has no room for its own note
                if self.is_current():
                    content = asdict(failure)
                    mark = seal(self.key, "failed", self.id, number, content)
                    self._note("failed", number, {**content, "seal": mark})
            return failure
        finally:
            shutil.rmtree(building, ignore_errors=True)
        return None

    def _finish(self, number: int, result: Path) -> None:
        assert self.key is not None
        digest = digest_of(result)
        put(result, self.output(number))
        mark = seal(self.key, "done", self.id, number, digest)
        self._note("done", number, {"sha256": digest, "stage": self.id, "seal": mark})
        (self.folder / "failed" / f"{number:05}").unlink(missing_ok=True)

    def _note(self, kind: str, number: int, content: JsonObject) -> None:
        """Written beside under a name of its own: two workers may do the same shard."""
        building = self.folder / "building" / self.id / f"{kind}-{uuid.uuid4().hex[:12]}"
        building.write_text(json.dumps(content), encoding="utf-8")
        building.replace(self.folder / kind / f"{number:05}")

    def sweep(self) -> None:
        """Remove what killed workers left; only where no other machine can be at work here."""
        shutil.rmtree(self.folder / "building", ignore_errors=True)


def stages_of(run: Path, unlock: Unlock | None) -> list[Stage]:
    """The stages that a run has begun, the oldest first: `run` is its output, or a folder with
    stages.
    """
    refuse_remote(run, "the work of an engine")
    places = [run.parent / f".{run.name}.work", run]
    stages = {}
    # `os.walk` passes over folders that a run removes as it ends; `rglob` raises
    folders = [
        Path(name) for place in places for name, _, files in os.walk(place) if STAGE in files
    ]
    for folder in folders:
        with contextlib.suppress(NotFound, OSError):  # removed since it was listed
            order = (folder / STAGE).stat().st_mtime_ns
            stages[order, str(folder)] = Stage(folder, unlock)
    return [stages[key] for key in sorted(stages)]


def do_shard(folder: str, number: int, key: str) -> JsonObject | None:
    """Do one shard of the stage in `folder`, in whatever process this is: null when it is done,
    else its failure.
    """
    try:
        failure = Stage(Path(folder), lambda _: bytes.fromhex(key)).do(number)
    except ClaimlabError as error:  # the folder is not there: this machine does not see it
        failure = Failure("error", error.problem, error.todo)
    return None if failure is None else asdict(failure)


def _id(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def _reason(error: Exception) -> str:
    return f"it does not say {error}" if isinstance(error, KeyError) else str(error)
