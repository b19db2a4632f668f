"""Times and columns as loaders find them."""

from __future__ import annotations

from datetime import datetime

import polars as pl
import pytest

from claimlab.catalog.columns import column, find_column, require_columns, title_and_body
from claimlab.catalog.times import utc, utc_column
from claimlab.core.errors import UnreadableFile


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2020-03-26T17:32:30+01:00", datetime(2020, 3, 26, 16, 32, 30)),
        ("2020-03-26 17:32:30", datetime(2020, 3, 26, 17, 32, 30)),
        ("2020-03-26T17:32:30Z", datetime(2020, 3, 26, 17, 32, 30)),
        ("2020-03-26", datetime(2020, 3, 26)),
        ("1585240350", datetime(2020, 3, 26, 16, 32, 30)),
        ("1585240350.0", datetime(2020, 3, 26, 16, 32, 30)),
        ("1585240350000", datetime(2020, 3, 26, 16, 32, 30)),
        *((unclear, None) for unclear in ("", "0", "2020", "nan", "05/06/2020", "March 5", "1e99", "-1585240350")),
    ],
)
def test_only_certain_times_are_read(written: str, meant: datetime | None) -> None:
    assert utc(written) == meant


def test_a_column_of_times_keeps_its_gaps() -> None:
    found = utc_column(pl.Series(["2020-01-02", None, "soon"]))
    assert found.to_list() == [datetime(2020, 1, 2), None, None]
    assert found.dtype == pl.Datetime("us")


def test_title_and_body_are_joined_where_both_are_there() -> None:
    texts = title_and_body(pl.Series(["A", " ", "C", None]), pl.Series(["b", "b", "", None]))
    assert texts.to_list() == ["A\n\nb", "b", "C", None]


def test_columns_are_found_whatever_their_case() -> None:
    frame = pl.DataFrame({"Gold Label": ["x", " "]})
    assert find_column(frame, "label", "gold_label") == "Gold Label"
    assert column(frame, "gold-label").to_list() == ["x", None]
    assert column(frame, "absent").to_list() == [None, None]
    with pytest.raises(UnreadableFile, match="no column 'text' or 'body'"):
        require_columns(frame, "a.csv", [("gold_label",), ("text", "body")])
