"""A language model is asked about each record with nothing but the task's own words (and evidence, where chosen)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import polars as pl

from claimlab.detect.asking import CONCURRENCY, Asking, Row, evidence_in, priced, rows_with_text
from claimlab.detect.detector import Prediction
from claimlab.detect.questions import (
    ROLE,
    Handles,
    Verdict,
    as_prediction,
    failed,
    how_to_answer,
    instructions,
    shown,
    verdict_schema,
)
from claimlab.llm.messages import Request
from claimlab.llm.provider import Provider

_WITHOUT = "You are shown no evidence: answer from the text and what you know."
_WITH = "This was found for it; it may be wrong, beside the point, or about something else:"


class LlmZeroShot(Asking):
    name: ClassVar[str] = "llm-zero-shot"
    summary: ClassVar[str] = "A language model, asked with the task's own words; it says why, and may abstain."

    def __init__(
        self,
        *,
        model: Provider | None = None,
        abstain: bool = True,
        max_tokens: int = 512,
        concurrency: int = CONCURRENCY,
    ) -> None:
        super().__init__(model=model, concurrency=concurrency)
        self.abstain = abstain
        self.max_tokens = max_tokens

    def requests(self, records: pl.DataFrame) -> Iterable[Request[Any]]:
        return (self._request(row, Handles()) for row in rows_with_text(records))

    async def one(self, row: Row) -> Prediction:
        handles = Handles()
        answer = await self.provider.ask(self._request(row, handles))
        said = failed(answer) if answer.value is None else as_prediction(answer.value, self.classes, handles)
        return priced(said, [answer])

    def _request(self, row: Row, handles: Handles) -> Request[Verdict]:
        found = evidence_in(row)
        evidence = f"{_WITH}\n{handles.show(found)}" if found else _WITHOUT
        parts = [instructions(self.task, self.classes), shown(row), evidence, how_to_answer(abstain=self.abstain)]
        return Request.of(
            "\n\n".join(parts),
            system=ROLE,
            schema=verdict_schema(self.classes, self.abstain, self.room(self.max_tokens)),
            max_tokens=self.max_tokens,
            seed=self.seed,
            tag=row["id"],
        )


DETECTOR = LlmZeroShot
