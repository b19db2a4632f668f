"""What changed between two audits, or two versions of a dataset: findings by check and feature,
records by id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

import polars as pl

from claimlab.audit.advice_rules import ALARMS
from claimlab.audit.gate import Gate, key_of
from claimlab.audit.result import Audit
from claimlab.core.dataset import Dataset
from claimlab.core.finding import VERDICTS, Finding, Verdict
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several

Kind = Literal["came", "went", "changed", "same"]
KINDS: tuple[Kind, ...] = ("came", "went", "changed", "same")
COMPARED = {
    "labels": "veracity",
    "splits": "split",
    "texts": "text",
}  # columns compared by record id


@dataclass(frozen=True)
class FindingChange:
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
    gate: Gate = field(default_factory=lambda: Gate(()))
    file: str = ""  # the table that `after` was read from, and the line of each of its records
    lines: Mapping[str, int] = field(default_factory=dict)
    maps: tuple[str | None, str | None] = (None, None)  # the label map of each dataset

    @property
    def changes(self) -> list[FindingChange]:
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
        """Settings and label maps that differ: then a finding may have changed without the data."""
        pairs = [
            (name, getattr(self.before, name), getattr(self.after, name))
            for name in ("protocol", "target", "seed")
        ]
        differ = [
            f"The audits differ in their {name}: {old} and {new}."
            for name, old, new in pairs
            if old != new
        ]
        by_map = (self.records or {}).get("labels_by_map", 0)
        if by_map:
            named = ", then ".join(name or "another" for name in self.maps)
            differ.append(
                f"{several(by_map, 'label')} changed by another label map ({named}), not in the"
                " data: the source wrote the same."
            )
        return differ

    def to_json(self) -> JsonObject:
        return {
            "before": self.before.dataset,
            "after": self.after.dataset,
            "counts": self.counts(),
            "notes": self.notes(),
            "records": self.records,
            "gate": self.gate.to_json(),
            "findings": [asdict(c) for c in self.changes],
        }


def changes(before: Audit, after: Audit) -> list[FindingChange]:
    """Every finding of either audit: what came first, then what went, what changed, and the rest;
    most severe first.
    """
    old, new = ({key_of(f): f for f in audit.findings} for audit in (before, after))
    out = [_change(old.get(key), new.get(key)) for key in dict.fromkeys([*old, *new])]
    return sorted(out, key=_order)


def record_changes(before: Dataset, after: Dataset) -> dict[str, int]:
    """How many records were added and removed, and how many of the others have another label, split
    or text; `labels_by_map` have another label for the same word of their source.
    """
    columns = list(COMPARED.values())
    old, new = (d.records.select("id", *columns, "label_raw") for d in (before, after))
    both = old.join(new, on="id", suffix="_after")
    changed = {
        f"{name}_changed": int(both[column].ne_missing(both[f"{column}_after"]).sum())
        for name, column in COMPARED.items()
    }
    same_word = both["label_raw"] == both["label_raw_after"]
    relabelled = both["veracity"].ne_missing(both["veracity_after"])
    changed["labels_by_map"] = int((same_word & relabelled).sum())
    sizes = {"before": old.height, "after": new.height, "removed": old.height - both.height}
    return {**sizes, "added": new.height - both.height, **changed}


def _change(was: Finding | None, now: Finding | None) -> FindingChange:
    present = now or was
    assert present is not None  # a key comes from one of them
    before, after = (finding.verdict if finding else None for finding in (was, now))
    scores = (finding.score if finding else None for finding in (was, now))
    kind = _kind(before, after, apart=_apart(was, now))
    return FindingChange(kind, present.check, present.feature, before, after, *scores)


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


def _order(change: FindingChange) -> tuple[int, int, str, str]:
    verdicts = [v for v in (change.before, change.after) if v is not None]
    gravity = min(map(VERDICTS.index, verdicts))
    return KINDS.index(change.change), gravity, change.check, change.feature or ""
