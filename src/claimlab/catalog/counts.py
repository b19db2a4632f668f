"""Whether what was loaded is as long as what was published: a part of a dataset must not pass for the whole."""

from __future__ import annotations

from claimlab.catalog.entry import Entry

TOLERANCE = 0.02  # copies lose a row or two to deduplication and deleted posts; more than one in fifty is another thing


def published_rows(entry: Entry, variant: str) -> int | None:
    """The rows `variant` should have: as its entry states, or the card's size for a default never met in real files.
    Null where the entry says that nobody states it."""
    if variant in entry.published_rows:
        return entry.published_rows[variant]
    default = next(iter(entry.variants), None)
    return entry.card.size if variant == default and not entry.card.met_real_files else None


def note(entry: Entry, variant: str, found: int) -> list[str]:
    """A sentence when the counts differ by more than the tolerance."""
    expected = published_rows(entry, variant)
    if expected is None or abs(found - expected) <= TOLERANCE * expected:
        return []
    return [
        f"Published: {expected:,} rows, found: {found:,}. These files may be a part or another version of "
        f"{entry.card.title}, with other label shares."
    ]
