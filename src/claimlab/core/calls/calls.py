"""How a run makes its calls: mode, recordings, budget and pace, in one object that is passed to
whatever asks.

How calls are made: past the recording, through it, or from it alone.

Calls that are not made one by one but sent together, to be answered later and cheaper: batches.

In a run with a batch, whoever asks gets "batched" as an answer, and the question is noted here.
When the run would finish, what was noted is sent, and the run ends with `Pending` instead. The same
run, started again, finds the answers in the recording as if they had been made one by one. A chain
of questions, where one follows from the answer to another, takes as many rounds as it is long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol, get_args

from claimlab.core.budget import Budget
from claimlab.core.calls.recording import Question, Recording
from claimlab.core.errors import Pending, UsageError
from claimlab.core.types import Json
from claimlab.core.words import several, verb

Mode = Literal["live", "record", "replay"]
MODES: tuple[Mode, ...] = get_args(Mode)


def check_mode(mode: str) -> Mode:
    """`mode`, if it is one."""
    for known in MODES:
        if mode == known:
            return known
    raise UsageError(f"'{mode}' is not a valid mode for calls.", f"Use one of: {', '.join(MODES)}.")


Item = tuple[Question, Mapping[str, Json]]  # the question, and the body of the call


class Sender(Protocol):
    def send(self, items: Sequence[Item]) -> str:
        """Send them off; a sentence that says where they are."""
        ...


class Deferred:
    """What is to be sent, and how many questions are under way already."""

    def __init__(self) -> None:
        self._items: dict[Sender, dict[str, Item]] = {}
        self.under_way = 0

    def add(self, sender: Sender, question: Question, body: Mapping[str, Json]) -> None:
        """Note a question; one that was noted before is sent once."""
        self._items.setdefault(sender, {})[question.key] = (question, body)

    def has(self, sender: Sender, question: Question) -> bool:
        return question.key in self._items.get(sender, {})

    def settle(self) -> None:
        """Send what was noted. Raise `Pending` unless there was nothing, and nothing is under
        way.
        """
        sentences = [sender.send(list(items.values())) for sender, items in self._items.items()]
        self._items = {}
        if self.under_way:
            sentences.append(
                f"{several(self.under_way, 'question')} {verb(self.under_way)} in a batch that is"
                " not done yet."
            )
        if sentences:
            raise Pending(" ".join(sentences), "Run the same again later; see: claimlab llm batch")


FILE = "calls.sqlite"
_EARLIER = ("llm.sqlite", "search.sqlite")  # what claimlab 0.1 called its two recordings


@dataclass(frozen=True)
class Calls:
    """`mode`: "record" answers from the recording what it holds and keeps what is new; "replay"
    answers from it alone, with no key and no network; "live" does neither. `cache` is the folder of
    the recording. `budget` caps everything that is asked through this object, models and searches
    together, and `concurrency` is how much is asked at once.
    """

    mode: Mode = "record"
    cache: str | Path | None = None
    budget: Budget = field(default_factory=Budget)
    concurrency: int = 64
    deferred: Deferred | None = None  # where questions are noted that go into a batch

    def __post_init__(self) -> None:
        check_mode(self.mode)
        if self.mode == "live" and self.cache is not None:
            raise UsageError(
                "Calls made live are not recorded, so no cache is used.",
                "Leave out `cache`, or `mode`.",
            )
        if self.concurrency < 1:
            raise UsageError(
                f"{self.concurrency} calls at once are too few.", "Pass `concurrency` of 1 or more."
            )

    @property
    def folder(self) -> Path | None:
        """The folder of the recording."""
        return None if self.cache is None else Path(self.cache)

    @cached_property
    def recording(self) -> Recording | None:
        """The recording, opened when first needed; null when calls are live."""
        if self.mode == "live":
            return None
        folder = self.folder
        if folder is None:
            raise UsageError(
                f"Mode '{self.mode}' needs a folder for the recording.", "Pass `cache`."
            )
        file = folder / FILE
        earlier = [name for name in _EARLIER if (folder / name).is_file()]
        if earlier and not file.is_file():
            raise UsageError(
                f"'{self.cache}' holds recordings of claimlab 0.1 ({', '.join(earlier)}), which are"
                " not read any more.",
                "Replay them with claimlab 0.1, or pass another `cache` folder to record anew.",
            )
        return Recording(file, replay=self.mode == "replay")

    def existing(self) -> Recording | None:
        """The recording if there is one already, for an estimate, which must not leave a file
        behind.
        """
        if self.mode == "live" or self.folder is None or not (self.folder / FILE).is_file():
            return None
        return self.recording

    def close(self) -> None:
        """Close the recording, if it was opened."""
        opened = self.__dict__.pop("recording", None)
        if opened is not None:
            opened.close()


def without_recordings(folders: Sequence[Path]) -> list[Path]:
    """The folders that are not recordings: a pattern such as `RUN*` finds RUN.cache too. What is
    all recordings stays as it is, so that the message can name it."""
    others = [folder for folder in folders if not (Path(folder) / FILE).is_file()]
    return others or list(folders)
