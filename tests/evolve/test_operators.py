"""Operators: idempotent whatever is drawn, honest about firing, saturating together; the tables behind them are sound."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claimlab.core.errors import UnknownName, UnreadableFile
from claimlab.evolve.claims.model import Target, all_targets
from claimlab.evolve.rewrite.operators.all import operators, serving
from claimlab.evolve.rewrite.operators.anatomy import lexicon
from claimlab.evolve.rewrite.weights import Weights

NAMES = sorted(operators())
AFTER = {
    "round-numbers": "In 2019, the bridge of Riverton was closed for 50 days due to a cracked pillar.",
    "vague-numbers": "In 2019, the bridge of Riverton was closed for many days due to a cracked pillar.",
    "drop-time": "The bridge of Riverton was closed for 47 days due to a cracked pillar.",
    "blur-time": "A while ago, the bridge of Riverton was closed for 47 days due to a cracked pillar.",
    "drop-cause": "In 2019, the bridge of Riverton was closed for 47 days.",
    "negate": "In 2019, the bridge of Riverton was not closed for 47 days due to a cracked pillar.",
    "causal-plain": "In 2019, the bridge of Riverton was closed for 47 days along with a cracked pillar.",
}


@pytest.mark.parametrize("name", NAMES)
def test_twice_is_once_and_firing_is_told(name: str, town: Any) -> None:
    operator = operators()[name]
    fired_at_all = 0
    for i, text in enumerate(town.claims_text):
        for seed in range(3):
            once, fired = operator.apply(text, random.Random(seed), town.context)
            assert fired == (once != text)
            again, more = operator.apply(once, random.Random(seed + 100 + i), town.context)
            assert not more, (once, again)
            assert again == once
            fired_at_all += fired
    assert fired_at_all or name in NEEDS_MORE, f"{name} never fires on the town's claims"


# What these undo must be there first: see test_what_is_undone.
NEEDS_MORE = {"drop-example", "formal", "soften", "plain", "report", "causal-verbs", "causal-chain"}


@given(
    history=st.lists(st.sampled_from(NAMES), max_size=12),
    name=st.sampled_from(NAMES),
    which=st.integers(0, 7),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=300, deadline=None)
def test_idempotent_after_any_history(town: Any, history: list[str], name: str, which: int, seed: int) -> None:
    draw, text = random.Random(seed), town.claims_text[which]
    for step in (*history, name):
        text, _ = operators()[step].apply(text, draw, town.context)
    again, fired = operators()[name].apply(text, draw, town.context)
    assert (again, fired) == (text, False)


@pytest.mark.parametrize("name", AFTER)
def test_what_an_operator_does(name: str, town: Any) -> None:
    assert operators()[name].apply(town.claims_text[0], random.Random(0))[0] == AFTER[name]


def test_what_is_undone() -> None:
    def after(name: str, text: str) -> str:
        return operators()[name].apply(text, random.Random(0))[0]

    assert after("plain", "Ugh, the shocking price of bread rose, right?") == "The price of bread rose."
    assert after("formal", "A friend told me that kids don't get it!") == "Children do not obtain it."
    assert after("soften", "Prices will surge.") == "Prices may rise."
    assert after("causal-verbs", "Frost led to a loss.") == "Frost directly caused a loss."
    assert after("causal-chain", "Frost caused a loss.") == "Frost indirectly contributed to a loss."
    assert after("report", "Experts argue it is a threat.") == "Experts state it is a matter."
    assert after("drop-example", "It rained. For instance, 3 roofs broke.") == "It rained."


def test_places_hold_one_phrase_each() -> None:
    text = "The mill burns coal."
    for seed in range(200):
        draw = random.Random(seed)
        for name in draw.choices([*lexicon().openers, *lexicon().tails], k=6):
            text, _ = operators()[name].apply(text, draw)
    parts = lexicon().take_apart(text)
    assert parts.body.lower() == "the mill burns coal"
    assert parts.text() == text


def test_years_names_and_ranges_are_no_counts() -> None:
    text = "In 2021 COVID-19 hit those aged 18-29, under article 12, on May 6, 2021."
    for name in ("round-numbers", "vague-numbers"):
        assert operators()[name].apply(text, random.Random(0)) == (text, False)


@pytest.mark.parametrize("name", sorted(lexicon().words))
def test_pairs_do_not_feed_themselves(name: str) -> None:
    pairs: dict[str, str] = lexicon().words[name]["pairs"]
    for new in pairs.values():
        again = [old for old in pairs if re.search(rf"(?<![\w'’-]){re.escape(old)}(?![\w'’-])", new)]
        assert not again, f"{new} holds {again}"


def test_every_target_can_be_served() -> None:
    assert all(serving(target) for target in all_targets())


def test_the_shipped_table_takes_no_political_side() -> None:
    ideology = Weights.read().attributes["ideology"]
    assert ideology["liberal"] == ideology["conservative"]


def test_weights_multiply_and_name_what_moved(tmp_path: Path) -> None:
    file = tmp_path / "weights.toml"
    file.write_text(
        "[base]\nhedge = 2.0\n[attributes.job.baker]\nhedge = 3.0\nboost = 0\n"
        "[attributes.big_five.openness]\nhedge = 1.5\n[attributes.age.youth]\nnegate = 4\n"
    )
    weights = Weights.read(file)
    profile = {"job": "baker", "big_five": "openness & neuroticism", "age": "youth (18-35 years old)"}
    found = weights.of(profile)
    assert (found["hedge"], found["boost"], found["negate"], found["opine"]) == (9.0, 0.0, 4.0, 1.0)
    assert weights.moved_by(profile, ["hedge"]) == ("job", "big_five")
    assert weights.affinity(profile, Target("causal", "refuted")) == 1.0


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("[base]\nhegde = 1", UnknownName, "hedge"),
        ("[base]\nhedge = -1", UnreadableFile, "0 or more"),
        ("[base]\nhedge = 'much'", UnreadableFile, "base.hedge"),
        ("base = [", UnreadableFile, "not a TOML file"),
        ("[roles]\nmost = 1", UnreadableFile, "roles"),
    ],
)
def test_a_wrong_table_is_explained(text: str, error: type[Exception], words: str, tmp_path: Path) -> None:
    file = tmp_path / "weights.toml"
    file.write_text(text)
    with pytest.raises(error, match=words):
        Weights.read(file)
