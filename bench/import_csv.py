"""`claimlab import` of a CSV of a million rows against Polars on the same file.

    python bench/import_csv.py [--rows 1000000] [--repeat 3]

Two peers, both `polars.read_csv` with its defaults: one only reads, the other also writes what it
read as Parquet with its defaults, as an import must. All run as processes of their own, in turn,
and the best of each counts; the time to start Python and load the modules is part of it. Besides
reading and writing, an import counts the delimiters (Polars fills a short row with nulls in
silence), hashes its input, guesses the columns, maps labels, parses dates, makes `meta`, checks
that ids are unique, and looks for repeated texts, boilerplate and languages. Target: 1.5 times the
peer that reads and writes, in wall and in processor time, and under 1.5 GB of memory at the peak.
"""

from __future__ import annotations

import csv
import random
import sys
import tempfile
from pathlib import Path

from harness import Row, begin, compare, in_child, parser, profiled, record

WORDS = [
    "the",
    "of",
    "in",
    "a",
    "and",
    "to",
    "that",
    "on",
    "with",
    "river",
    "bridge",
    "town",
    "budget",
    "school",
    "mayor",
    "water",
    "report",
    "study",
    "council",
    "hospital",
    "road",
    "tax",
    "opened",
    "closed",
    "doubled",
    "halved",
    "never",
    "always",
    "since",
    "before",
    "after",
    "people",
    "children",
    "voters",
    "drivers",
    "shows",
    "claims",
    "said",
]
RATINGS = ["true", "false", "half-true", "mostly false"]
READ = "import sys, polars as pl; pl.read_csv(sys.argv[1])"
PEERS = {"Polars reads": READ, "Polars reads, writes": f"{READ}.write_parquet(sys.argv[2])"}
IMPORT = "claimlab import"
PAIR = "Polars reads, writes"
TARGET, MEMORY = 1.5, 1500  # times the peer that reads and writes; MB
LEAST = 1_000_000  # rows that the target is for


def write_synthetic_csv(path: Path, rows: int, seed: int = 7) -> None:
    """Claims with quotes, commas, accents and gaps, about 220 characters a row."""
    draw = random.Random(seed)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["id", "claim", "rating", "published", "speaker", "source", "url", "party", "views"]
        )
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
                [
                    f"c{i}",
                    claim,
                    draw.choice(RATINGS),
                    date,
                    f"speaker-{i % 977}",
                    site,
                    link,
                    party,
                    i * 7 % 9973,
                ]
            )


def why(table: Path, out: Path) -> str:
    """Where our seconds go, as far as a profile of Python functions tells."""
    from claimlab.exchange.importer import import_files

    return profiled(lambda: import_files(table, output=out, force=True))


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--rows", type=int, default=1_000_000)
    made.add_argument("--repeat", type=int, default=3)
    options = begin(made)
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "claims.csv", Path(folder) / "out"
        write_synthetic_csv(table, options.rows)
        size = table.stat().st_size
        print(f"{options.rows:,} rows, {size / 1e6:.0f} MB, {size / options.rows:.0f} bytes a row")
        ours = [
            sys.executable,
            "-c",
            "from claimlab.cli.app import main; main()",
            "import",
            str(table),
            "-o",
            str(out),
        ]
        commands = {
            n: [sys.executable, "-c", code, str(table), f"{out}.parquet"]
            for n, code in PEERS.items()
        }
        commands[IMPORT] = [*ours, "--force"]
        costs = compare(
            {name: lambda c=command: in_child(c) for name, command in commands.items()},
            options.repeat,
        )
        for name, cost in costs.items():
            clock = f"{cost.wall:6.2f} s by the clock"
            print(f"{name:26} {cost.cpu:6.2f} processor s   {clock}   {cost.memory:6.0f} MB")
        our_cost = costs[IMPORT]
        profile = why(table, out) if any(costs[peer].cpu < our_cost.cpu for peer in PEERS) else ""
    for peer in PEERS:
        behind = costs[peer].cpu < our_cost.cpu
        what = f"CSV of {options.rows:,} rows"
        record(
            Row("import", what, peer, our_cost.cpu, costs[peer].cpu, why=profile if behind else "")
        )
    record(
        Row(
            "import",
            f"peak memory, {options.rows:,} rows",
            PAIR,
            our_cost.memory,
            costs[PAIR].memory,
            unit="MB",
        )
    )
    times = max(our_cost.wall / costs[PAIR].wall, our_cost.cpu / costs[PAIR].cpu)
    met = times <= TARGET and our_cost.memory < MEMORY
    target = f"target: {TARGET} times the peer that reads and writes, under {MEMORY:,} MB"
    if options.rows < LEAST:
        print(
            f"{target}: not judged on fewer than {LEAST:,} rows, where starting Python is most of"
            " the time"
        )
        sys.exit(0)
    print(f"{target}: {'met' if met else 'not met'}")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
