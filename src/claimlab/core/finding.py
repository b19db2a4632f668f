"""What a check found. Finding and wording are two jobs: this is the data, the report floor words and draws it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

Verdict = Literal["pass", "warn", "fail", "not-measured"]
VERDICTS: tuple[Verdict, ...] = ("fail", "warn", "pass", "not-measured")


class Baselines(BaseModel):
    """Macro-F1 (0-1) of answering with the majority class, of drawing from the label distribution, and of the same
    check on shuffled labels."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    majority: float | None = None
    stratified: float | None = None
    shuffled: float | None = None

    def best(self) -> float | None:
        known = [v for v in (self.majority, self.stratified, self.shuffled) if v is not None]
        return max(known) if known else None


class Finding(BaseModel):
    """One result of one check under one protocol. "Not measured" is never a pass and always says why."""

    model_config = ConfigDict(extra="forbid")

    check: str
    protocol: str
    verdict: Verdict
    why: str
    score: float | None = None
    baselines: Baselines = Baselines()
    interval: tuple[float, float] | None = None
    p: float | None = None
    n: int = 0
    classes: dict[str, int] = {}
    feature: str | None = None  # the column or feature group when a check yields several findings
    records: list[str] = []  # ids to look at
    details: dict[str, Any] = {}  # tables behind the finding (words with counts, purity, ...), JSON-safe

    @model_validator(mode="after")
    def _honest(self) -> Finding:
        if not self.why.strip():
            raise ValueError("a finding needs a sentence of why")
        if self.verdict == "not-measured" and self.score is not None:
            raise ValueError("a finding that was not measured has no score")
        return self
