"""Simulated cascades beside real ones: figures by independent code, planted settings, real data."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path
from scipy.stats import ks_2samp

import claimlab as cl
from claimlab.catalog.load import load
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab_simulate.evolve.scene import Scene
from claimlab_simulate.evolve.society.build import build
from claimlab_simulate.evolve.society.draws import numbers
from claimlab_simulate.evolve.society.engine import Model, depth, size, travel
from claimlab_simulate.evolve.society.population import Population
from claimlab_simulate.evolve.society.telling import Fresh
from claimlab_simulate.evolve.validate.fit import CascadeSettings, distance, simulated
from claimlab_simulate.evolve.validate.page import STAR
from claimlab_simulate.evolve.validate.trees import Trees, delayed, figures, hop_delays, real_trees

AGENTS = 600


def stage(kind: str = "random", mean_degree: float = 6) -> Scene:
    people = Population.draw(AGENTS, 0)
    return Scene(people, build(kind, people, seed=0, mean_degree=mean_degree))


def cascade_table(trees: Trees) -> pl.DataFrame:
    rows = np.arange(len(trees.tree))
    return pl.DataFrame(
        {
            "record_id": [f"r{tree}" for tree in trees.tree],
            "parent": [None if p < 0 else str(p) for p in trees.parent],
            "child": [str(row) for row in rows],
            "delay": trees.delay,
            "depth": trees.depth,
        }
    )


def dataset_of(trees: Trees, events: int = 30) -> Dataset:
    ids = np.unique(trees.tree)
    records = pl.DataFrame(
        {"id": [f"r{i}" for i in ids], "text": "x", "group": [f"e{i % events}" for i in ids]}
    )
    return Dataset.build("planted", records, {"cascade": cascade_table(trees)})


PLANTED = CascadeSettings(mean_degree=6, fan_out=3, threshold=0.4, reach=150)


def planted(n: int = 240) -> Trees:
    trees = simulated(stage(), PLANTED, 12, n, seed=99)
    return delayed(trees, np.array([1.0, 5.0, 30.0]), 3)


def test_figures_are_those_of_all_shortest_paths() -> None:
    """Structural virality is the mean distance of all pairs: the Wiener index over their number."""
    trees = planted(25)
    measured = figures(trees)
    for tree, row in enumerate(measured.iter_rows(named=True)):
        mine = np.flatnonzero(trees.tree == tree)
        n, hops = len(mine), mine[trees.parent[mine] >= 0]
        ends = (hops - mine[0], trees.parent[hops] - mine[0])
        far = shortest_path(coo_array((np.ones(n - 1), ends), shape=(n, n)), directed=False)
        assert np.isfinite(far).all(), "a tree hangs together"
        assert row["size"] == n
        assert row["depth"] == far[0].max()
        assert row["breadth"] == np.bincount(far[0].astype(int)).max()
        assert row["virality"] == pytest.approx(far.sum() / (n * (n - 1)) if n > 1 else 0)
        assert row["time to half"] == np.sort(trees.delay[mine])[(n - 1) // 2]


def test_figures_of_a_chain_and_a_star_by_hand() -> None:
    chain = Trees(np.zeros(4, int), np.array([-1, 0, 1, 2]), np.arange(4), np.arange(4.0))
    star = Trees(np.ones(4, int), np.array([-1, 4, 4, 4]), np.array([0, 1, 1, 1]), np.zeros(4))
    both = Trees(*(np.concatenate(pair) for pair in zip(chain, star, strict=True)))
    far = [abs(a - b) for a, b in combinations(range(4), 2)]
    assert figures(both)["virality"].to_list() == [sum(far) / 6, (3 * 1 + 3 * 2) / 6]
    assert figures(both)["breadth"].to_list() == [1, 3]
    assert hop_delays(chain).tolist() == [1, 1, 1]


def test_the_distance_is_scipys() -> None:
    rng = np.random.default_rng(1)
    for shift in (0.0, 0.3, 3.0):
        one, other = rng.normal(size=50).round(1), rng.normal(shift, size=80).round(1)
        assert distance(one, other) == pytest.approx(ks_2samp(one, other).statistic)


def test_real_trees_are_read_whatever_the_order_of_their_rows() -> None:
    trees = planted(30)
    data = dataset_of(trees)
    shuffled = data.tables["cascade"].sample(fraction=1, shuffle=True, seed=1)
    again = figures(real_trees(shuffled, data.records))
    assert again.drop("tree").equals(figures(trees).drop("tree"))
    broken = shuffled.with_columns(parent=pl.lit("stranger"))
    with pytest.raises(DataError, match="whose parent is not in it"):
        real_trees(broken, data.records)


def test_a_threshold_silences_its_share_but_never_the_first() -> None:
    seeds = numbers(np.zeros(300, dtype=np.uint64), np.arange(300))
    place = stage()
    tellers, hearers = 0, 0
    model = Model(place.starts(seeds), seeds, agents=AGENTS)
    travel(model, Fresh(place.ties, 2), 6, 40, 0.7)
    for front, following in zip(model.fronts[1:], model.fronts[2:], strict=False):
        hearers += len(front)
        tellers += len(np.unique(following.parent))
    assert 0.25 < tellers / hearers < 0.35
    silent = Model(place.starts(seeds), seeds, agents=AGENTS)
    travel(silent, Fresh(place.ties, 2), 6, 40, 1.0)
    assert set(depth(silent)) == {1}
    plain, same = (Model(place.starts(seeds), seeds, agents=AGENTS) for _ in range(2))
    travel(plain, Fresh(place.ties, 2), 6, 40)
    travel(same, Fresh(place.ties, 2), 6, 40, 0.0)
    assert (size(plain) == size(same)).all()


@pytest.mark.slow
def test_planted_settings_are_recovered(tmp_path: Path) -> None:
    data = dataset_of(planted())
    validation = cl.validate_cascades(
        data, network=["random"], agents=AGENTS, mean_degree=6, cascades=200, output=tmp_path / "v"
    )
    choice = validation.fits["random"].choice
    assert (choice.fan_out, choice.threshold, choice.reach) == (3, 0.4, 150)
    own = {row["measure"]: row for row in validation.rows if row["network"] == "random"}
    assert not [name for name, row in own.items() if row["verdict"] == "fail"]
    star = {row["measure"]: row["verdict"] for row in validation.rows if row["network"] == STAR}
    assert star["depth"] == star["virality"] == "fail"
    page = (tmp_path / "v" / "index.html").read_text()
    assert "cannot foresee how far a claim goes" in page
    assert (tmp_path / "v" / "distances.parquet").is_file()


def test_too_few_cascades_and_none_at_all_are_answered() -> None:
    with pytest.raises(DataError, match="too few"):
        cl.validate_cascades(dataset_of(planted(12)))
    with pytest.raises(DataError, match="has no cascades"):
        cl.validate_cascades(Dataset.build("none", pl.DataFrame({"id": ["a"], "text": ["x"]})))


def test_events_are_never_parted() -> None:
    from claimlab_simulate.evolve.validate.fit import Halves

    data = dataset_of(planted(120), events=6)
    halves = Halves(data, 0)
    events = [set(np.array(half["tree"]) % 6) for half in (halves.fit, halves.test)]
    assert not events[0] & events[1]
    assert events[0] | events[1] == set(range(6))


@pytest.mark.slow
def test_a_sparse_random_network_does_not_match_the_threads_of_pheme(real_data: Path) -> None:
    data = load("pheme", real_data / "pheme-threads-rumours.zip", variant="release")
    validation = cl.validate_cascades(
        data, network=["random"], mean_degree=6, agents=1000, cascades=100
    )
    assert validation.counts == {"fit": 1184, "test": 1218, "events": 9}
    assert "breadth" in validation.failures["random"]
    star = {row["measure"]: row["verdict"] for row in validation.rows if row["network"] == STAR}
    assert star["virality"] == star["depth"] == "fail"
    real = {row["measure"]: row["real"] for row in validation.rows}
    assert real["size"] == 9
