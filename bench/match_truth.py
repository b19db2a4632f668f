"""Has this claim been checked before? Words alone (BM25), sentence vectors alone, reciprocal rank
fusion, and our fusion of the two, on every set at hand in which answers are known.

    python bench/match_truth.py [--data ../shared/data] [--queries 500] [--learn] [--decide]

The weights of our fusion are learned on the sets of the other families and tried on the set that
was left out; "as installed" are those of `search/fusion.py`, less the better part as well.
`--learn` prints the weights from all sets. Intervals are 95%, over queries.

`--decide` takes half of the answers out of the archive, and measures how right "no match" is.
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
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from harness import begin, parser, shared
from parts.matching_sets import POOLS, SETS, candidates_of, learned, matching

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.stats.interval import Interval, mean_interval
from claimlab.search.fusion import FEATURES, Candidates, fused
from claimlab.tasks.matching import as_qrels, reciprocal_rank, success

REPEATS = 7


def decisions(name: str, folder: Path, most: int, place: Path) -> None:
    """Every second answer is taken out of the archive, so that about half of the queries have none;
    how right `match` is where it answers, and where it says that there is no match."""
    claims, checks, answers = matching(name, folder)
    queries = sorted(q for q, documents in answers.items() if documents)[:most]
    gone = {*sorted({document for query in queries for document in answers[query]})[::2]}
    left = {query: answers[query] - gone for query in queries}
    records = checks.records.filter(~checks.records["id"].is_in([*gone]))
    archive = place / f"{name}.less"
    replace(checks, records=records).write(archive)
    asked = claims.records.filter(claims.records["id"].is_in(queries))
    (place / f"{name}.qrels").write_text(as_qrels(left))
    for precision in (0.8, 0.9, 0.95):
        found = cl.match(
            replace(claims, records=asked, tables={}),
            archive=archive,
            qrels=place / f"{name}.qrels",
            precision=precision,
        ).decision
        assert found is not None
        cells = [name, f"{len(queries):,}", f"{sum(map(bool, left.values())):,}", precision]
        cells += [_share(found.precision, found.interval), _share(found.answered)]
        cells += [_share(found.no_match, found.no_match_interval)]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def _share(value: float | None, ends: Interval | None = None) -> str:
    span = f" ({ends[0]:.2f} to {ends[1]:.2f})" if ends else ""
    return "no score reaches it" if value is None else f"{value:.2f}{span}"


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


def ranked(candidates: Candidates, scores: np.ndarray) -> list[int]:
    best = np.argsort(-scores, kind="stable").tolist()
    return [candidates.documents[i] for i in best if scores[i] > 0]


def reciprocal_rank_fusion(candidates: Candidates) -> np.ndarray:
    total = np.zeros(len(candidates.documents))
    for scores in (candidates.words, candidates.meaning):
        rank = np.empty(len(scores))
        rank[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
        total += 1 / (60 + rank)
    return total


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("--queries", type=int, default=500, help="at most, of each set")
    made.add_argument("--decide", action="store_true", help='the decision "no match" alone')
    made.add_argument("--learn", action="store_true", help="print the weights from all sets")
    made.add_argument("--speed", type=int, help="the time of one claim in so many")
    options = begin(made)
    if options.speed:
        with tempfile.TemporaryDirectory() as place:
            speed(options.speed, Path(place))
        return
    shared(folder=options.data)
    if options.decide:
        print(
            "| set | queries | with an answer | precision asked for | precision | answered |"
            " precision of no match |\n|---|---|---|---|---|---|---|"
        )
        with tempfile.TemporaryDirectory() as place:
            for name in SETS:
                decisions(name, options.data, options.queries, Path(place))
        return
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
    ends = mean_interval(values, draws=400)
    span = "" if ends is None else f" ({ends[0]:+.3f} to {ends[1]:+.3f})"
    return f"{values.mean():+.3f}{span}"


if __name__ == "__main__":
    main()
