"""How a run makes its calls: mode, recordings, budget and pace, in one object that is passed to
whatever asks. Calls go past the recording, through it, or come from it alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from claimlab.core.budget import Budget
from claimlab.core.calls.recording import Recording
from claimlab.core.errors import UsageError

if TYPE_CHECKING:
    from claimlab.core.calls.deferred import Deferred

Mode = Literal["live", "record", "replay"]
MODES: tuple[Mode, ...] = get_args(Mode)
RECORDING_FILE = "calls.sqlite"
_EARLIER = ("llm.sqlite", "search.sqlite")  # what claimlab 0.1 called its two recordings


def check_mode(mode: str) -> Mode:
    """`mode`, if it is one."""
    for choice in MODES:
        if mode == choice:
            return choice
    raise UsageError(f"'{mode}' is not a valid mode for calls.", f"Use one of: {', '.join(MODES)}.")


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
        file = folder / RECORDING_FILE
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
        if (
            self.mode == "live"
            or self.folder is None
            or not (self.folder / RECORDING_FILE).is_file()
        ):
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
    others = [folder for folder in folders if not (Path(folder) / RECORDING_FILE).is_file()]
    return others or list(folders)
