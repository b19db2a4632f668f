"""What the detectors that ask a language model share: the handles they are given, and many records
asked at once.

What a model is asked about a record, and how its reply becomes a prediction.

The words are prompts (claimlab.llm.prompts): what is the same for every record comes first, in the
system message; what is known of the record, its evidence and, last, its text follow. Texts,
speakers and evidence come from outside: they are fenced, and the model is told that nothing between
the marks is an instruction. Pieces of evidence are shown under short handles (E1, E2, ...), because
models copy long ids wrongly; a handle that was never shown is counted as an unsupported citation
and left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import polars as pl
from pydantic import Field, create_model

from claimlab.core import sync
from claimlab.core.calls.pool import all_of
from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.types import Json, JsonObject
from claimlab.detect.detector import Detector, Part, Prediction
from claimlab.llm.messages import Answer, Request, untrusted
from claimlab.llm.opinion import Reasoned
from claimlab.llm.prompts import Prompt, Prompts
from claimlab.llm.provider import Provider
from claimlab.tasks import Task

READ = 4000  # characters of a text that a model is shown
PIECE = 700  # characters of one piece of evidence
ABOUT = 200  # characters of a speaker or a venue
ABSTENTIONS = {"no evidence": "no-evidence", "insufficient evidence": "insufficient-evidence"}
Row = Mapping[str, Json]
Question: TypeAlias = Request[Any]  # with whatever schema
Reply: TypeAlias = Answer[Any]
CLAIM, NOW = (
    "claim",
    "now",
)  # up to when a model may use its knowledge: the day of the claim, or now
_FIELDS = {"author": "said or written by", "source": "where"}


def classes_of(task: Task, labels: Iterable[str]) -> tuple[str, ...]:
    """The task's classes, or, for an open task, those that the training rows hold."""
    return task.classes or tuple(sorted(set(labels)))


def instructions(prompt: Prompt, task: Task, classes: Sequence[str]) -> str:
    """The question and what each answer means."""
    lines = [f'- "{c}"{": " + task.meaning[c] if c in task.meaning else ""}' for c in classes]
    return prompt.text("task", question=task.question, labels="\n".join(lines))


def context_of(prompt: Prompt, evidence: str) -> list[str]:
    """The part of the prompt on the evidence that this run shows; empty if it shows none."""
    return [] if evidence == "none" else [prompt.text(f"evidence_{evidence}")]


def day_of(prompt: Prompt, row: Row, known_until: str) -> list[str]:
    """The day up to which the model may know."""
    if known_until == NOW:
        return []
    if known_until != CLAIM:
        return [prompt.text("as_of", day=known_until)]
    day = row.get("date")
    return [prompt.text("undated") if day is None else prompt.text("as_of", day=f"{day:%Y-%m-%d}")]


def check_day(known_until: str) -> str:
    if known_until not in (CLAIM, NOW):
        try:
            date.fromisoformat(known_until)
        except ValueError:
            todo = f"Use '{CLAIM}' (the day of the claim), '{NOW}', or a day such as 2020-12-31."
            raise UsageError(f"A model cannot know up to '{known_until}'.", todo) from None
    return known_until


def about(row: Row, task: Task) -> list[str]:
    """Speaker, venue and day, where the record has them; never the column that is to be
    predicted.
    """
    known = [
        f"{words}: {' '.join(str(row[name]).split())[:ABOUT]}"
        for name, words in _FIELDS.items()
        if row.get(name) and task.name != name
    ]
    known += (
        [f"day: {row['date']:%Y-%m-%d}"]
        if row.get("date") is not None and task.name != "date"
        else []
    )
    return [untrusted("\n".join(known), "about")] if known else []


def shown(row: Row, *, read: int = READ) -> str:
    """The text as a model sees it."""
    return untrusted((row["text"] or "")[:read])


