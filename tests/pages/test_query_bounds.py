"""A query over a dataset ends: in rows, or in a sentence."""

from __future__ import annotations

import pytest
from parts.planted import planted

from claimlab.core.errors import UsageError
from claimlab.pages import selection
from claimlab.pages.selection import queried


def test_each_row_with_each_is_refused_beyond_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    data = planted(size=120)[0]
    assert queried(data, "select a.id from records a cross join records b", 3).height == 3
    monkeypatch.setattr(selection, "MOST_PAIRS", 1_000)
    for tables in ("records a cross join records b", "records a, records b"):
        with pytest.raises(UsageError, match="each row with each"):
            queried(data, f"select count(*) from {tables}", 3)


def test_a_query_that_takes_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "MOST_SECONDS", -1.0)
    monkeypatch.setattr(selection, "MOST_PAIRS", 10**12)
    data = planted(size=120)[0]
    words = "select count(*) from records a cross join records b cross join records c"
    with pytest.raises(UsageError, match="takes more than"):
        queried(data, words, 3)
