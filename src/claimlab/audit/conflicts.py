"""One key under several labels. The rule: FAIL when at least 1 % of the records are in a conflict, WARN when any is."""

from __future__ import annotations

import polars as pl

from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding, Verdict

FAIL_SHARE = 0.01
SHOWN = 50


def conflict_finding(subject: Subject, check: str, keys: pl.Series, *, what: str) -> Finding:
    """How many keys stand under more than one label, in how many records. A record may have several (a list)."""
    frame = pl.DataFrame({"id": subject.rows["id"], "key": keys, "y": subject.y})
    if keys.dtype == pl.List:
        frame = frame.explode("key").unique(maintain_order=True)
    frame = frame.drop_nulls("key")
    records = frame["id"].n_unique()
    if len(subject.classes) < 2:
        return Finding(
            check=check, protocol="fair", verdict="not-measured", why="It needs two classes.", n=frame.height
        )
    torn = frame.filter(pl.col("y").n_unique().over("key") > 1).sort("key", "id")
    distinct = torn["key"].n_unique() if torn.height else 0
    torn_ids = torn["id"].unique(maintain_order=True)
    share = torn_ids.len() / max(1, records)
    verdict: Verdict = "fail" if share >= FAIL_SHARE else "warn" if torn.height else "pass"
    word = f"{what}s" if distinct != 1 else what
    why = (
        f"{distinct:,} {word} stand under more than one label, in {torn_ids.len():,} of {records:,} records "
        f"({100 * share:.2f} %; fail from {100 * FAIL_SHARE:.0f} %, warn from one)."
        if torn.height
        else f"No {what} stands under more than one label ({records:,} records)."
    )
    return Finding(
        check=check,
        protocol="fair",
        verdict=verdict,
        why=why,
        n=records,
        classes=subject.class_counts,
        records=torn_ids.head(SHOWN).to_list(),
        details={"conflicting_keys": distinct, "conflicting_records": torn_ids.len(), "share": share},
    )
