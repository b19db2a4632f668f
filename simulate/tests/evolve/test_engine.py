"""The engine: fronts worked out as arrays are those of agents who take turns one by one; draws are
even and claims apart.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from claimlab_simulate.evolve.scene import Scene
from claimlab_simulate.evolve.society.build import build
from claimlab_simulate.evolve.society.draws import below, numbers, shares
from claimlab_simulate.evolve.society.engine import Model, Telling, depth, size, travel
from claimlab_simulate.evolve.society.network import TIERS, Network
from claimlab_simulate.evolve.society.population import Population
from claimlab_simulate.evolve.society.telling import Closest, Fresh, Lists, neighbour, weighted

SEEDS = np.array([3, 2**62 + 5, 11, 12, 13], dtype=np.uint64)
Chooses = Callable[
    [int, int, int, set[int]], list[int]
]  # seed, depth, agent and who has heard: whom it tells


def by_turns(start: int, seed: int, chooses: Chooses, most: int) -> list[tuple[int, int, int]]:
    """The reference: one claim, one agent after the other, first come, first served. (agent, depth,
    parent) each.
    """
    visits, heard, turn = [(start, 0, -1)], {start}, 0
    while turn < len(visits):
        agent, level, _ = visits[turn]
        if level < most:
            for other in chooses(seed, level, agent, heard):
                visits.append((other, level + 1, turn))
                heard.add(other)
        turn += 1
    return visits


def drawn(seed: int, *names: int) -> int:
    """SplitMix64's finaliser over one name after the other, in whole numbers of Python."""
    for name in names:
        seed = (seed + (name + 1) * 0x9E3779B97F4A7C15) % 2**64
        seed = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        seed = (seed ^ seed >> 27) * 0x94D049BB133111EB % 2**64
        seed ^= seed >> 31
    return seed


def walking(net: Network) -> Chooses:
    def chooses(seed: int, level: int, agent: int, heard: set[int]) -> list[int]:
        others = net.neighbours(agent).tolist()
        return [others[(drawn(seed, level) >> 32) * len(others) >> 32]] if others else []

    return chooses


def freely(net: Network, fan_out: int) -> Chooses:
    def chooses(seed: int, level: int, agent: int, heard: set[int]) -> list[int]:
        fresh = [i for i in net.neighbours(agent).tolist() if i not in heard]
        return sorted(fresh, key=lambda other: drawn(seed, level, agent, other) >> 32)[:fan_out]

    return chooses


def closely(net: Network, rule: Closest) -> Chooses:
    ring = rule.ring.tolist()

    def chooses(seed: int, level: int, agent: int, heard: set[int]) -> list[int]:
        row = slice(net.indptr[agent], net.indptr[agent + 1])
        others = net.indices[row].tolist()
        if net.tiers is not None and net.scores is not None:
            tiers, alike = net.tiers[row].tolist(), net.scores[row].tolist()
            close = {
                o: (t or len(TIERS), -a, o) for o, t, a in zip(others, tiers, alike, strict=True)
            }
            others.sort(key=close.__getitem__)
        at = ring.index(agent)
        strangers = (
            [i for i in ring[at + 1 :] + ring[:at] if i not in others] if rule.strangers else []
        )
        return [i for i in others + strangers if i not in heard][: rule.fan_out]

    return chooses


@pytest.mark.parametrize("kind", ["random", "scale-free", "clustered", "dunbar"])
@pytest.mark.parametrize("agents", [12, 300])
def test_fronts_are_those_of_turns(kind: str, agents: int) -> None:
    """Among 12 agents nearly everybody wants to tell the same few, and strangers are needed; some
    have no ties at all.
    """
    people = Population.draw(agents, seed=agents)
    net = build(kind, people, seed=2, mean_degree=None if kind == "dunbar" else 3)
    starts = [0, 1, agents - 1, 5, 5]
    near, far = Closest(net, 2, seed=4), Closest(net, 3, strangers=False)
    rules: list[tuple[Telling, Chooses, int]] = [
        (neighbour(net), walking(net), 9),
        (Fresh(net, 1), freely(net, 1), agents),
        (Fresh(net, 3), freely(net, 3), agents),
        (near, closely(net, near), agents if agents < 100 else 5),
        (far, closely(net, far), 5),
    ]
    for rule, chooses, most in rules:
        model = travel(Model(starts, SEEDS, agents=agents), rule, most)
        visits = model.visits()
        for claim, (start, seed) in enumerate(zip(starts, SEEDS.tolist(), strict=True)):
            mine = visits.claim == claim
            columns = (visits.agent, visits.depth, visits.parent)
            rows = list(zip(*(column[mine].tolist() for column in columns), strict=True))
            expected = by_turns(start, seed, chooses, most)
            assert rows == expected
            assert depth(model)[claim] == expected[-1][1]
            assert size(model)[claim] == len({agent for agent, _, _ in expected})


