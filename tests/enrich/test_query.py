"""Queries by the published rules, sentence cutting, and the share that makes a correspondence."""

from __future__ import annotations

import polars as pl
import pytest

from claimlab.core.errors import UsageError
from claimlab.enrich import correspondence
from claimlab.enrich.query import check_rule, make_queries
from claimlab.enrich.sentences import sentences

SHORT = "um dois três quatro cinco seis"
TWENTY_ONE = " ".join(f"W{i}" for i in range(21))


@pytest.mark.parametrize(
    ("text", "query", "how"),
    [
        ("Vacina causa febre.", "Vacina causa febre.", "whole"),
        (
            f"A água do rio subiu muito ontem. {TWENTY_ONE}",
            "A água do rio subiu muito ontem.",
            "first-sentence",
        ),
        (f"{SHORT}. {TWENTY_ONE}\nmais", f"{SHORT}. {TWENTY_ONE}", "first-paragraph"),
        (
            f"{SHORT}.\n{TWENTY_ONE}",
            f"{SHORT}. " + " ".join(f"W{i}" for i in range(14)),
            "first-words",
        ),
    ],
)
@pytest.mark.parametrize("rule", ["paper", "released"])
def test_each_branch_of_the_rules(text: str, query: str, how: str, rule: str) -> None:
    assert make_queries(pl.Series([text]), check_rule(rule)) == [(query, how)]


def test_seven_words_are_a_first_sentence_and_six_are_not() -> None:
    six, seven = f"{SHORT}. {TWENTY_ONE}", f"{SHORT} sete. {TWENTY_ONE}"
    assert [q.how for q in make_queries(pl.Series([six, seven])) if q] == [
        "first-paragraph",
        "first-sentence",
    ]


def test_twenty_words_are_their_own_query_and_twenty_one_are_not() -> None:
    texts = pl.Series([" ".join(f"w{i}" for i in range(n)) for n in (20, 21)])
    assert [q.how for q in make_queries(texts) if q] == ["whole", "first-sentence"]


def test_links_emoji_and_quotes_go_apostrophes_stay_and_nothing_is_no_query() -> None:
    texts = pl.Series(
        ["“Don’t” say 'no' 🙂 https://a.example/x", "https://a.example/x 🙂", None, "  ", "!!!"]
    )
    assert make_queries(texts) == [("Don’t say no", "whole"), None, None, None, None]


def test_only_the_released_rule_mends_broken_encodings() -> None:
    broken = pl.Series(["A vacinaÃ§Ã£o parou"])
    assert make_queries(broken, "released") == [("A vacinação parou", "whole")]
    assert make_queries(broken, "paper") == [("A vacinaÃ§Ã£o parou", "whole")]


def test_an_unknown_rule_is_named() -> None:
    with pytest.raises(UsageError, match="'other' is not a valid query rule"):
        check_rule("other")
    with pytest.raises(UsageError, match="'other' is not a valid correspondence rule"):
        correspondence.check_rule("other")


def test_sentences_end_at_lines_and_marks_but_not_after_abbreviations_or_inside_numbers() -> None:
    text = "O Dr. Silva pagou 3.500 reais. Não é?! Sim\nOutra linha 今日は晴れ。明日は雨。"
    assert sentences(text) == [
        "O Dr. Silva pagou 3.500 reais.", "Não é?!", "Sim", "Outra linha 今日は晴れ。", "明日は雨。"
    ]  # fmt: skip
    assert sentences("… !!") == []


def test_the_share_counts_content_words_without_case_and_accents() -> None:
    query = "A vacinação parou no hospital de Denolta"  # content: vacinação parou hospital Denolta
    snippets = ["Hospital: VACINACAO parou em Denolta", "O hospital de Denolta", "nada", None]
    assert correspondence.shares(query, snippets, "por") == [1.0, 0.5, 0.0, None]


def test_four_fifths_correspond_on_paper_but_not_as_released() -> None:
    (match,) = correspondence.matches(
        "alpha beta gamma delta epsilon", ["alpha beta gamma delta"], "eng"
    )
    assert match == (0.8, 5, 26)
    assert correspondence.corresponds(match, "paper")
    assert not correspondence.corresponds(match, "released")
    assert not correspondence.corresponds(None)


def test_a_query_of_stop_words_is_compared_by_all_of_them() -> None:
    assert correspondence.shares("to be or not to be", ["to be sure", ""], "eng")[1] == 0.0
    assert correspondence.shares("to be or not to be", ["to be or not"], "eng") == [1.0]


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("Gente, isso é EXTREMAMENTE GRAVE!!!", "por"),
        ("1. São +30 anos de Crimes.", "por"),
        ("O que estão fazendo com o Brasil", "por"),
        ("Que dia é hoje mesmo??", "por"),
        ("a b c d e f g", "eng"),
    ],
)
def test_words_that_any_long_article_holds_correspond_to_nothing(query: str, language: str) -> None:
    (match,) = correspondence.matches(query, [f"Um texto longo. {query} E mais."], language)
    assert match is not None
    assert match.share == 1.0
    assert not correspondence.corresponds(match)


def test_a_short_claim_with_content_corresponds() -> None:
    (match,) = correspondence.matches(
        "Vacina contra gripe causa Alzheimer", ["A vacina contra a gripe causa alzheimer?"], "por"
    )
    assert correspondence.corresponds(match)
