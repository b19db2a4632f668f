"""Walks and cascades: every hop is a tie, chance is fair, and who has nowhere to go stops."""

from __future__ import annotations

import numpy as np
import pytest

from claimlab.core.errors import UsageError
from claimlab.evolve.society.build import build
from claimlab.evolve.society.network import Network
from claimlab.evolve.society.population import Population
from claimlab.evolve.society.walk import ENDED, cascade, inside, meetings, walk

PEOPLE = Population.draw(500, seed=1)
GROUPS = PEOPLE.codes("group")
NET = build("scale-free", PEOPLE, seed=1)


def line(size: int) -> Network:
    ends = np.arange(size - 1, dtype=np.int32)
    return Network.of_edges(size, ends, ends + 1)


def test_every_hop_is_a_tie() -> None:
    starts = np.arange(500, dtype=np.int32)
    paths = walk(NET, starts, 20, np.random.default_rng(1))
    assert paths.shape == (500, 21)
    assert paths.dtype == np.int32
    assert paths[:, 0].tolist() == starts.tolist()
    assert NET.tied(paths[:, :-1].ravel(), paths[:, 1:].ravel()).all()
    assert walk(NET, starts, 20, np.random.default_rng(1)).tobytes() == paths.tobytes()


def test_neighbours_are_equally_likely() -> None:
    agent = int(NET.hubs[0])
    starts = np.full(40_000, agent, dtype=np.int32)
    taken = np.bincount(walk(NET, starts, 1, np.random.default_rng(2))[:, 1], minlength=500)
    near = NET.neighbours(agent)
    expected = 40_000 / near.size
    assert taken.sum() == taken[near].sum() == 40_000
    chi2 = ((taken[near] - expected) ** 2 / expected).sum()
    assert chi2 < near.size + 6 * np.sqrt(2 * near.size)


def test_a_walk_within_groups_never_leaves_and_ends_where_it_must() -> None:
    sparse = build("random", PEOPLE, seed=1, mean_degree=1.5)
    paths = walk(sparse, np.arange(500, dtype=np.int32), 8, np.random.default_rng(1), within=GROUPS)
    own = inside(sparse, GROUPS)
    for path in paths:
        going = path[path != ENDED]
        assert len(set(GROUPS[going])) == 1
        assert own.tied(going[:-1], going[1:]).all()
        assert going.size == 9 or own.degrees[going[-1]] == 0
        assert np.all(path[going.size :] == ENDED)  # what ended does not begin again
    assert np.any(paths[:, 1] == ENDED)


def test_meetings_are_ties_and_the_lonely_meet_nobody() -> None:
    sparse = build("random", PEOPLE, seed=3, mean_degree=2)
    rounds = list(meetings(sparse, 50, np.random.default_rng(1)))
    assert len(rounds) == 50
    lonely = sparse.degrees == 0
    assert lonely.any()
    for met in rounds:
        assert np.array_equal(met == ENDED, lonely)
        assert sparse.tied(np.flatnonzero(~lonely), met[~lonely]).all()
    assert len({met.tobytes() for met in rounds}) == 50


def test_a_cascade_along_a_line() -> None:
    reached = cascade(line(10), np.array([3], dtype=np.int32), np.random.default_rng(1), depth=2)
    assert dict(zip(reached.agents.tolist(), reached.hops.tolist(), strict=True)) == {3: 0, 2: 1, 4: 1, 1: 2, 5: 2}
    assert reached.parents.tolist() == [ENDED, 3, 3, 2, 4]
    assert (reached.size, reached.depth) == (5, 2)


def test_a_cascade_without_limits_reaches_all_whom_paths_reach() -> None:
    whole = cascade(NET, np.array([0], dtype=np.int32), np.random.default_rng(1))
    assert sorted(whole.agents.tolist()) == list(range(500))
    assert NET.tied(whole.parents[1:], whole.agents[1:]).all()
    hops = dict(zip(whole.agents.tolist(), whole.hops.tolist(), strict=True))
    assert all(hops[int(p)] == h - 1 for p, h in zip(whole.parents[1:], whole.hops[1:], strict=True))


def test_fan_out_depth_and_probability_bound_a_cascade() -> None:
    rng = np.random.default_rng(1)
    for start in range(20):
        some = cascade(NET, np.array([start], dtype=np.int32), rng, depth=3, fan_out=3)
        assert some.size <= 1 + 3 + 9 + 27  # the bound of the published check-worthiness score: 40 agents
        assert np.bincount(some.parents[1:], minlength=500).max() <= 3
    nobody = cascade(NET, np.array([0], dtype=np.int32), rng, probability=0.0)
    assert nobody.size == 1
    shares = [cascade(NET, NET.hubs[:1], rng, depth=1, probability=0.3).size - 1 for _ in range(400)]
    assert np.mean(shares) == pytest.approx(0.3 * NET.degrees[NET.hubs[0]], rel=0.05)
    with pytest.raises(UsageError, match="probability 2"):
        cascade(NET, NET.hubs, rng, probability=2)
    with pytest.raises(UsageError, match="fan-out 0"):
        cascade(NET, NET.hubs, rng, fan_out=0)


def test_fan_out_is_fair_among_neighbours() -> None:
    hub = int(NET.hubs[np.argmax(NET.degrees[NET.hubs])])
    rng, taken, rounds = np.random.default_rng(3), np.zeros(500), 3_000
    for _ in range(rounds):
        taken[cascade(NET, np.array([hub], dtype=np.int32), rng, depth=1, fan_out=3).agents[1:]] += 1
    near = NET.neighbours(hub)
    expected = 3 * rounds / near.size
    assert taken[near].sum() == 3 * rounds
    assert np.abs(taken[near] - expected).max() < 6 * np.sqrt(expected)
