"""Who reads the source of a claim: nobody on a walk, as published; the first agent or all where it
is asked for.
"""

from __future__ import annotations

from typing import Any

import pytest

from claimlab.core.errors import UsageError
from claimlab.llm.prompts import packaged_prompts, read_prompts
from claimlab_simulate.evolve.propagation import PropagationPlan
from claimlab_simulate.evolve.rewrite.known.model import question
from claimlab_simulate.evolve.rewriter import Request, Rewrite
from claimlab_simulate.evolve.setup import EvolveSetup
from claimlab_simulate.evolve.simulate import simulate


@pytest.mark.parametrize(
    ("context", "seen"),
    [("never", [False] * 4), ("first", [True, False, False, False]), ("always", [True] * 4)],
)
def test_agents_read_the_source_only_where_it_is_asked_for(
    context: Any, seen: list[bool], town: Any, scripted: Any
) -> None:
    writer = scripted(lambda request: Rewrite(request.text + " Indeed.", "producer"))
    simulate(
        town.claims(1),
        town.stage(),
        rewriter=writer,
        plan=PropagationPlan(steps=4, context=context),
    )
    assert [request.context == town.context for request in writer.asked] == seen
    assert [request.context is not None for request in writer.asked] == seen


def test_a_walk_shows_no_source_and_a_steered_run_does() -> None:
    assert EvolveSetup(kind="walk").plan.context == "never"
    assert EvolveSetup(kind="cascade").plan.context == "never"
    assert EvolveSetup(kind="intervened", target=("style=colloquial",)).plan.context == "always"
    assert (
        EvolveSetup(kind="intervened", target=("style=colloquial",), context="never").plan.context
        == "never"
    )
    with pytest.raises(UsageError, match="'sometimes' is not a valid context"):
        _ = EvolveSetup(context="sometimes").plan


def test_another_context_is_another_run(town: Any) -> None:
    runs = [
        PropagationPlan(steps=2, context=mode).describe() for mode in ("never", "first", "always")
    ]
    assert len({run["context"] for run in runs}) == 3


def test_agents_speak_in_their_own_voice_and_the_plain_prompt_is_a_variant() -> None:
    request = Request("The bridge was closed.", {"job": "baker"}, 1)
    own = question(request, packaged_prompts()["retell"]).messages[0].content
    plain = (
        question(request, read_prompts(("retell=retell-plain",), "evolve run")["retell"])
        .messages[0]
        .content
    )
    assert all(word in own for word in ("interests", "stance", "style", "own words"))
    assert "plainly" in plain
    assert "plainly" not in own
    for words in (own, plain):
        assert "spread" in words, "neither asks for what convinces or spreads, and both say so"
