"""What a model replies about a record, and how that becomes a prediction. Pieces of evidence are
shown under short handles (E1, E2, ...), because models copy long ids wrongly; a handle that was
never shown is counted as an unsupported citation and left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, create_model

from claimlab.core.types import JsonObject
from claimlab.detect.detector import Prediction
from claimlab.llm.judge import Reasoned
from claimlab.llm.messages import Answer, untrusted

PIECE_CHARACTERS = 700  # characters of one piece of evidence
ABSTENTIONS = {"no evidence": "no-evidence", "insufficient evidence": "insufficient-evidence"}
Reply: TypeAlias = Answer[Any]
_TENTHS: JsonObject = {"enum": [n / 10 for n in range(1, 11)]}


class Handles:
    """Short names for pieces of evidence, given in the order in which they are shown."""

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}

    def show(self, pieces: Iterable[tuple[str, str]], *, piece: int = PIECE_CHARACTERS) -> str:
        """`pieces` (id and words), fenced, under their handles; one that was shown before keeps its
        handle.
        """
        handle_of = {v: k for k, v in self.ids.items()}
        lines = []
        for identity, words in pieces:
            handle = handle_of.setdefault(identity, f"E{len(handle_of) + 1}")
            self.ids[handle] = identity
            lines.append(f"{handle}: {cut_at_sentence(' '.join(words.split()), piece)}")
        return untrusted("\n".join(lines), "evidence")

    def cited(self, handles: Sequence[str]) -> tuple[tuple[str, ...], int]:
        """The ids that were cited, each once, and how many citations name nothing that was
        shown.
        """
        plain = [c.strip().strip("[]()").upper() for c in handles]
        ids = dict.fromkeys(self.ids[c] for c in plain if c in self.ids)
        return tuple(ids), sum(c not in self.ids for c in plain)


def cut_at_sentence(words: str, most: int) -> str:
    """The sentences that end within `most` characters, or the words where none does."""
    if len(words) <= most:
        return words
    head = words[: most + 1]
    ends = [head.rfind(f"{mark} ") + 1 for mark in ".!?…。"]
    return head[: max(ends)] or head.rsplit(" ", 1)[0][:most]


Tenth = Annotated[float, Field(ge=0, le=1, json_schema_extra=_TENTHS)]


class ModelVerdict(Reasoned):
    """The shape of an answer; `label` is narrowed to the classes of the task by
    `verdict_schema`.
    """

    label: str
    confidence: float = Field(ge=0, le=1)


class Cited(ModelVerdict):
    """The same where there is evidence to cite."""

    evidence: list[str]


@lru_cache(maxsize=64)
def verdict_schema(
    classes: tuple[str, ...], abstain: bool, room: int | None = None, *, cites: bool = True
) -> type[ModelVerdict]:
    """`Verdict` for these classes. `room` bounds the words (see `bounded`)."""
    narrowed: JsonObject = {"label": (labels_of(classes, abstain), ...), **bounded(room)}
    if not cites:
        narrowed.pop("evidence", None)
    return create_model("Verdict", __base__=Cited if cites else ModelVerdict, **narrowed)


def labels_of(classes: tuple[str, ...], abstain: bool) -> Any:
    """The type of a label: one of the classes, or an abstention where that is allowed."""
    return Literal[(*classes, *(ABSTENTIONS if abstain else ()))]


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


def as_prediction(verdict: ModelVerdict, classes: Sequence[str], handles: Handles) -> Prediction:
    """A verdict as a prediction, without what it cost. What is left of the confidence is shared by
    the other classes, of which the model said nothing.
    """
    ids, unsupported = handles.cited(verdict.evidence if isinstance(verdict, Cited) else [])
    label, rest = verdict.label, (1 - verdict.confidence) / max(1, len(classes) - 1)
    abstained = ABSTENTIONS.get(label) if label not in classes else None
    scores = {c: verdict.confidence if c == label else rest for c in classes}
    return Prediction(
        None if abstained else label,
        {} if abstained else scores,
        verdict.rationale.strip() or None,
        ids,
        abstained=abstained,
        notes={
            "unsupported_citations": unsupported or None,
            "zero_confidence": True if verdict.confidence == 0 and not abstained else None,
        },
    )


def failed(answer: Reply) -> Prediction:
    """A call that brought no usable answer: null, with the reason. A refusal is recorded and never
    asked round.
    """
    why = "refused" if answer.refusal else answer.failure or "empty"
    return Prediction(None, failure=why, notes={"detail": answer.detail})
