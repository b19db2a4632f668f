"""Detectors against published figures, on splits of our own: mean and 95 % interval over seeds.

    python bench/detect.py [PART ...] [--data ../shared/data] [--seeds 5] [--with static,sentence]
    [--out DIR]

Parts: covid19-br, fake-br, policlaim, covid19-fake-news, evolved, f3, twitter15, cross-lingual; all
of them when none is named. Prints one Markdown table for each dataset and question, with the
shortcuts in it, so that a reader sees what looking at nothing but the length achieves; `--out` also
writes detect.md and detect.json. The interval is that of the mean over seeds (Student's t). Seeds
share their data, so it says how much the split and the training move the score, not how the score
would carry over to other data.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from harness import begin, parser
from parts.detect_tables import PARTS, Table

from claimlab.core.settings import read as read_settings
from claimlab.detect.detector import DETECTORS, Detector
from claimlab.detect.run import detect
from claimlab.detect.tables import scores_of

CLASSIC = "tfidf"


@dataclass(frozen=True)
class Row:
    """One detector in one table. Scores in per cent; `interval` is half the width of the interval
    of the mean.
    """

    part: str
    table: str
    detector: str
    macro_f1: float
    interval: float | None
    accuracy: float
    seeds: list[float]
    train: int
    test: int
    cpu_seconds: float
    published: str


def half_width(values: Sequence[float]) -> float | None:
    """Half of the 95 % interval of the mean; null for a single value."""
    if len(values) < 2:
        return None
    from scipy.stats import t

    return float(t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))


def contestants(table: Table, more: Sequence[str]) -> Iterator[tuple[str, Callable[[], Detector]]]:
    """Baselines, shortcuts, the classic, and what `--with` asks for (`name` or
    `name:key=value:...`).
    """
    for name in ("majority", "stratified"):
        yield name, DETECTORS.get(name)
    for feature in table.shortcuts:
        yield (
            f"shortcut: {feature}",
            lambda feature=feature: DETECTORS.get("shortcut")(feature=feature),
        )  # type: ignore[call-arg]
    for wanted in (CLASSIC, *more):
        name, *settings = wanted.split(":")
        kind = DETECTORS.get(name)
        yield (
            wanted,
            lambda kind=kind, settings=settings: kind(
                **read_settings(kind, settings, of=kind.name)
            ),
        )


def measure(part: str, table: Table, seeds: int, more: Sequence[str]) -> list[Row]:
    split = [table.split(seed) for seed in range(seeds)]
    rows = []
    for name, make in contestants(table, more):
        print(f"  {table.title}: {name}", file=sys.stderr)
        began = time.process_time()
        runs = [
            detect(data, make(), task=table.task, seed=s, shard=100_000)
            for s, data in enumerate(split)
        ]
        found = [scores_of(run, table.task) for run in runs]
        scores = [100 * f["macro_f1"] for f in found]
        labelled = table.task.labels(split[0].records).is_not_null() & (
            split[0].records["split"] == "train"
        )
        rows.append(
            Row(
                part=part,
                table=table.title,
                detector=name,
                macro_f1=float(np.mean(scores)),
                interval=half_width(scores),
                accuracy=100 * float(np.mean([f["accuracy"] for f in found])),
                seeds=[round(s, 2) for s in scores],
                train=int(labelled.sum()),
                test=int(found[0]["n"]),
                cpu_seconds=round(time.process_time() - began, 1),
                published=table.published,
            )
        )
    return rows


def markdown(table: Table, rows: Sequence[Row]) -> str:
    """The table as documentation shows it; the published figure stands in the heading of its
    column.
    """
    lines = [f"### {table.title}\n", f"Published: {table.published}. {table.note}".strip()]
    lines.append(
        f"{rows[0].train:,} training and {rows[0].test:,} test rows, {len(rows[0].seeds)} seeds.\n"
    )
    lines.append("| detector | macro-F1 | accuracy | CPU s |\n|---|---|---|---|")
    for row in rows:
        around = f" ± {row.interval:.1f}" if row.interval is not None else ""
        lines.append(
            f"| {row.detector} | {row.macro_f1:.1f}{around} | {row.accuracy:.1f} |"
            f" {row.cpu_seconds:.0f} |"
        )
    if table.least is not None:
        best = max(row.macro_f1 for row in rows if row.detector == CLASSIC)
        lines.append(
            f"\nAimed at: {table.least}. {'Reached' if best >= table.least else 'NOT REACHED'}:"
            f" {best:.1f}."
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    made = parser(__doc__, data=True)
    made.add_argument(
        "parts", nargs="*", choices=[[], *PARTS], metavar="PART", help=", ".join(PARTS)
    )
    made.add_argument("--seeds", type=int, default=5)
    made.add_argument(
        "--with", dest="more", default="", help="more detectors: static,sentence,encoder:epochs=3"
    )
    made.add_argument("--out", type=Path, help="folder for detect.md and detect.json")
    args = begin(made)
    more = [word for word in args.more.split(",") if word]
    rows: list[Row] = []
    pages: list[str] = []
    began, missed = time.process_time(), 0
    for part in args.parts or PARTS:
        for table in PARTS[part](args.data):
            measured = measure(part, table, args.seeds, more)
            pages.append(markdown(table, measured))
            print(pages[-1], flush=True)
            missed += "NOT REACHED" in pages[-1]
            rows += measured
            if args.out:
                args.out.mkdir(parents=True, exist_ok=True)
                (args.out / "detect.md").write_text("\n".join(pages), encoding="utf-8")
                kept = json.dumps(
                    {"rows": [asdict(row) for row in rows]}, ensure_ascii=False, indent=2
                )
                (args.out / "detect.json").write_text(kept + "\n", encoding="utf-8")
    print(f"CPU seconds in all: {time.process_time() - began:.0f}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
