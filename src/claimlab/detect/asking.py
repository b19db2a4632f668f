"""What the detectors that ask a language model share: what a model is asked about a record, and
many records asked at once.

The words are prompts (claimlab.llm.prompts): what is the same for every record comes first, in the
system message; what is known of the record, its evidence and, last, its text follow. Texts,
speakers and evidence come from outside: they are fenced, and the model is told that nothing between
the marks is an instruction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, ClassVar, TypeAlias

import polars as pl
from pydantic import BaseModel

from claimlab.core import sync
from claimlab.core.calls.pool import all_of
from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.types import Json
from claimlab.detect.detector import Detector, Part, Prediction
from claimlab.detect.verdicts import Handles, Reply
from claimlab.llm.asking import ask_again
from claimlab.llm.messages import Message, Request, untrusted
from claimlab.llm.prompts import Prompt, Prompts
from claimlab.llm.provider import Provider
from claimlab.text.langid import other_language

CHARACTERS_READ = 4000  # characters of a text that a model is shown
ABOUT_CHARACTERS = 200  # characters of a speaker or a venue
CONCURRENCY = 32
Row = Mapping[str, Json]
Question: TypeAlias = Request[Any]  # with whatever schema
# up to when a model may use its knowledge: the day of the claim, or now
CLAIM, NOW = "claim", "now"
_FIELDS = {"author": "said or written by", "source": "where"}


class Asking(Detector):
    """A detector that asks `model` (a provider of claimlab.llm) about one record at a time."""

    handles: ClassVar[tuple[str, ...]] = ("model",)
    needs_training = False
    reads_evidence = True
    asks: ClassVar[tuple[str, ...]] = ()  # the prompts that it is asked in, its own first
    unreported = frozenset({"concurrency"})
    known_until: str = NOW
    abstain: bool = False

    def __init__(
        self,
        *,
        model: Provider | None = None,
        context: bool = True,
        max_tokens: int = 512,
        concurrency: int = CONCURRENCY,
    ) -> None:
        self.model = model
        self.context = context  # speaker, venue and day
        self.max_tokens = max_tokens
        self.concurrency = concurrency
        self.classes: tuple[str, ...] = ()
        self.prompts = Prompts()  # set by the run, where the user replaced some

    @property
    def provider(self) -> Provider:
        assert self.model is not None, "a run looks at the handles before it starts"
        return self.model

    @property
    def prompt(self) -> Prompt:
        return self.prompts[self.asks[0]]

    @property
    def room(self) -> int | None:
        """Characters of rationale for a model that would not stop, a quarter of its reply; null for
        all others.
        """
        return self.max_tokens if self.provider.profile.provider == "embedded" else None

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
        self.classes = self.task.classes or tuple(sorted(set(train.labels)))
        self.seed = seed

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        answers = all_of(
            records.to_dicts(),
            self._guarded,
            concurrency=self.concurrency,
            progress=self.progress,
            label="predicting",
        )
        return sync.run(answers)

    def requests(self, records: pl.DataFrame) -> Iterable[Question]:
        """What a run would ask, for an estimate."""
        return (self.question(row, Handles()) for row in rows_with_text(records))

    def question(self, row: Row, handles: Handles) -> Question:
        """What is asked about a record first."""
        raise NotImplementedError

    async def one(self, row: Row) -> Prediction:
        raise NotImplementedError

    async def ask(self, row: Row, question: Question) -> Reply:
        """The answer. It is asked for once more where its rationale is in another language than the
        text, or its label has no confidence; what is wrong with the second is noted. A model that
        is too small to do better is asked once."""
        if self.room is not None:
            return await self.provider.ask(question)

        def fault(_: Question, answer: Reply) -> str | None:
            label = getattr(answer.value, "label", None)
            if (other := self.foreign(row, answer)) is not None:
                return self.prompt.text("language", **other)
            if label is not None and getattr(answer.value, "confidence", None) == 0:
                return self.prompt.text("sure", label=label)
            return None

        return await ask_again(self.provider, question, fault)

    def foreign(self, row: Row, answer: Reply) -> dict[str, str] | None:
        """The languages of the text and of the rationale, where they differ."""
        value = answer.value
        rationale = (answer.text or "") if value is None else getattr(value, "rationale", "")
        return other_language(rationale, row["text"] or "", row.get("language"))

    def noted(self, prediction: Prediction, row: Row, answer: Reply) -> Prediction:
        """The prediction, marked where its rationale is in another language than the text."""
        other = self.foreign(row, answer) if self.room is None else None
        language = {"rationale_language": other["given"]} if other else {}
        return replace(prediction, notes={**prediction.notes, **language})

    async def _guarded(self, row: Row) -> Prediction:
        if not (row["text"] or "").strip():  # as in rows_with_text
            return Prediction(None, failure="no-text")
        try:
            return await self.one(row)
        except ClaimlabError:
            raise
        except Exception as error:  # one failing record never stops the others
            detail = f"{type(error).__name__}: {error}"
            return Prediction(None, failure="crash", notes={"detail": detail})

    def system(self, *parts: str, **values: object) -> str:
        """The system message: parts of the prompt; the task is the question and what each answer
        means.
        """
        meaning = self.task.meaning
        lines = [f'- "{c}"{": " + meaning[c] if c in meaning else ""}' for c in self.classes]
        values |= {"question": self.task.question, "labels": "\n".join(lines)}
        return "\n\n".join(self.prompt.text(part, **values) for part in parts)

    @property
    def on_evidence(self) -> list[str]:
        """The part of the prompt on the evidence that this run shows; none if it shows none."""
        # what corresponds may be wrong, too
        reading = "complete" if self.evidence == "corresponding" else self.evidence
        return [] if reading == "none" else [f"evidence_{reading}"]

    def shown(self, row: Row, evidence: Iterable[str], *, read: int = CHARACTERS_READ) -> list[str]:
        """What a model sees of a record: the day up to which it may know, evidence, what is known
        of the text, and the text.
        """
        about = self._about(row) if self.context else []
        return [*self._day(row), *evidence, *about, untrusted((row["text"] or "")[:read])]

    def _day(self, row: Row) -> list[str]:
        if self.known_until == NOW:
            return []
        when = row.get("date")
        day = self.known_until if self.known_until != CLAIM else when and f"{when:%Y-%m-%d}"
        return [self.prompt.text("as_of", day=day) if day else self.prompt.text("undated")]

    def _about(self, row: Row) -> list[str]:
        """Speaker, venue and day, where the record has them; never the column that is to be
        predicted.
        """
        lines = [
            f"{words}: {' '.join(str(row[name]).split())[:ABOUT_CHARACTERS]}"
            for name, words in _FIELDS.items()
            if row.get(name) and self.task.name != name
        ]
        if row.get("date") is not None and self.task.name != "date":
            lines.append(f"day: {row['date']:%Y-%m-%d}")
        return [untrusted("\n".join(lines), "about")] if lines else []

    def request(
        self, row: Row, messages: Iterable[Message], schema: type[BaseModel] | None = None
    ) -> Question:
        return Request(
            messages=tuple(messages),
            schema=schema,
            max_tokens=self.max_tokens,
            seed=self.seed,
            tag=row["id"],
            prompt_name=self.asks[0],
        )


def check_day(known_until: str) -> str:
    if known_until not in (CLAIM, NOW):
        try:
            date.fromisoformat(known_until)
        except ValueError:
            todo = f"Use '{CLAIM}' (the day of the claim), '{NOW}', or a day such as 2020-12-31."
            raise UsageError(f"A model cannot know up to '{known_until}'.", todo) from None
    return known_until


def priced(
    prediction: Prediction, answers: Sequence[Reply], extra: float | None = 0.0
) -> Prediction:
    """The prediction with what its answers took. The seconds are those of the model, as they were
    recorded, so that a replay gives the same bytes; a cost is null as soon as one part of it is not
    known."""
    costs = [*(a.cost for a in answers), extra]
    costs_known = [c for c in costs if c is not None]
    total = round(sum(costs_known), 9) if len(costs_known) == len(costs) else None
    seconds = round(sum(a.seconds for a in answers), 6)
    notes = {**prediction.notes, "calls": sum(a.calls for a in answers)}
    return replace(prediction, cost=total, seconds=seconds, notes=notes)


def rows_with_text(records: pl.DataFrame) -> Iterable[Row]:
    """The rows that a model is asked about at all."""
    return (row for row in records.iter_rows(named=True) if (row["text"] or "").strip())


def evidence_in(row: Row) -> list[tuple[str, str]]:
    """The pieces that the chosen reading gives this record."""
    return [(piece["id"], piece["text"]) for piece in row.get("evidence") or []]
