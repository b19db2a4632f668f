"""Queries by the published rules, sentence cutting, and the share that makes a correspondence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from claimlab.core.errors import UnknownName
from claimlab.core.stats.scores import Floats32
from claimlab.enrich import correspondence
from claimlab.enrich.front import enrich
from claimlab.enrich.query import make_queries
from claimlab.enrich.sentences import sentences
from claimlab.search.fusion import SentenceEncoder

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
    assert make_queries(pl.Series([text]), rule) == [(query, how)]


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
    for name in ("query_rule", "correspondence"):
        with pytest.raises(UnknownName, match=f"'other' is not a choice of `{name}`.*paper"):
            enrich("data", "local:index", **{name: "other"})


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
    assert match is not None
    assert match[:3] == (0.8, 5, 26)
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


CLAIM = "The harbour council of Velmore sold 412 wooden benches to visitors"


@pytest.mark.parametrize(
    ("result", "yes"),
    [
        ("Velmore's harbour council sold 412 wooden benches to visitors last week.", True),
        ("Velmore's harbour council sold 377 wooden benches to visitors last week.", False),
        ("The harbour council of Ostrel sold 412 wooden benches to visitors.", False),
        ("The council of Velmore has a harbour and a park with visitors.", False),
    ],
)
def test_words_names_and_numbers_must_agree(result: str, yes: bool) -> None:
    (match,) = correspondence.matches(CLAIM, [result], "eng")
    assert correspondence.corresponds(match) is yes


def test_a_long_passage_that_holds_the_words_by_accident_does_not_correspond() -> None:
    scattered = [
        *("The harbour was calm.", "A council met in the hall.", "Velmore is a town of 412 souls."),
        *("A shop sold bread.", "The fence is wooden.", "Two benches were painted."),
        *("Visitors came by boat.",),
    ]
    filler = " Nothing else of any interest happened there on that long and quiet afternoon in May."
    whole = " ".join(sentence + filler for sentence in scattered)
    (match,) = correspondence.matches(CLAIM, [whole], "eng")
    assert correspondence.shares(CLAIM, [whole], "eng") == [1.0]
    assert not correspondence.corresponds(match)


def test_rare_words_weigh_more_than_frequent_ones() -> None:
    rarity = correspondence.Rarity(["the mayor spoke"] * 50 + ["the comet fell"])
    common, rare = correspondence.matches(
        "mayor comet", ["the mayor slept", "a comet slept"], "eng", rarity
    )
    assert common is not None
    assert rare is not None
    assert rare.held > 0.7 > 0.3 > common.held


def test_another_meaning_does_not_correspond() -> None:
    def encode(texts: Sequence[str]) -> Floats32:
        return np.array([[1.0, 0.0] if "benches" in t else [0.0, 1.0] for t in texts], np.float32)

    meaning = SentenceEncoder(encode, {"eng"})
    told = CLAIM.replace("benches", "tables")
    same, other = correspondence.matches(CLAIM, [CLAIM, told], "eng", None, meaning)
    assert (same and same.cosine, other and other.cosine) == (1.0, 0.0)
    assert correspondence.corresponds(same)
    assert not correspondence.corresponds(other)
    (unknown,) = correspondence.matches(CLAIM, [told], "xho", None, meaning)
    assert unknown is not None
    assert unknown.cosine is None, "not measured in a language that the encoder does not know"


def test_no_markup_is_left_in_a_query() -> None:
    texts = pl.Series(["<p>The <b>mill</b> &amp; the [bridge](a/1) burnt</p>"])
    (query,) = make_queries(texts)
    assert query is not None
    assert query.text == "The mill & the bridge burnt"


def test_a_greek_question_ends_a_sentence() -> None:
    from claimlab.enrich.sentences import sentences

    text = "Είναι αλήθεια; Κοινοποιήστε το!"
    assert sentences(text) == ["Είναι αλήθεια;", "Κοινοποιήστε το!"]
