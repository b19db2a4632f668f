"""Populations and network files: what is read is what was there, what is drawn follows what is
stated.
"""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from claimlab.core import packaged
from claimlab.core.errors import DataError, SchemaError, UnknownName, UnreadableFile, UsageError
from claimlab_simulate.evolve.society.network_files import read_network
from claimlab_simulate.evolve.society.population import ATTRIBUTES, GROUPS, Population

AGENTS = {
    "a": {"name": "a", "group": "Liberal Elite", "job": "baker", "age": "youth", "area": ""},
    "b": {"name": "b", "group": "Liberal Elite", "job": "farmer", "age": "youth", "area": "cities"},
    "c": {
        "name": "c",
        "group": "Technocratic Moderate",
        "job": "baker",
        "age": "elderly",
        "area": None,
    },
}


@pytest.fixture
def people(tmp_path: Path) -> Population:
    file = tmp_path / "agents.json"
    file.write_text(json.dumps(AGENTS), encoding="utf-8")
    return Population.read(file)


def test_one_population_reads_the_same_from_every_format(
    tmp_path: Path, people: Population
) -> None:
    rows = [
        {"id": key, **{k: v for k, v in row.items() if k != "name"}} for key, row in AGENTS.items()
    ]
    frame = pl.DataFrame(rows)
    (tmp_path / "list.json").write_text(json.dumps(rows), encoding="utf-8")
    (tmp_path / "lines.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    frame.write_csv(tmp_path / "table.csv")
    frame.write_parquet(tmp_path / "table.parquet")
    for name in ("list.json", "lines.jsonl", "table.csv", "table.parquet"):
        assert Population.read(tmp_path / name).agents.equals(people.agents), name


def test_values_codes_and_profiles_agree(people: Population) -> None:
    assert people.size == 3
    assert people.values("job") == ("baker", "farmer")
    assert people.codes("job").tolist() == [0, 1, 0]
    assert people.codes("area").tolist() == [-1, 0, -1]  # a blank and a null are both "not known"
    assert people.profile(0) == {"group": "Liberal Elite", "job": "baker", "age": "youth"}
    assert people.positions(["c", "a", "c"]).tolist() == [2, 0, 2]


def test_wrong_populations_are_named(tmp_path: Path, people: Population) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'job'"):
        people.codes("jobs")
    with pytest.raises(DataError, match="not in the population, such as \\['z'\\]"):
        people.positions(["a", "z"])
    with pytest.raises(SchemaError, match="share one"):
        Population.of(pl.DataFrame({"id": ["a", "a"]}))
    with pytest.raises(SchemaError, match="no column 'id'"):
        Population.of(pl.DataFrame({"job": ["baker"]}))
    (tmp_path / "broken.json").write_text('{"a": ', encoding="utf-8")
    with pytest.raises(UnreadableFile, match="broken.json"):
        Population.read(tmp_path / "broken.json")


def stated_attributes() -> Any:
    return deepcopy(
        packaged.toml("claimlab_simulate.evolve.society", "released.toml")["attributes"]
    )


def test_a_draw_follows_the_stated_weights_and_the_seed() -> None:
    drawn = Population.draw(30_000, seed=4)
    assert drawn.agents.equals(Population.draw(30_000, seed=4).agents)
    assert not drawn.agents.equals(Population.draw(30_000, seed=5).agents)
    assert set(drawn.attributes) == set(ATTRIBUTES)
    assert set(drawn.values("group")) == set(GROUPS)
    for name, lines in stated_attributes().items():
        given = lines.pop("given")
        for parent, line in lines.items():
            rows = drawn.agents.filter(pl.col(given) == parent)
            for value, weight in line.items():
                share = (rows[name] == value).mean()
                expected = weight / sum(line.values())
                spread = 5 * np.sqrt(expected * (1 - expected) / rows.height) + 1e-9
                assert share == pytest.approx(expected, abs=spread), (name, parent, value)
    students = drawn.agents.filter(pl.col("job") == "student")
    assert students["employment"].unique().to_list() == [
        "student"
    ]  # what hangs together stays together


def test_a_million_agents_are_a_dozen_arrays() -> None:
    drawn = Population.draw(100_000, seed=1)
    coded = drawn.agents.drop("id")
    assert all(isinstance(kind, pl.Enum) for kind in coded.dtypes)
    assert coded.estimated_size() <= 100_000 * len(coded.columns) * 1.1  # a byte for each value
    assert drawn.codes("job").dtype == np.int32


def test_an_empty_society_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot have 0 agents"):
        Population.draw(0, seed=1)


def test_network_files_in_every_layout(tmp_path: Path, people: Population) -> None:
    plain = {"network_type": "scale_free", "nodes": [{"id": "a", "hub": True}, {"id": "b", "hub": False}],
             "edges": [{"source": "a", "target": "b"}, {"source": "b", "target": "a"}, {"source": "c", "target": "c"}]}  # fmt: skip
    (tmp_path / "net.json").write_text(json.dumps(plain), encoding="utf-8")
    read = read_network(tmp_path / "net.json", people)
    assert (read.kind, read.edges, read.hubs.tolist()) == ("scale-free", 1, [0])
    assert [read.neighbours(i).tolist() for i in range(3)] == [[1], [0], []]
    (tmp_path / "ties.csv").write_text("source,target\na,b\nb,c\n", encoding="utf-8")
    table = read_network(tmp_path / "ties.csv", people)
    assert [table.neighbours(i).tolist() for i in range(3)] == [[1], [0, 2], [1]]
    tiers = {"a": {"strong": [{"id": "b", "score": 0.9}], "moderate": [{"id": "c", "score": 0.5}]},
             "b": {"strong": [], "moderate": [{"id": "a", "score": 0.9}]}, "c": {"strong": [], "moderate": []}}  # fmt: skip
    (tmp_path / "tiers.json").write_text(json.dumps(tiers), encoding="utf-8")
    held = read_network(tmp_path / "tiers.json", people)
    assert held.named(0, "strong").tolist() == [1]
    assert held.named(1, "moderate").tolist() == [0]
    assert held.neighbours(2).tolist() == [0]  # named by the other: a tie, but of no tier
    assert held.named(2, "moderate").size == held.named(2, "strong").size == 0
    assert held.scores is not None
    assert held.scores.tolist() == pytest.approx([0.9, 0.5, 0.9, 0.5])


def test_wrong_network_files_are_named(tmp_path: Path, people: Population) -> None:
    for name, text, words in (
        ("a.json", '{"edges": [{"source": "a"}]}', "not a network: it lacks 'target'"),
        ("b.json", '{"edges": [{"source": "a", "target": "q"}]}', "not in the population"),
        ("c.json", "[1, 2]", "is not a network"),
        ("d.json", '{"a": {"strong": []}}', "lacks 'moderate'"),
        ("e.csv", "from,to\na,b\n", "no columns source and target"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=words):
            read_network(tmp_path / name, people)
    with pytest.raises(UsageError, match="holds 6 files.*#a.json"):
        read_network(tmp_path, people)  # none of several is guessed


@pytest.mark.realdata
def test_the_released_agents_and_networks_load_as_they_are(real_data: Path) -> None:
    archive = real_data / "evolved-claims.zip"
    people = Population.read(archive)
    assert people.size == 90
    assert people.attributes == ATTRIBUTES
    assert np.bincount(people.codes("group")).tolist() == [30, 30, 30]
    assert max(np.bincount(people.codes("big_five"))) == 47

    nets = {
        kind: read_network(f"{archive}#{kind}_network.json", people)
        for kind in ("random", "scale_free", "cluster")
    }
    assert {kind: net.edges for kind, net in nets.items()} == {
        "random": 217,
        "scale_free": 205,
        "cluster": 539,
    }
    assert [net.kind for net in nets.values()] == ["random", "scale-free", "clustered"]
    hubs = nets["scale_free"].hubs
    assert sorted(nets["scale_free"].degrees[hubs]) == [12, 15, 16, 28, 34]
    assert np.delete(nets["scale_free"].degrees, hubs).max() == 8
    groups, cluster = people.codes("group"), nets["cluster"]
    owner = np.repeat(np.arange(90), cluster.degrees)
    assert (groups[owner] == groups[cluster.indices]).sum() / 2 == 507

    dunbar = read_network(f"{archive}#dunbar_network.json", people)
    strong = [dunbar.named(i, "strong").size for i in range(90)]
    moderate = [dunbar.named(i, "moderate").size for i in range(90)]
    assert (min(strong), max(strong), min(moderate), max(moderate)) == (4, 7, 12, 20)
    assert sum(strong) + sum(moderate) == 1_916


@pytest.mark.realdata
def test_the_stated_weights_are_the_counts_of_the_released_agents(real_data: Path) -> None:
    people = Population.read(real_data / "evolved-claims.zip")
    for name, lines in stated_attributes().items():
        given = lines.pop("given")
        counted = people.agents.group_by(given, name).len().rows()
        assert {(str(a), str(b)): n for a, b, n in counted} == {
            (parent, value): weight
            for parent, line in lines.items()
            for value, weight in line.items()
        }
