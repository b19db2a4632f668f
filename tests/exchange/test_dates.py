"""Dates as people write them."""

from __future__ import annotations

from datetime import datetime

import polars as pl
import pytest

from claimlab.exchange.dates import Dates, parse_dates


def parse(*values: str | None, day_first: bool | None = None) -> Dates:
    return parse_dates(pl.Series("d", list(values), dtype=pl.String), day_first)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2020-03-01", datetime(2020, 3, 1)),
        (" 2020-03-01 10:11 ", datetime(2020, 3, 1, 10, 11)),
        ("2020-03-01T10:11:12Z", datetime(2020, 3, 1, 10, 11, 12)),
        ("2020-03-01T10:11:12.5+02:00", datetime(2020, 3, 1, 8, 11, 12, 500_000)),
        ("2020/03/01", datetime(2020, 3, 1)),
        ("2020.03.14.", datetime(2020, 3, 14)),
        ("2020. 3. 14.", datetime(2020, 3, 14)),
        ("14.03.2020.", datetime(2020, 3, 14)),
        ("14. 3. 2020", datetime(2020, 3, 14)),
        ("20200301", datetime(2020, 3, 1)),
        ("Wed Aug 27 13:08:45 +0000 2008", datetime(2008, 8, 27, 13, 8, 45)),
        ("Tue, 15 Nov 1994 12:45:26 +0100", datetime(1994, 11, 15, 11, 45, 26)),
        ("1350843321", datetime(2012, 10, 21, 18, 15, 21)),
        ("1350843321.0", datetime(2012, 10, 21, 18, 15, 21)),
        ("1350843321000", datetime(2012, 10, 21, 18, 15, 21)),
        ("5. lipnja 2020", datetime(2020, 6, 5)),
        ("5 lipca 2020", datetime(2020, 7, 5)),
        ("5. marraskuuta 2020", datetime(2020, 11, 5)),
        ("5 يناير 2020", datetime(2020, 1, 5)),
        ("5 जनवरी 2020", datetime(2020, 1, 5)),
        ("۲۰۲۰/۰۱/۰۵", datetime(2020, 1, 5)),
        ("December 31, 2017", datetime(2017, 12, 31)),
        ("Sept 3, 2018", datetime(2018, 9, 3)),
        ("19-Feb-18", datetime(2018, 2, 19)),
        ("13/04/2020", datetime(2020, 4, 13)),
        ("04/13/2020", datetime(2020, 4, 13)),
        ("31.03.2020", datetime(2020, 3, 31)),
        ("12 de março de 2020", datetime(2020, 3, 12)),
        ("1º de janeiro de 2018", datetime(2018, 1, 1)),
        ("3 juillet 2019", datetime(2019, 7, 3)),
        ("15. Oktober 2020", datetime(2020, 10, 15)),
        ("8. April 2020", datetime(2020, 4, 8)),
        ("17 Травня, 2023", datetime(2023, 5, 17)),
        ("3 марта 2021 г.", datetime(2021, 3, 3)),
        ("5 Haziran 2020", datetime(2020, 6, 5)),
        ("3 mei 2021", datetime(2021, 5, 3)),
        ("3:36 PM · Jan 24, 2020", datetime(2020, 1, 24, 15, 36)),
        ("2020年1月24日", datetime(2020, 1, 24)),
        ("2020년 1월 24일", datetime(2020, 1, 24)),
    ],
)
def test_one_date(written: str, meant: datetime) -> None:
    assert parse(written).times.to_list() == [meant]


@pytest.mark.parametrize(
    "written", ["hello", "2020-02-30", "12", "99999-01-01", "9999-12-31T23:59:59-05:00", "true"]
)
def test_what_is_no_date_is_null_and_counted(written: str) -> None:
    found = parse(written, "2020-01-01", None, "")
    assert found.times.to_list() == [None, datetime(2020, 1, 1), None, None]
    assert (found.unparsed, found.examples) == (1, [written])


def test_the_whole_column_decides_the_order_of_day_and_month() -> None:
    day = parse("03/04/2020", "25/12/2020")
    assert (day.times[0], day.order, day.ambiguous) == (datetime(2020, 4, 3), "day first", False)
    month = parse("03/04/2020", "12/25/2020")
    assert (month.times[0], month.order, month.ambiguous) == (
        datetime(2020, 3, 4),
        "month first",
        False,
    )
    open_question = parse("03/04/2020", "05/06/2020")
    assert (open_question.ambiguous, open_question.times.to_list()) == (2, [None, None]), (
        "asked, not guessed"
    )
    told = parse("03/04/2020", "05/06/2020", day_first=True)
    assert (told.times[0], told.ambiguous) == (datetime(2020, 4, 3), False)
    assert not parse("05/05/2020").ambiguous, "either way it is the same day"


