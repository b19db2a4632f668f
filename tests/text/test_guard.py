"""Marks on evidence: fact-checks, the record's own source, near-copies, social media; each one
alone.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from claimlab.search.evidence import Evidence, FactCheckReview
from claimlab.text.guard import is_academic, lists, mark, near_copies
from claimlab.text.urls import registrable_domain

RECORD = {
    "id": "r", "text": "The water board of Marisett stored 90 barrels of rainwater under the town hall.",
    "url": "https://www.gazette-marisett.com/a?utm_source=x", "source": "Marisett Gazette",
}  # fmt: skip


def piece(
    url: str | None, text: str | None = "Something else entirely was said.", **more: Any
) -> Evidence:
    return Evidence(
        title=None,
        text=text,
        url=url,
        retrieved=datetime(2022, 1, 1),
        provider="p",
        query="q",
        **more,
    )


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (piece("https://news-of-velmore.com/a"), ()),
        (piece("https://m.facebook.com/post/1"), ("filtered",)),
        (piece("https://www.snopes.com/x"), ("guard_factcheck",)),
        (piece("https://news-of-velmore.com/fact-check/rain"), ("guard_factcheck",)),
        (
            piece("https://news-of-velmore.com/a", review=FactCheckReview(rating="False")),
            ("guard_factcheck",),
        ),
        (piece("http://gazette-marisett.com/other"), ("guard_own_source",)),
        (piece("https://news-of-velmore.com/a", str(RECORD["text"]).upper()), ("guard_copy",)),
        (
            piece(
                None,
                "As reported: the water board of Marisett stored 90 barrels of rainwater under the town hall, it said.",
            ),
            ("guard_copy",),
        ),
        (piece(None, "The water board of Marisett meets on Monday."), ()),
    ],
)
def test_each_mark(evidence: Evidence, expected: tuple[str, ...]) -> None:
    (found,) = mark(RECORD, [evidence])
    assert tuple(name for name, value in found.__dict__.items() if value) == expected


def test_a_post_is_not_its_own_source_because_another_post_stands_on_the_same_site() -> None:
    (found,) = mark(
        {**RECORD, "url": "https://twitter.com/a/status/1"},
        [piece("https://twitter.com/b/status/2")],
    )
    assert not found.guard_own_source


def test_short_texts_and_missing_ones_are_no_copies() -> None:
    assert near_copies("He said so.", ["He said so."]) == [False]
    assert near_copies(None, ["x"]) == [False]
    assert near_copies(str(RECORD["text"]), [None]) == [False]


def test_research_is_known_by_domain_and_by_suffix() -> None:
    assert is_academic("https://doi.org/10.1/x")
    assert is_academic("https://www.some-university.edu.br/paper")
    assert not is_academic("https://news-of-velmore.com/edu")
    assert not is_academic(None)


def test_listed_domains_are_registrable_so_that_they_can_match() -> None:
    assert lists()
    for kind, table in lists().items():
        assert table["domains"]
        assert [d for d in sorted(table["domains"]) if registrable_domain(d) != d] == [], kind
