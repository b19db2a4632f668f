"""What rewriting does to claims: edits counted over the released traces, and a blind reading of two
versions.

    python bench/evolve_rewrites.py learn [--archive FILE] [--write FILE]
    python bench/evolve_rewrites.py compare RUN [RUN ...] [--archive FILE]
    python bench/evolve_rewrites.py draw DIR --old WALK STEERED --new WALK STEERED [--seed 7]
    python bench/evolve_rewrites.py count DIR

The archive is that of the released evolved claims (default: in ../shared/data), and what `learn`
writes is src/claimlab/evolve/rewrite/data/frequencies.toml. It reads every hop of the released
traces whose text changed and says which kinds of edits it shows: a hop may show several. Edits are
recognised by word lists and counts (`claimlab.evolve.rewrite.edits`), the same for everybody's
text. The table holds shares only: by target, at the first, the second and later rewrites, the words
that texts end with against their seed, and how many agents rewrite at all. `compare` puts the
shares of runs of our own beside them.

WALK is a run of 30 steps over the released seeds, STEERED one towards all targets. `draw` takes the
ends of 15 walks and of one steered claim for each of the 15 targets, the same claims of both
versions. It writes DIR/sheet.csv (seed, target, text, and three columns to be filled in with 1 or
0) and DIR/key.csv (which version wrote what). `count` puts them together. The rubric:

    grammatical   a careful reader finds no mistake of grammar, and no sentence that makes no sense
    plausible     a person who had heard the seed might pass it on like this: it is about the same
                  thing, says it in the
                  speaker's own words or with the speaker's own emphasis, and is not the seed word
                  for word
    reached       the text has the value that was the target (steered claims only)

The files hold text of the dataset: keep them out of the repository.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from harness import begin, parser
from parts.evolved import archive

from claimlab.catalog.load import load
from claimlab.core.dataset import Dataset
from claimlab.evolve.claims.model import Target
from claimlab.evolve.drift.hops import read_hops
from claimlab.evolve.rewrite.edits import KINDS, edits

LATER = 3  # the third rewrite of a trace and all after it


def rewrites(hops: pl.DataFrame) -> Iterator[tuple[str, int, str, str]]:
    """(target, which rewrite of the trace, before, after) of every hop that changed the text."""
    number: dict[str, int] = {}
    for row in hops.sort("run", "trace_id", "hop").iter_rows(named=True):
        if row["output"] and row["input"] != row["output"]:
            trace = f"{row['run']}:{row['trace_id']}"
            number[trace] = min(number.get(trace, 0) + 1, LATER)
            target = str(Target.of(row["dimension"], row["target"])) if row["dimension"] else "none"
            yield target, number[trace], row["input"], row["output"]


def shares(rows: Sequence[tuple[str, int, str, str]]) -> dict[tuple[str, int], dict[str, float]]:
    """(target, rewrite) -> share of hops that show each kind, with `hops` and `edits` (kinds per
    hop).
    """
    shown: dict[tuple[str, int], list[set[str]]] = {}
    for target, number, before, after in rows:
        for key in ((target, number), (target, 0), ("all", number), ("all", 0)):
            shown.setdefault(key, []).append(edits(before, after))
    return {
        key: {
            "hops": len(sets),
            "edits": float(np.mean([len(s) for s in sets])),
            **{kind: float(np.mean([kind in s for s in sets])) for kind in KINDS},
        }
        for key, sets in sorted(shown.items())
    }


def growth(hops: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Words at the end over words of the seed, by target: their means and the ratio."""
    ends = hops.filter(pl.col("hop") == pl.col("hops")).drop_nulls("output")
    rows: dict[str, list[tuple[int, int]]] = {}
    for base, output, dimension, value in ends.select(
        "base", "output", "dimension", "target"
    ).iter_rows():
        pair = len(base.split()), len(output.split())
        for key in ("all", str(Target.of(dimension, value)) if dimension else "none"):
            rows.setdefault(key, []).append(pair)
    return {
        key: {
            "seed": float(np.mean([a for a, _ in pairs])),
            "end": float(np.mean([b for _, b in pairs])),
            "growth": float(np.sum([b for _, b in pairs]) / np.sum([a for a, _ in pairs])),
        }
        for key, pairs in sorted(rows.items())
    }


def producers(hops: pl.DataFrame) -> dict[str, float]:
    """The share of turns that rewrote, by target."""
    known: dict[str, list[bool]] = {}
    for dimension, value, role in hops.select("dimension", "target", "role").iter_rows():
        for key in ("all", str(Target.of(dimension, value)) if dimension else "none"):
            known.setdefault(key, []).append(role == "producer")
    return {key: float(np.mean(values)) for key, values in sorted(known.items())}