class Handles:
    """Short names for pieces of evidence, given in the order in which they are shown."""

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}

    def show(self, pieces: Iterable[tuple[str, str]], *, piece: int = PIECE) -> str:
        """`pieces` (id and words), fenced, under their handles; one that was shown before keeps its
        handle.
        """
        known = {v: k for k, v in self.ids.items()}
        lines = []
        for identity, words in pieces:
            handle = known.setdefault(identity, f"E{len(known) + 1}")
            self.ids[handle] = identity
            lines.append(f"{handle}: {' '.join(words.split())[:piece]}")
        return untrusted("\n".join(lines), "evidence")

    def cited(self, handles: Sequence[str]) -> tuple[tuple[str, ...], int]:
        """The ids that were cited, each once, and how many citations name nothing that was
        shown.
        """
        plain = [c.strip().strip("[]()").upper() for c in handles]
        held = dict.fromkeys(self.ids[c] for c in plain if c in self.ids)
        return tuple(held), sum(c not in self.ids for c in plain)


_TENTHS: JsonObject = {"enum": [n / 10 for n in range(1, 11)]}
Tenth = Annotated[float, Field(ge=0, le=1, json_schema_extra=_TENTHS)]


class Verdict(Reasoned):
    """The shape of an answer; `label` is narrowed to the classes of the task by
    `verdict_schema`.
    """

    label: str
    confidence: float = Field(ge=0, le=1)


class Cited(Verdict):
    """The same where there is evidence to cite."""

    evidence: list[str]


@lru_cache(maxsize=64)
def verdict_schema(
    classes: tuple[str, ...], abstain: bool, room: int | None = None, *, cites: bool = True
) -> type[Verdict]:
    """`Verdict` for these classes. `room` bounds the words (see `bounded`)."""
    allowed = (*classes, *(ABSTENTIONS if abstain else ()))
    narrowed: JsonObject = {"label": (Literal[allowed], ...), **bounded(room)}
    if not cites:
        narrowed.pop("evidence", None)
    return create_model("Verdict", __base__=Cited if cites else Verdict, **narrowed)


def bounded(room: int | None) -> JsonObject:
    """Fields that hold at most `room` characters of rationale, a few handles and one of ten
    confidences: a very small model never comes to the end of a sentence by itself. Null for others:
    some endpoints refuse such bounds.
    """
    if room is None:
        return {}
    handle = Annotated[str, Field(pattern="^E[1-9]$")]
    return {
        "rationale": (str, Field(max_length=room)),
        "confidence": (Tenth, ...),
        "evidence": (list[handle], Field(max_length=4)),
    }


def scores_from(label: str, confidence: float, classes: Sequence[str]) -> dict[str, float]:
    """The confidence in the label; what is left is shared by the other classes, of which the model
    said nothing.
    """
    rest = (1 - confidence) / max(1, len(classes) - 1)
    return {c: confidence if c == label else rest for c in classes}


def as_prediction(verdict: Verdict, classes: Sequence[str], handles: Handles) -> Prediction:
    """A verdict as a prediction, without what it cost."""
    ids, unsupported = handles.cited(verdict.evidence if isinstance(verdict, Cited) else [])
    notes = {"unsupported_citations": unsupported or None}
    abstained = ABSTENTIONS.get(verdict.label) if verdict.label not in classes else None
    rationale = verdict.rationale.strip() or None
    if abstained is not None:
        return Prediction(
            None, rationale=rationale, evidence_ids=ids, abstained=abstained, notes=notes
        )
    scores = scores_from(verdict.label, verdict.confidence, classes)
    return Prediction(verdict.label, scores, rationale, ids, notes=notes)


def failed(answer: Reply) -> Prediction:
    """A call that brought no usable answer: null, with the reason. A refusal is recorded and never
    asked round.
    """
    why = "refused" if answer.refusal else answer.failure or "empty"
    return Prediction(None, failure=why, notes={"detail": answer.detail})


CONCURRENCY = 32


class Asking(Detector):
    """A detector that asks `model` (a provider of claimlab.llm) about one record at a time."""

    handles: ClassVar[tuple[str, ...]] = ("model",)
    needs_training = False
    reads_evidence = True
    asks: ClassVar[tuple[str, ...]] = ()  # the prompts that it is asked in
    unreported = frozenset({"concurrency"})

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

    def requests(self, records: pl.DataFrame) -> Iterable[Question]:
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
    prediction: Prediction, answers: Sequence[Reply], extra: float | None = 0.0
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
