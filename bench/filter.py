"""The quality filter: planted defects, F3's real pairs, and the speed of each metric.

    python bench/filter.py planted [--size 1000]
    python bench/filter.py details [--size 50]
    python bench/filter.py f3 [FILE]
    python bench/filter.py unrelated [FILE]
    python bench/filter.py speed [--size 10000]

FILE is F3 as published (default: in ../shared/data).
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import polars as pl
from harness import begin, best, parser, shared
from parts.planted_details import KINDS, planted_details
from parts.planted_samples import REASONS, planted_samples

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab_simulate.generate.filter.batch import read_batch
from claimlab_simulate.generate.filter.metric import METRICS
from claimlab_simulate.generate.filter.metrics.table_source import cosines
from claimlab_simulate.generate.filter.thresholds import read_table


def planted(size: int) -> None:
    """Each defect by how many were found, and for their reason; the clean samples that were
    lost.
    """
    dataset, truth = planted_samples(size=size, each=size // 20)
    filtered = cl.quality_filter(dataset)
    verdicts = {v.sample: v for v in filtered.verdicts}
    for defect, samples in truth.items():
        rows = [verdicts[sample] for sample in samples]
        failed = [v for v in rows if v.verdict == "failed"]
        right = [v for v in failed if {r.split(":")[0] for r in v.reasons} & REASONS[defect]]
        print(
            f"{defect:<18} failed {len(failed):>3} of {len(rows)}, for its reason {len(right):>3}"
        )
    bad = {sample for samples in truth.values() for sample in samples}
    clean = [v for v in filtered.verdicts if v.sample not in bad]
    lost = [v for v in clean if v.verdict != "passed"]
    print(f"clean samples lost: {len(lost)} of {len(clean)}: {[v.reasons for v in lost][:5]}")


def details(each: int) -> None:
    """Wrong details of real text by how many were found, for their reason, and by the untouched
    samples that were lost.
    """
    dataset, truth = planted_details(each)
    # one story with other figures again and again: near-duplicates by design
    metrics = ["structure", "details", "invention", "translated-pair", "language", "similarity"]
    verdicts = {v.sample: v for v in cl.quality_filter(dataset, metrics=metrics).verdicts}
    print("| planted | language | samples | failed | for its reason |")
    print("|---|---|---|---|---|")
    for (kind, language), samples in truth.items():
        failed = [v for v in map(verdicts.get, samples) if v and v.verdict == "failed"]
        reasons = KINDS.get(kind, set())
        right = sum(bool({r.split(":")[0] for r in v.reasons} & reasons) for v in failed)
        print(f"| {kind} | {language} | {len(samples)} | {len(failed)} | {right} |")
        passed = [v for v in map(verdicts.get, samples) if v and v.verdict != "failed"]
        odd = passed if reasons else failed
        for v in odd[:2]:
            print(f"# {v.sample}: {v.reasons}", file=sys.stderr)


def f3(path: Path) -> None:
    """Pass rates on real pairs of a person's text and a model's version of it."""
    filtered = cl.quality_filter(cl.load("f3", path, variant="machine"))
    print(filtered)
    for row in filtered.by_metric():
        if row["passed"] + row["failed"]:
            print({k: row[k] for k in ("metric", "veracity", "passed", "failed", "not_measured")})
    for of in ("degree", "veracity"):
        print(filtered.retention(of))
    print(filtered.reasons(), filtered.unmeasured())


def unrelated(path: Path) -> None:
    """How similar the vectors of texts are that have nothing to do with each other: where the
    threshold comes from.
    """
    batch = read_batch(cl.load("f3", path, variant="machine"), None, read_table(None))
    texts = random.Random(1).sample([t for t in batch.texts if t.source and t.text], 1_000)
    pairs = [
        (texts[i - 1].source or "", t.text or "")
        for i, t in enumerate(texts)
        if texts[i - 1].source != t.source
    ]
    for name, values in (
        ("own source", [(t.source or "", t.text or "") for t in texts]),
        ("another", pairs),
    ):
        print(name, np.percentile(cosines(values), [1, 5, 50, 95, 99]).round(2))


def speed(size: int) -> None:
    """CPU seconds and samples a second of each metric; a sample is an article of five sentences and
    its translation.
    """
    dataset, _ = planted_samples(size=size, each=0)
    posts = pl.col("kind") == "post"
    batch = read_batch(
        Dataset.build("speed", dataset.records.filter(~posts)), None, read_table(None)
    )
    samples = len({text.sample for text in batch.texts})
    for name, metric in METRICS.all().items():
        seconds = best(lambda metric=metric: metric.measure(batch), 1).cpu  # type: ignore[misc]
        print(
            f"{name:<18} {seconds:>7.2f} CPU s for {samples:,} samples: {samples / seconds:>9,.0f}"
            " a second",
            flush=True,
        )


def main() -> None:
    made = parser(__doc__)
    made.add_argument("what", choices=["planted", "details", "f3", "unrelated", "speed"])
    made.add_argument("file", nargs="?", type=Path)
    made.add_argument(
        "--size",
        type=int,
        help="synthetic samples: 1,000 planted, 50 of each detail, 10,000 for speed",
    )
    options = begin(made)
    if options.what in ("f3", "unrelated"):
        (f3 if options.what == "f3" else unrelated)(options.file or shared("f3.zip"))
    elif options.what == "speed":
        speed(options.size or 10_000)
    elif options.what == "details":
        details(options.size or 50)
    else:
        planted(options.size or 1_000)


if __name__ == "__main__":
    main()
