from __future__ import annotations

import numpy as np

from claimlab.core.stats.consensus import bounds, dawid_skene, majority


def test_a_tie_has_no_majority() -> None:
    assert majority(["a", "b", "a"]) == "a"
    assert majority(["a", "b"]) is None
    assert majority([]) is None


def test_a_tie_goes_down_and_up() -> None:
    low, high = bounds(np.array([0.0, 0.5, 1.0, 2 / 3]))
    assert low.tolist() == [0, 0, 1, 1]
    assert high.tolist() == [0, 1, 1, 1]


def test_reliable_annotators_outweigh_careless_ones() -> None:
    """Eight annotators of known accuracy, four votes an item: the estimate finds more planted
    answers than votes do.
    """
    rng = np.random.default_rng(0)
    accuracy = [0.95, 0.95, 0.9, 0.85, 0.6, 0.55, 0.5, 0.5]
    truth = rng.choice(["no", "yes"], 1_000)
    votes: dict[str, dict[str, str]] = {}
    for i, answer in enumerate(truth):
        other = "no" if answer == "yes" else "yes"
        who = rng.choice(8, 4, replace=False)
        votes[f"{i:04d}"] = {f"a{w}": answer if rng.random() < accuracy[w] else other for w in who}
    found = dawid_skene(votes)
    estimated = np.mean([found[f"{i:04d}"][0] == answer for i, answer in enumerate(truth)])
    voted = np.mean(
        [majority(list(votes[f"{i:04d}"].values())) == answer for i, answer in enumerate(truth)]
    )
    assert estimated > 0.88
    assert estimated > voted + 0.1
    sure = [p for _, p in found.values()]
    assert min(sure) >= 0.5
    assert max(sure) <= 1.0


def test_no_votes_no_answer() -> None:
    assert dawid_skene({"1": {}}) == {}
