"""What `prepare` makes of real datasets: the verdict before and after, the records it takes out of
each class, what still fails, and what a text model scores before and after.

    python bench/prepare_real.py --data ../shared/data --table docs/benchmarks/prepare.md

Before: the split that the dataset was published with, or else one at random. After: the split of
the prepared dataset. A dataset on which nothing helps is in the table as the others are.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from harness import begin, parser, shared

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab.study.prepare import Prepared

NAMES = (
    *("fake-br", "liar", "covid19-fake-news", "fang-covid", "covid-fact", "coaid"),
    *("fakehealth", "buzzfeednews", "check-covid", "isot", "factck-br"),
)
MOST_RECORDS = 800  # of one dataset, drawn at random
HEAD = """\
# What `prepare` changes on real datasets

[`claimlab prepare`](../prepare.md) with its defaults on up to 800 records, drawn at random, of each
dataset; nothing was set for any of them. The score is the macro-F1 of `tfidf`: before on the
published split, or one at random; after on the split of the prepared dataset. Where a test was
published it stays, so masks and splits are refused there. A single split of so few records: a
difference of a few points says nothing.

    python bench/prepare_real.py --data ../shared/data --table docs/benchmarks/prepare.md

| dataset | verdict before | removed | steps | fails, then | verdict after | `tfidf`, then |
|---|---|---|---|---|---|---|
"""


def score(dataset: Dataset) -> float | None:
    """Macro-F1 of a text model on the split of the dataset, in %; null where it cannot be had."""
    try:
        given = {"train", "test"} <= set(dataset.records["split"].unique())
        data = dataset if given else cl.split(dataset, "random").dataset
        return float(100 * cl.detect(data, "tfidf").report["scores"]["macro_f1"])
    except ClaimlabError as error:
        print(f"  no score: {error}", file=sys.stderr)
        return None


def row(name: str, before: Dataset, prepared: Prepared) -> dict[str, str]:
    assert prepared.after is not None
    removed: dict[str, int] = {}
    for step in prepared.applied:
        for label, n in step.removes.items():
            removed[label] = removed.get(label, 0) + n
    sizes = prepared.steps[0].of
    lost = ", ".join(f"{label} {removed.get(label, 0):,} of {n:,}" for label, n in sizes.items())
    refused = ", ".join(f"{step.name} refused" for step in prepared.refused)
    steps = "; ".join(filter(None, [", ".join(s.name for s in prepared.applied), refused]))
    scores = [score(before), score(prepared.dataset)]
    fails = [audit.counts()["fail"] for audit in (prepared.before, prepared.after)]
    cells = {
        "dataset": name,
        "before": prepared.before.conclusion.verdict.words,
        "removed": lost if sum(removed.values()) else "none",
        "steps": steps or "none",
        "fails": f"{fails[0]}, {fails[1]}",
        "after": prepared.after.conclusion.verdict.words,
        "score": ", ".join("not measured" if s is None else f"{s:.1f}" for s in scores),
    }
    helped = fails[1] < fails[0] or cells["before"] != cells["after"]
    return cells if helped else {**cells, "after": f"{cells['after']} (nothing helped)"}


def main() -> None:
    arguments = parser(__doc__, data=True)
    arguments.add_argument("--table", type=Path)
    arguments.add_argument("--names", nargs="*", default=NAMES)
    arguments.add_argument("--keep", type=Path, default=Path("build/prepare_real.jsonl"))
    given = begin(arguments)
    shared(folder=given.data)
    given.keep.parent.mkdir(parents=True, exist_ok=True)
    lines = given.keep.read_text("utf-8").splitlines() if given.keep.is_file() else []
    rows = {cells["dataset"]: cells for cells in map(json.loads, lines)}
    for name in given.names:
        if name in rows:
            continue
        try:
            whole = cl.load(name, given.data / f"{name}.zip")
            data = whole.sampled(MOST_RECORDS, 0)
            rows[name] = row(name, data, cl.prepare(data))
        except ClaimlabError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        with given.keep.open("a", encoding="utf-8") as file:
            file.write(json.dumps(rows[name]) + "\n")
        print(rows[name], flush=True)
    if given.table is not None:
        table = "".join(f"| {' | '.join(cells.values())} |\n" for cells in rows.values())
        given.table.write_text(HEAD + table, encoding="utf-8")


if __name__ == "__main__":
    main()
