"""The contradiction judges: a language model, asked once or several times, and a weak rule that
needs none.

On the scale "score" an opinion is a number from 0 (no contradiction) to 10; on "binary" and
"trinary" it is a word: wrong, not wrong, or (trinary) open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, get_args

from pydantic import Field

from claimlab.core.errors import UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.types import JsonObject
from claimlab.evaluate.judge.cases import Case
from claimlab.evaluate.judge.people import NOT_WRONG, OPEN, WRONG
from claimlab.llm.judge import Case as Asked
from claimlab.llm.judge import ModelJudge, Opinion, Reasoned
from claimlab.llm.messages import Request, untrusted
from claimlab.llm.prompts import Prompts
from claimlab.llm.provider import Provider

Scale = Literal["score", "binary", "trinary"]
PROMPT = "contradiction"
READ = 12_000  # characters of an article
MAX_TOKENS = 600


class Judge(Protocol):
    scale: Scale

    @property
    def name(self) -> str: ...

    @property
    def standing(self) -> str | None:
        """What its opinions are worth, where that must be said."""
        ...

    def parameters(self) -> JsonObject: ...

    def judge(
        self, cases: Sequence[Case], *, progress: Progress = silent
    ) -> list[Opinion[Any]]: ...


class NoJudge:
    """No judge at all: only what annotators said is counted."""

    scale: Scale = "score"
    name = "none"
    standing = "absent: only annotators judged"

    def parameters(self) -> JsonObject:
        return {}

    def judge(self, cases: Sequence[Case], *, progress: Progress = silent) -> list[Opinion[Any]]:  # noqa: ARG002
        return []


class Scored(Reasoned):
    score: int = Field(ge=0, le=10)


class Binary(Reasoned):
    contradiction: Literal["yes", "no"]


class Trinary(Reasoned):
    contradiction: Literal["yes", "no", "unsure"]


_SCHEMAS: dict[Scale, type[Reasoned]] = {"score": Scored, "binary": Binary, "trinary": Trinary}
_WORDS = {"yes": WRONG, "no": NOT_WRONG, "unsure": OPEN}


class Contradiction:
    """The model of `provider`, asked whether a rationale and an article contradict each other."""

    def __init__(
        self,
        provider: Provider,
        *,
        scale: Scale = "score",
        runs: int = 1,
        seed: int = 0,
        prompts: Prompts | None = None,
    ) -> None:
        self.scale = scale
        self.model: ModelJudge[Any] = ModelJudge(
            provider,
            (prompts or Prompts())[PROMPT],
            _SCHEMAS[scale],
            value=_value,
            tie=OPEN,
            runs=runs,
            seed=seed,
            max_tokens=MAX_TOKENS,
        )

    @property
    def name(self) -> str:
        return f"contradiction {self.scale}: {self.model.model}"

    @property
    def standing(self) -> str | None:
        return self.model.standing

    def parameters(self) -> JsonObject:
        return {**self.model.parameters(), "scale": self.scale}

    def judge(self, cases: Sequence[Case], *, progress: Progress = silent) -> list[Opinion[Any]]:
        return self.model.judge([self.question(case) for case in cases], progress=progress)

    def requests(self, cases: Sequence[Case]) -> Sequence[Request[Any]]:
        return list(self.model.requests([self.question(case) for case in cases]))

    def question(self, case: Case) -> Asked:
        prompt = self.model.prompt
        data = [
            untrusted((case.article or "")[:READ], "article"),
            untrusted(f"Label: {case.label}. {case.rationale}", "rationale"),
            untrusted(case.statement, "statement"),
        ]
        return Asked(
            case.record_id, f"{prompt.text('system')} {prompt.text(self.scale)}", "\n\n".join(data)
        )


def _value(reply: Any) -> float | str:
    return reply.score if isinstance(reply, Scored) else _WORDS[reply.contradiction]


def check_scale(scale: str) -> Scale:
    for known in get_args(Scale):
        if scale == known:
            return known  # type: ignore[no-any-return]
    raise UsageError(
        f"A judge cannot answer by '{scale}'.", f"Use one of: {', '.join(get_args(Scale))}."
    )
