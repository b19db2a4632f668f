"""How much of a score the random split gives away: the same detector under several splits of a real dataset.

    python bench/split_drop.py ../shared/data [--seeds 3]

Prints macro-F1 (mean over seeds, lowest and highest) of `tfidf` and of the majority class, with the share of test rows
whose text or group stands in train. A split that cannot be made is listed with the reason.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import fmean

from claimlab.catalog.load import load
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab.detect.detector import DETECTORS
from claimlab.detect.run import detect
from claimlab.detect.scores import scores_of
from claimlab.split.run import Split, split
from claimlab.tasks.known.table_veracity import VERACITY as TASK

DATASETS = ("twitter15",)
WAYS = ("random", "group", "event")


def macro_f1(done: Split, detector: str, seed: int) -> float:
    return 100 * float(scores_of(detect(done.dataset, DETECTORS.get(detector)(), seed=seed), TASK)["macro_f1"])


def row(dataset: Dataset, way: str, seeds: int) -> str:
    made = []
    for seed in range(seeds):
        try:
            made.append(split(dataset, way, seed=seed))
        except ClaimlabError as error:
            return f"{dataset.name:<14} {way:<16} not made: {error.problem}"
    scores = [macro_f1(one, "tfidf", seed) for seed, one in enumerate(made)]
    floor = [macro_f1(one, "majority", seed) for seed, one in enumerate(made)]
    leaks = [one.checked.leaks[0] for one in made]
    text = fmean(100 * leak.texts / leak.rows for leak in leaks)
    group = fmean(100 * (leak.group or 0) / leak.rows for leak in leaks)
    span = f"{fmean(scores):5.1f} ({min(scores):.1f} to {max(scores):.1f})"
    return f"{dataset.name:<14} {way:<16} {span:<22} {fmean(floor):5.1f} {text:8.1f} {group:8.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    print(f"{'dataset':<14} {'split':<16} {'tfidf macro-F1':<22} {'floor':>5} {'text %':>8} {'group %':>8}")
    for name in DATASETS:
        dataset = load(name, given.data / f"{name}.zip")
        for way in WAYS:
            print(row(dataset, way, given.seeds), flush=True)


if __name__ == "__main__":
    main()
