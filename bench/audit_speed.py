"""What an audit costs, in processor seconds.

    python bench/audit_speed.py keywords   the keyword check on 180,000 synthetic posts, against the
                                           usual way
    python bench/audit_speed.py liar       every check on LIAR (needs the real data), check by check
    python bench/audit_speed.py curve      every check on 10,000 to 1,000,000 synthetic records:
                                           seconds and memory

Processor seconds do not depend on what else the machine does; compare them within one run only.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from harness import Row, apart, begin, best, compare, parser, record, shared

from claimlab.audit import cdl
from claimlab.audit.cdl import fold, vote
from claimlab.audit.run import audit
from claimlab.audit.subject import Subject
from claimlab.core.dataset import Dataset
from claimlab.core.stats.scores import confusion, macro_f1
from claimlab.text.stopwords import tidytext_stop_words

PLANTED = " zorvex quilbar hexlund wyndor jaspel"
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)


def synthetic(n: int, seed: int = 0) -> Dataset:
    """Posts of invented words; half of the false ones end in the same five words, as boilerplate
    does.

    A post holds 2.9 of the 40 most frequent words; in LIAR, COVID19-fake-news, ISOT, Twitter15 and
    Fakeddit a text holds 0.4 to 2.1, so that patterns repeat less here than there.
    """
    rng = np.random.default_rng(seed)
    syllables = [c + v for c in "bdfgklmnprstvz" for v in ("a", "e", "i", "o", "u")]
    stop = tidytext_stop_words()
    words = list(
        dict.fromkeys("".join(rng.choice(syllables, rng.integers(2, 5))) for _ in range(30_000))
    )
    vocabulary = np.array([w for w in words if w not in stop and len(w) > 3][:20_000])
    weight = 1 / (
        np.arange(len(vocabulary)) + 50
    )  # the head of the curve is stop words, and those are gone
    false = rng.random(n) < 0.5
    length = rng.integers(8, 26, n)
    drawn = vocabulary[rng.choice(len(vocabulary), int(length.sum()), p=weight / weight.sum())]
    ends = np.cumsum(length)
    planted = rng.random(n) < np.where(false, 0.5, 0.02)
    texts = [
        " ".join(drawn[e - k : e]) + (PLANTED if p else "")
        for e, k, p in zip(ends, length, planted, strict=True)
    ]
    days = np.datetime64(datetime(2020, 1, 1), "us") + rng.integers(0, 900, n).astype(
        "timedelta64[D]"
    )
    frame = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(n)],
            "text": texts,
            "kind": "post",
            "veracity": np.where(false, "false", "true"),
            "language": "eng",
            "date": days,
            "source": [f"source {i}" for i in rng.integers(0, 400, n)],
            "author": [f"author {i}" for i in rng.integers(0, n // 8 + 1, n)],
            "topic": [f"topic {i}" for i in rng.integers(0, 12, n)],
            "url": [f"https://site{i % 997}.example/{i}" for i in rng.integers(0, 4 * n, n)],
        }
    )
    return Dataset.build("synthetic", frame)


def keywords(n: int) -> None:
    """Same posts, same words, same split; ours against CountVectorizer and a sparse random forest.
    Best of three.
    """
    subject = Subject.of(synthetic(n))
    peer_keywords(subject.take(np.arange(500)))  # imports are not what is measured
    costs = compare({"ours": lambda: cdl.keywords(subject), "peer": lambda: peer_keywords(subject)})
    ours, peer = costs["ours"].result, costs["peer"].result
    # The forests grow in different orders: ours on the peer's very matrix shows what the order
    # alone changes.
    x_train, x_test = (
        np.asarray(part.todense(), dtype=np.uint8) for part in (peer.x_train, peer.x_test)
    )
    guess = vote(x_train, peer.y_train, x_test, 2, seed=cdl.SEED)
    again = float(macro_f1(confusion(peer.y_test, guess, 2)))
    patterns = fold(x_train, peer.y_train, 2)[0].shape[1]
    same = set(ours.words) == set(peer.words)
    print(
        f"{n:,} posts, 40 words (the same: {same}); {patterns:,} distinct patterns in"
        f" {len(x_train):,} rows\n"
    )
    print("| | processor seconds | macro-F1 |\n|---|---|---|")
    print(f"| claimlab | {costs['ours'].cpu:.1f} | {100 * ours.score:.2f} |")
    print(
        f"| CountVectorizer + sparse RandomForest | {costs['peer'].cpu:.1f} |"
        f" {100 * peer.score:.2f} |"
    )
    print(f"| claimlab's forest on the peer's matrix | | {100 * again:.2f} |")
    difference = 100 * (ours.score - peer.score)
    print(f"\nscores differ by {difference:+.2f} points")
    record(
        Row(
            "audit",
            f"keyword check, {n:,} posts",
            "scikit-learn",
            costs["ours"].cpu,
            costs["peer"].cpu,
        )
    )


@dataclass(frozen=True)
class Peer:
    score: float
    words: list[str]
    x_train: Any
    x_test: Any
    y_train: Any
    y_test: Any


def peer_keywords(subject: Subject) -> Peer:
    """The keyword check as most would write it with scikit-learn."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.model_selection import train_test_split

    stop = [
        w for w in sorted(tidytext_stop_words()) if "'" not in w
    ]  # its words have no apostrophes
    vectorizer = CountVectorizer(max_features=40, binary=True, stop_words=stop)
    matrix = vectorizer.fit_transform(subject.rows["text"].to_list())
    x_train, x_test, y_train, y_test = train_test_split(
        matrix, subject.y, test_size=cdl.TEST_SHARE, random_state=cdl.SEED, stratify=subject.y
    )
    forest = RandomForestClassifier(100, max_leaf_nodes=20, random_state=cdl.SEED).fit(
        x_train, y_train
    )
    hard = np.stack([tree.predict(x_test) for tree in forest.estimators_]).mean(axis=0) > 0.5
    score = float(macro_f1(confusion(y_test, hard.astype(np.int64), 2)))
    return Peer(score, list(vectorizer.get_feature_names_out()), x_train, x_test, y_train, y_test)


