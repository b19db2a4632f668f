"""Times as datasets write them, and those that tweet ids carry."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.columns import dated, moment, sent, tweet_ids, utc
from claimlab.catalog.load import keep_unread, load
from claimlab.text.snowflake import EPOCH_MS, tweet_time

READ = {
    "2020-03-26T17:32:30+01:00": datetime(2020, 3, 26, 16, 32, 30),
    "2020-03-26 17:32:30": datetime(2020, 3, 26, 17, 32, 30),
    "2020-03-26T17:32:30.000Z": datetime(2020, 3, 26, 17, 32, 30),
    "2020-03-26": datetime(2020, 3, 26),
    "2021-7-9": datetime(2021, 7, 9),
    "2020/2/29": datetime(2020, 2, 29),
    "3:36 PM · Jan 24, 2020": datetime(2020, 1, 24, 15, 36),
    "8:50 AM · Jan 28, 2020·Some Client": datetime(2020, 1, 28, 8, 50),
    "4:31 PM · Jan 22, 2020 from Riverton, Far Away": datetime(2020, 1, 22, 16, 31),
    "\ufeffFri Mar 06 23:19:18 +0000 2020": datetime(2020, 3, 6, 23, 19, 18),
    "1585240350": datetime(2020, 3, 26, 16, 32, 30),
    "1585240350.0": datetime(2020, 3, 26, 16, 32, 30),
    "1585240350000": datetime(2020, 3, 26, 16, 32, 30),
    " December  31, 2017 ": datetime(2017, 12, 31),
    "Feb 19, 2018": datetime(2018, 2, 19),
    "9 March 2020": datetime(2020, 3, 9),
    "Fri Jan 09 12:29:56 -0100 2015": datetime(2015, 1, 9, 13, 29, 56),
}
UNCLEAR = (
    "",
    "0",
    "2020",
    "nan",
    "05/06/2020",
    "19-Feb-18",
    "March 5",
    "1e99",
    "-1585240350",
    "soon",
    "2:26 AM · Jan 22, 202",
    "https://a.example/",
    "9999-12-31T23:59-05:00",
)
NO_DATE = ("1970-01-01", "0201-05-06", "99999999999")  # what scrapers and typing errors leave


@pytest.mark.parametrize(("written", "meant"), READ.items())
def test_certain_times_are_read_as_utc(written: str, meant: datetime) -> None:
    assert moment(written) == meant


@pytest.mark.parametrize("written", [*UNCLEAR, *NO_DATE])
def test_what_is_not_certain_is_null(written: str) -> None:
    assert moment(written) is None


def test_a_loader_names_the_formats_that_only_it_can_know() -> None:
    found = utc(
        pl.Series(["05/06/2020", None, "19-Feb-18", "2020-01-02", "soon"]), "%d/%m/%Y", "%d-%b-%y"
    )
    assert found.to_list() == [
        datetime(2020, 6, 5),
        None,
        datetime(2018, 2, 19),
        datetime(2020, 1, 2),
        None,
    ]
    assert found.dtype == pl.Datetime("us")
    assert utc(pl.Series([None, None], dtype=pl.String)).to_list() == [None, None]


def test_of_several_readings_the_first_counts_and_says_so() -> None:
    day, month = datetime(2020, 5, 6), datetime(2020, 5, 1)
    columns = dated({"day": pl.Series([day, None, None]), "month": pl.Series([month, month, None])})
    assert columns["date"].to_list() == [day, month, None]
    assert columns["date_source"].to_list() == ["day", "month", None]


def test_a_tweet_id_holds_its_time_unless_older_or_rounded() -> None:
    when = datetime(2020, 3, 9, 13, 0, 0, 123_000)
    made = (int((when - datetime(1970, 1, 1)).total_seconds() * 1000) - EPOCH_MS << 22) + 4095
    raw = pl.Series([str(made), f" {made} ", "1.37041E+18", "20", "", None])
    ids = tweet_ids(raw)
    assert ids.to_list() == [str(made), str(made), None, "20", None, None]
    assert sent(ids)["date"].to_list() == [when, when, None, None, None, None]
    assert sent(ids)["date_source"].to_list() == ["snowflake id"] * 2 + [None] * 4


def test_what_cannot_be_read_is_counted_shown_and_kept() -> None:
    written = pl.Series(["2020-03-26", "15-May", None, "soon"])
    frame = pl.DataFrame(
        {"tweet_id": ["7", "1.37E+18", None, "8"], "meta": ['{"a": 1}', '{"a": 2}', None, None]}
    )
    records, notes = keep_unread(frame.with_columns(**dated({"day": written})))
    assert records.columns == ["tweet_id", "meta", "date", "date_source"]
    assert records["date"].to_list() == [datetime(2020, 3, 26), None, None, None]
    assert records["tweet_id"].to_list() == ["7", None, None, "8"]
    assert [json.loads(m) if m else None for m in records["meta"]] == [
        {"a": 1},
        {"a": 2, "date_as_written": "15-May", "tweet_id_as_written": "1.37E+18"},
        None,
        {"date_as_written": "soon"},
    ]
    assert notes[0].startswith("2 of 3 dates cannot be read, such as '15-May'")
    assert notes[1].startswith("1 of 3 tweet ids cannot be read, such as '1.37E+18'")
    assert keep_unread(records)[1] == [], "nothing is told twice"


@pytest.mark.realdata
def test_the_time_in_the_ids_is_the_time_in_the_file(real_data: Path) -> None:
    records = load("cmu-miscov19", real_data / "cmu-miscov19.zip").records
    assert (tweet_time(records["tweet_id"]).dt.truncate("1s") == records["date"]).all()
