"""A language model is shown a few labelled training rows and asked to go on; the label in its reply
counts.

The same examples are in every question: as many of each class as can be, in turn, drawn by the
seed. Where the training rows have a rationale, the examples show it. The reply is free text, so
there is no score per class: an invented one would only look like a measurement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import numpy as np

from claimlab.core.errors import DataError, UsageError
from claimlab.detect.asking import (
    CHARACTERS_READ,
    CONCURRENCY,
    Asking,
    Question,
    Row,
    evidence_in,
    priced,
)
from claimlab.detect.detector import Part, Prediction
from claimlab.detect.verdicts import PIECE_CHARACTERS, Handles, failed
from claimlab.llm.messages import Message
from claimlab.llm.provider import Provider

EXAMPLES_SHOWN = 15
# characters of a piece of evidence where many are shown with each text
LEAST_PIECE_CHARACTERS = 200
EXAMPLE_CHARACTERS = 500  # characters of an example's text: fifteen of them are in every question
RATIONALES = (
    "rationale",
    "justification",
    "explanation",
)  # keys of `meta` under which datasets keep one


class LlmFewShot(Asking):
    name = "llm-few-shot"
    summary = "A language model, shown 15 labelled training rows; the label in its reply counts."
    asks = ("few-shot",)
    needs_training = True

    def __init__(
        self,
        *,
        model: Provider | None = None,
        examples: int = EXAMPLES_SHOWN,
        context: bool = True,
        max_tokens: int = 256,
        concurrency: int = CONCURRENCY,
    ) -> None:
        super().__init__(
            model=model, context=context, max_tokens=max_tokens, concurrency=concurrency
        )
        if examples < 1:
            raise UsageError(
                f"llm-few-shot cannot show {examples} examples.",
                "Pass 1 or more, or use llm-zero-shot.",
            )
        self.examples = examples
        self.turns: tuple[Message, ...] = ()
        self.example_ids: list[str] = []
        self.reasoned = False
        self.piece = PIECE_CHARACTERS

    def parameters(self) -> dict[str, object]:
        return {**super().parameters(), "example_ids": list(self.example_ids)}

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        super().fit(train, dev, seed=seed)
        order = [c for c in self.classes if c in set(train.labels)]
        chosen = alternating(
            train.records["text"].to_list(), train.labels, order, self.examples, seed
        )
        if not chosen:
            raise DataError("No training row has a text to show.", "Use a dataset with texts.")
        rows = [train.records.row(i, named=True) for i in chosen]
        rationales = [rationale_of(row) for row in rows]
        self.reasoned = all(rationales)
        self.example_ids = [row["id"] for row in rows]
        # of examples and records alike: 15 examples with one whole piece each fit, with five not
        most = max(len(evidence_in(row)) for row in rows)
        self.piece = max(LEAST_PIECE_CHARACTERS, PIECE_CHARACTERS // max(1, most))
        turns = []
        for row, i, rationale in zip(rows, chosen, rationales, strict=True):
            why = f"{rationale} " if self.reasoned else ""
            turns.append(Message("user", self._text(row, EXAMPLE_CHARACTERS)))
            turns.append(Message("assistant", f"{why}[{train.labels[i]}]"))
        self.turns = tuple(turns)

    async def one(self, row: Row) -> Prediction:
        answer = await self.ask(row, self.question(row, Handles()))
        if answer.text is None or not answer.ok:
            return priced(failed(answer), [answer])
        label, reply = tag_in(answer.text, self.classes), " ".join(answer.text.split())
        failure = None if label else "no-tag"
        prediction = Prediction(label, rationale=reply, failure=failure)
        return priced(self.noted(prediction, row, answer), [answer])

    def _text(self, row: Row, read: int = CHARACTERS_READ) -> str:
        pieces = evidence_in(row)
        evidence = [Handles().show(pieces, piece=self.piece)] if pieces else []
        return "\n".join(self.shown(row, evidence, read=read))

    def question(self, row: Row, handles: Handles) -> Question:
        answer = "answer" if self.reasoned else "answer_label"
        parts = ("role", "task", *self.on_evidence, "examples", answer)
        system = self.system(*parts, count=len(self.example_ids), label=self.classes[0])
        messages = [Message("system", system), *self.turns, Message("user", self._text(row))]
        return self.request(row, messages)


DETECTOR = LlmFewShot


def rationale_of(row: Row) -> str | None:
    """Why a training row has its label, where the dataset says so."""
    notes = json.loads(row["meta"]) if row.get("meta") else {}
    words = next((str(notes[key]) for key in RATIONALES if notes.get(key)), "")
    return " ".join(words.split())[:EXAMPLE_CHARACTERS] or None


def alternating(
    texts: Sequence[str | None], labels: Sequence[str], order: Sequence[str], count: int, seed: int
) -> list[int]:
    """Positions of `count` rows with text, one class after the other, each drawn without return. A
    class that runs out is passed over."""
    rng = np.random.default_rng(seed)
    heaps = {}
    for name in order:
        of_class = [
            i for i, label in enumerate(labels) if label == name and (texts[i] or "").strip()
        ]
        heaps[name] = [of_class[int(j)] for j in rng.permutation(len(of_class))]
    chosen: list[int] = []
    while len(chosen) < count and any(heaps.values()):
        for name in order:
            if heaps[name] and len(chosen) < count:
                chosen.append(heaps[name].pop())
    return chosen


def tag_in(reply: str, classes: Sequence[str]) -> str | None:
    """The class in a reply: its tag in brackets (the first where the reply begins with one, else
    the last, behind the rationale), else the first bare word that is a class."""
    names = "|".join(re.escape(c) for c in sorted(classes, key=len, reverse=True))
    tags = list(re.finditer(rf"\[\s*({names})\s*\]", reply, re.IGNORECASE))
    bare = re.search(rf"(?<!\w)({names})(?!\w)", reply, re.IGNORECASE)
    first = bool(tags) and not reply[: tags[0].start()].strip()
    match = (tags[0] if first else tags[-1]) if tags else bare
    if match is None:
        return None
    word = match.group(1).lower()
    return next(c for c in classes if c.lower() == word)
