"""Dates against the model's knowledge cut-off: a record dated after it cannot have been read in
training. One dated before may have been read or not, so dates never show contamination: they pass,
or leave it open.
"""

from __future__ import annotations

import calendar
import re
from datetime import date

import polars as pl

from claimlab.claims.contamination.result import PROTOCOL, RULE, not_measured
from claimlab.core import packaged
from claimlab.core.errors import UsageError
from claimlab.core.finding import Finding, Verdict
from claimlab.core.stats.interval import wilson
from claimlab.core.words import several

_DAY = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")


def cutoff_day(words: str | date) -> date:
    """A day, the end of a month or year, or what the vendor of a model has stated."""
    if isinstance(words, date):
        return words
    match = _DAY.fullmatch(words.strip()) or _DAY.fullmatch(cutoff_of(words) or "")
    if match is None:
        raise UsageError(
            f"`cutoff` '{words}' is not a date, and the cut-off of a model of that name is not"
            " known.",
            f"Pass a date such as 2024-06, or one of: {', '.join(sorted(_stated()))}.",
        )
    year, month, day = (int(part or 0) for part in match.groups())
    try:
        last = calendar.monthrange(year, month or 12)[1]
        return date(year, month or 12, day or last)
    except ValueError:
        raise UsageError(
            f"`cutoff` '{words}' is not a valid date.", "Write it as 2024-06-30."
        ) from None


def _stated() -> dict[str, str]:
    """The cut-offs that vendors have stated, by the name of the model."""
    content = packaged.toml("claimlab.claims.contamination", "cutoffs.toml")
    return dict(content["models"])


def cutoff_of(model: str) -> str | None:
    """What the vendor has stated of a model, by the longest name that its own name starts with;
    null if unknown.
    """
    table = _stated()
    name = model.lower().rpartition("/")[2]
    fitting = [
        listed for listed in table if re.match(rf"(?:meta-)?{re.escape(listed)}(?![\w.])", name)
    ]
    return table[max(fitting, key=len)] if fitting else None


def dated(records: pl.DataFrame, day: date) -> pl.Series:
    """ "after" or "until" the cut-off; null for a record without a date."""
    after = pl.col("date").dt.date() > day
    side = pl.when(after).then(pl.lit("after")).when(~after).then(pl.lit("until"))
    return records.select(dated=side).to_series()


def cutoff_finding(sides: pl.Series, day: date) -> Finding:
    n, undated = sides.len(), sides.null_count()
    after, until = (int((sides == side).sum()) for side in ("after", "until"))
    details = {"cutoff": day.isoformat(), "after": after, "until": until, "undated": undated}
    spread = wilson(n - after, n)
    if n < RULE.min_units or spread is None or undated == n:
        why = "No record has a date." if n and undated == n else f"Only {several(n, 'record')}."
        return not_measured("cutoff", why, n, details)
    verdict: Verdict = "pass" if spread[1] < RULE.margin else "inconclusive"
    why = (
        f"{after:,} of {several(n, 'record')} {'is' if after == 1 else 'are'} dated after"
        f" {day.isoformat()}, {until:,} earlier and {undated:,} without a date. A model with this"
        " cut-off may have read the earlier ones in training."
    )
    return Finding(
        check="cutoff",
        protocol=PROTOCOL,
        verdict=verdict,
        why=why,
        n=n,
        score=(n - after) / n,
        interval=spread,
        margin=RULE.margin,
        details=details,
    )
