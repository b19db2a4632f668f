"""Extractors: the offline rules on planted texts, the baseline, and a model that is scripted to misbehave."""

from __future__ import annotations

import asyncio
import json

import pytest

from claimlab.core.calls.calls import Calls
from claimlab.core.calls.retry import Retries
from claimlab.core.errors import UsageError
from claimlab.enrich.checkworthy import best_claims, score
from claimlab.enrich.extract import ByModel, Extraction, Extractor, rule_extractor
from claimlab.llm.open import layered
from claimlab.llm.providers.scripted import Fail, Refuse, Script, Scripted

PLANTED = {
    "eng": "Good morning! I hope you are well. The county library of Eastwick bought 37 pianos. Please share this.",
    "por": "Bom dia! Eu espero que todos estejam bem. A biblioteca de Campo Sereno comprou 37 pianos. Repassem por favor.",
    "deu": "Guten Morgen! Ich hoffe, es geht euch gut. Die Bibliothek von Eschwick kaufte 37 Klaviere. Teilt das bitte.",
    "hrv": "Dobro jutro! Nadam se da ste dobro? Knjižnica u mjestu Eastwick kupila je 37 klavira. Hvala!",
}


def run(extractor: Extractor, text: str, language: str | None = "eng") -> Extraction:
    return asyncio.run(extractor.extract(text, language))


@pytest.mark.parametrize("language", sorted(PLANTED))
def test_the_sentence_with_the_fact_is_picked_in_languages_with_and_without_lists(language: str) -> None:
    (claim,) = best_claims(PLANTED[language], language)
    assert "37" in claim


def test_the_baseline_takes_the_first_sentence_whatever_it_says() -> None:
    assert run(rule_extractor("first-sentence"), PLANTED["eng"]).claims == ("Good morning!",)


def test_a_claim_has_at_most_20_words_and_only_75_are_read() -> None:
    long = (
        "In the summer of the great hailstorm, the water board of Marisett stored 90 barrels of rainwater underground, "
        "because the insurance of the neighbouring county had demanded it in a letter."
    )
    (claim,) = best_claims(long, "eng")
    assert claim == long.split(", because")[0]
    unbroken = " ".join(f"word{i}" for i in range(40))
    assert best_claims(unbroken, "eng") == [" ".join(f"word{i}" for i in range(20))]
    late = " ".join(["well"] * 80) + ". The board sold 90 barrels to Velmore."
    assert "90" not in best_claims(late, "eng")[0]


def test_several_claims_come_in_the_order_of_the_text() -> None:
    text = "The mill sold 4 looms. I am so happy! The ferry of Brannock sank in 1931."
    assert run(rule_extractor("offline", 2), text).claims == (
        "The mill sold 4 looms.",
        "The ferry of Brannock sank in 1931.",
    )


def test_questions_commands_and_the_first_person_score_below_facts() -> None:
    fact = score("The ferry of Brannock sank in 1931.", "eng")
    for other in ("Did the ferry of Brannock sink in 1931?", "I think we should remember my ferry", "Share this now"):
        assert score(other, "eng") < fact
    assert score("…", "eng") == float("-inf")


def test_wrong_names_and_numbers_are_refused_in_a_sentence() -> None:
    with pytest.raises(UsageError, match="no extractor named 'magic'"):
        rule_extractor("magic")
    with pytest.raises(UsageError, match="gives one claim"):
        rule_extractor("first-sentence", 2)


def by_model(answers: Script, claims: int = 1) -> tuple[ByModel, Scripted]:
    script = Scripted(answers=answers)
    return ByModel(layered(script, Calls(mode="live"), Retries(faults=1, first=0.01)), claims), script


def test_a_model_answers_bound_by_a_schema_and_says_how_much_is_in_the_text() -> None:
    extractor, script = by_model(
        [json.dumps({"claim": "The ferry sank in 1931"}), json.dumps({"claim": "Dragons ate the ferry"})]
    )
    text = "The ferry of Brannock sank in 1931. " + " ".join(f"w{i}" for i in range(100))
    first, second = run(extractor, text), run(extractor, text)
    assert first.claims == ("The ferry sank in 1931",)
    assert first.meta["share_in_text"] == 1.0
    assert second.meta["share_in_text"] < 0.5
    prompt = script.asked[0].messages[-1].content
    assert "<text>" in prompt
    assert "w67" in prompt
    assert "w68" not in prompt  # the 76th word


def test_a_long_answer_is_cut_and_says_so_a_refusal_and_an_empty_one_are_failures() -> None:
    answers: list[object] = [
        json.dumps({"claim": " ".join(f"w{i}" for i in range(30))}),
        Refuse(),
        '{"claim": "…"}',
        Fail("http-400"),
    ]
    extractor, _ = by_model(answers)  # type: ignore[arg-type]
    cut, refused, empty, failed = (run(extractor, "A text.") for _ in range(4))
    assert len(cut.claims[0].split()) == 20
    assert cut.meta["cut"] is True
    assert [(e.claims, e.failure) for e in (refused, empty, failed)] == [
        ((), "refusal"),
        ((), "empty"),
        ((), "http-400"),
    ]


def test_a_model_splits_when_asked_and_no_more_than_asked() -> None:
    extractor, script = by_model([json.dumps({"claims": ["One fact.", "Two fact.", "One fact.", "Three."]})], claims=3)
    assert run(extractor, "A text.").claims == ("One fact.", "Two fact.")
    assert "at most 3" in script.asked[0].messages[-1].content
