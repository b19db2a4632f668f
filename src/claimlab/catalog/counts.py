"""Whether what was loaded is as long as what was published: a part of a dataset must not pass for
the whole.
"""

from __future__ import annotations

from claimlab.catalog.entry import Entry
from claimlab.core.record import VERACITIES

ROUNDING = 0.015  # percentage points: the guide rounds to two decimals
# copies lose a row or two to deduplication and deleted posts; more than one in fifty is another
# thing
TOLERANCE = 0.02


def published_rows(entry: Entry, variant: str) -> int | None:
    """The rows `variant` should have: as its entry states, or the card's size for a default that is
    not yet tested. Null if the entry says that no count is published."""
    if variant in entry.published_rows:
        return entry.published_rows[variant]
    default = next(iter(entry.variants), None)
    return entry.card.size if variant == default and not entry.tested else None


def note(entry: Entry, variant: str, count: int) -> list[str]:
    """A sentence when the counts differ by more than the tolerance."""
    expected = published_rows(entry, variant)
    if expected is None or abs(count - expected) <= TOLERANCE * expected:
        return []
    return [
        f"Published: {expected:,} rows, found: {count:,}. These files may be a part or another"
        f" version of {entry.card.title}, with other label shares."
    ]


def differences(entry: Entry) -> list[str]:
    """Where the published files that the loader was tested on differ from the card: rows, and
    shares of labels.
    """
    if not entry.tested:
        return []
    default = next(iter(entry.variants))
    stated, counted = entry.published_rows.get(default, entry.card.size), entry.real_rows[default]
    where = f"in the files that were tested (variant '{default}')"
    out = (
        [f"Rows: {stated:,} published, {counted:,} {where}."]
        if stated not in (None, counted)
        else []
    )
    verdicts = entry.maps.get("cdl")
    if entry.card.shares is None or verdicts is None or not entry.real_labels:
        return out
    tally = dict.fromkeys(VERACITIES, 0)
    for raw, n in entry.real_labels.items():
        tally[verdicts.verdict(raw) or "unknown"] += n
    tally["unknown"] += counted - sum(entry.real_labels.values())
    shares = {
        v: (share or 0, 100 * tally[v] / counted)
        for v, share in entry.card.shares.model_dump().items()
    }
    apart = [f"{v} {p:.2f}% and {f:.2f}%" for v, (p, f) in shares.items() if abs(f - p) >= ROUNDING]
    return [*out, f"Shares of labels, published and {where}: {'; '.join(apart)}."] if apart else out
