"""What the scores of TF-IDF on published datasets are made of, and whether own signal carries over.

    python bench/defend_real.py table [--pages DIR]
    python bench/defend_real.py plain [--random] [--only NAME]
    python bench/defend_real.py transfer

`table` runs load, detect and defend, and prints the table of docs/defend.md; `--pages` keeps the
pages. `plain` counts a and b again with scikit-learn and the formula for two classes alone, once
with classes as they are and once balanced; `--random` splits at random instead of as the authors
do.

`transfer` tests a prediction that was written down before its first run: **of detectors that were
trained on A, the order by own signal b on the test records of A agrees better with the order of
their accuracy on B than the order by accuracy on A does.** Five datasets give 20 pairs (A, B); each
has seven detectors (words, characters and sentence openings by TF-IDF, naive Bayes, keywords,
surface, length). Agreement is Kendall's tau-b; the prediction holds where the mean difference over
the pairs has a 95% interval above 0 (whole datasets A resampled).
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from harness import begin, parser, shared
from scipy.stats import kendalltau
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import claimlab as cl
from claimlab.core.stats.attribution import attribute
from claimlab.evaluate.defend.result import Defence, SeenBefore

TABLE = ("liar", "f3", "covid-fact", "fake-br")
PAIRED = ("liar", "f3", "covid19-fake-news", "fibvid", "fakenewsnet")
MOST = 3_000
Rows = tuple[list[str], np.ndarray]


def halves(name: str, data: Path, most: int = MOST, random: bool = False) -> tuple[Rows, Rows]:
    """Training and test texts, two classes: the authors' split, or one of whole groups."""
    dataset = cl.load(name, shared(f"{name}.zip", data))
    parts = set(dataset.records["split"].drop_nulls().to_list())
    if random or not {"train", "test"} <= parts:
        dataset = cl.split(
            dataset, by="random" if random or name != "covid-fact" else "group"
        ).dataset
    rows = dataset.records.filter(pl.col("veracity").is_in(["true", "false"]))
    rows = rows.filter(pl.col("text").str.len_chars() > 0)
    both = []
    for side in ("train", "test"):
        mine = rows.filter(split=side)
        mine = mine.sample(min(most, mine.height), seed=0)
        labels = (mine["veracity"] == "false").to_numpy().astype(np.int64)
        both.append((mine["text"].str.head(1_000).to_list(), labels))
    return both[0], both[1]


def surface(texts: list[str]) -> np.ndarray:
    """Length, case, punctuation, digits: what needs no reading."""
    counts = [
        (
            np.log1p(len(text)),
            *(sum(map(test, text)) / max(1, len(text)) for test in (str.isupper, str.isdigit)),
            *(text.count(mark) / max(1, len(text)) for mark in "!?.,:\"'#@/"),
        )
        for text in texts
    ]
    return np.array(counts)


def detectors(weight: str | None = "balanced") -> dict[str, Any]:
    def fit() -> LogisticRegression:
        return LogisticRegression(max_iter=1_000, class_weight=weight)

    def opening(texts: list[str]) -> list[str]:
        return [" ".join(text.split()[:5]) for text in texts]

    def length(texts: list[str]) -> np.ndarray:
        return np.log1p([[len(text)] for text in texts])

    return {
        "words": make_pipeline(TfidfVectorizer(ngram_range=(1, 2), min_df=2), fit()),
        "characters": make_pipeline(
            TfidfVectorizer(analyzer="char", ngram_range=(3, 5), max_features=30_000), fit()
        ),
        "openings": make_pipeline(FunctionTransformer(opening), TfidfVectorizer(), fit()),
        "naive Bayes": make_pipeline(TfidfVectorizer(min_df=2), MultinomialNB(alpha=0.3)),
        "keywords": make_pipeline(TfidfVectorizer(max_features=60), fit()),
        "surface": make_pipeline(FunctionTransformer(surface), StandardScaler(), fit()),
        "length": make_pipeline(FunctionTransformer(length), StandardScaler(), fit()),
    }


