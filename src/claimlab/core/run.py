"""One run: read a dataset, write a folder. Every verb and every function of the package goes
through `Run`.

    with Run("clean", source, output, limit=limit, force=force, seed=seed) as run:
        journal = run.journal(recipe=recipe.parameters())
        ...
        run.finish(cleaned)

It opens, verifies and limits the input, keeps other processes away from the output, refuses to
overwrite what must not be lost, and keeps everything that a later start needs in one hidden folder
beside the output:

    .OUT.work/lock           held while the run lasts
    .OUT.work/spent.jsonl    what was spent: a cap holds over every start
    .OUT.work/KEY/...        the finished shards (core/journal)
    .OUT.work/engine/...     what workers have done (core/engine)

The folder is removed when the output is in place. A run without an output (in a notebook) keeps
nothing on disk."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import cached_property
from pathlib import Path
from typing import NoReturn, Self, Unpack

from claimlab.core.atomic import atomic_folder, atomic_text, read_object
from claimlab.core.budget import Caps
from claimlab.core.call import note_call
from claimlab.core.calls.calls import Calls, Mode, check_mode
from claimlab.core.calls.deferred import Deferred
from claimlab.core.calls.estimate import Estimated, Priced, costs_nothing, estimated, estimating
from claimlab.core.dataset import MANIFEST, Dataset
from claimlab.core.digest import digest_file
from claimlab.core.engine.cluster import check_engine
from claimlab.core.engine.names import no_folder, parse_engine, working
from claimlab.core.engine.reads import digest_of, reads
from claimlab.core.errors import OutputExists, UsageError
from claimlab.core.foreign import Foreign
from claimlab.core.guard import DATASET, refuse_taken
from claimlab.core.journal import Journal
from claimlab.core.ledger import Ledger
from claimlab.core.lock import Lock
from claimlab.core.options import DataBatch, columns_of
from claimlab.core.progress import Progress, progress
from claimlab.core.remote import send
from claimlab.core.types import Json
from claimlab.core.version import __version__

Stored = Dataset | str | Path  # a dataset, or the folder of one
Source = Stored | Foreign  # what is imported first, too
_DONE = "done.json"
_account: ContextVar[Path | None] = ContextVar("account", default=None)


@contextmanager
def one_account(file: Path) -> Iterator[None]:
    """Every run inside spends from one account, kept in `file`: a cap then holds over all of them
    together.
    """
    before = _account.set(file)
    try:
        yield
    finally:
        _account.reset(before)


class Run:
    """`source` is a dataset or its folder (null where a verb reads other files, named in `reads`);
    `output` is the folder to write (null: only return the result), `kind` what it will be: `force`
    replaces nothing else. A run that is to be estimated reads only: no calls, no output."""

    def __init__(  # noqa: PLR0913
        self,
        verb: str,
        source: Source | None = None,
        output: str | Path | None = None,
        *,
        kind: str = DATASET,
        reads: Sequence[str | Path] = (),
        limit: int | None = None,
        force: bool = False,
        seed: int | None = None,
        caps: Caps | None = None,
        concurrency: int = 64,
        estimate: bool = False,
        engine: str | None = None,
        **calls: Unpack[DataBatch],
    ) -> None:
        estimate = estimate or estimating()
        check_engine(engine)
        if output is None and parse_engine(engine).is_remote:
            raise no_folder(engine)
        self._engine, self._stack = None if estimate else engine, ExitStack()
        self.verb, self.seed, self.force, self.estimate = verb, seed, force, estimate
        self.progress: Progress = progress
        self._beside = None if output is None else Path(output)
        self.output = None if estimate else self._beside
        self.work = (
            None if self.output is None else self.output.parent / f".{self.output.name}.work"
        )
        self._kind, self._reads = kind, [*map(Path, reads), *folders_of(source)]
        self._source, self._limit, self._columns = source, limit, columns_of(calls)
        self._caps = caps or Caps(
            calls.get("max_cost"), calls.get("max_calls"), calls.get("max_tokens")
        )
        self._mode, self._cache = check_mode(calls.get("mode", "record")), calls.get("cache")
        self._concurrency = concurrency
        self._batch = calls.get("batch", False) and not estimate
        self._lock: Lock | None = None
        self._journal: Journal | None = None
        self._ledger: Ledger | None = None
        self._calls: Calls | None = None

    def __enter__(self) -> Self:
        if self.output is not None and self.work is not None:
            self._lock = Lock(self.work / "lock", self.output, self.verb)
            try:
                self._refuse_taken()
            except BaseException:
                self._lock.release()
                raise
        self._stack.enter_context(
            working(self._engine, None if self.work is None else self.work / "engine")
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        if self._calls is not None:
            self._calls.close()
        if self._ledger is not None:
            self._ledger.close()
        if self._journal is not None:
            self._journal.drop_empty()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    @cached_property
    def dataset(self) -> Dataset:
        """The input, verified and limited."""
        assert self._source is not None, f"{self.verb} reads no dataset"
        progress("reading the records", 0, None)
        return Dataset.of(self._source, self._limit, **self._columns)

    @property
    def calls(self) -> Calls:
        """How models and search providers are asked: one mode, one recording and one budget for the
        whole run. With an output, calls are recorded beside it unless `cache` names a folder, and
        what earlier starts spent counts too.
        """
        if self._calls is None:
            if self.work is not None and self._mode != "replay":
                self._ledger = Ledger(_account.get() or self.work / "spent.jsonl")
            mode, cache = self._recording()
            budget = self._caps.budget(self._ledger)
            if self._batch and mode != "record":
                raise UsageError(
                    f"A batch needs a recording, and mode '{mode}' records nothing.",
                    "Leave out `batch` or `mode`.",
                )
            deferred = Deferred() if self._batch else None
            self._calls = Calls(mode, cache, budget, self._concurrency, deferred)
        return self._calls

    def estimated(
        self, parts: Mapping[str, Priced], *, facts: Mapping[str, int] | None = None
    ) -> NoReturn:
        """End a verb that was only to be estimated (`run.estimate`): what it would ask costs this
        much. `facts` are counts of the input.
        """
        raise Estimated(estimated(parts, facts=facts))

    def _recording(self) -> tuple[Mode, Path | None]:
        """The mode of calls, and the folder of their recording: named, or beside the output."""
        if self._cache is not None:
            return self._mode, Path(self._cache)
        if self._beside is not None and self._mode != "live":
            return self._mode, self._beside.parent / f"{self._beside.name}.cache"
        # a notebook that names no folder has nowhere to record to
        return "live" if self._mode == "record" else self._mode, None

    def journal(self, **decides: Json) -> Journal:
        """The shards that earlier starts of this very run have finished; `decides` is what decides
        the result besides the input, the seed and the version. A replay takes nothing but its
        recording."""
        data = {} if self._source is None else {"input": self.dataset.fingerprint()}
        key = {"verb": self.verb, "tool": __version__, "seed": self.seed, **data, **decides}
        # What waits for a batch is not done: nothing of such a start is to be taken up again.
        self._journal = Journal(None if self._mode == "replay" or self._batch else self.work, key)
        return self._journal

    def finish(self, dataset: Dataset, more: Callable[[Path], None] | None = None) -> Dataset:
        """Put the output in place in one step and remove what a later start would have needed.
        `more` writes further files into the folder before it is sealed (a report beside the
        tables). `dataset` then knows its folder.
        """
        self._settle()
        if self.output is None or self.work is None:
            return dataset
        if self.output.exists() and not self.force and not self._is_ours():
            raise OutputExists(self.output)
        with atomic_folder(self.output) as building:
            self.progress("writing", 0, None)
            if more is not None:
                more(building)
            note_call(building, self.output)
            manifest = dataset.write_into(building)
            if self._journal is not None and self._journal.folder is not None:
                note = {"key": self._journal.key, "manifest": digest_file(building / MANIFEST)}
                atomic_text(self.work / _DONE, json.dumps(note))
        dataset.path, dataset.files = self.output, manifest.files
        send(self.output)
        self.clear()
        return dataset

    def fill(self, write: Callable[[Path], None]) -> None:
        """Put a folder of another kind in place in one step: `write` fills and seals it (a report,
        an export).
        """
        self._settle()
        if self.output is None:
            return
        with atomic_folder(self.output) as building:
            note_call(building, self.output)
            self.progress("writing", 0, None)
            write(building)
        send(self.output)
        self.clear()

    def _settle(self) -> None:
        """Send the questions of a batch; nothing is written while some are unanswered."""
        if (
            self.estimate
        ):  # a verb that was to be estimated ends before this, unless it asks nothing
            raise costs_nothing()
        if self._calls is not None and self._calls.deferred is not None:
            self._calls.deferred.settle()

    def clear(self) -> None:
        """Remove the work folder, but for the lock. The note that all is done goes last: until
        then, a run that is killed here is known to be done, and the next start clears up."""
        if self._ledger is not None:
            self._ledger.close(complete=_account.get() is None)
        if self.work is None or not self.work.is_dir():
            return
        for path in sorted(self.work.iterdir(), key=lambda path: path.name == _DONE):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != "lock":
                path.unlink(missing_ok=True)

    def _refuse_taken(self) -> None:
        assert self.output is not None
        note = self._done()
        manifest = self.output / MANIFEST
        if note and manifest.is_file() and note.get("manifest") == digest_file(manifest):
            # killed between putting its output in place and clearing up: `finish` looks at the key
            return
        refuse_taken(self.output, force=self.force, kind=self._kind, reads=self._reads)

    def _is_ours(self) -> bool:
        """Whether the output is what this very run had put in place when it was killed."""
        return self._journal is not None and self._done().get("key") == self._journal.key

    def _done(self) -> dict[str, str]:
        return read_object(self.work / _DONE) if self.work else {}


def sweep_finished(output: Path) -> None:
    """Remove what a run left beside `output` when it was killed after putting it in place."""
    with Run("sweep", None, output, force=True) as run:
        note = run._done()
        if note and note.get("manifest") == digest_file(output / MANIFEST):
            run.clear()


def folders_of(*sources: Source | None) -> list[Path]:
    """The folders that the sources were read from, for `reads`; a dataset in memory has none."""
    places = [source.path if isinstance(source, Dataset) else source for source in sources]
    return [Path(place) for place in places if isinstance(place, str | Path)]


def dataset_in(place: Path, dataset: Dataset) -> dict[str, str]:
    """The dataset in `place`, as part of a shard; written at every start, as what is there may be
    another user's.
    """
    folder = place.absolute() / f"data-{dataset.fingerprint()[:16]}"
    with atomic_folder(folder) as building:
        dataset.write_into(building)
        digest = digest_of(building)  # while no other user can write it
    return reads(folder, digest)
