"""A planted bias of a judge is found, and none where there is none."""

from __future__ import annotations

import numpy as np

from claimlab.evaluate.judge.cases import RationaleCase
from claimlab.evaluate.judge.people import NOT_WRONG, WRONG, length_bias


def judged(bias: float) -> tuple[list[RationaleCase], dict[str, str], dict[str, str]]:
    """Two hundred rationales; the judge calls the share `bias` of long ones wrong, whatever they
    say."""
    rng = np.random.default_rng(0)
    cases, verdicts, people = [], {}, {}
    for number in range(200):
        long = number % 2 == 0
        name, words = str(number), "because " * (40 if long else 8)
        cases.append(RationaleCase(name, "A claim", "true", "false", words, "An article", None))
        people[name] = WRONG if rng.random() < 0.4 else NOT_WRONG
        follows = long and rng.random() < bias
        verdicts[name] = WRONG if follows or rng.random() < 0.1 else people[name]
    return cases, verdicts, people


def test_a_judge_that_dislikes_long_rationales_is_found() -> None:
    found = length_bias(*judged(0.5))
    assert found is not None
    assert found["interval"][0] > 0.1


def test_a_fair_judge_is_not_called_biased() -> None:
    found = length_bias(*judged(0.0))
    assert found is not None
    assert found["interval"][0] < 0 < found["interval"][1]
    assert length_bias(*(part for part in judged(0.0)[:1]), {}, {}) is None
