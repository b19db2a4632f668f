"""A language model is asked about each record by what it knows, and by evidence where the run shows
some.
"""

from __future__ import annotations

from claimlab.detect.asking import (
    CLAIM,
    CONCURRENCY,
    Asking,
    Question,
    Row,
    check_day,
    evidence_in,
    priced,
)
from claimlab.detect.detector import Prediction
from claimlab.detect.verdicts import Handles, as_prediction, failed, verdict_schema
from claimlab.llm.messages import Message
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
        super().__init__(
            model=model, context=context, max_tokens=max_tokens, concurrency=concurrency
        )
        self.abstain = abstain
        self.known_until = check_day(known_until)

    async def one(self, row: Row) -> Prediction:
        handles = Handles()
        answer = await self.ask(row, self.question(row, handles))
        if answer.value is None:
            return priced(failed(answer), [answer])
        prediction = as_prediction(answer.value, self.classes, handles)
        return priced(self.noted(prediction, row, answer), [answer])

    def question(self, row: Row, handles: Handles) -> Question:
        pieces = evidence_in(row)
        evidence = [handles.show(pieces)] if pieces else []
        if self.evidence != "none" and not pieces:
            evidence = [self.prompt.text("nothing_found")]
        cite = ["cite"] if pieces else []
        decide = "abstain" if self.abstain else "decide"
        parts = ("role", "task", "knowledge", *self.on_evidence, "answer", *cite, decide)
        messages = [
            Message("system", self.system(*parts)),
            Message("user", "\n\n".join(self.shown(row, evidence))),
        ]
        schema = verdict_schema(self.classes, self.abstain, self.room, cites=bool(pieces))
        return self.request(row, messages, schema)


DETECTOR = LlmZeroShot
