"""What a study adds to the time of its runs: a grid of 200 cheap cells against the same calls made
one after the other.

    python bench/study.py [--seeds 20] [--repeat 3]

Both make the same folders with the same functions, in turn; the least times are compared. The
tables (2,000 resamples for every setting) are made once per study, whatever the number of runs, and
are timed on their own. Target: 10%.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from harness import begin, parser
from parts.planted import planted

import claimlab as cl
from claimlab.study.page import write_tables
from claimlab.study.run import prepared

SPLITS, DETECTORS = ("random", "group"), ("majority", "stratified", "tfidf", "length", "source")
STUDY = """
references = false
seeds = {seeds}
[datasets.data]
folder = "data"
[grid]
split = {splits}
detector = {detectors}
[detector.length]
detector = "shortcut"
settings = {{ feature = "length" }}
[detector.source]
detector = "shortcut"
settings = {{ feature = "source" }}
"""


def by_hand(seeds: int, output: Path) -> float:
    began = time.perf_counter()
    for by in SPLITS:
        for seed in range(seeds):
            cl.split("data", by, seed=seed, output=output / f"{by}-{seed}")
            for name in DETECTORS:
                feature = {"feature": name} if name in ("length", "source") else {}
                detector = "shortcut" if feature else name
                place = output / f"{name}-{by}-{seed}"
                cl.detect(
                    output / f"{by}-{seed}", detector, settings=feature, seed=seed, output=place
                )
    return time.perf_counter() - began


def as_study(output: Path) -> tuple[float, float, int]:
    began = time.perf_counter()
    with prepared("study.toml", output, (), mode="record", trust=True) as maker:
        maker.make_all()
        made = time.perf_counter()
        write_tables(maker.grid)
    return made - began, time.perf_counter() - made, len(maker.grid.done)


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--seeds", type=int, default=20)
    made.add_argument("--repeat", type=int, default=3)
    args = begin(made)
    hand, study, tables, cells = [], [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        planted(size=400)[0].write("data")
        words = {
            "seeds": list(range(args.seeds)),
            "splits": list(SPLITS),
            "detectors": list(DETECTORS),
        }
        text = STUDY.format(**{name: str(value).replace("'", '"') for name, value in words.items()})
        Path("study.toml").write_text(text, encoding="utf-8")
        by_hand(1, Path("warm"))
        for i in range(args.repeat):
            hand.append(by_hand(args.seeds, Path(f"hand-{i}")))
            steps, shown, cells = as_study(Path(f"study-{i}"))
            study.append(steps)
            tables.append(shown)
        os.chdir("/")
    ratio = min(study) / min(hand)
    print(f"cells                 {cells}")
    print(f"one after the other   {min(hand):.2f} s")
    print(f"as a study            {min(study):.2f} s")
    print(f"ratio                 {ratio:.3f}   (target 1.10)")
    print(f"tables                {min(tables):.2f} s")
    sys.exit(0 if ratio <= 1.1 else 1)


if __name__ == "__main__":
    main()
