"""Streaming from Parquet: the result of find_clusters, whatever the memory, even after being killed
on the way.
"""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from claimlab.core.errors import DataError, UnreadableFile, UsageError
from claimlab.core.progress import reporting
from claimlab.text.neardup import Clusters, find_clusters, stream_clusters
from claimlab.text.neardup.on_disk import parse_memory


@pytest.fixture(scope="module")
def texts(truth: SimpleNamespace) -> list[str | None]:
    planted = truth.planted(2500, seed=21, families=500)
    flood = [
        f"one of very many lines that say nearly the same thing number {i * 7919}"
        for i in range(500)
    ]
    odd = ["a line that is copied"] * 7 + [
        None,
        "",
        "   ",
        "ünïcödé text ☂ with marks e\u0301 and more",
    ]
    ends = "the very first row has its partner in the very last"
    return [ends, *planted, *odd, *flood, ends + "!"]


@pytest.fixture
def files(texts: list[str | None], tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet", tmp_path / "c.parquet"]
    for path, part in zip(paths, (texts[:900], texts[900:901], texts[901:]), strict=True):
        pl.DataFrame(
            {"id": range(len(part)), "text": pl.Series(part, dtype=pl.String)}
        ).write_parquet(path, row_group_size=500)
    return paths


def same(one: Clusters, other: Clusters) -> bool:
    return (
        one.labels.tobytes() == other.labels.tobytes()
        and all(
            getattr(one.pairs, f).tobytes() == getattr(other.pairs, f).tobytes()
            for f in ("left", "right", "jaccard")
        )
        and one.pairs.skipped == other.pairs.skipped
        and one.pairs.plan == other.pairs.plan
    )


@pytest.mark.parametrize("memory", ["8GB", "2MB", pytest.param("120kB", marks=pytest.mark.slow)])
@pytest.mark.parametrize("options", [{}, {"unit": "word", "ngram": 2, "threshold": 0.5, "seed": 5}])
def test_same_as_in_memory(
    texts: list[str | None], files: list[Path], tmp_path: Path, memory: str, options: dict[str, Any]
) -> None:
    expected = find_clusters(texts, **options)
    work = tmp_path / "work"
    found = stream_clusters(files, "text", workdir=work, memory=memory, keep=True, **options)
    assert len(expected) > 100
    assert expected.pairs.skipped.buckets > 0 or options
    assert same(found, expected)
    shards = {
        stage: len(list(work.glob(f"*/{stage}/outputs/*")))
        for stage in ("sketch", "same", "match", "verify")
    }
    few = {"sketch": 1, "same": 1, "match": found.pairs.plan.bands, "verify": 1}
    assert shards == few if memory == "8GB" else all(n >= few[stage] for stage, n in shards.items())
    if memory == "120kB":
        assert all(n > few[stage] for stage, n in shards.items())


def test_with_the_numpy_kernel(
    texts: list[str | None], files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = find_clusters(texts)
    monkeypatch.setenv("CLAIMLAB_NEARDUP", "numpy")
    assert same(stream_clusters(files, "text", workdir=tmp_path / "work", memory="5MB"), expected)


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["sketch texts", "match bands", "verify pairs"])
def test_a_stopped_job_goes_on(
    texts: list[str | None], files: list[Path], tmp_path: Path, stage: str
) -> None:
    calls: list[tuple[str, int]] = []

    def stop_in_the_middle(label: str, done: int, total: int | None) -> None:
        calls.append((label, done))
        if label == stage and sum(1 for name, _ in calls if name == stage) == 2:
            raise KeyboardInterrupt

    work = tmp_path / "work"
    with pytest.raises(KeyboardInterrupt), reporting(stop_in_the_middle):
        stream_clusters(files, "text", workdir=work, memory="100kB")
    assert work.exists()
    done = {path: path.stat().st_mtime_ns for path in work.glob("*/*/done/*")}
    again = stream_clusters(files, "text", workdir=work, memory="100kB", keep=True)
    assert same(again, find_clusters(texts))
    assert done
    assert {
        path: path.stat().st_mtime_ns for path in done
    } == done  # what was done is not done again


def test_a_write_cut_short_is_written_again(
    texts: list[str | None], files: list[Path], tmp_path: Path
) -> None:
    work = tmp_path / "work"
    stream_clusters(files, "text", workdir=work, keep=True)
    # as after a kill: no marker, candidates cut short, pairs that are gone
    (job,) = work.iterdir()
    (job / "sketch" / "done" / "00000").unlink()
    (job / "match" / "outputs" / "00003" / "codes").write_bytes(b"\0" * 8)
    (job / "verify" / "outputs" / "00000").unlink()
    assert same(stream_clusters(files, "text", workdir=work), find_clusters(texts))
    assert not work.exists()


@pytest.mark.slow  # starts processes
def test_same_whatever_does_the_work(
    texts: list[str | None], files: list[Path], tmp_path: Path
) -> None:
    """A worker that is killed in the middle of the search changes nothing either."""
    expected = find_clusters(texts)
    killed: list[int] = []

    def kill_one(label: str, done: int, total: int | None) -> None:
        workers = [
            int(path.parent.name)
            for path in Path("/proc").glob("[0-9]*/cmdline")
            if _is_worker(path)
        ]
        if label == "match bands" and workers and not killed:
            killed.append(workers[0])
            os.kill(workers[0], signal.SIGKILL)

    search = partial(stream_clusters, files, "text", memory="1MB")
    with reporting(kill_one):
        assert same(search(workdir=tmp_path / "two", engine="local:2"), expected)
    assert killed or not Path("/proc").is_dir()
    assert same(search(workdir=tmp_path / "one", engine="local:1"), expected)


def _is_worker(path: Path) -> bool:
    """Whether a process is a worker of this one."""
    try:
        parent = int((path.parent / "stat").read_text().rsplit(")", 1)[1].split()[1])
        return parent == os.getpid() and b"claimlab.core.engine.worker" in path.read_bytes()
    except OSError:
        return False


@pytest.mark.slow
def test_other_work_is_not_touched(
    texts: list[str | None], files: list[Path], tmp_path: Path
) -> None:
    work = tmp_path / "work"
    stream_clusters(files, "text", workdir=work, keep=True)
    (work / "thesis.txt").write_text("mine")
    held = sorted(p.name for p in work.iterdir())
    for other in ({"threshold": 0.8}, {"memory": "1MB"}, {"seed": 3}):  # each is a job of its own
        assert same(
            stream_clusters(files, "text", workdir=work, **other),
            find_clusters(texts, **_search(other)),
        )
        assert sorted(p.name for p in work.iterdir()) == held
    stream_clusters(files, "text", workdir=work)
    assert [p.name for p in work.iterdir()] == ["thesis.txt"]


def _search(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name != "memory"}


def test_bad_inputs_are_refused_in_words(files: list[Path], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no text column 'body'"):
        stream_clusters(files, "body", workdir=tmp_path / "w")
    with pytest.raises(DataError, match="no text column 'id'"):
        stream_clusters(files[0], "id", workdir=tmp_path / "w")
    with pytest.raises(UnreadableFile):
        stream_clusters(tmp_path / "absent.parquet", "text", workdir=tmp_path / "w")
    (tmp_path / "noise.parquet").write_bytes(b"not parquet at all")
    with pytest.raises(UnreadableFile):
        stream_clusters(tmp_path / "noise.parquet", "text", workdir=tmp_path / "w")
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("column", [[], [None, None], ["", "alone"]])
def test_next_to_nothing(tmp_path: Path, column: list[str | None]) -> None:
    pl.DataFrame({"text": pl.Series(column, dtype=pl.String)}).write_parquet(tmp_path / "a.parquet")
    clusters = stream_clusters(tmp_path / "a.parquet", "text", workdir=tmp_path / "w")
    assert clusters.labels.tolist() == [-1] * len(column)


def test_memory_in_words() -> None:
    assert parse_memory("8GB") == 8 * 10**9
    assert parse_memory(" 1.5 mb") == 1_500_000
    assert parse_memory(4096) == 4096
    for wrong in ("", "lots", "-1GB", 0, "1.2.3GB"):
        with pytest.raises(UsageError):
            parse_memory(wrong)
