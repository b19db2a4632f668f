"""Generators of networks: rows that are sound, the density asked for, and the shape that the kind
promises.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claimlab.core.errors import DataError, UnknownName, UsageError
from claimlab_simulate.evolve.society.build import NETWORKS, build
from claimlab_simulate.evolve.society.network import Network
from claimlab_simulate.evolve.society.open import open_network
from claimlab_simulate.evolve.society.population import Population
from claimlab_simulate.evolve.society.ties import MEAN_DEGREE

MATCHED = ["clustered", "random", "scale-free"]
PEOPLE = Population.draw(3_000, seed=1)


def assert_sound(network: Network) -> None:
    """The contract of the rows: sorted, symmetric, no loops, no repeats, in range."""
    assert network.indptr.dtype == np.int64
    assert network.indices.dtype == np.int32
    assert network.indptr[0] == 0
    assert network.indptr[-1] == network.indices.size
    owner = np.repeat(np.arange(network.size), network.degrees)
    assert not np.any(owner == network.indices)
    pairs = owner * network.size + network.indices
    assert np.all(np.diff(pairs) > 0)
    assert np.array_equal(pairs, np.sort(network.indices.astype(np.int64) * network.size + owner))


@pytest.mark.parametrize("kind", NETWORKS.names())
@pytest.mark.parametrize("size", [2, 10, 90, 1_000])
def test_every_kind_gives_sound_rows_at_every_size(kind: str, size: int) -> None:
    few = kind == "clustered" and size < 90  # groups of three have no room for six ties each
    network = build(kind, Population.draw(size, seed=2), seed=3, mean_degree=0.7 if few else None)
    assert network.size == size
    assert network.kind == kind
    assert_sound(network)


@pytest.mark.parametrize("kind", NETWORKS.names())
def test_a_seed_gives_one_network_and_another_seed_another(kind: str) -> None:
    one, same, other = (build(kind, PEOPLE, seed=seed) for seed in (7, 7, 8))
    assert one.indices.tobytes() == same.indices.tobytes()
    assert one.indptr.tobytes() == same.indptr.tobytes()
    assert one.indices.tobytes() != other.indices.tobytes()


@pytest.mark.parametrize("kind", MATCHED)
def test_densities_match_unless_asked_otherwise(kind: str) -> None:
    assert build(kind, PEOPLE, seed=1).mean_degree == pytest.approx(MEAN_DEGREE, rel=0.02)
    assert build(kind, Population.draw(90, seed=1), seed=1).mean_degree == pytest.approx(
        MEAN_DEGREE, rel=0.02
    )
    for wanted in (1.0, 2.5, 4.8, 12.0):
        assert build(kind, PEOPLE, seed=1, mean_degree=wanted).mean_degree == pytest.approx(
            wanted, rel=0.02
        )


def test_dunbar_is_thinned_to_a_density_by_likeness() -> None:
    whole, thin = build("dunbar", PEOPLE, seed=1), build("dunbar", PEOPLE, seed=1, mean_degree=6)
    assert thin.mean_degree == pytest.approx(6, rel=0.02)
    assert_sound(thin)
    assert whole.scores is not None
    assert thin.scores is not None
    assert thin.scores.min() >= np.sort(whole.scores)[-thin.scores.size]
    with pytest.raises(UsageError, match="not more"):
        build("dunbar", PEOPLE, seed=1, mean_degree=80)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(MATCHED), st.integers(2, 40), st.floats(0.1, 1.0), st.integers(0, 5))
def test_small_and_dense_networks_are_sound_too(
    kind: str, size: int, share: float, seed: int
) -> None:
    people = Population.draw(size, seed=seed)
    degree = max(0.05, share * (size - 1))
    if kind == "clustered":
        members = np.bincount(people.codes("group"))
        if round(round(size * degree / 2) * 507 / 539) > (members * (members - 1) // 2).sum():
            return  # there are not so many pairs inside groups: refused, as the next test shows
    network = build(kind, people, seed=seed, mean_degree=degree)
    assert_sound(network)
    assert network.edges == round(size * degree / 2)


def test_a_kind_takes_its_settings_in_words() -> None:
    network = open_network("scale-free:hubs=4", PEOPLE, seed=1)
    assert network.hubs.size == network.parameters["hubs"] == 4
    apart = open_network("clustered:inside=0.25", PEOPLE, seed=1, mean_degree=6)
    groups = PEOPLE.codes("group")
    owner = np.repeat(np.arange(apart.size), apart.degrees)
    assert np.mean(groups[owner] == groups[apart.indices]) == pytest.approx(0.25, abs=0.01)
    with pytest.raises(
        UnknownName,
        match="setting of the network 'clustered' named 'outside'. Did you mean 'inside'",
    ):
        open_network("clustered:outside=1", PEOPLE, seed=1)
    with pytest.raises(UsageError, match="The network 'random' has no settings"):
        open_network("random:hubs=3", PEOPLE, seed=1)
    with pytest.raises(UsageError, match="The setting 'hubs' cannot be 'many'"):
        open_network("scale-free:hubs=many", PEOPLE, seed=1)


def test_what_cannot_be_built_is_named() -> None:
    few = Population.draw(9, seed=1)
    with pytest.raises(UsageError, match="cannot have 9 ties each"):
        build("random", few, seed=1, mean_degree=9)
    with pytest.raises(UsageError, match="pairs for"):
        build("clustered", few, seed=1, mean_degree=7.9)
    with pytest.raises(UnknownName, match="scale-free"):
        build("scalefree", few, seed=1)
    with pytest.raises(
        UnknownName,
        match="setting of the network 'random' named 'hubs'. Choose one of: mean_degree",
    ):
        build("random", few, seed=1, hubs=3)
    with pytest.raises(UsageError, match="cannot have 10 hubs"):
        build("scale-free", few, seed=1, hubs=10)
    with pytest.raises(DataError, match="no group"):
        build(
            "clustered", Population.of(pl.DataFrame({"id": ["a", "b", "c"]})), seed=1, mean_degree=1
        )
    with pytest.raises(UsageError, match="without attributes"):
        build("dunbar", Population.of(pl.DataFrame({"id": ["a", "b", "c"]})), seed=1)


def test_random_degrees_are_poisson() -> None:
    degrees = build("random", Population.draw(20_000, seed=1), seed=5).degrees
    assert degrees.var() == pytest.approx(
        MEAN_DEGREE, rel=0.05
    )  # of a Poisson law, variance and mean are one
    assert degrees.max() < 30


def test_scale_free_degrees_fall_as_a_power_law() -> None:
    """Preferential attachment: the share with k ties or more falls as k^-2, so doubling k leaves
    about a quarter.
    """
    network = build("scale-free", Population.draw(50_000, seed=1), seed=5)
    degrees = network.degrees
    tail = [(degrees >= k).mean() for k in (10, 20, 40, 80)]
    for nearer, farther in pairwise(tail):
        assert farther / nearer == pytest.approx(0.25, abs=0.07)
    # Exact for m = 3 (Bollobás et al.): P(k) = 2 m (m + 1) / (k (k + 1) (k + 2)), so 40 % have just
    # 3 ties.
    assert (degrees == 3).mean() == pytest.approx(0.4, abs=0.01)
    assert degrees.max() > 20 * MEAN_DEGREE


def test_hubs_are_those_with_most_ties() -> None:
    network = build("scale-free", PEOPLE, seed=1)
    assert network.hubs.size == round(3_000 * 5 / 90)
    assert network.degrees[network.hubs].min() >= np.delete(network.degrees, network.hubs).max()
    assert build("scale-free", PEOPLE, seed=1, hubs=4).hubs.size == 4
    assert (
        abs(np.corrcoef(np.arange(3_000), network.degrees)[0, 1]) < 0.1
    )  # a row says nothing about standing


def test_groups_are_dense_inside_and_sparse_between() -> None:
    network = build("clustered", PEOPLE, seed=1)
    groups = PEOPLE.codes("group")
    owner = np.repeat(np.arange(3_000), network.degrees)
    inside = groups[owner] == groups[network.indices]
    assert inside.mean() == pytest.approx(507 / 539, abs=0.001)
    members = np.bincount(groups)
    density = [inside[groups[owner] == g].sum() / (m * (m - 1)) for g, m in enumerate(members)]
    assert max(density) / min(density) < 1.15  # one density for all groups
    between = (~inside).sum() / (3_000**2 - (members**2).sum())
    assert min(density) > 20 * between
    apart = build("clustered", PEOPLE, seed=1, inside=0.0)
    assert not np.any(groups[np.repeat(np.arange(3_000), apart.degrees)] == groups[apart.indices])


@pytest.mark.parametrize("unknown", [False, True], ids=["all known", "some unknown"])
def test_dunbar_names_the_most_alike(unknown: bool) -> None:
    """Against brute force over every pair of agents."""
    people = Population.draw(400, seed=6)
    if unknown:
        holes = pl.Series(np.random.default_rng(1).random(400) < 0.3)
        agents = people.agents.with_columns(
            job=pl.when(~holes).then("job"), area=pl.when(~holes).then("area")
        )
        people = Population(agents)
    network = build("dunbar", people, seed=1)
    codes = np.stack([people.codes(a) for a in people.attributes])
    same = ((codes[:, :, None] == codes[:, None, :]) & (codes[:, :, None] >= 0)).sum(axis=0)
    twins = (codes[:, :, None] == codes[:, None, :]).all(axis=0)
    rank = np.where(twins, len(codes), same)  # agents with one profile come first, known or not
    assert network.scores is not None
    for agent in range(people.size):
        strong, moderate = network.named(agent, "strong"), network.named(agent, "moderate")
        named = np.concatenate([strong, moderate])
        assert 4 <= strong.size <= 7
        assert 12 <= moderate.size <= 20
        assert agent not in named
        best = np.sort(np.delete(rank[agent], agent))[::-1]
        assert np.sort(rank[agent][named])[::-1].tolist() == best[: named.size].tolist()
        assert rank[agent][strong].min() >= rank[agent][moderate].max()
        row = slice(network.indptr[agent], network.indptr[agent + 1])
        assert np.allclose(network.scores[row], same[agent][network.neighbours(agent)] / len(codes))


def test_dunbar_takes_equals_by_chance() -> None:
    """All alike: everybody is as likely to be named, and no one's row or place makes them
    popular.
    """
    people = Population.of(
        pl.DataFrame({"id": [str(i) for i in range(600)], "job": ["baker"] * 600})
    )
    named = np.zeros(600)
    strong = np.zeros(600)
    for seed in range(30):
        network = build("dunbar", people, seed=seed)
        assert network.tiers is not None
        np.add.at(named, network.indices[network.tiers > 0], 1)
        np.add.at(strong, network.indices[network.tiers == 1], 1)
    expected = named.mean()
    assert named.std() < 1.3 * np.sqrt(expected)  # as counts of independent draws would spread
    assert strong.std() < 1.3 * np.sqrt(strong.mean())


@pytest.mark.slow
@pytest.mark.parametrize("kind", NETWORKS.names())
def test_a_million_agents(kind: str) -> None:
    network = build(kind, Population.draw(1_000_000, seed=1), seed=1)
    assert network.size == 1_000_000
    if kind in MATCHED:
        assert network.mean_degree == pytest.approx(MEAN_DEGREE, rel=0.02)
    assert network.degrees.min() >= 0
    assert not np.any(np.diff(network.indices[: network.indptr[1]]) <= 0)


def test_a_tiny_group_is_tied_to_the_others_as_often_as_its_size_says() -> None:
    """One agent of 2,000 stands alone in its group: pairs between groups are drawn straight, never
    by trying.
    """
    groups = ["one"] + ["many"] * 1_999
    people = Population.of(pl.DataFrame({"id": [str(i) for i in range(2_000)], "group": groups}))
    network = build("clustered", people, seed=1, mean_degree=2, inside=0.9)
    assert network.degrees[0] == 200  # all ties between groups are its own
    assert_sound(network)
