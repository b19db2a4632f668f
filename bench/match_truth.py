"""Has this claim been checked before? Our matcher, words alone (BM25) and sentence vectors alone,
on every labelled matching set at hand.

    python bench/match_truth.py [--data ../shared/data] [--queries 800] [--learn] [--decide]

The weights that fuse the two are learned on the sets of the other families and tried on the set
that was left out; `--learn` prints the weights from all sets, as `search/fusion.py` has them.
Intervals are 95%, over queries. `--decide` takes half of the answers out of the
archive, and measures how right "no match" is. `--speed 200000` makes an archive of so many
synthetic claims and prints the processor seconds of `claimlab match --text`, start included: the
least and the median of seven goes.
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
from parts.matching_sets import Asked, MatchingSet, learned, matching_sets

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.stats.interval import Interval, mean_interval
from claimlab.search.fusion import FEATURES, Candidates, Meaning, fused
from claimlab.search.local import LocalIndex, build_index
from claimlab.search.query import Query
from claimlab.tasks.matching import as_qrels, reciprocal_rank, success
from claimlab.text.kept_vectors import vectors_of

REPEATS = 7


def candidates_of(one: MatchingSet, most: int, place: Path) -> Asked:
    one.archive.write(place / one.name)
    held = build_index(place / one.name, place / f"{one.name}.index", factcheck=True).documents
    archive = LocalIndex(place / f"{one.name}.index", Meaning(vectors_of, ()))
    numbers = {archive.document(number)["source_id"]: number for number in range(held)}
    answers = {
        query: {numbers[document] for document in documents if document in numbers}
        for query, documents in one.answers.items()
    }
    rows = one.queries.records.filter(one.queries.records["id"].is_in([*answers]))
    if rows.height > most:
        rows = rows.sample(most, seed=0)
    texts = rows["text"].to_list()
    vectors = vectors_of(texts)
    return [
        (archive.candidates(Query(text, language="eng"), vector), answers[id])
        for id, text, vector in zip(rows["id"].to_list(), texts, vectors, strict=True)
        if text and text.strip()
    ]


def decisions(one: MatchingSet, most: int, place: Path) -> None:
    """Every second answer is taken out of the archive, so that about half of the queries have none;
    how right `match` is where it answers, and where it says that there is no match."""
    answers = one.answers
    queries = sorted(q for q, documents in answers.items() if documents)[:most]
    gone = {*sorted({document for query in queries for document in answers[query]})[::2]}
    left = {query: answers[query] - gone for query in queries}
    records = one.archive.records.filter(~one.archive.records["id"].is_in([*gone]))
    archive = place / f"{one.name}.less"
    replace(one.archive, records=records).write(archive)
    asked = one.queries.records.filter(one.queries.records["id"].is_in(queries))
    (place / f"{one.name}.qrels").write_text(as_qrels(left))
    for precision in (0.8, 0.9, 0.95):
        found = cl.match(
            replace(one.queries, records=asked, tables={}),
            archive=archive,
            qrels=place / f"{one.name}.qrels",
            precision=precision,
        ).decision
        assert found is not None
        cells = [one.name, f"{len(queries):,}", f"{sum(map(bool, left.values())):,}", precision]
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
    return [candidates.documents[i] for i in np.argsort(-scores, kind="stable").tolist()]


def reciprocal_rank_fusion(candidates: Candidates) -> np.ndarray:
    total = np.zeros(len(candidates.documents))
    for scores in (candidates.words, candidates.meaning):
        rank = np.empty(len(scores))
        rank[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
        total += 1 / (60 + rank)
    return total


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("--queries", type=int, default=800, help="at most, of each set")
    made.add_argument("--decide", action="store_true", help='the decision "no match" alone')
    made.add_argument("--learn", action="store_true", help="print the weights from all sets")
    made.add_argument("--speed", type=int, help="the time of one claim in so many")
    options = begin(made)
    if options.speed:
        with tempfile.TemporaryDirectory() as place:
            speed(options.speed, Path(place))
        return
    shared(folder=options.data)
    folder = options.data
    sets = matching_sets(folder)
    with tempfile.TemporaryDirectory() as place:
        if options.decide:
            print(
                "| set | queries | with an answer | precision asked for | precision | answered |"
                " precision of no match |\n|---|---|---|---|---|---|---|"
            )
            for one in sets:
                decisions(one, options.queries, Path(place))
            return
        asked = {one.name: candidates_of(one, options.queries, Path(place)) for one in sets}
    if options.learn:
        weights, bias = learned([*asked.values()])
        print(dict(zip(FEATURES, weights.round(3).tolist(), strict=True)), round(bias, 3))
    figures = "success@1 | success@10 | MRR | MRR less that of the better part"
    print(f"| set | archive | queries | matcher | {figures} |")
    print("|---|---|---|---|---|---|---|---|")
    for one in sets:
        others = [asked[other.name] for other in sets if other.family != one.family]
        weights, bias = learned(others)
        matchers = {
            "words (BM25)": lambda c: c.words,
            "sentence vectors": lambda c: c.meaning,
            "reciprocal rank fusion": reciprocal_rank_fusion,
            "ours, learned on the others": lambda c, w=weights, b=bias: fused(c, w, b),
        }
        better = np.zeros(0)
        for name, scored in matchers.items():
            lists = [(ranked(c, scored(c)), truth) for c, truth in asked[one.name]]
            values = {
                "success@1": [success(ids, truth, 1) for ids, truth in lists],
                "success@10": [success(ids, truth, 10) for ids, truth in lists],
                "MRR": [reciprocal_rank(ids, truth) for ids, truth in lists],
            }
            cells = [_cell(np.array(column, np.float64)) for column in values.values()]
            own = np.array(values["MRR"])
            is_part = name in ("words (BM25)", "sentence vectors")
            cells.append("" if is_part else _cell(own - better))
            if is_part and (not len(better) or own.mean() > better.mean()):
                better = own
            head = [one.name, f"{len(one.archive):,}", f"{len(lists):,}", name]
            print("| " + " | ".join([*head, *cells]) + " |", flush=True)


def _cell(values: np.ndarray) -> str:
    ends = mean_interval(values, draws=400)
    span = "" if ends is None else f" ({ends[0]:.3f} to {ends[1]:.3f})"
    return f"{values.mean():.3f}{span}"


if __name__ == "__main__":
    main()
