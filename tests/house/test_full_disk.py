"""A disk that is really full: the run stops with a sentence, loses nothing, and goes on when there
is room again.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from claimlab.cli.app import run
from claimlab.core.digest import write_parquet
from claimlab.core.engine.run import run_stage
from claimlab.core.engine.stage import Stage
from claimlab.core.engine.work import engine_work
from claimlab.core.errors import ShardsMissing
from claimlab.core.shortage import was_disk

from .test_twins import files_in

PARTS = Path(__file__).parents[1] / "core" / "engine" / "parts"
VERBS = ("audit", "clean", "detect", "evolve run", "import")
WORDS = {
    "audit": ["--check", "length", "--check", "one-class", "--limit", "120"],
    "evolve run": ["--steps", "2", "--limit", "45"],
}


def mount(place: Path, *options: str) -> bool:
    words = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(place)]
    return (
        shutil.which("mount") is not None
        and subprocess.run(words, capture_output=True, check=False).returncode == 0
    )


Disk = Callable[[int], Path]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """`disk(kib)` is an empty disk of that size, or the one that there is, resized."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = False

    def of_size(kib: int) -> Path:
        nonlocal mounted
        if not mount(place, *["remount"] * mounted, f"size={kib}k"):
            pytest.skip("a disk cannot be mounted here: it needs more rights")
        mounted = True
        return place

    yield of_size
    if mounted:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "engine"),
    [
        *(
            pytest.param(verb, "local:1", marks=[pytest.mark.leaf] if verb == "evolve run" else [])
            for verb in VERBS
        ),
        ("audit", "local:2"),
    ],
)
def test_a_run_that_meets_a_full_disk_goes_on_where_there_is_room(
    verb: str, engine: str, workspace: Path, disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(workspace)
    source = "rows.csv" if verb == "import" else "data"
    words = [*verb.split(), source, *WORDS.get(verb, []), "--quiet", "--engine", engine]
    (tmp_path / "roomy").mkdir()
    assert run([*words, "-o", str(tmp_path / "roomy" / "out")]) == 0
    size = sum(map(len, files_in(tmp_path / "roomy").values()))
    for share in (0.3, 0.8) if engine == "local:1" else (0.7,):
        out = disk(int(share * size / 1024)) / "out"
        capsys.readouterr()
        assert run([*words, "-o", str(out)]) == 1
        assert "Error: The disk is full" in capsys.readouterr().err
        assert not out.exists()
        disk(100_000)
        assert run([*words, "-o", str(out)]) == 0, capsys.readouterr().err
        assert files_in(out.parent) == files_in(tmp_path / "roomy")
        shutil.rmtree(out)


def test_a_run_does_not_wait_for_workers_that_have_no_room_to_say_so(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAIMLAB_ENGINE_FUNCTIONS", "engine_parts:big")
    monkeypatch.syspath_prepend(str(PARTS))
    sys.modules.pop("engine_parts", None)
    from engine_parts import big

    place = disk(64)
    folder, todo = place / ".out.work", [{"bytes": 8_000}, {"bytes": 100_000}]
    Stage.open(folder / "big", big, todo)
    assert engine_work(place / "out", shard=0).done == 1
    filling = place / "filling"
    with pytest.raises(OSError, match="No space"):
        filling.write_bytes(bytes(200_000))
    assert "No space" in engine_work(place / "out", shard=1).failures["big 1"]
    with pytest.raises(ShardsMissing, match=r"The disk is full.*1 of 2 shards"):
        run_stage(big, todo, folder=folder, engine="shared", name="big")
    filling.unlink()
    disk(1_000)
    assert [file.stat().st_size for file in run_stage(big, todo, folder=folder, engine="local:1", name="big")] == [
        8_000, 100_000,
    ]  # fmt: skip


def test_what_does_not_fit_is_a_full_disk_whoever_writes_it(disk: Disk) -> None:
    """Polars says something else where only the end of a file does not fit, NumPy always."""
    place = disk(200)
    table = pl.DataFrame({f"column-{n}": [n] for n in range(400)})
    write_parquet(table, place / "whole.parquet")
    size = (place / "whole.parquet").stat().st_size // 1024
    (place / "whole.parquet").unlink()
    for room in range(4, size, 4):
        disk(room)
        with pytest.raises(OSError, match="No space left on device"):
            write_parquet(table, place / "part.parquet")
        (place / "part.parquet").unlink(missing_ok=True)
    with pytest.raises(OSError, match="written") as caught:
        np.zeros(100_000).tofile(place / "array")
    assert was_disk(caught.value)
