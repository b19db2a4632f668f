"""What differs between two studies: a setting of either, and all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from claimlab.core.shown import Shown
from claimlab.core.stats.interval import Interval
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.study.entry import Entry

Word = Literal[
    "higher",
    "lower",
    "unclear",
    "same",
    "no longer fails",
    "fails now",
    "only before",
    "only after",
]
WORDS: tuple[Word, ...] = (
    "lower",
    "higher",
    "fails now",
    "no longer fails",
    "only before",
    "only after",
    "unclear",
    "same",
)


@dataclass(frozen=True)
class Change:
    """One setting in both studies, or in one of them."""

    axes: Mapping[str, Any]
    before: Entry | None
    after: Entry | None
    difference: float | None = None
    interval: Interval | None = None
    p: float | None = None
    p_holm: float | None = None

    @property
    def word(self) -> Word:
        if self.before is None or self.after is None:
            return "only after" if self.before is None else "only before"
        if bool(self.before.failed) != bool(self.after.failed):
            return "fails now" if self.after.failed else "no longer fails"
        if (
            self.before.macro_f1 == self.after.macro_f1
            and self.before.interval == self.after.interval
        ):
            return "same"
        if self.p_holm is None or self.p_holm >= 0.05 or not self.difference:
            return "unclear"
        return "higher" if self.difference > 0 else "lower"

    def to_json(self) -> JsonObject:
        sides = {"before": self.before, "after": self.after}
        return {
            "axes": dict(self.axes),
            "change": self.word,
            **{name: None if one is None else one.to_json() for name, one in sides.items()},
            "difference": self.difference,
            "interval": self.interval,
            "p_holm": self.p_holm,
        }


@dataclass
class StudyDiff(Shown):
    """Two studies compared: every setting of either, what changed first."""

    before: str
    after: str
    changes: list[Change]
    notes: list[str]

    def counts(self) -> dict[str, int]:
        return {
            word: n for word in WORDS if (n := sum(change.word == word for change in self.changes))
        }

    def headline(self) -> str:
        parts = ", ".join(f"{n} {word}" for word, n in self.counts().items())
        return (
            f"From '{self.before}' to '{self.after}', of {several(len(self.changes), 'setting')}:"
            f" {parts}."
        )

    @property
    def table(self) -> pl.DataFrame:
        rows = [
            {
                **{axis: str(value) for axis, value in c.axes.items()},
                "change": c.word,
                "before": c.before.macro_f1 if c.before else None,
                "after": c.after.macro_f1 if c.after else None,
                "difference": c.difference,
                "low": c.interval[0] if c.interval else None,
                "high": c.interval[1] if c.interval else None,
                "p_holm": c.p_holm,
            }
            for c in self.changes
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_json(self) -> JsonObject:
        sides = {"before": self.before, "after": self.after}
        return {
            **sides,
            "counts": self.counts(),
            "notes": self.notes,
            "settings": [c.to_json() for c in self.changes],
        }