def test_formats_may_mix_and_coarse_dates_are_counted() -> None:
    found = parse("2020-03-01", "March 2, 2020", "2020-03-03T00:00:00Z", "2016", "2016-05")
    assert found.unparsed == 0
    assert found.coarse == 2
    assert found.times[3] == datetime(2016, 1, 1)


def test_placeholders_are_null_and_counted() -> None:
    days = [f"2020-03-{i % 28 + 1:02}" for i in range(30)]
    found = parse(*days, "1970-01-01", "1900-01-01 00:00", *["2011-11-11"] * 40)
    found.drop_placeholders()
    assert found.placeholders == {"2011-11-11": 40, "1900-01-01": 1, "1970-01-01": 1}
    assert found.times.null_count() == 42
    striking = parse(*days, *["2011-11-11"] * 25)
    striking.drop_placeholders()
    assert (striking.placeholders, striking.common) == ({}, ("2011-11-11", 25))


def test_a_day_far_more_common_than_any_other_is_a_placeholder() -> None:
    """A crawl that wrote its own day where it found none: 150 of 1,050 dates, the next day has 3."""
    days = [f"{2010 + i % 10}-{i % 12 + 1:02}-{i % 28 + 1:02}" for i in range(900)]
    crawl = parse(*days, *["2022/4/29 0:00"] * 150)
    assert crawl.unparsed == 0
    crawl.drop_placeholders()
    assert crawl.placeholders == {"2022-04-29": 150}
    event = parse(*days, *["2022/4/29 0:00"] * 150, *["2022/4/30 0:00"] * 60)
    event.drop_placeholders()
    assert event.placeholders == {}, "a day of much news has others beside it"
    assert event.common == ("2022-04-29", 150)


def test_the_ways_that_dates_are_written_are_counted() -> None:
    found = parse("2020-03-01", "2020-03-02", "March 2, 2020")
    assert found.formats == {"%Y-%m-%d": 2, "%B %d, %Y": 1}


def test_most_of_the_dates_not_of_the_rows_make_a_placeholder() -> None:
    """Of 60 rows 30 have a date and 20 of those the same: most of the dates, a third of the rows.
    Half is not most.
    """
    days = [f"2020-03-{i + 1:02}" for i in range(10)]
    most = parse_dates(pl.Series([*days, *["2011-11-11"] * 20, *[None] * 30], dtype=pl.String))
    most.drop_placeholders()
    assert most.placeholders == {"2011-11-11": 20}
    assert most.times.count() == 10
    half = parse_dates(
        pl.Series([*days, *days, *["2011-11-11"] * 20, *[None] * 30], dtype=pl.String)
    )
    half.drop_placeholders()
    assert half.placeholders == {}
    share = parse_dates(
        pl.Series([*days * 10, *["2011-11-11"] * 21, *[None] * 200], dtype=pl.String)
    )
    share.drop_placeholders()
    assert share.common == ("2011-11-11", 21), "a sixth of the dates, though not of the rows"


def test_few_dates_of_one_day_are_not_striking_and_years_are_no_placeholder() -> None:
    few = parse(*[f"2020-03-{i + 1:02}" for i in range(20)], *["2011-11-11"] * 20)
    few.drop_placeholders()
    assert few.common is None, "20 are too few to be reported"
    years = parse(*["2016"] * 16, *[f"2020-03-{i + 1:02}" for i in range(14)])
    years.drop_placeholders()
    assert (years.placeholders, years.times.null_count()) == ({}, 0), (
        "most dates are years, read as their first day"
    )
    day = parse(*["2016-01-01"] * 16, *[f"2020-03-{i + 1:02}" for i in range(13)], "2019")
    day.drop_placeholders()
    assert day.placeholders == {"2016-01-01": 16}, "one year among them changes nothing"


def test_years_of_the_buddhist_calendar_are_543_ahead() -> None:
    dates = parse_dates(pl.Series(["13/8/2564", "1/2/2563", "30/12/2562", None]))
    assert [t and t.date().isoformat() for t in dates.times] == [
        "2021-08-13",
        "2020-02-01",
        "2019-12-30",
        None,
    ]
    assert dates.order == "day first and years of the Buddhist calendar"
    alone = parse_dates(pl.Series(["2021-05-03", "2020-05-04", "2564-05-03"]))
    assert alone.times[2].year == 2564
