"""The same bytes whatever the engine and the number of workers, for every verb that shares its
work.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from parts.packages import leaf_marked
from parts.standin import StandIn

import claimlab as cl
from claimlab.cli.app import run
from claimlab.core.engine import run as rows
from claimlab.core.engine.cluster import disconnect
from claimlab.core.engine.names import parse_engine
from claimlab.core.errors import BudgetSpent
from claimlab.detect import run as predicted
from claimlab.text import vectors

from .test_twins import files_in

pytestmark = [pytest.mark.slow, pytest.mark.needs("distributed")]
VERBS: dict[str, Callable[[str, str], object]] = {
    "audit": lambda out, engine: cl.audit(
        "data", checks=["length", "one-class"], limit=120, output=out, engine=engine
    ),
    "clean": lambda out, engine: cl.clean("data", output=out, engine=engine),
    "detect": lambda out, engine: cl.detect("data", "tfidf", shard=10, output=out, engine=engine),
    "detect, a tree": lambda out, engine: cl.detect(
        "data", "shortcut", shard=10, output=out, engine=engine
    ),
    "evolve": lambda out, engine: cl.evolve("data", steps=3, limit=45, output=out, engine=engine),
    "generate filter": lambda out, engine: cl.quality_filter(
        "generated", metrics=["language", "details", "change-log"], output=out, engine=engine
    ),
    "import": lambda out, engine: cl.import_files(
        _files(Path(out).parent), out, name="many", engine=engine
    ),
    "overlap": lambda out, engine: cl.overlap("data", meaning=True, output=out, engine=engine),
    "study": lambda out, engine: cl.study_run(
        "grid.toml", out, only={"split": "random"}, engine=engine
    ),
}


def _files(folder: Path) -> list[Path]:
    """Tables of several layouts, with a row that is refused and a JSON file that has no records."""
    folder = folder / "files"
    folder.mkdir()
    for number in range(3):
        lines = [
            f"{number}-{row},The bridge at Velmore was closed {100 * number + row} times.,false"
            for row in range(40)
        ]
        (folder / f"part-{number}.csv").write_text("id,text,verdict\n" + "\n".join(lines) + "\n")
    (folder / "part-1.csv").open("a").write("1-x,a,false,too,many,cells\n")
    rows = [
        {"id": f"j{row}", "text": f"The tower of Anders has {row} steps.", "verdict": "true"}
        for row in range(40)
    ]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "settings.json").write_text('{"colour": "red"}')
    return [folder]


@pytest.fixture(scope="module", autouse=True)
def no_cluster_is_left() -> Iterator[None]:
    yield
    disconnect(parse_engine("dask"))


@pytest.mark.parametrize("verb", leaf_marked(VERBS))
def test_engines_write_the_same_bytes(
    verb: str, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    monkeypatch.setattr(rows, "LEAST_ROWS", 60)  # so that small data has several shards
    monkeypatch.setattr(predicted, "ROWS_PER_TASK", 2)
    monkeypatch.setattr(vectors, "TEXTS_PER_SHARD", 60)
    shards: dict[str, int] = {}
    _count(shards, monkeypatch)
    bytes_of = {}
    for engine in ("local:1", "local:2", "dask"):
        place = tmp_path / engine.replace(":", "-")
        place.mkdir()
        monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "cache" / engine))
        vectors._known.clear()
        VERBS[verb](str(place / "out"), engine)
        bytes_of[engine] = files_in(place)
    assert bytes_of["local:1"]
    assert bytes_of["local:2"] == bytes_of["local:1"]
    assert bytes_of["dask"] == bytes_of["local:1"]
    assert shards["local:2"] > 1, "the work was not shared"
    assert shards["dask"] == shards["local:2"]


def _count(shards: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the shards that were asked for, by engine."""
    from claimlab.core.engine import run as stages
    from claimlab.core.engine.names import Engine

    attempt = stages._attempt

    def counted(stage, missing, spec: Engine, *more):  # type: ignore[no-untyped-def]
        name = spec.kind if spec.workers is None else f"{spec.kind}:{spec.workers}"
        shards[name] = shards.get(name, 0) + len(missing)
        return attempt(stage, missing, spec, *more)

    monkeypatch.setattr(stages, "_attempt", counted)


def test_no_cap_is_exceeded_whatever_the_engine(
    workspace: Path, tmp_path: Path, model: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two kinds of work at once: checks are shared, and a judge is asked, under a cap that holds
    over starts.
    """
    monkeypatch.chdir(workspace)
    profile = str(tmp_path / "model.toml")
    checks = ["feasibility", "length", "one-class"]
    for engine in ("local:2", "dask", "local:1"):
        with pytest.raises(BudgetSpent):
            cl.audit(
                "data", output=tmp_path / "out", checks=checks, limit=60, judge=profile, judge_sample=30, max_calls=7,
                engine=engine,
            )  # fmt: skip
        assert model.counts()["served"] == 7, engine
    with pytest.raises(BudgetSpent):  # lives that ask a model are not shared
        cl.evolve(
            "data", output=tmp_path / "lives", rewriter="model", profile=profile, limit=45, steps=2, max_calls=5,
            engine="local:2",
        )  # fmt: skip
    assert model.counts()["served"] == 12


@pytest.mark.parametrize(
    "verb",
    leaf_marked(
        [
            "audit data",
            "clean data",
            "evolve run data",
            "generate filter generated",
            "import rows.csv",
            "study run grid.toml",
        ]
    ),
)
def test_a_wrong_engine_is_an_error_before_any_work(
    verb: str,
    workspace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(workspace)
    for engine, words in {
        "dask://bad": "is not a valid engine",
        "dask://127.0.0.1:1": "No Dask scheduler answers",
    }.items():
        assert run([*verb.split(), "-o", str(tmp_path / "out"), "--engine", engine]) == 2
        assert words in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []
