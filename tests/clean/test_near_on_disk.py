"""Near-duplicates on disk: the same clusters as in memory, chosen by size, with their work in the
folder of the run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from parts.planted import planted

from claimlab.clean.front import clean
from claimlab.clean.recipe import parse_recipe
from claimlab.clean.steps.table_copies import NearDuplicatesStep
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError


def recipe(**settings: Any) -> Any:
    told = "".join(f'{name} = "{value}"\n' for name, value in settings.items())
    return parse_recipe(
        f'name = "near"\nversion = 1\n\n[[steps]]\nstep = "near-duplicates"\n{told}', "near.toml"
    )


def test_a_streamed_cleaning_gives_the_same_dataset(tmp_path: Path) -> None:
    data, _ = planted(size=300, seed=1)
    made = {
        how: clean(data, recipe(stream=how, memory="300kB"), output=tmp_path / how).dataset
        for how in ("never", "always", "auto")
    }
    clusters = made["never"].tables["near_duplicates"]
    assert clusters.height > 10
    for how in ("always", "auto"):
        assert made[how].records.equals(made["never"].records)
        assert made[how].tables["near_duplicates"].equals(clusters)
        stages = [
            dataset.lineage[-1].parameters["stages"] for dataset in (made[how], made["never"])
        ]
        assert stages[0] == stages[1], "how it was done does not show in the lineage"
        assert Dataset.open(tmp_path / how).records.height == made[how].records.height
    assert sorted(p.name for p in tmp_path.iterdir() if not p.name.startswith(".")) == [
        "always",
        "auto",
        "never",
    ]


@pytest.mark.parametrize(
    ("settings", "streams"), [({"memory": "20kB"}, True), ({}, False), ({"stream": "always"}, True)]
)
def test_auto_goes_to_disk_where_memory_would_not_do(
    settings: Any, streams: bool, tmp_path: Path
) -> None:
    places: list[str] = []

    def place(name: str) -> Path:
        places.append(name)
        return tmp_path

    records = planted(size=300, seed=1)[0].records
    found = NearDuplicatesStep(work=place, **settings).clusters(records)
    assert (
        found.labels.tolist()
        == NearDuplicatesStep(stream="never").clusters(records).labels.tolist()
    )
    assert places == (["near-duplicates"] if streams else [])
    assert list(tmp_path.iterdir()) == [], "the search is cleared away"


def test_a_step_that_comes_twice_reads_its_own_texts(tmp_path: Path) -> None:
    """A killed first search leaves its texts behind: the second, on other records, must not take
    them for its own.
    """
    records = planted(size=300, seed=1)[0].records
    step = NearDuplicatesStep(stream="always", work=lambda _: tmp_path)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("claimlab.text.neardup.stream.candidates", stop)  # within `match`
        with pytest.raises(KeyboardInterrupt):
            step.clusters(records)
    assert list(tmp_path.glob("*.parquet"))
    rest = records.tail(180)
    assert (
        step.clusters(rest).labels.tolist()
        == NearDuplicatesStep(stream="never").clusters(rest).labels.tolist()
    )


def test_a_killed_search_goes_on_from_its_last_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from claimlab.text.neardup import Clusters, stream

    records = planted(size=300, seed=1)[0].records
    step = NearDuplicatesStep(stream="always", work=lambda _: tmp_path)

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(stream, "candidates", killed)  # within `match`
        with pytest.raises(KeyboardInterrupt):
            step.clusters(records)
    (job,) = (tmp_path / "search").iterdir()
    before = times_of(job / "sketch" / "done")
    assert before
    seen: list[dict[str, int]] = []
    last = Clusters.of

    def look(*found: Any) -> Any:
        seen.append(times_of(job / "sketch" / "done"))
        return last(*found)

    with monkeypatch.context() as patched:
        patched.setattr(Clusters, "of", look)
        again = step.clusters(records)
    assert (
        again.labels.tolist()
        == NearDuplicatesStep(stream="never").clusters(records).labels.tolist()
    )
    assert seen == [before], "what was sketched is not sketched again"


def times_of(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}


def test_a_wrong_amount_of_memory_is_said() -> None:
    with pytest.raises(UsageError, match="not an amount of memory"):
        NearDuplicatesStep(memory="lots").clusters(planted(size=300, seed=1)[0].records)