def liar(folder: Path) -> None:
    from claimlab.catalog.load import load
    from claimlab.core.progress import reporting

    data = load("liar", shared("liar.zip", folder))
    marks: list[tuple[str, float]] = []

    def progress(label: str, done: int, total: int | None) -> None:
        name = label.partition(": ")[2]
        if name:  # a check; steps within it have labels of their own
            marks.append((name, time.process_time()))
        print(f"{done:>3}/{total} {label}", file=sys.stderr)

    with reporting(progress):
        result = audit(data)
    print(f"LIAR, {result.labelled:,} labelled records, {len(result.findings)} findings\n")
    print("| check | processor seconds |\n|---|---|")
    for (name, start), (_, end) in pairwise(marks):
        print(f"| {name} | {end - start:.2f} |")
    print(f"| all | {marks[-1][1] - marks[0][1]:.2f} |")
    record(
        Row(
            "audit",
            f"every check, LIAR ({result.labelled:,} records)",
            "",
            marks[-1][1] - marks[0][1],
        )
    )


def curve(sizes: list[int]) -> None:
    """Each point in a process of its own, so that its memory is its own."""
    points = []
    print(
        "| records | processor seconds | seconds per 10,000 | peak memory, MB |\n|---|---|---|---|"
    )
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder:
            synthetic(n).write(Path(folder) / "data")
            cost = apart(point, folder)
        points.append((n, cost.result))
        print(
            f"| {n:,} | {cost.result:.1f} | {1e4 * cost.result / n:.2f} | {cost.memory:,.0f} |",
            flush=True,
        )
        record(Row("audit", f"every check, {n:,} synthetic records", "", cost.result))
    slopes = [np.log(b[1] / a[1]) / np.log(b[0] / a[0]) for a, b in pairwise(points)]
    print(
        "\ngrowth between points, as a power of the records:"
        f" {', '.join(f'{s:.2f}' for s in slopes)} (1 is linear)"
    )


def point(folder: str) -> float:
    """Processor seconds of one audit, without those of opening the data."""
    data = Dataset.open(Path(folder) / "data")
    return best(lambda: audit(data, debug=True), 1).cpu


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("what", choices=["keywords", "liar", "curve"])
    made.add_argument("--rows", type=int, default=180_000, help="posts for the keyword check")
    made.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="records for the curve")
    options = begin(made)
    if options.what == "keywords":
        keywords(options.rows)
    elif options.what == "liar":
        liar(options.data)
    else:
        curve(options.sizes)


if __name__ == "__main__":
    main()
