"""The words of dates: what two readers take from the same table, each as strictly as it asked."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from claimlab.core.dates import day_of, fold, in_utc, mail_time, month_named, month_of, worded_day

DAY = datetime(2021, 3, 4)
SENTENCE = "published on 4 march 2021 at noon"


def test_a_month_is_known_by_its_name_or_by_its_first_letters() -> None:
    assert (month_named("marzo"), month_named("marzec")) == (3, None)
    assert (month_of("marzo"), month_of("marzec")) == (3, 3)
    assert month_of("listopad") is None, "October in Croatian, November in Polish"
    assert month_of(fold("Août")) == 8


@pytest.mark.parametrize(
    "written", ["4. März 2021", "March 4th, 2021", "2021年3月4日", "2021년 3월 4일"]
)
def test_a_day_in_words_is_read_alone_and_within_a_sentence(written: str) -> None:
    assert worded_day(written, within=False) == DAY
    assert worded_day(f"Stand: {written} ff.", within=True) == DAY


def test_only_who_expects_a_sentence_finds_a_day_in_one() -> None:
    assert worded_day(SENTENCE, within=True) == DAY
    assert worded_day(SENTENCE, within=False) is None
    assert worded_day("4 kwietnia 2021", within=False) == datetime(2021, 4, 4)
    assert worded_day("4 kwietnia 2021", within=True) is None


def test_what_no_calendar_has_is_null() -> None:
    assert day_of(2021, 2, 30) is None
    assert worded_day("30 Feb 2021", within=True) is None
    behind = timezone(timedelta(hours=-5))
    assert in_utc(datetime(9999, 12, 31, 23, tzinfo=behind)) is None
    assert in_utc(DAY.replace(tzinfo=behind)) == DAY + timedelta(hours=5)
    assert mail_time("Fri, 99 Foo 2021 10:00:00 GMT") is None
