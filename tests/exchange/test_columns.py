"""Guesses by name and by content, and what a user gives instead."""

from __future__ import annotations

import polars as pl
import pytest

from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.labels import general
from claimlab.exchange.importing.decide import decide
from claimlab.exchange.importing.layouts import Gathered
from claimlab.exchange.importing.plan import ImportPlan
from claimlab.exchange.importing.profile import profile
from claimlab.exchange.importing.propose import propose
from claimlab.exchange.vocabulary import fold_name
from claimlab.files.layout import FileLayout
from claimlab.files.raw import RawTable

SENTENCES = [
    f"The council of Riverton said in {1990 + i} that the old bridge is safe." for i in range(12)
]


def frame(**columns: list[str]) -> pl.DataFrame:
    return pl.DataFrame(columns)


def cycle(*values: str) -> list[str]:
    return [values[i % len(values)] for i in range(12)]


def plan(table: pl.DataFrame, **given: str) -> ImportPlan:
    raw = RawTable("t.csv", table.clear(), FileLayout("CSV"))
    gathered = Gathered(table, frozenset(), [raw], {})
    seen = profile(gathered.plain(), general(), gathered.hidden(given))
    return decide(gathered, seen, propose(seen, given), given)


@pytest.mark.parametrize(
    ("text", "label", "values"),
    [
        ("text", "label", ("real", "fake")),
        ("Claim", "Verdict", ("TRUE", "Mostly false")),
        ("statement", "rating", ("half-true", "pants-fire")),
        ("tweet_text", "veracity", ("real", "fake")),
        ("claimReviewed", "alternateName", ("falso", "verdadeiro")),
        ("texto", "veredito", ("falso", "verdadeiro")),
        ("afirmación", "calificación", ("falso", "verdadero")),
        ("Aussage", "Bewertung", ("falsch", "wahr")),
        ("post_text", "q2_label", ("real", "fake")),
    ],
)
def test_names_in_many_spellings(text: str, label: str, values: tuple[str, str]) -> None:
    found = plan(
        frame(
            **{
                "nr": [str(i) for i in range(12)],
                text: SENTENCES,
                label: cycle(*values),
                "x": cycle("1", "2"),
            }
        )
    )
    assert (found.column("text"), found.column("label")) == (text, label)
    assert "x" in found.meta


def test_content_speaks_where_names_do_not() -> None:
    table = frame(
        column_1=[f"{i}.json" for i in range(12)],
        column_2=cycle("true", "false", "half-true"),
        column_3=SENTENCES,
        column_4=cycle("budget", "roads"),
        column_5=[f"https://site.example/{i}" for i in range(12)],
        column_6=[f"2020-01-{i + 1:02}" for i in range(12)],
        column_7=cycle("train", "test"),
    )
    found = plan(table)
    roles = {role: pick.column for role, pick in found.picks.items()}
    assert roles == {
        "text": "column_3", "label": "column_2", "id": "column_1", "url": "column_5", "date": "column_6",
        "split": "column_7",
    }  # fmt: skip
    assert found.meta == ["column_4"]


def test_a_name_is_not_enough_when_the_values_are_something_else() -> None:
    table = frame(
        claim=[f"https://kg.example/claim/{i}" for i in range(12)],
        statement=SENTENCES,
        date=cycle("unknown", "soon"),
        label=SENTENCES,
    )
    found = plan(table)
    assert found.column("text") == "statement"
    assert found.column("date") is None
    assert found.column("label") is None


def test_tweet_ids_may_be_the_only_ids() -> None:
    ids = [str(1344795424855642112 + i) for i in range(12)]
    found = plan(frame(id=ids, is_misinfo=cycle("0", "1")))
    assert found.column("id") == found.column("tweet_id") == "id"
    facebook = plan(frame(post_id=[str(1035057923259100 + i) for i in range(12)], text=SENTENCES))
    assert facebook.column("tweet_id") is None


def test_what_is_given_goes_before_any_guess() -> None:
    table = frame(
        claim=SENTENCES, text=SENTENCES, rating=cycle("true", "false"), note=cycle("a", "b")
    )
    found = plan(table, text="Claim", label="4")
    assert (found.column("text"), found.column("label")) == ("claim", "note")
    assert found.picks["text"].given
    assert plan(table, label="none").column("label") is None
    assert plan(table, language="pt-BR").picks["language"].value == "por"


def test_a_wrong_name_gets_the_near_miss() -> None:
    table = frame(claim=SENTENCES, rating=cycle("true", "false"))
    with pytest.raises(UnknownName, match="Did you mean 'claim'"):
        plan(table, text="clam")
    with pytest.raises(UnknownName, match="Choose one of: claim, rating"):
        plan(table, text="zzz")
    with pytest.raises(UsageError, match="neither a column nor a language"):
        plan(table, language="klingonese")


def test_a_column_that_few_rows_fill_is_not_the_text() -> None:
    sparse = [*SENTENCES[:1], *[None] * 11]
    table = pl.DataFrame(
        {
            "notes": [f"{s} And much more was said of it." if s else None for s in sparse],
            "body": SENTENCES,
        }
    )
    assert plan(table).column("text") == "body"


def test_folding() -> None:
    assert {
        fold_name(n)
        for n in ("claimReviewed", "Claim_Reviewed", "claim reviewed", " CLAIM-REVIEWED ")
    } == {"claim reviewed"}
    assert fold_name("tweetID") == "tweet id"
    assert fold_name("Classificação") == "classificacao"
