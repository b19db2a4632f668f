"""What `claimlab evaluate` costs on two large runs: CPU seconds, peak memory, and where the time
goes.

    python bench/evaluate_runs.py                      two runs of 300,000 rows in 95,000 groups,
                                                       with scores
    python bench/evaluate_runs.py --rows 1000000       larger
    python bench/evaluate_runs.py --profile            and the functions that take the most time

The rows are synthetic: five languages, eight topics, dates over five years, probabilities as
scores, two detectors of different quality. The evaluation runs in a process of its own, report
included, as the command line does it.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from harness import Row, begin, best, parser, record

DRAWS = 2000  # resamples for an interval, as in claimlab
RUNS = {"first": 1.2, "second": 1.0}  # how far the scores of the two classes are apart


def make(folder: Path, rows: int, groups: int, seed: int = 0) -> None:
    """A dataset, and the predictions of two detectors about it."""
    from claimlab.core.dataset import Dataset

    rng = np.random.default_rng(seed)
    false = rng.random(rows) < 0.45
    days = pl.Series(18_262 + rng.integers(0, 1826, rows), dtype=pl.Int32).cast(pl.Date)
    records = pl.DataFrame(
        {
            "id": [f"r{i:08}" for i in range(rows)],
            "dataset": "synthetic",
            "text": [f"Synthetic claim number {i}" for i in range(rows)],
            "kind": "post",
            "label_raw": np.where(false, "false", "true"),
            "veracity": np.where(false, "false", "true"),
            "language": rng.choice(["en", "pt", "es", "de", "sw"], rows),
            "topic": rng.choice([f"topic {i}" for i in range(8)], rows),
            "date": days,
            "group": [f"g{g}" for g in rng.integers(0, groups, rows).tolist()],
        }
    )
    Dataset.build("synthetic", records).write(folder / "data")
    for name, skill in RUNS.items():
        score = 1 / (1 + np.exp(-(skill * (2.0 * false - 1) + rng.normal(size=rows))))
        said = np.where(score > 0.5, "false", "true")
        pl.DataFrame({"id": records["id"], "label": said, "score": score}).write_parquet(
            folder / f"{name}.parquet"
        )


def evaluate(folder: Path, profile: bool) -> None:
    """In a process of its own: evaluate, write the report, print what it took."""
    import claimlab as cl

    files = [folder / f"{name}.parquet" for name in RUNS]
    profiler = cProfile.Profile()
    began, cpu = time.perf_counter(), time.process_time()
    if profile:
        profiler.enable()
    cl.evaluate(predictions=files, data=folder / "data", output=folder / "report", force=True)
    profiler.disable()
    used = resource.getrusage(resource.RUSAGE_SELF)
    took = {
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - cpu,
        "peak_mb": used.ru_maxrss / 1024,
    }
    if profile:
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(25)
    print(json.dumps(took))


def by_sklearn(rows: int) -> float:
    """Seconds that two bootstrap intervals of macro-F1 take where every resample is a call of
    scikit-learn.
    """
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(0)
    truth, label = rng.random(rows) < 0.45, rng.random(rows) < 0.45

    def resample() -> float:
        picks = rng.integers(0, rows, rows)
        return float(f1_score(truth[picks], label[picks], average="macro"))

    return len(RUNS) * DRAWS * best(resample).cpu


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--rows", type=int, default=300_000)
    made.add_argument("--groups", type=int, default=95_000)
    made.add_argument("--profile", action="store_true")
    made.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = begin(made)
    if options.worker:
        evaluate(options.worker, options.profile)
        return
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), options.rows, options.groups)
        command = [
            sys.executable,
            __file__,
            "--worker",
            folder,
            *(["--profile"] if options.profile else []),
        ]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    took = json.loads(done.stdout.strip().splitlines()[-1])
    print(
        f"two runs of {options.rows:,} rows in {options.groups:,} groups, with scores, report"
        " included:"
    )
    print(
        f"{took['cpu']:.1f} CPU seconds, {took['seconds']:.1f} s by the clock, peak"
        f" {took['peak_mb']:,.0f} MB"
    )
    note = (
        f"one resample measured, times {DRAWS}; ours also has slices, groups, a comparison and the"
        " report"
    )
    peer = "macro-F1 with intervals by scikit-learn"
    record(
        Row(
            "evaluate",
            f"two runs of {options.rows:,} rows",
            peer,
            took["cpu"],
            by_sklearn(options.rows),
            note=note,
        )
    )
    what = f"two runs of {options.rows:,} rows, peak memory"
    record(Row("evaluate", what, "", took["peak_mb"], unit="MB"))


if __name__ == "__main__":
    main()
