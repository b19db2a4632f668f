"""The null rewriter: seeded word noise in any language, with a log that is exact, no trend in
length, and rates that are settings.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from claimlab.core.errors import UnknownName, UnreadableFile
from claimlab.text.changes import applied, changes, pieces
from claimlab_simulate.evolve.claims.model import Target
from claimlab_simulate.evolve.front import evolve
from claimlab_simulate.evolve.rewrite.known.null import Edits, Null, Words, noised
from claimlab_simulate.evolve.rewrite.weights import Rates, Weights
from claimlab_simulate.evolve.rewriter import Request

TEXTS = {
    "eng": "In 2019, the bridge of Riverton was closed for 47 days due to a cracked pillar.",
    "por": "Em 2019, a ponte de Riacho ficou fechada por 47 dias, disse a prefeitura.",
    "cmn": "2019年，里弗顿的桥因柱子开裂关闭了47天。",
    "hin": "पुल 2019 में 47 दिनों के लिए बंद रहा।",
    "tha": "สะพานถูกปิด 47 วัน เพราะเสาแตก",
    "arb": "أُغلق الجسر ٤٧ يومًا، بسبب شق في العمود.",
}
STILL = dict.fromkeys(Rates.model_fields, 0.0)


def null(**rates: float) -> Null:
    return Null(Weights.read().null.model_copy(update=rates), {})


def only(**rates: float) -> Null:
    return null(**{**STILL, **rates})


def noise(town: Any) -> Null:
    return Null(Weights.read().null, {"eng": list(town.claims_text)})


def test_the_log_of_1000_hops_takes_each_text_to_the_next(town: Any) -> None:
    writer = noise(town)
    hops = 0
    for number, start in enumerate([*town.claims_text, *TEXTS.values()] * 3):
        text = start
        for step in range(25):
            turn = writer.turn(Request(text, {}, 1000 * number + step, language="eng"))
            assert applied(text, turn.operators) == turn.text
            assert (turn.role == "producer") == (turn.text != text) == bool(turn.operators)
            for change in turn.operators:
                assert change["before"] != change["after"]
                assert change["name"] == (
                    "add"
                    if not change["before"]
                    else "remove"
                    if not change["after"]
                    else "replace"
                )
            text, hops = turn.text, hops + 1
    assert hops > 1000


def test_a_run_writes_the_exact_log(town: Any) -> None:
    import json

    made = evolve(town.claims(), steps=6)
    for before, after, meta in made.tables["traces"].select("input", "output", "meta").iter_rows():
        assert applied(before, json.loads(meta).get("operators", [])) == after


def test_noise_repeats_itself_by_seed_and_does_not_ask_who_the_agent_is(town: Any) -> None:
    text = TEXTS["eng"]
    turns = [noise(town).turn(Request(text, {"job": "baker"}, seed)) for seed in range(40)]
    again = [noise(town).turn(Request(text, {"job": "lawyer"}, seed)) for seed in range(40)]
    assert turns == again
    assert len({turn.text for turn in turns}) > 20
    assert not any(turn.attributes for turn in turns)


@pytest.mark.parametrize("language", TEXTS)
def test_any_language_is_cut_into_pieces_and_gets_noise(language: str) -> None:
    text = TEXTS[language]
    assert "".join(pieces(text)) == text
    assert len(pieces(text)) > 6
    turns = [null().turn(Request(text, {}, seed, language=language)) for seed in range(20)]
    assert sum(turn.role == "producer" for turn in turns) > 10
    letters = {c for c in text if c.isalpha()}
    assert all({c for c in turn.text if c.isalpha()} <= letters for turn in turns)


def test_words_come_from_claims_of_the_same_language() -> None:
    writer = Null(Weights.read().null, {name: [text] for name, text in TEXTS.items()})
    for name, text in TEXTS.items():
        for seed in range(20):
            turn = writer.turn(Request(text, {}, seed, language=name))
            assert {c for c in turn.text if c.isalpha()} <= {c for c in text if c.isalpha()}


@pytest.mark.slow
def test_length_has_no_trend(town: Any) -> None:
    writer = noise(town)
    ratios = []
    for number, start in enumerate(list(town.claims_text) * 25):
        text = start
        for step in range(30):
            text = writer.turn(Request(text, {}, 100 * number + step, language="eng")).text
        ratios.append(len(text.split()) / len(start.split()))
    assert 0.85 < np.mean(ratios) < 1.15
    assert min(ratios) > 0


def test_each_rate_does_what_its_name_says() -> None:
    text = TEXTS["eng"]

    def after(writer: Null, seed: int = 3) -> str:
        return writer.turn(Request(text, {}, seed)).text

    assert after(only()) == text
    assert after(only(numbers=1.0)) == text.replace("2019", "2010").replace("47", "40")
    lost = only(numbers=1.0).turn(Request("After 40 days, 7 of 1,200 left.", {}, 1)).text
    assert lost == "After days, of 1,000 left."
    swapped = "the bridge of Riverton was closed for 47 days due to a cracked pillar, In 2019."
    assert after(only(swap=1.0)) == swapped
    dated = Request("On 14 March 2023 they met Maria Lopez.", {}, 1, language="eng")
    assert only(blur=1.0).turn(dated).text == "On March 2023 they met Lopez."
    assert len(after(only(drop=1.0)).replace(",", "").rstrip(".").split()) == 5, "words and numbers"
    exchanged = after(only(exchange=1.0))
    assert len(pieces(exchanged)) == len(pieces(text))
    assert len(pieces(after(only(take=0.9)))) > len(pieces(text))


def test_the_source_is_taken_from_where_the_agent_reads_it() -> None:
    writer = only(exchange=1.0)
    source = "engineers found twelve deep cracks below"
    told = [writer.turn(Request(TEXTS["eng"], {}, s, context=source)).text for s in range(10)]
    kept = [writer.turn(Request(TEXTS["eng"], {}, s)).text for s in range(10)]
    assert any("cracks" in text for text in told)
    assert not any("cracks" in text for text in kept)


def test_in_a_steered_run_some_pass_the_claim_on() -> None:
    target = Target("style", "colloquial-emotional")
    turns = [
        null(producers=0.6).turn(Request(TEXTS["eng"], {}, s, target=target, must_rewrite=False))
        for s in range(300)
    ]
    share = np.mean([turn.role == "producer" for turn in turns])
    assert 0.5 < share < 0.7
    assert all(turn.text == TEXTS["eng"] for turn in turns if turn.role == "bystander")


def test_noise_repeats_the_number_of_edits_of_a_rewrite() -> None:
    before, after = "the old mill sold 40 looms", "the new mill gave away looms last week"
    edits = Edits.observed(before, after)
    assert (edits.drop, edits.exchange, edits.take, edits.numbers) == (0, 2, 3, 1)
    text = noised(before, "eng", edits, [Words([TEXTS["eng"]])], random.Random(1))
    assert len(text.split()) == len(before.split()) - 1 + 3


def test_a_log_is_of_any_two_texts() -> None:
    assert changes("the old mill", "the mill") == [
        {"name": "remove", "at": 4, "before": "old ", "after": ""}
    ]
    assert changes("same", "same") == []


def test_a_table_of_ones_own_may_hold_rates_alone(tmp_path: Path) -> None:
    file = tmp_path / "w.toml"
    rates = "".join(f"{name} = 0\n" for name in STILL)
    file.write_text(f"[null]\n{rates}", encoding="utf-8")
    own = Weights.read(file)
    assert own.null.drop == 0
    assert own.targets == Weights.read().targets
    file.write_text("[base]\nshout = 2\n", encoding="utf-8")
    with pytest.raises(UnknownName, match="shout"):
        Weights.read(file)
    file.write_text(f"[null]\n{rates.replace('drop = 0', 'drop = 2')}", encoding="utf-8")
    with pytest.raises(UnreadableFile, match="null.drop"):
        Weights.read(file)
