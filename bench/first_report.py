"""A stranger's path, timed: from a fresh clone to the report on one's own CSV, in three commands.

    python bench/first_report.py [--keep DIR]

It clones the repository into an empty folder, makes a virtual environment there, and runs what the
README says: `pip install .`, `claimlab import my.csv -o data`, `claimlab audit data -o report`. The
CSV is made up of synthetic claims; the packages come from whatever index pip is set up for. Prints
one table (Markdown).
"""

from __future__ import annotations

import csv
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import ROOT, begin, package_index, parser

ROWS = 500
COMMANDS = ("pip install .", "claimlab import my.csv -o data", "claimlab audit data -o report")
LARGEST = 2_000_000  # bytes of a page


def own_csv(file: Path) -> None:
    """A file as a user might bring one: claims with a verdict, a date and a source."""
    rng = random.Random(0)
    things, deeds = (
        ("bridge", "school", "market", "ferry", "library"),
        ("closed", "opened", "moved", "flooded"),
    )
    with file.open("w", encoding="utf-8", newline="") as handle:
        rows = csv.writer(handle)
        rows.writerow(["claim", "verdict", "published", "outlet"])
        for number in range(ROWS):
            label = rng.choice(["true", "false"])
            text = (
                f"The {rng.choice(things)} of town {number} was {rng.choice(deeds)} in week"
                f" {rng.randint(1, 52)}"
            )
            ending = (
                " and nobody was told about it" if label == "false" and rng.random() < 0.7 else ""
            )
            rows.writerow(
                [
                    text + ending,
                    label,
                    f"2023-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
                    rng.choice("ABC"),
                ]
            )


def timed(command: str, folder: Path, path: str) -> float:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "VIRTUAL_ENV")
    }
    start = time.perf_counter()
    process = subprocess.run(
        command, shell=True, cwd=folder, env=kept | {"PATH": path}, capture_output=True, text=True
    )
    if process.returncode:
        raise SystemExit(f"$ {command}\n{process.stdout}\n{process.stderr}")
    return time.perf_counter() - start


def main() -> int:
    made = parser(__doc__)
    made.add_argument("--keep", type=Path, help="an empty folder to work in, which is kept")
    options = begin(made)
    package_index()
    with tempfile.TemporaryDirectory() as place:
        folder = options.keep or Path(place)
        clone = folder / "claimlab"
        subprocess.run(
            ["git", "clone", "--quiet", "--depth", "1", ROOT.as_uri(), str(clone)], check=True
        )
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        own_csv(clone / "my.csv")
        path = f"{folder / 'venv' / 'bin'}:/usr/bin:/bin"
        seconds = [timed(command, clone, path) for command in COMMANDS]
        page = clone / "report" / "index.html"
        size = page.stat().st_size
    print(f"| command, {ROWS} rows | seconds |\n|---|---|")
    for command, spent in zip(COMMANDS, seconds, strict=True):
        print(f"| `{command}` | {spent:.0f} |")
    print(f"| all three | {sum(seconds):.0f} |\n\nThe report is one page of {size / 1000:,.0f} KB.")
    return 0 if size < LARGEST else 1


if __name__ == "__main__":
    sys.exit(main())
