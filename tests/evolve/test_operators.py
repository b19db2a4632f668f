"""Operators: each does one edit that a reader accepts, honest about firing; the tables behind them
are sound.
"""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from claimlab.core.errors import UnknownName, UnreadableFile
from claimlab.evolve.claims.model import Target, all_targets
from claimlab.evolve.rewrite.edits import KINDS, edits
from claimlab.evolve.rewrite.english.grammar import faults
from claimlab.evolve.rewrite.frequencies import STEPS, frequencies
from claimlab.evolve.rewrite.operators.all import operators, serving
from claimlab.evolve.rewrite.operators.lexicon import sets
from claimlab.evolve.rewrite.operators.statement import phrases, take_apart
from claimlab.evolve.rewrite.weights import Weights

BRIDGE = "In 2019, the bridge of Riverton was closed for 47 days due to a cracked pillar."
# operator, text before, text after (with the seed 0)
DOES = [
    ("round-numbers", BRIDGE, "In 2019, the bridge of Riverton was closed for 50 days due to a cracked pillar."),
    ("vague-numbers", BRIDGE, "In 2019, the bridge of Riverton was closed for dozens of days due to a cracked pillar."),
    ("vague-numbers", "64% of voters stayed home.", "About two thirds of voters stayed home."),
    ("drop-time", BRIDGE, "The bridge of Riverton was closed for 47 days due to a cracked pillar."),
    ("blur-time", "On 3 May 2020, the council launched a plan.", "In mid-2020, the council launched a plan."),
    ("drop-cause", BRIDGE, "In 2019, the bridge of Riverton was closed for 47 days."),
    ("negate", BRIDGE, "In 2019, the bridge of Riverton was not closed for 47 days due to a cracked pillar."),
    ("negate", "The mill burns coal.", "The mill does not burn coal."),
    ("affirm", "The mill does not burn coal.", "The mill burns coal."),
    ("side-by-side", BRIDGE, "In 2019, the bridge of Riverton was closed for 47 days along with a cracked pillar."),
    ("not-because", "The mill closed due to a fire.", "The mill closed, but not because of a fire."),
    ("cause-from-time", "Sales fell by half after the flood.", "Sales fell by half because of the flood."),
    ("move-back", "In 2019, the mill burned.", "The mill burned in 2019."),
    ("move-front", "The council raised the water tax in 2019.", "In 2019, the council raised the water tax."),
    ("swap-clauses", "All work was stopped due to a cracked pillar.", "Due to a cracked pillar, all work was stopped."),
    ("passive", "The council launched a plan.", "A plan was launched by the council."),
    ("active", "A plan was launched by the council.", "The council launched a plan."),
    ("split", "The mill closed, marking the end of an era.", "The mill closed. This marked the end of an era."),
    ("join", "The mill closed. This marked the end of an era.", "The mill closed, marking the end of an era."),
    ("assert", "The pillar may have cracked.", "The pillar cracked."),
    ("assert", "Children could be at risk.", "Children are at risk."),
    ("drop-source", "Research indicates that most of the children drink water.", "Most of the children drink water."),
    ("sober", "The shocking price of bread rose.", "The price of bread rose."),
    ("cause-from-link", "Smoke is linked to asthma.", "Smoke causes asthma."),
    ("contribute", "Frost caused a loss.", "Frost indirectly contributed to a loss."),
    ("unwrap", "I heard that the mill closed.", "The mill closed."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "before", "after"), DOES)
def test_what_an_operator_does(name: str, before: str, after: str) -> None:
    results = {operators()[name].apply(before, random.Random(seed))[0] for seed in range(12)}
    assert after in results, results


@pytest.mark.parametrize("name", sorted(operators()))
def test_firing_is_reported_and_no_new_mistake_is_made(name: str, town: Any) -> None:
    operator = operators()[name]
    assert operator.kind in KINDS
    for text in town.claims_text:
        for seed in range(3):
            after, fired = operator.apply(text, random.Random(seed), town.context)
            assert fired == (after != text)
            assert not faults(after) - faults(text), after


