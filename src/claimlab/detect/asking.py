"""What the detectors that ask a language model share: the handles they are given, and many records
asked at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import polars as pl

from claimlab.core import sync
from claimlab.core.calls.pool import all_of
from claimlab.core.errors import ClaimlabError
from claimlab.detect.detector import Detector, Part, Prediction
from claimlab.detect.questions import classes_of
from claimlab.llm.messages import Answer, Request
from claimlab.llm.prompts import Prompts
from claimlab.llm.provider import Provider

CONCURRENCY = 32
Row = Mapping[str, Any]


class Asking(Detector):
    """A detector that asks `model` (a provider of claimlab.llm) about one record at a time."""

    handles: ClassVar[tuple[str, ...]] = ("model",)
    needs_training: ClassVar[bool] = False
    reads_evidence: ClassVar[bool] = True
    asks: ClassVar[tuple[str, ...]] = ()  # the prompts that it is asked in
    unreported: ClassVar[frozenset[str]] = frozenset({"concurrency"})

    def __init__(self, *, model: Provider | None = None, concurrency: int = CONCURRENCY) -> None:
        self.model = model
        self.concurrency = concurrency
        self.classes: tuple[str, ...] = ()
        self.prompts = Prompts()  # set by the run, where the user replaced some

    @property
    def provider(self) -> Provider:
        assert self.model is not None, "a run looks at the handles before it starts"
        return self.model

    def room(self, max_tokens: int) -> int | None:
        """Characters of rationale for a model that would not stop, a quarter of its reply; null for
        all others.
        """
        return max_tokens if self.provider.profile.provider == "embedded" else None

    def parameters(self) -> dict[str, object]:
        """The lineage has the model's name and standing; never its address or its key."""
        settings = {**super().parameters(), "prompts": self.prompts.lineage(*self.asks)}
        if self.model is None:
            return {"model": None, **settings}
        profile = self.model.profile
        standing = {"standing": profile.standing} if profile.standing else {}
        more = {"parameters": profile.parameters} if profile.parameters else {}
        return {"model": profile.chosen_model(), **standing, **more, **settings}

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:  # noqa: ARG002
        """Nothing is learned; the classes of an open task are read from the training rows."""
        self.classes = classes_of(self.task, train.labels)
        self.seed = seed

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        rows = records.to_dicts()
        answers = all_of(
            rows,
            self._guarded,
            concurrency=self.concurrency,
            progress=self.progress,
            label="predicting",
        )
        return sync.run(answers)

    def requests(self, records: pl.DataFrame) -> Iterable[Request[Any]]:
        """What a run would ask, for an estimate."""
        raise NotImplementedError

    async def one(self, row: Row) -> Prediction:
        raise NotImplementedError

    async def _guarded(self, row: Row) -> Prediction:
        if not (row["text"] or "").strip():  # as in rows_with_text
            return Prediction(None, failure="no-text")
        try:
            return await self.one(row)
        except ClaimlabError:
            raise
        except Exception as error:  # one failing record never stops the others
            return Prediction(
                None, failure="crash", notes={"detail": f"{type(error).__name__}: {error}"}
            )


def priced(
    prediction: Prediction, answers: Sequence[Answer[Any]], extra: float | None = 0.0
) -> Prediction:
    """The prediction with what its answers took. The seconds are those of the model, as they were
    recorded, so that a replay gives the same bytes; a cost is null as soon as one part of it is not
    known."""
    costs = [*(a.cost for a in answers), extra]
    known = [c for c in costs if c is not None]
    total = round(sum(known), 9) if len(known) == len(costs) else None
    seconds = round(sum(a.seconds for a in answers), 6)
    notes = {**prediction.notes, "calls": sum(a.calls for a in answers)}
    return replace(prediction, cost=total, seconds=seconds, notes=notes)


def rows_with_text(records: pl.DataFrame) -> Iterable[Row]:
    """The rows that a model is asked about at all."""
    return (row for row in records.iter_rows(named=True) if (row["text"] or "").strip())


def evidence_in(row: Row) -> list[tuple[str, str]]:
    """The pieces that the chosen reading gives this record."""
    return [(piece["id"], piece["text"]) for piece in row.get("evidence") or []]
