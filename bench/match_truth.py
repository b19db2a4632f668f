"""Has this claim been checked before? Words alone (BM25), sentence vectors alone, reciprocal rank
fusion, and our fusion of the two, on every set at hand in which answers are known.

    python bench/match_truth.py [--data ../shared/data] [--queries 500] [--learn] [--decide]

The weights of our fusion are learned on the sets of the other families and tried on the set that
was left out; "as installed" are those of `search/fusion.py`, less the better part as well.
`--learn` prints the weights from all sets. Intervals are 95%, over queries.

`--speed 200000` makes an archive of so many synthetic claims and prints the processor seconds of
`claimlab match --text`, start included: the least and the median of seven goes.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from harness import begin, parser, shared
from parts.matching_sets import POOLS, candidates_of, learned

from claimlab.core.dataset import Dataset
from claimlab.core.stats.interval import mean_interval
from claimlab.search.fusion import FEATURES, RetrievedDocuments, fused
from claimlab.tasks.matching import reciprocal_rank, success

REPEATS = 7


def speed(claims: int, place: Path) -> None:
    """One claim of the command line: by words, by vectors too, and the same claim once more."""
    rng = random.Random(0)
    words = [f"w{i}x{chr(97 + i % 26)}" for i in range(30_000)]
    texts = [" ".join(rng.choices(words, k=14)) for _ in range(claims)]
    ids, labels = [f"c{i}" for i in range(claims)], ["false", "true"] * (claims // 2)
    table = {"id": ids, "text": texts, "veracity": labels, "language": ["eng"] * claims}
    Dataset.build("archive", pl.DataFrame(table)).write(place / "archive")
    asked = {
        "the index": (1, "first"),
        "a new claim by words": (
            REPEATS,
            "Was bridge {} at Northport sold?",
            "--set",
            "words=true",
        ),
        "a new claim by words and vectors": (REPEATS, "Was bridge {} at Northport sold?"),
        "the same claim again": (REPEATS, "Was bridge 0 at Northport sold?"),
    }
    for name, (times, claim, *more) in asked.items():
        seconds = [_seconds(place, claim.format(time), *more) for time in range(times)]
        print(f"{name}: {min(seconds):.2f} s (median {np.median(seconds):.2f})", flush=True)


def _seconds(place: Path, *words: str) -> float:
    before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    subprocess.run(
        [
            sys.executable,
            "-m",
            "claimlab",
            "match",
            "--archive",
            place / "archive",
            "--text",
            *words,
        ],
        env={**os.environ, "CLAIMLAB_CACHE": str(place / "cache")},
        check=True,
        capture_output=True,
    )
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before


def ranked(candidates: RetrievedDocuments, scores: np.ndarray) -> list[int]:
    best = np.argsort(-scores, kind="stable").tolist()
    return [candidates.documents[i] for i in best if scores[i] > 0]


def reciprocal_rank_fusion(candidates: RetrievedDocuments) -> np.ndarray:
    total = np.zeros(len(candidates.documents))
    for scores in (candidates.words, candidates.meaning):
        rank = np.empty(len(scores))
        rank[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
        total += 1 / (60 + rank)
    return total


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("--queries", type=int, default=500, help="at most, of each set")
    made.add_argument("--learn", action="store_true", help="print the weights from all sets")
    made.add_argument("--speed", type=int, help="the time of one claim in so many")
    options = begin(made)
    if options.speed:
        with tempfile.TemporaryDirectory() as place:
            speed(options.speed, Path(place))
        return
    shared(folder=options.data)
    compared(options.data, options.queries, learn=options.learn)


def compared(folder: Path, most: int, *, learn: bool) -> None:
    pools = {name: made(folder) for name, made in POOLS.items()}
    asked = {name: candidates_of(pool, most) for name, pool in pools.items()}
    if learn:
        weights, bias = learned([*asked.values()])
        print(dict(zip(FEATURES, weights.round(3).tolist(), strict=True)), round(bias, 3))
    print(
        "| set | texts | queries | words | vectors | rank fusion | ours | ours less the better part"
        " | as installed | success@10: words | vectors | ours |\n|" + "---|" * 12
    )
    for name, pool in pools.items():
        weights, bias = learned([asked[n] for n, o in pools.items() if o.family != pool.family])
        matchers = {
            "words": lambda c: c.words,
            "vectors": lambda c: c.meaning,
            "ranks": reciprocal_rank_fusion,
            "ours": lambda c, w=weights, b=bias: fused(c, w, b),
            "installed": fused,
        }
        lists = {
            matcher: [(ranked(c, scored(c)), truth) for c, truth in asked[name]]
            for matcher, scored in matchers.items()
        }
        mrr = {m: np.array([reciprocal_rank(*one) for one in found]) for m, found in lists.items()}
        ten = {
            m: np.mean([success(ids, truth, 10) for ids, truth in found])
            for m, found in lists.items()
        }
        better = max((mrr["words"], mrr["vectors"]), key=np.mean)
        cells = [name, f"{len(pool.texts):,}", f"{len(asked[name]):,}"]
        cells += [f"{mrr[m].mean():.3f}" for m in ("words", "vectors", "ranks", "ours")]
        cells += [_cell(mrr[m] - better) for m in ("ours", "installed")]
        cells += [f"{ten[matcher]:.3f}" for matcher in ("words", "vectors", "ours")]
        print("| " + " | ".join(cells) + " |", flush=True)


def _cell(values: np.ndarray) -> str:
    ends = mean_interval(values)
    span = "" if ends is None else f" ({ends[0]:+.3f} to {ends[1]:+.3f})"
    return f"{values.mean():+.3f}{span}"


if __name__ == "__main__":
    main()