def test_articles_number_and_tense_agree() -> None:
    def all_of(name: str, text: str) -> set[str]:
        return {operators()[name].apply(text, random.Random(seed))[0] for seed in range(60)}

    assert all_of("reword", "The town faces a significant risk.") <= {
        f"The town {verb} {phrase} risk."
        for verb in ("faces", "confronts")
        for phrase in ("a significant", "a major")
    }
    verbs = all_of("reword", "Two schools were established.")
    assert {"Two schools were created."} <= verbs
    assert not any(
        re.search(r"were (?:create|set up|establish)\.", text.replace("set up.", ""))
        for text in verbs
    )
    assert "An extreme case." not in all_of("soften", "It was an extreme case.")
    hedged = all_of("hedge", "The mill burns coal.")
    assert hedged - {"The mill burns coal."} <= {
        f"The mill {modal} burn coal." for modal in ("may", "could", "might")
    }


def test_a_text_carries_one_phrase_at_most() -> None:
    text = "The mill burns coal."
    for seed in range(200):
        draw = random.Random(seed)
        for name in draw.choices(sorted(phrases()), k=6):
            text, _ = operators()[name].apply(text, draw)
    statement = take_apart(text)
    assert statement.body == "The mill burns coal"
    assert statement.text() == text


def test_years_names_and_ranges_are_not_counted() -> None:
    text = "In 2021 COVID-19 hit those aged 18-29, under article 12, on May 6, 2021."
    for name in ("round-numbers", "vague-numbers"):
        assert operators()[name].apply(text, random.Random(0)) == (text, False)


def test_every_word_of_the_tables_is_in_a_set_with_another() -> None:
    for group, words in sets().items():
        assert len({word for word, _ in words}) == len(words) > 1, group


def test_every_target_can_be_served() -> None:
    assert all(serving(target) for target in all_targets())


def test_kinds_of_edits_are_recognised() -> None:
    before = "The council raised the water tax by 4 percent in 2019 because of the drought."
    assert edits(before, before) == set()
    assert "drop" in edits(before, "The council raised the tax.")
    assert "generalise" in edits(
        before, "The council raised the water tax in recent years because of the drought."
    )
    assert "specify" in edits(before, before[:-1] + ", such as the one of 1976.")
    assert "cause" in edits(
        before, "The council raised the water tax by 4 percent in 2019 during the drought."
    )
    assert "negate" in edits(before, before.replace("raised", "did not raise"))
    assert "reorder" in edits(
        "Frost ruined apples, pears and plums near Garrow.",
        "Near Garrow plums, pears and apples frost ruined.",
    )
    assert "informal" in edits("It is not open.", "It isn't open!")


def test_the_learned_table_has_shares_for_every_step() -> None:
    known = frequencies(None)
    assert len(known.rows) == len(STEPS)
    for row in known.rows:
        assert set(row.shares) == set(KINDS)
        assert all(0 <= share <= 1 for share in row.shares.values())
    assert (
        frequencies(Target.parse("style=colloquial")).at(1).shares["informal"]
        > known.at(1).shares["informal"]
    )
    assert frequencies(Target.parse("expression=fact")).rows == known.rows, (
        "no traces were released for it"
    )
    assert known.most_words("one two three") == 11, "a short claim may gain some words"


def test_the_shipped_table_takes_no_political_side() -> None:
    ideology = Weights.read().attributes["ideology"]
    assert ideology["liberal"] == ideology["conservative"]


def test_weights_multiply_and_name_what_moved(tmp_path: Path) -> None:
    file = tmp_path / "weights.toml"
    file.write_text(
        "[base]\nhedge = 2.0\n[attributes.job.baker]\nhedge = 3.0\nfirm = 0\n"
        "[attributes.big_five.openness]\nhedge = 1.5\n[attributes.age.youth]\nnegate = 4\n"
    )
    weights = Weights.read(file)
    profile = {
        "job": "baker",
        "big_five": "openness & neuroticism",
        "age": "youth (18-35 years old)",
    }
    known = weights.of(profile)
    assert (known["hedge"], known["firm"], known["negate"], known["opine"]) == (9.0, 0.0, 4.0, 1.0)
    assert weights.moved_by(profile, ["hedge"]) == ("job", "big_five")
    refuted = Target("causal", "refuted")
    assert sum(weights.of(profile, serving(refuted)).values()) == len(serving(refuted))


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
def test_a_wrong_table_is_explained(
    text: str, error: type[Exception], words: str, tmp_path: Path
) -> None:
    file = tmp_path / "weights.toml"
    file.write_text(text)
    with pytest.raises(error, match=words):
        Weights.read(file)
