"""What is put before a judge, what it replies, and what it thinks over all its runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic

from pydantic import BaseModel

from claimlab.llm.messages import T

Value = float | str


@dataclass(frozen=True)
class Case:
    """What is put before a judge. The fixed words come first (`system`), the data of this case last
    (`data`).
    """

    id: str
    system: str
    data: str


@dataclass
class Opinion(Generic[T]):
    """What a judge thinks of one case over all its runs. `value` is null when no run brought an
    answer.
    """

    case: str
    value: Value | None = None
    runs: list[Value] = field(default_factory=list)
    replies: list[T | None] = field(default_factory=list)  # run by run; null where one failed
    failures: list[str] = field(default_factory=list)
    detail: str | None = None
    cost: float | None = None

    @property
    def reply(self) -> T | None:
        """The whole reply of the first run that brought one."""
        return next((reply for reply in self.replies if reply is not None), None)

    @property
    def rationale(self) -> str | None:
        return getattr(self.reply, "rationale", None) or None


class Reasoned(BaseModel):
    """The start of every schema of a judge: the rationale is written first, so that the verdict
    follows from it.
    """

    rationale: str
