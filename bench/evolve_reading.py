"""A blind reading of what the rule rewriter makes of claims: two versions, mixed and shuffled, graded by a rubric.

    python bench/evolve_reading.py draw DIR --old WALK STEERED --new WALK STEERED [--seed 7]
    python bench/evolve_reading.py count DIR

WALK is a run of 30 steps over the released seeds, STEERED one towards all targets. `draw` takes the ends of 15 walks
and of one steered claim for each of the 15 targets, the same claims of both versions. It writes DIR/sheet.csv (seed,
target, text, and three columns to be filled in with 1 or 0) and DIR/key.csv (which version wrote what). `count` puts
them together. The rubric:

    grammatical   a careful reader finds no mistake of grammar, and no sentence that makes no sense
    plausible     a person who had heard the seed might pass it on like this: it is about the same thing, says it in the
                  speaker's own words or with the speaker's own emphasis, and is not the seed word for word
    reached       the text has the value that was the target (steered claims only)

The files hold text of the dataset: keep them out of the repository.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import polars as pl

GRADES = ("grammatical", "plausible", "reached")
WALKS = 15


def ends(run: Path) -> dict[str, tuple[str, str]]:
    """Trace to its seed and its last text."""
    table = pl.read_parquet(run / "traces.parquet").sort("trace_id", "round", "step")
    last = table.group_by("trace_id", maintain_order=True).agg(pl.col("input").first(), pl.col("output").last())
    return {trace: (seed, text) for trace, seed, text in last.iter_rows()}


def draw(folder: Path, old: list[Path], new: list[Path], seed: int) -> None:
    lot = random.Random(seed)
    walks, steered = (sorted(ends(run)) for run in old)
    chosen = [("walk", name) for name in lot.sample(walks, WALKS)]
    by_target: dict[str, list[str]] = {}
    for name in steered:
        by_target.setdefault("-".join(name.split("seed240-")[-1].split("-")[1:]), []).append(name)
    chosen += [(target, lot.choice(names)) for target, names in sorted(by_target.items())]
    rows = []
    for version, runs in (("old", old), ("new", new)):
        known = {**ends(runs[0]), **ends(runs[1])}
        rows += [(version, name, target, *known[name]) for target, name in chosen]
    lot.shuffle(rows)
    frame = pl.DataFrame(rows, schema=["version", "trace", "target", "seed", "text"], orient="row")
    frame = frame.with_row_index("number", 1)
    folder.mkdir(parents=True, exist_ok=True)
    blank = [pl.lit(None, dtype=pl.Int8).alias(grade) for grade in GRADES]
    frame.select("number", "target", "seed", "text", *blank).write_csv(folder / "sheet.csv")
    frame.select("number", "version", "trace").write_csv(folder / "key.csv")


def count(folder: Path) -> None:
    sheet = pl.read_csv(folder / "sheet.csv").join(pl.read_csv(folder / "key.csv"), on="number")
    print("| version | texts | grammatical | plausible | both | target reached |\n|---|---|---|---|---|---|")
    for version in ("old", "new"):
        part = sheet.filter(pl.col("version") == version)
        both = int(((part["grammatical"] == 1) & (part["plausible"] == 1)).sum())
        aimed = part.filter(pl.col("target") != "walk")
        print(
            f"| {version} | {part.height} | {part['grammatical'].sum()} | {part['plausible'].sum()} | {both} | "
            f"{aimed['reached'].sum()} of {aimed.height} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("draw", "count"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--old", nargs=2, type=Path)
    parser.add_argument("--new", nargs=2, type=Path)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    if options.what == "draw":
        draw(options.folder, options.old, options.new, options.seed)
    else:
        count(options.folder)


if __name__ == "__main__":
    main()
