"""Our own reading of dates: what is understood, what is refused because nobody can be sure."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claimlab.search.dates import date_of, read_date, url_date

NOW = datetime(2026, 11, 10, 15, 30)
DAY = datetime(2021, 3, 4)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2021-03-04", DAY),
        ("20210304", DAY),
        ("2021-03-04T10:20:30Z", datetime(2021, 3, 4, 10, 20, 30)),
        ("2021-03-04T10:20:30.123456789Z", datetime(2021, 3, 4, 10, 20, 30, 123456)),
        ("2021-03-04 01:00:00 +0300", datetime(2021, 3, 3, 22)),
        ("2021-03-04 10:20 UTC", datetime(2021, 3, 4, 10, 20)),
        ("Thu, 04 Mar 2021 10:20:30 GMT", datetime(2021, 3, 4, 10, 20, 30)),
        ("4 Mar 2021 10:20:30 -0500", datetime(2021, 3, 4, 15, 20, 30)),
        ("March 4, 2021", DAY),
        ("Mar. 4th 2021", DAY),
        ("4 de março de 2021", DAY),
        ("4 de mar. de 2021", DAY),
        ("04 de Março, 2021", DAY),
        ("4 de marzo de 2021", DAY),
        ("4. März 2021", DAY),
        ("4 mars 2021", DAY),
        ("1er février 2021", datetime(2021, 2, 1)),
        ("3 de setiembre de 2020", datetime(2020, 9, 3)),
        ("15. Jänner 2021", datetime(2021, 1, 15)),
        ("4 marzo 2021", DAY),
        ("Publicado em 4 de março de 2021 às 10h", DAY),
        ("04.03.2021", DAY),
        ("2021/03/04", DAY),
        ("25/12/2020", datetime(2020, 12, 25)),
        ("12/25/2020", datetime(2020, 12, 25)),
        ("2021年3月4日", DAY),
        ("2021년 3월 4일", DAY),
    ],
)
def test_dates_as_people_and_machines_write_them(written: str, meant: datetime) -> None:
    assert read_date(written, retrieved=NOW) == (meant, "result")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("3 days ago", datetime(2026, 11, 7)),
        ("há 3 dias", datetime(2026, 11, 7)),
        ("3 dias atrás", datetime(2026, 11, 7)),
        ("hace 2 semanas", datetime(2026, 10, 27)),
        ("vor 3 Tagen", datetime(2026, 11, 7)),
        ("vor einem Monat", datetime(2026, 10, 10)),
        ("il y a 1 an", datetime(2025, 11, 10)),
        ("an hour ago", datetime(2026, 11, 10, 14, 30)),
        ("5 mins ago", datetime(2026, 11, 10, 15, 25)),
        ("3h ago", datetime(2026, 11, 10, 12, 30)),
        ("yesterday", datetime(2026, 11, 9)),
        ("ontem", datetime(2026, 11, 9)),
        ("heute", datetime(2026, 11, 10)),
    ],
)
def test_ages_are_counted_back_from_retrieval(written: str, meant: datetime) -> None:
    assert read_date(written, retrieved=NOW) == (meant, "relative")


def test_months_back_end_at_the_last_day_of_the_month() -> None:
    assert read_date("1 month ago", retrieved=datetime(2026, 3, 31)).published == datetime(
        2026, 2, 28
    )
    assert read_date("3 months ago", retrieved=datetime(2026, 2, 1)).published == datetime(
        2025, 11, 1
    )


@pytest.mark.parametrize(
    "written",
    ["", "   ", None, 20210304, "2021", "2021-03", "March 2021", "03/04/2021", "30 Feb 2021", "2021-13-01", "2099-01-01",
     "1066-10-14", "some days ago", "99999 years ago", "4 de brumário de 2021", "id 1234567890",
     "9999-12-31T23:59-05:00"],
)  # fmt: skip
def test_what_cannot_be_told_for_certain_is_no_date(written: object) -> None:
    assert read_date(written, retrieved=NOW) == (None, None)


def test_the_order_of_day_and_month_follows_the_language() -> None:
    assert read_date("04/03/2021", retrieved=NOW, language="por").published == DAY
    assert read_date("04/03/2021", retrieved=NOW, language="eng").published is None
    assert read_date("04/04/2021", retrieved=NOW).published == datetime(2021, 4, 4), (
        "either order says the same"
    )


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("https://x.example/2021/03/04/storm", DAY),
        ("https://x.example/2021-03-04-storm.html", DAY),
        ("https://x.example/a/20210304/b", DAY),
        ("https://x.example/world/2021/mar/04/storm", DAY),
        ("https://x.example/2021/03/04", DAY),
        ("https://x.example/2021/13/04/storm", None),
        ("https://x.example/2021/02/30/storm", None),
        ("https://x.example/id/120210304/", None),
        ("https://x.example/v/202103041234/", None),
        ("https://x.example/2031/03/04/future", None),
        ("https://2021-03-04.example/x", None),
        ("https://x.example/?d=/2021/03/04/", None),
    ],
)
def test_the_address_is_a_last_resort(url: str, meant: datetime | None) -> None:
    assert url_date(url, retrieved=NOW).published == meant


def test_the_first_certain_date_wins_and_says_where_it_was_read() -> None:
    url = "https://x.example/2020/01/02/a"
    assert date_of("soon", "2021-03-04", url=url, retrieved=NOW) == (DAY, "result")
    assert date_of(None, "03/04/2021", url=url, retrieved=NOW) == (datetime(2020, 1, 2), "url")
    assert date_of(url=None, retrieved=NOW) == (None, None)


@settings(deadline=None)
@given(st.text(max_size=60))
def test_no_text_makes_it_fail(text: str) -> None:
    found = read_date(text, retrieved=NOW).published
    assert found is None or 1900 <= found.year <= 2026


@settings(deadline=None)
@given(st.datetimes(datetime(1901, 1, 1), datetime(2026, 11, 1)))
def test_what_a_machine_writes_is_read_back(moment: datetime) -> None:
    assert read_date(moment.isoformat(), retrieved=NOW).published == moment
