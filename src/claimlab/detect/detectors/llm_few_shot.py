"""A language model is shown a few labelled training rows and asked to go on; the first label in its reply counts.

The same examples stand in every question: as many of each class as can be, in turn, drawn by the seed. The reply is
free text, so there is no score per class: an invented one would only look like a measurement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
import polars as pl

from claimlab.core.errors import DataError
from claimlab.detect.asking import CONCURRENCY, Asking, Row, evidence_in, priced, rows_with_text
from claimlab.detect.detector import Part, Prediction
from claimlab.detect.questions import ROLE, Handles, failed, instructions, shown
from claimlab.llm.messages import Message, Request
from claimlab.llm.provider import Provider

EXAMPLES = 15
EXAMPLE_READ = 500  # characters of an example's text: fifteen of them stand in every question
EXAMPLE_PIECE = 200
_FORM = "Answer with the label in square brackets, such as [{label}]; a sentence of why may follow."


class LlmFewShot(Asking):
    name: ClassVar[str] = "llm-few-shot"
    summary: ClassVar[str] = "A language model, shown 15 labelled training rows; the first label in its reply counts."
    needs_training: ClassVar[bool] = True

    def __init__(
        self,
        *,
        model: Provider | None = None,
        examples: int = EXAMPLES,
        max_tokens: int = 128,
        concurrency: int = CONCURRENCY,
    ) -> None:
        super().__init__(model=model, concurrency=concurrency)
        self.examples = examples
        self.max_tokens = max_tokens
        self.turns: tuple[Message, ...] = ()
        self.example_ids: list[str] = []

    def parameters(self) -> dict[str, object]:
        return {**super().parameters(), "example_ids": list(self.example_ids)}

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        super().fit(train, dev, seed=seed)
        order = [c for c in self.classes if c in set(train.labels)]
        chosen = alternating(train.records["text"].to_list(), train.labels, order, self.examples, seed)
        if not chosen:
            raise DataError("No training row has a text to show.", "Use a dataset with texts.")
        rows = [train.records.row(i, named=True) for i in chosen]
        self.example_ids = [row["id"] for row in rows]
        self.turns = tuple(
            turn
            for row, i in zip(rows, chosen, strict=True)
            for turn in (
                Message("user", _question(row, read=EXAMPLE_READ, piece=EXAMPLE_PIECE)),
                Message("assistant", f"[{train.labels[i]}]"),
            )
        )

    def requests(self, records: pl.DataFrame) -> Iterable[Request[Any]]:
        return (self._request(row) for row in rows_with_text(records))

    async def one(self, row: Row) -> Prediction:
        answer = await self.provider.ask(self._request(row))
        if answer.text is None or not answer.ok:
            return priced(failed(answer), [answer])
        label = first_tag(answer.text, self.classes)
        reply = " ".join(answer.text.split())
        said = Prediction(label, rationale=reply) if label else Prediction(None, rationale=reply, failure="no-tag")
        return priced(said, [answer])

    def _request(self, row: Row) -> Request[Any]:
        form = _FORM.format(label=self.classes[0])
        system = "\n\n".join([ROLE, instructions(self.task, self.classes), form])
        return Request(
            messages=(Message("system", system), *self.turns, Message("user", _question(row))),
            max_tokens=self.max_tokens,
            seed=self.seed,
            tag=row["id"],
        )


def _question(row: Row, *, read: int = 4000, piece: int = 700) -> str:
    found = evidence_in(row)
    return "\n".join([shown(row, read=read), *([Handles().show(found, piece=piece)] if found else [])])


def alternating(
    texts: Sequence[str | None], labels: Sequence[str], order: Sequence[str], count: int, seed: int
) -> list[int]:
    """Positions of `count` rows with text, one class after the other, each drawn without return. A class that runs
    out is passed over."""
    rng = np.random.default_rng(seed)
    heaps = {}
    for name in order:
        mine = [i for i, label in enumerate(labels) if label == name and (texts[i] or "").strip()]
        heaps[name] = [mine[int(j)] for j in rng.permutation(len(mine))]
    chosen: list[int] = []
    while len(chosen) < count and any(heaps.values()):
        for name in order:
            if heaps[name] and len(chosen) < count:
                chosen.append(heaps[name].pop())
    return chosen


def first_tag(reply: str, classes: Sequence[str]) -> str | None:
    """The class of the first tag in the reply: one in brackets, else the first bare word that is a class."""
    names = "|".join(re.escape(c) for c in sorted(classes, key=len, reverse=True))
    for pattern in (rf"\[\s*({names})\s*\]", rf"(?<!\w)({names})(?!\w)"):
        found = re.search(pattern, reply, re.IGNORECASE)
        if found:
            said = found.group(1).lower()
            return next(c for c in classes if c.lower() == said)
    return None


DETECTOR = LlmFewShot
