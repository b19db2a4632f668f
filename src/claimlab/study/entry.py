"""One figure of a study: what all seeds of one setting score together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from claimlab.core.stats.chance import LEVEL, UNTESTED, Chance
from claimlab.core.stats.interval import Interval
from claimlab.core.types import JsonObject
from claimlab.study.file import Value

TRIVIAL = "the best trivial baseline"


@dataclass(frozen=True)
class Entry:
    """One choice on every axis but the seed. Figures are null where a cell failed or could not be
    measured.
    """

    axes: Mapping[str, Value]
    seeds: int
    records: int  # test records, the most of any seed
    macro_f1: float | None
    accuracy: float | None
    interval: Interval | None = None
    spread: float | None = None  # standard deviation over seeds
    against: str | None = None
    difference: float | None = None
    difference_interval: Interval | None = None
    p: float | None = None
    p_holm: float | None = None
    chance: Chance = (
        UNTESTED  # what comes without reading the text, and whether the score is above it
    )
    p_reading: float | None = (
        None  # corrected, of being above chance and above every reference detector
    )
    seconds: float = 0.0
    cost: float = 0.0
    failed: str | None = None
    runs: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the difference is clear of zero; where it is above zero, the score must be above
        chance too.
        """
        sure = self.p_holm is not None and self.p_holm < LEVEL
        return sure and ((self.difference or 0.0) < 0 or self.chance.beaten)

    def to_json(self) -> JsonObject:
        """Everything that is the same in every run of the study: seconds and cost are in
        timings.json.
        """
        return {
            name: value for name, value in asdict(self).items() if name not in ("seconds", "cost")
        }

    @classmethod
    def of(cls, saved: Mapping[str, Any]) -> Entry:
        """The entry that `to_json` gave."""
        ends = {name: _ends(saved[name]) for name in ("interval", "difference_interval")}
        tested = dict(saved.get("chance") or {})
        chance = Chance(**{**tested, "interval": _ends(tested.get("interval"))})
        return cls(**{**saved, **ends, "chance": chance, "runs": tuple(saved["runs"])})


def _ends(saved: list[float] | None) -> Interval | None:
    return None if saved is None else (saved[0], saved[1])
