"""Verdicts on fact-checkers' ratings, for sources with an open list of them."""

from __future__ import annotations

from collections.abc import Mapping

from claimlab.core.labels import fold, general


def rating_verdicts(own: Mapping[str, str]) -> dict[str, str]:
    """The house's verdicts with a dataset's `own` on top; folded, so that no two spellings
    contradict each other.
    """
    return {fold(raw): v for raw, v in general().verdicts.items()} | {
        fold(raw): v for raw, v in own.items()
    }
