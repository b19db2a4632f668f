"""Replay: the recorded answers of another provider, with no network and no key. A call that was not recorded fails."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from claimlab.search.cache import Recording
from claimlab.search.query import Query
from claimlab.search.recorded import question_of, restored
from claimlab.search.results import Results


class Replay:
    """Stands in, under its name, for the provider `of`, which was recorded with `parameters`: a replay tells the same
    story as the run."""

    name: str = "replay"

    def __init__(
        self, recording: Recording | str | Path, *, of: str, parameters: Mapping[str, Any] | None = None
    ) -> None:
        self.recording = recording if isinstance(recording, Recording) else Recording(recording, must_exist=True)
        self.name = of
        self._parameters = dict(parameters or {})

    def parameters(self) -> dict[str, Any]:
        return self._parameters

    async def search(self, query: Query) -> Results:
        kept = self.recording.require(self.name, question_of(query, self._parameters))
        return restored(kept, query, self.name)


PROVIDER = Replay
