"""A share of cases as the pages show it."""

from __future__ import annotations

from claimlab.core.stats.interval import wilson


def share(n: int, of: int) -> str:
    """How many of how many, in per cent, with the 95 % interval of Wilson."""
    interval = wilson(n, of)
    if interval is None:
        return f"{n} of {of}"
    return (
        f"{n} of {of} ({100 * n / of:.1f} %, 95 % {100 * interval[0]:.1f} to"
        f" {100 * interval[1]:.1f})"
    )