def transfer(data: Path) -> None:
    sets = {name: halves(name, data) for name in PAIRED}
    taus: dict[str, list[tuple[float, float]]] = {}
    print("| trained on | tried on | tau of accuracy | tau of own signal |\n|---|---|---:|---:|")
    for name, ((texts, labels), (asked, truth)) in sets.items():
        fitted = {kind: detector.fit(texts, labels) for kind, detector in detectors().items()}
        own = {kind: detector.predict(asked) for kind, detector in fitted.items()}
        groups, shortcut = np.arange(len(truth)), own["surface"]
        accuracy, signal = [], []
        for kind in fitted:
            accuracy.append(float((own[kind] == truth).mean()))
            # surface copies itself: its own signal is 0 by definition
            defence = (
                None
                if kind == "surface"
                else attribute(truth, own[kind], [shortcut], groups, 2, draws=200)
            )
            signal.append(0.0 if defence is None else defence.own[0])
        for other, (_, (foreign, right)) in sets.items():
            if other == name:
                continue
            there = [
                float((detector.predict(foreign) == right).mean()) for detector in fitted.values()
            ]
            pair = tuple(float(kendalltau(by, there).statistic) for by in (accuracy, signal))
            taus.setdefault(name, []).append((pair[0], pair[1]))
            print(f"| {name} | {other} | {pair[0]:.2f} | {pair[1]:.2f} |", flush=True)
    gains = np.array([[b - a for a, b in pairs] for pairs in taus.values()])
    rng = np.random.default_rng(0)
    drawn = [gains[rng.integers(len(gains), size=len(gains))].mean() for _ in range(2_000)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    better, worse = int((gains > 0).sum()), int((gains < 0).sum())
    print(f"\nMean tau of accuracy less that of own signal, over {gains.size} pairs:")
    print(f"own signal is better by {gains.mean():+.3f} (95% interval {low:+.3f} to {high:+.3f});")
    print(f"better in {better} pairs, worse in {worse}.")
    print("The prediction holds." if low > 0 else "The prediction is not shown to hold.")


def plain(data: Path, random: bool = False, only: str | None = None) -> None:
    print("| dataset | classes | accuracy | majority | shortcut | a | b |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name in [only] if only else (*TABLE, "covid19-fake-news"):
        (texts, labels), (asked, truth) = halves(name, data, 12_000, random)
        for weight in (None, "balanced"):
            kinds = detectors(weight)
            run, shortcut = (
                kinds[kind].fit(texts, labels).predict(asked) for kind in ("words", "surface")
            )
            hit, right = run == truth, shortcut == truth
            a = hit[right].mean() - hit[~right].mean()
            b = 2 * hit[~right].mean() - 1 + a
            majority = max(truth.mean(), 1 - truth.mean())
            figures = (hit.mean(), majority, right.mean(), a, b)
            cells = " | ".join(f"{100 * value:.1f}" for value in figures)
            print(f"| {name} | {weight or 'as they are'} | {cells} |", flush=True)


def table(data: Path, pages: Path | None) -> None:
    print("| dataset | macro-F1 | shortcut | repeats it (a) | knows the label (b) ", end="")
    print(
        "| with a near-duplicate in training | with a paraphrase | weak subgroups |\n"
        "|---|---:|---|---:|---:|---:|---:|---:|"
    )
    with tempfile.TemporaryDirectory() as scratch:
        for name in TABLE:
            dataset = cl.load(name, shared(f"{name}.zip", data))
            if not (dataset.records["split"] == "test").any():
                dataset = cl.split(
                    dataset, by="group" if name == "covid-fact" else "random"
                ).dataset
            dataset.write(Path(scratch) / name)
            run = cl.detect(Path(scratch) / name, output=Path(scratch) / f"{name}.run")
            known = cl.defend(run, data=Path(scratch) / name)
            if pages is not None:
                known.save(pages / name, force=True)
            print(f"| {' | '.join([name, *cells(known)])} |", flush=True)


def cells(defence: Defence) -> list[str]:
    shares = defence.copied.shares
    parts = ["not measured"] * 2
    if shares is not None:
        parts = [
            f"{100 * value:.1f}"
            + (f" ({100 * ends[0]:.1f} to {100 * ends[1]:.1f})" if ends else "")
            for value, ends in (shares.shortcuts[0], shares.own)
        ]
    return [
        f"{100 * (defence.run.scores.macro_f1 or 0):.1f}",
        str(defence.copied.feature),
        *parts,
        *(shown(seen) for seen in (defence.seen, *defence.known)),
        f"{len(defence.search.found)} of {defence.search.looked_at}",
    ]


def shown(seen: SeenBefore) -> str:
    many = f"{seen.seen:,} of {seen.seen + seen.new:,}"
    if seen.difference is None or seen.difference.interval is None:
        return many
    gap, low, high = (100 * one for one in (seen.difference.value, *seen.difference.interval))
    return f"{many}: {gap:+.1f} ({low:+.1f} to {high:+.1f})"


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("what", choices=("table", "plain", "transfer"))
    made.add_argument("--pages", type=Path, help="keep the pages in this folder")
    made.add_argument("--random", action="store_true", help="plain: split at random")
    made.add_argument("--only", help="plain: one dataset")
    options = begin(made)
    shared(folder=options.data)
    if options.what == "table":
        table(options.data, options.pages)
    elif options.what == "plain":
        plain(options.data, options.random, options.only)
    else:
        transfer(options.data)


if __name__ == "__main__":
    main()
