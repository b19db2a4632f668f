"""`claimlab import` of a CSV of a million rows against Polars on the same file.

    python bench/import_csv.py [--rows 1000000] [--repeat 3]

Two peers, both `polars.read_csv` with its defaults: one only reads, the other also writes what it read as Parquet with
its defaults, as an import must. All run as processes of their own, in turn, and the best of each counts; the time to
start Python and load the modules is part of it. Besides reading and writing, an import counts the delimiters (Polars
fills a short row with nulls in silence), hashes its input, guesses the columns, maps labels, parses dates, makes
`meta`, checks that ids are unique, and looks for repeated texts, boilerplate and languages. Target: 1.5 times the peer
that reads and writes, in wall and in processor time, and under 1.5 GB of memory at the peak.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

WORDS = [
    "the", "of", "in", "a", "and", "to", "that", "on", "with", "river", "bridge", "town", "budget", "school", "mayor",
    "water", "report", "study", "council", "hospital", "road", "tax", "opened", "closed", "doubled", "halved", "never",
    "always", "since", "before", "after", "people", "children", "voters", "drivers", "shows", "claims", "said",
]  # fmt: skip
RATINGS = ["true", "false", "half-true", "mostly false"]
READ = "import sys, polars as pl; pl.read_csv(sys.argv[1])"
PEERS = {"Polars reads": READ, "Polars reads, writes": f"{READ}.write_parquet(sys.argv[2])"}
IMPORT = "claimlab import"
TARGET, MEMORY = 1.5, 1500  # times the peer that reads and writes; MB


@dataclass
class Cost:
    wall: float
    cpu: float
    memory: float  # MB at the peak


def write_made_up_csv(path: Path, rows: int, seed: int = 7) -> None:
    """Claims with quotes, commas, accents and gaps, about 220 characters a row."""
    draw = random.Random(seed)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "claim", "rating", "published", "speaker", "source", "url", "party", "views"])
        for i in range(rows):
            words = draw.choices(WORDS, k=draw.randint(14, 22))
            if i % 3 == 0:
                words[4] += ","
                words[6] = f'"{words[6]}"'
            if i % 7 == 0:
                words[8] = "são"
            claim = " ".join(words).capitalize() + f" {i}."
            date = f"20{draw.randint(10, 23)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
            site = f"site{i % 53}.example"
            link = f"https://{site}/checks/{i}"
            party = ["", "red", "blue"][i % 3]
            writer.writerow(
                [f"c{i}", claim, draw.choice(RATINGS), date, f"speaker-{i % 977}", site, link, party, i * 7 % 9973]
            )


def run(command: list[str]) -> Cost:
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert child.stderr is not None
    said = child.stderr.read().decode()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{said}")
    return Cost(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "claims.csv", Path(folder) / "out"
        write_made_up_csv(table, args.rows)
        size = table.stat().st_size
        print(f"{args.rows:,} rows, {size / 1e6:.0f} MB, {size / args.rows:.0f} bytes a row")
        ours = [sys.executable, "-c", "from claimlab.cli.app import main; main()", "import", str(table), "-o", str(out)]
        commands = {n: [sys.executable, "-c", code, str(table), f"{out}.parquet"] for n, code in PEERS.items()}
        commands[IMPORT] = [*ours, "--force"]
        costs: dict[str, list[Cost]] = {name: [] for name in commands}
        for _ in range(args.repeat):
            for name, command in commands.items():
                costs[name].append(run(command))
    best = {
        n: Cost(*(min(getattr(c, f) for c in each) for f in ("wall", "cpu", "memory"))) for n, each in costs.items()
    }
    for name, cost in best.items():
        print(f"{name:26} wall {cost.wall:6.2f} s   processor {cost.cpu:6.2f} s   memory {cost.memory:6.0f} MB")
    mine = best[IMPORT]
    ratios = {name: (mine.wall / best[name].wall, mine.cpu / best[name].cpu) for name in PEERS}
    for name, (wall, cpu) in ratios.items():
        print(f"times {name:20} wall {wall:6.2f}     processor {cpu:6.2f}")
    met = max(ratios["Polars reads, writes"]) <= TARGET and mine.memory < MEMORY
    print(f"target: {TARGET} times the peer that reads and writes, under {MEMORY:,} MB: {'met' if met else 'not met'}")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