def as_toml(hops: pl.DataFrame) -> str:
    lines = [
        (
            "# Aggregates of the released traces, written by bench/evolve_rewrites.py: which kinds"
            " of edits a rewrite shows."
        ),
        (
            "# `first`, `second` and `later` are the first, the second and all later rewrites of a"
            " trace; the numbers are"
        ),
        (
            "# shares of hops (a hop may show several kinds). `growth` is words at the end over"
            " words of the seed,"
        ),
        "# `producers` the share of turns that rewrote. A row of fewer than 20 hops is not given.",
        "",
    ]
    table, lengths, roles = shares(list(rewrites(hops))), growth(hops), producers(hops)
    for target in sorted({key for key, _ in table}):
        lines.append(f'["{target}"]')
        lines.append(f"growth = {lengths[target]['growth']:.2f}")
        lines.append(f"producers = {roles[target]:.2f}")
        for number, name in ((1, "first"), (2, "second"), (3, "later")):
            row = table.get((target, number))
            if row is not None and row["hops"] >= 20:
                cells = ", ".join(f"{kind} = {row[kind]:.3f}" for kind in KINDS)
                lines.append(f"{name} = {{ edits = {row['edits']:.2f}, {cells} }}")
        lines.append("")
    return "\n".join(lines)


def released(file: str | None) -> pl.DataFrame:
    """The hops of the released traces."""
    return read_hops([load("evolved-claims", archive(file), variant="traces")])


GRADES = ("grammatical", "plausible", "reached")
WALKS = 15


def ends(run: Path) -> dict[str, tuple[str, str]]:
    """Trace to its seed and its last text."""
    table = Dataset.open(run).tables["traces"].sort("trace_id", "round", "step")
    last = table.group_by("trace_id", maintain_order=True).agg(
        pl.col("input").first(), pl.col("output").last()
    )
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
    sheet = pl.read_csv(folder / "sheet.csv", schema_overrides=dict.fromkeys(GRADES, pl.Int64))
    sheet = sheet.join(pl.read_csv(folder / "key.csv"), on="number")
    print(
        "| version | texts | not graded | grammatical | plausible | both | target reached |\n|"
        + "---|" * 7
    )
    for version in ("old", "new"):
        part = sheet.filter(pl.col("version") == version)
        good, fit = part["grammatical"], part["plausible"]
        both, aimed = int(((good == 1) & (fit == 1)).sum()), part.filter(pl.col("target") != "walk")
        grades = f"{good.null_count()} | {good.sum()} | {fit.sum()} | {both}"
        print(
            f"| {version} | {part.height} | {grades} | {aimed['reached'].sum()} of {aimed.height} |"
        )


def compare(hops: pl.DataFrame, runs: list[Path]) -> None:
    columns = {"released": shares(list(rewrites(hops)))[("all", 0)]}
    for run in runs:
        columns[run.name] = shares(list(rewrites(read_hops([Dataset.open(run)]))))[("all", 0)]
    print("| kind | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1))
    for kind in ("hops", "edits", *KINDS):
        print(
            f"| {kind} | " + " | ".join(f"{column[kind]:.2f}" for column in columns.values()) + " |"
        )


def main() -> None:
    made = parser(__doc__)
    made.add_argument("what", choices=("learn", "compare", "draw", "count"))
    made.add_argument(
        "folders",
        nargs="*",
        type=Path,
        metavar="FOLDER",
        help="runs to compare, or one of a reading",
    )
    made.add_argument("--archive", metavar="FILE", help="the released evolved claims")
    made.add_argument("--write", type=Path)
    made.add_argument("--old", nargs=2, type=Path)
    made.add_argument("--new", nargs=2, type=Path)
    made.add_argument("--seed", type=int, default=7)
    options = begin(made)
    if options.what in ("draw", "count") and len(options.folders) != 1:
        made.error("name the folder of the reading")
    if options.what == "draw":
        if not options.old or not options.new:
            made.error("name the runs of both versions: --old WALK STEERED --new WALK STEERED")
        draw(options.folders[0], options.old, options.new, options.seed)
    elif options.what == "count":
        count(options.folders[0])
    elif options.what == "compare":
        compare(released(options.archive), options.folders)
    else:
        text = as_toml(released(options.archive))
        if options.write:
            options.write.write_text(text, encoding="utf-8")
        print(text)


if __name__ == "__main__":
    main()
