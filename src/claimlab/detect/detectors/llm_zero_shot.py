"""A language model is asked about each record by what it knows, and by evidence where the run shows
some.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from claimlab.detect.asking import (
    CLAIM,
    CONCURRENCY,
    Asking,
    Handles,
    Question,
    Row,
    Verdict,
    about,
    as_prediction,
    check_day,
    context_of,
    day_of,
    evidence_in,
    failed,
    instructions,
    priced,
    rows_with_text,
    shown,
    verdict_schema,
)
from claimlab.detect.detector import Prediction
from claimlab.llm.messages import Request
from claimlab.llm.provider import Provider


class LlmZeroShot(Asking):
    name = "llm-zero-shot"
    summary = (
        "A language model, asked with the task's own words; it says why, and abstains if it may."
    )
    asks = ("zero-shot",)

    def __init__(
        self,
        *,
        model: Provider | None = None,
        abstain: bool = False,
        context: bool = True,
        known_until: str = CLAIM,
        max_tokens: int = 512,
        concurrency: int = CONCURRENCY,
    ) -> None:
        super().__init__(model=model, concurrency=concurrency)
        self.abstain = abstain
        self.context = context  # speaker, venue and day
        self.known_until = check_day(known_until)
        self.max_tokens = max_tokens

    def requests(self, records: pl.DataFrame) -> Iterable[Question]:
        return (self._request(row, Handles()) for row in rows_with_text(records))

    async def one(self, row: Row) -> Prediction:
        handles = Handles()
        answer = await self.provider.ask(self._request(row, handles))
        prediction = (
            failed(answer)
            if answer.value is None
            else as_prediction(answer.value, self.classes, handles)
        )
        return priced(prediction, [answer])

    def _request(self, row: Row, handles: Handles) -> Request[Verdict]:
        prompt, pieces = self.prompts["zero-shot"], evidence_in(row)
        system = [
            prompt.text("role"),
            instructions(prompt, self.task, self.classes),
            prompt.text("knowledge"),
        ]
        system += [*context_of(prompt, self.evidence), prompt.text("answer")]
        system += [prompt.text("cite")] if pieces else []
        system.append(prompt.text("abstain" if self.abstain else "decide"))
        data = [*day_of(prompt, row, self.known_until)]
        data += (
            [handles.show(pieces)]
            if pieces
            else [prompt.text("nothing_found")]
            if self.evidence != "none"
            else []
        )
        data += about(row, self.task) if self.context else []
        return Request.of(
            "\n\n".join([*data, shown(row)]),
            system="\n\n".join(system),
            schema=verdict_schema(
                self.classes, self.abstain, self.room(self.max_tokens), cites=bool(pieces)
            ),
            max_tokens=self.max_tokens,
            seed=self.seed,
            tag=row["id"],
            prompt_name=prompt.name,
        )


DETECTOR = LlmZeroShot