def test_a_claim_goes_where_it_goes_alone() -> None:
    people = Population.draw(500, seed=1)
    net = build("scale-free", people, seed=1)
    seeds = numbers(np.arange(40, dtype=np.uint64), 1)
    for rule in (neighbour(net), Fresh(net, 2)):
        together = travel(Model(np.arange(40), seeds, agents=500), rule, 6).visits()
        for claim in (0, 17, 39):
            alone = travel(Model([claim], seeds[claim : claim + 1], agents=500), rule, 6).visits()
            mine = together.claim == claim
            assert together.agent[mine].tolist() == alone.agent.tolist()
            assert together.parent[mine].tolist() == alone.parent.tolist()


def test_only_the_willing_tell_and_reach_stops_a_cascade() -> None:
    people = Population.draw(200, seed=1)
    net = build("scale-free", people, seed=1)
    model = Model([3, 3], SEEDS[:2], agents=200)
    model.pass_on(Fresh(net, 4), np.array([True, False]))
    assert model.front.claim.tolist() == [0] * len(model.front)
    assert 1 <= len(model.front) <= 4
    assert size(model).tolist() == [1 + len(model.front), 1]
    few = travel(Model([3], SEEDS[:1], agents=200), Fresh(net, 2), 20, reach=5)
    assert 5 <= size(few)[0] <= 10
    assert len(travel(Model([3], SEEDS[:1], agents=200), Fresh(net, 2), 200).front) == 0, (
        "until nobody fresh is left"
    )


def test_draws_are_even_and_do_not_follow_each_other() -> None:
    """Means, a chi-squared over 64 cells, and correlations between neighbours by each name, of
    200,000 draws each.
    """
    count = 200_000
    seeds = np.full(count, 7, dtype=np.uint64)
    names = np.arange(count)
    for made in (
        numbers(names.astype(np.uint64), 0),
        numbers(seeds, names),
        numbers(seeds, 5, names),
    ):
        cells = np.bincount(below(made, 64), minlength=64)
        assert (
            (cells - count / 64) ** 2 / (count / 64)
        ).sum() < 120  # 63 degrees of freedom: p < 1e-5 beyond
        even = shares(made)
        assert abs(even.mean() - 0.5) < 0.004
        assert abs(np.corrcoef(even[:-1], even[1:])[0, 1]) < 0.012
        assert (
            (below(made, np.arange(count) + 1) <= np.arange(count)) & (below(made, 1) == 0)
        ).all()


def test_a_weighted_choice_follows_the_weights_within_each_list() -> None:
    """Three lists of two: both have weight, one has all of it, and neither has any."""
    begin = np.array([0, 0, 2, 2, 4, 4])
    rule = weighted(Lists(begin, begin + 2, np.arange(6)), np.array([1.0, 3.0, 0.0, 2.0, 0.0, 0.0]))
    model = Model(
        np.repeat([0, 2, 4], 4000), numbers(np.arange(12_000, dtype=np.uint64), 0), agents=6
    )
    agents = model.pass_on(rule).agent
    assert abs((agents[:4000] == 1).mean() - 0.75) < 0.03
    assert set(agents[:4000].tolist()) == {0, 1}
    assert set(agents[4000:8000].tolist()) == {3}
    assert abs((agents[8000:] == 4).mean() - 0.5) < 0.03


def test_claims_start_with_agents_who_can_pass_them_on() -> None:
    people = Population.draw(60, seed=1)
    net = build("clustered", people, seed=1, mean_degree=2)
    group = people.values("group")[1]
    stage = Scene(people, net, group=group)
    starts = stage.starts(numbers(np.arange(3000, dtype=np.uint64), 0))
    able = np.flatnonzero((stage.ties.degrees > 0) & (people.codes("group") == 1))
    assert set(starts.tolist()) == set(able.tolist()), "each of them, and nobody else"
    owners = stage.ties.owners
    assert (people.codes("group")[owners] == people.codes("group")[stage.ties.indices]).all()
    assert (
        len(stage.ties.indices)
        == (people.codes("group")[net.owners] == people.codes("group")[net.indices]).sum()
    )
