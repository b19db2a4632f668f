"""The question and the pieces of evidence: safe words, stable ids, the table, and sorting by a
day.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claimlab.core.errors import UsageError
from claimlab.core.record import SIDE_TABLES
from claimlab.search.evidence import Evidence, FactCheckReview, as_of, is_newer
from claimlab.search.query import Query

NOW = datetime(2026, 11, 1, 12)


def piece(published: datetime | None = None, **more: object) -> Evidence:
    known = {
        "title": "T",
        "text": "x",
        "url": "https://a.example/1",
        "retrieved": NOW,
        "provider": "p",
        "query": "q",
    }
    return Evidence(**{**known, "published": published, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ('"Moon" landing -faked site:nasa.example', "Moon landing faked site nasa.example"),
        ("this OR that AND NOT those", "this or that and not those"),
        ("!g bang :pt language ~tilde +plus", "g bang pt language tilde plus"),
        ("COVID-19 e a vacina: 95% (noventa e cinco)", "COVID-19 e a vacina: 95% noventa e cinco"),
        ("A/B test at 10:30 | pipe", "A/B test at 10 30 pipe"),
        ("「月」は…", "「月」は…"),
        ("***", "***"),  # nothing but marks: sent as it is rather than empty
    ],
)
def test_a_claims_punctuation_is_no_command(claim: str, words: str) -> None:
    assert Query(claim).plain() == words


@settings(deadline=None)
@given(st.text(min_size=1).filter(lambda t: t.strip()), st.integers(20, 400))
def test_plain_words_are_never_empty_or_too_long(text: str, limit: int) -> None:
    query = Query(text)
    words = query.plain(max_chars=limit, max_words=50)
    assert words.strip()
    assert len(words) <= limit or words == query.text


def test_long_queries_end_at_a_word() -> None:
    assert Query("alpha beta gamma").plain(max_chars=12) == "alpha beta"
    assert Query("alpha beta gamma").plain(max_words=2) == "alpha beta"
    assert Query("a" * 30).plain(max_chars=12) == "a" * 12


def test_queries_are_checked_and_put_in_order() -> None:
    query = Query("  two \n words ", language="pt-BR", country="br")
    assert (query.text, query.language, query.country) == ("two words", "por", "BR")
    for wrong, why in [
        ({"text": " "}, "empty"),
        ({"text": "x", "max_results": 0}, "1 to 100"),
        ({"text": "x", "country": "Brazil"}, "two letters"),
        ({"text": "x", "language": "klingonese"}, "not a language"),
    ]:
        with pytest.raises(UsageError, match=why):
            Query(**wrong)  # type: ignore[arg-type]


def test_an_id_is_what_is_said_and_where() -> None:
    assert piece().evidence_id == piece(provider="other", query="another", score=2.0).evidence_id
    assert piece().evidence_id != piece(text="y").evidence_id
    assert piece().evidence_id != piece(url="https://a.example/2").evidence_id
    assert piece(text="\ud800").evidence_id, "a broken character is no reason to fail"


def test_a_row_has_the_agreed_columns() -> None:
    review = FactCheckReview(
        publisher="Checa", rating="Falso", claim="A", claimant="B", claim_date=datetime(2021, 1, 1)
    )
    row = piece(review=review).row("r1", 1, lambda url: url.split("/")[2])
    assert set(SIDE_TABLES["evidence"]) - set(row) == {"stance"}, (
        "what a model says of the claim comes later"
    )
    assert (row["record_id"], row["rank"], row["domain"]) == ("r1", 1, "a.example")
    assert (row["publisher"], row["rating"], row["verdict"]) == ("Checa", "Falso", "false")
    assert row["meta"] == '{"claim": "A", "claim_date": "2021-01-01T00:00:00", "claimant": "B"}'
    bare = piece().row("r3", 2, None)
    assert bare["meta"] is None
    assert bare["domain"] is None


def test_evidence_goes_through_json_unchanged() -> None:
    whole = piece(
        datetime(2021, 3, 4),
        review=FactCheckReview(rating="x", claim_date=datetime(2020, 1, 1)),
        more={"k": [1]},
        score=0.5,
    )
    assert Evidence.from_json(whole.to_json()) == whole
    assert Evidence.from_json(piece().to_json()) == piece()


def test_evidence_is_sorted_by_the_claims_date() -> None:
    old, same, new, unknown = (
        piece(d)
        for d in (datetime(2021, 3, 3), datetime(2021, 3, 4, 18), datetime(2021, 3, 5), None)
    )
    found = as_of([new, old, unknown, same], date(2021, 3, 4))
    assert found == ([old, same], [new], [unknown])
    assert found.counts() == {"kept": 2, "newer": 1, "undated": 1}


@pytest.mark.parametrize(
    ("published", "claim", "newer"),
    [
        (datetime(2021, 3, 4, 18), datetime(2021, 3, 4), False),  # the claim knows only its day
        (datetime(2021, 3, 4), datetime(2021, 3, 4, 9), False),  # the evidence knows only its day
        (datetime(2021, 3, 4, 18), datetime(2021, 3, 4, 9), True),
        (datetime(2021, 3, 4, 8), datetime(2021, 3, 4, 9), False),
        (datetime(2021, 3, 5), datetime(2021, 3, 4, 23, 59), True),
    ],
)
def test_days_are_compared_where_hours_are_not_known(
    published: datetime, claim: datetime, newer: bool
) -> None:
    assert is_newer(published, claim) is newer


@settings(deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.datetimes(datetime(2000, 1, 1), datetime(2026, 1, 1)))),
    st.dates(date(2000, 1, 1), date(2026, 1, 1)),
)
def test_nothing_is_lost_by_sorting(times: list[datetime | None], day: date) -> None:
    found = as_of([piece(t) for t in times], day)
    assert sum(found.counts().values()) == len(times)
    assert all(
        p.published is not None
        and p.published < datetime.combine(day, datetime.min.time()) + timedelta(days=1)
        for p in found.kept
    )
