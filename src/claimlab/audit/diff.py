"""What changed between two audits, or two versions of a dataset: findings by check and feature,
records by id.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

import polars as pl

from claimlab.audit.advice import ALARMS
from claimlab.audit.result import Audit
from claimlab.core.dataset import Dataset
from claimlab.core.finding import VERDICTS, Finding, Verdict
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject

Kind = Literal["came", "went", "changed", "same"]
KINDS: tuple[Kind, ...] = ("came", "went", "changed", "same")
COMPARED = {
    "labels": "veracity",
    "splits": "split",
    "texts": "text",
}  # columns compared by record id


@dataclass(frozen=True)
class Change:
    """One finding before and after; a verdict is null where the audit has no such finding."""

    change: Kind
    check: str
    feature: str | None
    before: Verdict | None
    after: Verdict | None
    score_before: float | None
    score_after: float | None


@dataclass(frozen=True, repr=False)
class Diff(Shown):
    """The findings of two audits side by side; `records` counts what changed in the data, where
    both were datasets.
    """

    before: Audit
    after: Audit
    records: dict[str, int] | None = None

    @property
    def changes(self) -> list[Change]:
        return changes(self.before, self.after)

    def counts(self) -> dict[str, int]:
        return {kind: sum(c.change == kind for c in self.changes) for kind in KINDS}

    @property
    def table(self) -> pl.DataFrame:
        """A row for each finding of either audit; scores are shares of 1."""
        types = {"feature": pl.String, "before": pl.String, "after": pl.String}
        scores = {"score_before": pl.Float64, "score_after": pl.Float64}
        rows = [asdict(c) for c in self.changes]
        return pl.DataFrame(rows, schema_overrides={**types, **scores}, infer_schema_length=None)

    def headline(self) -> str:
        counts = ", ".join(f"{n} {kind}" for kind, n in self.counts().items() if n) or "no findings"
        return f"of '{self.before.dataset}' and '{self.after.dataset}': {counts}"

    def notes(self) -> list[str]:
        """Settings that differ: then a finding may have changed without the data."""
        pairs = [
            (name, getattr(self.before, name), getattr(self.after, name))
            for name in ("protocol", "target", "seed")
        ]
        return [
            f"The audits differ in their {name}: {old} and {new}."
            for name, old, new in pairs
            if old != new
        ]

    def to_json(self) -> JsonObject:
        return {
            "before": self.before.dataset,
            "after": self.after.dataset,
            "counts": self.counts(),
            "notes": self.notes(),
            "records": self.records,
            "findings": [asdict(c) for c in self.changes],
        }


def changes(before: Audit, after: Audit) -> list[Change]:
    """Every finding of either audit: what came first, then what went, what changed, and the rest;
    most severe first.
    """
    old, new = ({_key(f): f for f in audit.findings} for audit in (before, after))
    out = [_change(old.get(key), new.get(key)) for key in dict.fromkeys([*old, *new])]
    return sorted(out, key=_order)


def record_changes(before: Dataset, after: Dataset) -> dict[str, int]:
    """How many records were added and removed, and how many of the others have another label, split
    or text.
    """
    columns = list(COMPARED.values())
    old, new = (d.records.select("id", *columns) for d in (before, after))
    both = old.join(new, on="id", suffix="_after")
    changed = {
        f"{name}_changed": int(both[column].ne_missing(both[f"{column}_after"]).sum())
        for name, column in COMPARED.items()
    }
    sizes = {"before": old.height, "after": new.height, "removed": old.height - both.height}
    return {**sizes, "added": new.height - both.height, **changed}


def _key(finding: Finding) -> tuple[str, str]:
    """A drawn split before and a given one after are the same question."""
    return finding.check, (finding.feature or "").replace(
        "across a random split", "across the given split"
    )


def _change(was: Finding | None, now: Finding | None) -> Change:
    one = now or was
    assert one is not None  # a key comes from one of them
    before, after = (finding.verdict if finding else None for finding in (was, now))
    scores = (finding.score if finding else None for finding in (was, now))
    kind = _kind(before, after, apart=_apart(was, now))
    return Change(kind, one.check, one.feature, before, after, *scores)


def _kind(before: Verdict | None, after: Verdict | None, *, apart: bool) -> Kind:
    """An alarm that is no longer measured did not go: it changed. So did a score that left its
    interval.
    """
    if after in ALARMS and before not in ALARMS:
        return "came"
    if before in ALARMS and after == "pass":
        return "went"
    return "changed" if before != after or apart else "same"


def _apart(was: Finding | None, now: Finding | None) -> bool:
    if was is None or now is None or was.interval is None or now.interval is None:
        return False
    return was.interval[1] < now.interval[0] or now.interval[1] < was.interval[0]


def _order(change: Change) -> tuple[int, int, str, str]:
    verdicts = [v for v in (change.before, change.after) if v is not None]
    gravity = min(map(VERDICTS.index, verdicts))
    return KINDS.index(change.change), gravity, change.check, change.feature or ""
