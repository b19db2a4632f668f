"""Near-duplicates at scale: ten million posts on processes and on a Dask cluster, and what 120
million would cost.

    python bench/neardup_scale.py                 everything below, in order; about half an hour on
                                                  two quiet cores
    python bench/neardup_scale.py curve           100,000, 1 million and 10 million posts on this
                                                  machine
    python bench/neardup_scale.py dask            10 million on a Dask cluster of two workers; three
                                                  of them are killed
    python bench/neardup_scale.py killed          the same posts on this machine, killed once on the
                                                  way and started again
    python bench/neardup_scale.py match           bucket matching alone, by 1, 2 and 4 processes
    python bench/neardup_scale.py clean           `claimlab clean` of 10 million records, start to
                                                  finish
    python bench/neardup_scale.py plan            what the measured figures mean for 120 million

    --posts N           instead of 10 million; `killed --posts 100000000 --folder DIR` needs about
                        60 GB in DIR
    --folder DIR        where posts and work files go, and stay for the next part (default: a
                        temporary folder)

Posts are synthetic (bench/neardup.py): 15% are in families of two to six that differ by a few
words. Every search is in a process of its own. CPU seconds are of all its processes; the peak is
the largest sum of their resident memory, looked up ten times a second. The clusters are written as
Parquet, and the parts compare their sha256.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
from harness import Killed, apart, begin, need, parser, unmeasured
from harness.family import Watch, family, watched
from neardup import make_posts, write_posts

STAGES = ("sketch", "same", "match", "verify")
FULL = 120_900_000


def measured(
    function: Callable[..., dict[str, Any]], *arguments: Any, **more: Any
) -> dict[str, Any]:
    """A function in a process of its own: what it found, and what it took with all its
    processes.
    """
    cost = watched(function, *arguments, **more)
    return {"seconds": cost.wall, "cpu": cost.cpu, "peak_mb": cost.memory, **cost.result}


def posts(folder: Path, count: int) -> Path:
    """Parquet files with so many posts, made once."""
    place, block = folder / f"posts-{count}", min(count, 1_000_000)
    if not place.is_dir():
        building = folder / f"building-{count}"
        building.mkdir(parents=True, exist_ok=True)
        before = folder / f"posts-{block}" / "0000.parquet"
        texts = (
            pl.read_parquet(before)["text"].to_list() if before.is_file() else make_posts(block)[0]
        )
        write_posts(texts, count, building)
        building.rename(place)
    return place


def search(place: str, work: str, engine: str | None) -> dict[str, Any]:
    """In a process of its own: the clusters of the posts, written and hashed."""
    from claimlab.text.neardup import stream_clusters
    from claimlab.text.neardup.choose import load

    files, workdir = sorted(Path(place).glob("*.parquet")), Path(work)
    clusters = stream_clusters(files, "text", workdir=workdir, engine=engine, keep=True)
    file = workdir / "clusters.parquet"
    pl.DataFrame({"cluster": clusters.labels}).write_parquet(
        file, compression="zstd", statistics=False
    )
    (job,) = (path for path in workdir.iterdir() if path.is_dir())
    volumes = {
        stage: sum(
            path.stat().st_size for path in job.glob(f"{stage}/outputs/**/*") if path.is_file()
        )
        for stage in STAGES
    }
    keys = sum(path.stat().st_size for path in job.glob("sketch/outputs/*/keys"))
    return {
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "clusters": len(clusters),
        "pairs": len(clusters.pairs),
        "rows": len(clusters.labels),
        "volumes": volumes,
        "keys": keys,
        "plan": str(clusters.pairs.plan),
        "kernel": load().name,
    }


def line(name: str, row: dict[str, Any]) -> None:
    print(
        (
            f"{name:<28}{row['seconds']:>9.0f}{row['cpu']:>8.0f}{row['peak_mb']:>9,.0f}{row.get('clusters', ''):>12,}"  # noqa: E501
            f"  {row['sha256'][:16]}"
            if "sha256" in row
            else f"{name:<28}{row['seconds']:>9.0f}{row['cpu']:>8.0f}"
        ),
        flush=True,
    )


def head(words: str) -> None:
    load = os.getloadavg()[0]
    print(f"\n{words} (load of the machine at the start: {load:.1f} on {os.cpu_count()} cores)")
    print(f"{'':<28}{'seconds':>9}{'CPU s':>8}{'peak MB':>9}{'clusters':>12}  sha256", flush=True)


def curve(folder: Path, count: int) -> dict[str, Any]:
    head("Posts on this machine, engine local")
    row: dict[str, Any] = {}
    for size in sorted({count // 100, count // 10, count}):
        row = measured(search, posts(folder, size), fresh(folder, "local"), None)
        line(f"{size:,} posts", row)
    print(f"{row['plan']}; kernel: {row['kernel']}; {row['pairs']:,} pairs")
    print(
        f"bytes written by the last: {json.dumps(row['volumes'])}, of which band keys"
        f" {row['keys']:,}"
    )
    (folder / "local.json").write_text(json.dumps(row), encoding="utf-8")
    return row


def killed(folder: Path, count: int) -> None:
    """The search in at most 8 GB; its processes are killed when the matching has begun, and it is
    started again."""
    head("Posts on this machine, killed once on the way and started again")
    place, work = posts(folder, count), fresh(folder, "killed")

    def kill(watch: Watch) -> None:
        while watch.running and not list(work.glob("*/match/done/*")):
            time.sleep(0.1)
        for pid in family(watch.root):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    started = time.perf_counter()
    try:
        measured(search, place, work, None, during=kill)
        print("it had ended before it could be killed")
    except Killed:
        print(f"killed after {time.perf_counter() - started:.0f} seconds, in the matching")
    line(f"{count:,} posts, the rest", measured(search, place, work, None))
    print(f"{time.perf_counter() - started:.0f} seconds in all")


def dask(folder: Path, count: int) -> dict[str, Any]:
    """A scheduler and two workers as processes of their own; a worker that is killed is started
    again.
    """
    if need("distributed") is None:
        print(
            "\nnot measured on a Dask cluster: distributed is not installed (pip install"
            " 'claimlab[dask]')"
        )
        return {}
    head("The same on a Dask cluster of two workers, which are killed on the way")
    place, port = posts(folder, count), 18_786
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ["PYTHONPATH"]]),
    }
    quiet: dict[str, Any] = {
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "env": environment,
    }
    scheduling = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    scheduler = subprocess.Popen([*scheduling, "--no-dashboard"], **quiet)
    worker = [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        f"tcp://127.0.0.1:{port}",
        "--nthreads",
        "1",
        "--no-nanny",
        "--no-dashboard",
        "--host",
        "127.0.0.1",
        "--local-directory",
        str(folder),
    ]
    workers = [subprocess.Popen(worker, **quiet) for _ in range(2)]
    kills: list[str] = []

    def kill(watch: Watch) -> None:
        work = folder / "work-dask"
        for stage, shards in (("sketch", 3), ("match", 2), ("match", 8)):
            while watch.running and len(list(work.glob(f"*/{stage}/done/*"))) < shards:
                time.sleep(0.05)
            if watch.running:
                os.kill(workers[len(kills) % 2].pid, signal.SIGKILL)
                workers[len(kills) % 2] = subprocess.Popen(worker, **quiet)
                kills.append(f"{stage} after {shards} shards")

    try:
        row = measured(
            search, place, fresh(folder, "dask"), f"dask://127.0.0.1:{port}", during=kill
        )
    finally:
        for process in (*workers, scheduler):
            process.kill()
    line(f"{count:,} posts", row)
    print(
        f"killed with SIGKILL: {len(kills)} ({'; '.join(kills)}); CPU and peak are of the"
        " coordinator only"
    )
    local = folder / "local.json"
    if local.is_file():
        equal = json.loads(local.read_text(encoding="utf-8"))["sha256"] == row["sha256"]
        print(f"clusters file equal to the local one: {equal}")
    return row


def match(folder: Path, _: int) -> None:
    head("Bucket matching alone, one thread a process")
    job = next(path for path in (folder / "work-local").iterdir() if path.is_dir())
    for processes in (1, 2, 4):
        row = measured(match_again, job, f"local:{processes}", OMP_NUM_THREADS="1")
        row["clusters"] = 0
        line(f"{processes} processes", row)


def match_again(place: str, engine: str) -> dict[str, str]:
    """In a process of its own: the bucket matching of a finished job, in a folder beside it."""
    from claimlab.core.engine.run import run_stage
    from claimlab.core.engine.stage import Stage
    from claimlab.text.neardup.stream import match as work

    job = Path(place)
    with tempfile.TemporaryDirectory(dir=job.parent) as name:
        outputs = run_stage(
            work, Stage(job / "match").shards, folder=Path(name), engine=engine, name="match"
        )
        digest = hashlib.sha256(
            b"".join((path / "codes").read_bytes() for path in outputs)
        ).hexdigest()
    return {"sha256": digest}


def fresh(folder: Path, name: str) -> Path:
    import shutil

    shutil.rmtree(folder / f"work-{name}", ignore_errors=True)
    return folder / f"work-{name}"


def clean(folder: Path, count: int) -> None:
    head("claimlab clean, recipe default, start to finish")
    data = folder / f"data-{count}"
    if not data.is_dir():
        apart(dataset, posts(folder, count), data)
    row = measured(cleaned, data, fresh(folder, "clean"))
    line(f"{count:,} records", row)


def dataset(place: str, folder: str) -> None:
    """A dataset folder of the posts. Each made-up word becomes a word of our documentation: no
    identifier knows the language of made-up words, so that all of them would be asked about every
    text."""
    from claimlab.core.dataset import Dataset

    manual = " ".join(
        page.read_text("utf-8")
        for page in sorted((Path(__file__).parents[1] / "docs").glob("*.md"))
    )
    words = sorted(set(re.findall(r"\b[a-z]{2,12}\b", manual)))
    blocks = []
    for file in sorted(Path(place).glob("*.parquet")):
        tokens = pl.read_parquet(file)["text"].str.split(" ")
        made_up = tokens.explode().unique().drop_nulls()
        made_up = made_up.filter(made_up.str.contains("^[a-z]+$"))
        english = {
            word: words[zlib.crc32(word.encode()) % len(words)] for word in made_up.to_list()
        }
        blocks.append(
            tokens.list.eval(pl.element().replace(english)).list.join(" ").to_frame("text")
        )
    frame = (
        pl.concat(blocks)
        .with_row_index("row")
        .select(
            pl.format("p{}", "row").alias("id"),
            "text",
            pl.lit("post").alias("kind"),
            pl.when(pl.col("row") // 64 % 2 == 0)
            .then(pl.lit("true"))
            .otherwise(pl.lit("false"))
            .alias("veracity"),
        )
    )
    Dataset.build("posts", frame).write(folder)


def cleaned(data: str, folder: str) -> dict[str, Any]:
    import claimlab as cl

    result = cl.clean(data, output=folder)
    groups = result.dataset.records["group"].drop_nulls().n_unique()
    return {"clusters": groups, "sha256": result.dataset.digest()}


def plan(folder: Path) -> None:
    """Extrapolated from the last row of the curve; what is assumed is printed with it."""
    row = json.loads((folder / "local.json").read_text(encoding="utf-8"))
    millions, times = row["rows"] / 1e6, FULL / row["rows"]
    shuffle = row["keys"] + row["volumes"]["match"] + row["volumes"]["same"]
    print(f"\nPlan for {FULL:,} rows, from {row['rows']:,}")
    disk = sum(row["volumes"].values())
    print(
        f"cost per million: {row['cpu'] / millions:.1f} CPU s; disk {disk / millions / 1e6:,.0f} MB"
    )
    print(
        f"shuffled per million (band keys, copies, candidates): {shuffle / millions / 1e6:,.1f} MB"
    )
    print(
        f"{FULL:,} rows: {row['cpu'] * times / 3600:.1f} CPU hours, {shuffle * times / 1e9:,.0f} GB"
        f" shuffled, {sum(row['volumes'].values()) * times / 1e9:,.0f} GB of disk"
    )
    print(
        "assumed: cost a row as measured (the plan of bands grows with the number of texts: see the"
        " curve for how it"
    )
    print(
        "rises from 1 to 10 million), texts of tweet length, 15% in families, storage as fast as"
        " this machine's disk."
    )


def main() -> None:
    made = parser(__doc__)
    made.add_argument(
        "part", nargs="*", choices=["curve", "killed", "dask", "match", "clean", "plan", []]
    )
    made.add_argument("--posts", type=int, default=10_000_000)
    made.add_argument("--folder", type=Path)
    o = begin(made)
    with tempfile.TemporaryDirectory() as temporary:
        folder = (o.folder or Path(temporary)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        steps = {"curve": curve, "match": match, "killed": killed, "dask": dask, "clean": clean}
        parts = o.part or [*(name for name in steps if name != "killed"), "plan"]
        if parts[0] in ("match", "plan") and not (folder / "local.json").is_file():
            unmeasured(
                f"`{parts[0]}` goes on from `curve`: name both, or the --folder of an earlier"
                " `curve`"
            )
        for part in parts:
            plan(folder) if part == "plan" else steps[part](folder, o.posts)


if __name__ == "__main__":
    main()
