"""What an audit found, as data: what its pages show and its files hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict

from claimlab.core.finding import VERDICTS, Finding


class Example(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    label: str | None = None
    split: str | None = None
    text: str | None = None


@dataclass
class Audit:
    """The findings on one dataset, with what is needed to say what they are about."""

    dataset: str
    digest: str
    protocol: str
    target: str
    seed: int
    records: int
    labelled: int
    findings: list[Finding] = field(default_factory=list)
    card: str | None = None
    examples: list[Example] = field(default_factory=list)  # the rows that findings point at, cut short

    def counts(self) -> dict[str, int]:
        return {v: sum(f.verdict == v for f in self.findings) for v in VERDICTS}

    def worst(self, check: str) -> Finding | None:
        """The gravest finding of a check: what a matrix shows."""
        mine = [f for f in self.findings if f.check == check]
        return min(mine, key=lambda f: (VERDICTS.index(f.verdict), -(f.score or 0))) if mine else None

    def to_json(self) -> dict[str, Any]:
        return {
            "dataset": self.dataset,
            "digest": self.digest,
            "card": self.card,
            "protocol": self.protocol,
            "target": self.target,
            "seed": self.seed,
            "records": self.records,
            "labelled": self.labelled,
            "counts": self.counts(),
            "findings": [f.model_dump(mode="json") for f in self.findings],
            "examples": [e.model_dump(mode="json") for e in self.examples],
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Audit:
        kept = {k: v for k, v in raw.items() if k not in ("counts", "findings", "examples")}
        return cls(
            **kept,
            findings=[Finding.model_validate(f) for f in raw["findings"]],
            examples=[Example.model_validate(e) for e in raw.get("examples", [])],
        )
