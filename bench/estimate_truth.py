"""How often the intervals of `claimlab review estimate` hold the true share.

    python bench/estimate_truth.py [--draws 1000]

Ten published datasets, whose labels are taken for what annotators would answer. Four judges answer
every record: a word model that was trained on other records, the same with a tenth of its answers
exchanged, one that calls everything with a long text false, and one that says false of half of the
true records. Three targets: the share of false records, the share that the judge has right, and
that of right labels where a tenth of them were exchanged. Samples of 50, 100 and 200 records, at
random or more where the judge is in doubt, and in one draw after another until the interval is
narrow enough. Groups (copies, pairs, events) stay in, as they are in the data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import polars as pl
from harness import begin, parser, shared

import claimlab as cl
from claimlab.core.stats.powered import JudgedSample, alone, powered
from claimlab.core.stats.scores import Floats

REAL = {
    "liar": "liar.zip",
    "liar-new": "liar-new.zip",
    "f3": "f3.zip",
    "covid19-fake-news": "covid19-fake-news.zip",
    "covid-fact": "covid-fact.zip",
    "fake-br": "fake-br.zip",
    "covid19-br": "covid19-br.zip",
    "fibvid": "fibvid.zip",
    "twitter15": "twitter15.zip",
    "isot": "isot.zip",
}
MOST = 3_000  # records of one dataset
SIZES = (50, 100, 200)
WIDTH = 0.15  # of the interval at which the sequential draws stop


def truth_and_texts(name: str, file: str) -> tuple[Floats, list[str]]:
    """1 for false, 0 for true; other labels are left out."""
    records = cl.load(name, source=shared(file)).records
    known = records.filter(pl.col("veracity").is_in(["true", "false"]))
    known = known.sample(min(MOST, known.height), seed=0)
    return (known["veracity"] == "false").cast(pl.Float64).to_numpy(), known["text"].to_list()


def word_model(truth: Floats, texts: list[str]) -> Floats:
    """The chance of "false" by a word model that never saw the record."""
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    words = HashingVectorizer(n_features=2**16, alternate_sign=False).transform(texts)
    model = LogisticRegression(C=10, solver="liblinear")
    return np.asarray(cross_val_predict(model, words, truth, cv=3, method="predict_proba")[:, 1])


def judges(
    truth: Floats, texts: list[str], rng: np.random.Generator
) -> Iterator[tuple[str, Floats]]:
    """Each judge's chance of "false"."""
    good = word_model(truth, texts)
    yield "word model", good
    yield "weak", np.where(rng.random(len(truth)) < 0.25, 1 - good, good)
    length = np.array([len(text) for text in texts])
    yield "length alone", (length > np.median(length)).astype(float)
    yield "biased", np.where((truth == 0) & (rng.random(len(truth)) < 0.5), 0.9, good)


def targets(
    truth: Floats, says: Floats, rng: np.random.Generator
) -> Iterator[tuple[str, Floats, Floats]]:
    """What annotators would say of each record, and what is known without them."""
    label = np.where(rng.random(len(truth)) < 0.1, 1 - truth, truth)
    yield "false", truth, says
    yield "judge right", (says == truth).astype(float), (says == label).astype(float)
    yield "label right", (label == truth).astype(float), (says == label).astype(float)


def drawn(human: Floats, judge: Floats, rows: np.ndarray, chance: Floats) -> JudgedSample:
    return JudgedSample(human[rows], judge[rows], chance[rows], len(human), float(judge.mean()))


def doubt_of(score: Floats, size: int) -> Floats:
    """Half of the chance is even, half grows with the doubt, as in review/choose."""
    doubt = np.sqrt(np.minimum(score, 1 - score))
    even = np.full(len(score), 1 / len(score))
    share = (even + doubt / doubt.sum()) / 2 if doubt.sum() else even
    return np.minimum(1.0, size * share)


def inside(interval: tuple[float, float], value: float) -> bool:
    return interval[0] <= value <= interval[1]


def one_cell(
    human: Floats, judge: Floats, score: Floats, draws: int, rng: np.random.Generator
) -> dict[str, list[float]]:
    """How often each interval holds, and what the judge saves at 100."""
    out: dict[str, list[float]] = defaultdict(list)
    true, even = float(human.mean()), np.ones(len(human))
    for _ in range(draws):
        order = rng.permutation(len(human))
        for size in SIZES:
            if size > len(human) / 2:
                continue
            sample = drawn(human, judge, order[:size], even)
            both, people = powered(sample), alone(sample)
            out[f"n = {size}"].append(inside(both.interval, true))
            out["annotators alone"].append(inside(people.interval, true))
            if size == 100 and people.width:
                out["saved"].append(1 - (both.width / people.width) ** 2)
        chance = doubt_of(score, 100)
        rows = np.flatnonzero(rng.random(len(human)) < chance)
        out["by doubt"].append(inside(powered(drawn(human, judge, rows, chance)).interval, true))
        out["stopped"].append(inside(_stopped(human, judge, order), true))
    return out


def _stopped(human: Floats, judge: Floats, order: np.ndarray) -> tuple[float, float]:
    """The interval at the first look at which it is narrow enough."""
    even = np.ones(len(human))
    always = (0.0, 1.0)
    for size in range(20, min(len(order), 1_500), 20):
        always = powered(drawn(human, judge, order[:size], even)).always
        if always[1] - always[0] <= WIDTH:
            break
    return always


def main() -> None:
    arguments = parser(__doc__, data=True)
    arguments.add_argument("--draws", type=int, default=1_000)
    args = begin(arguments)
    rng = np.random.default_rng(0)
    cells: dict[tuple[str, str], list[dict[str, list[float]]]] = defaultdict(list)
    off: dict[str, list[bool]] = defaultdict(list)
    for name, file in REAL.items():
        truth, texts = truth_and_texts(name, file)
        for judge, score in judges(truth, texts, rng):
            says = (score > 0.5).astype(float)
            off[judge].append(abs(float(says.mean() - truth.mean())) < 0.02)
            for target, human, known in targets(truth, says, rng):
                cells[judge, target].append(one_cell(human, known, score, args.draws, rng))
        print(f"{name}: {len(truth):,} records", flush=True)
    heads = [*(f"n = {size}" for size in SIZES), "by doubt", "stopped", "annotators alone", "saved"]
    print("| judge | target | " + " | ".join(heads) + " |")
    print("|---|---|" + "---:|" * len(heads))
    for (judge, target), found in cells.items():
        shares = [_mean(found, head) for head in heads]
        print(f"| {judge} | {target} | " + " | ".join(shares) + " |")
    every = [cell for found in cells.values() for cell in found]
    print("| all | | " + " | ".join(_mean(every, head) for head in heads) + " |")
    lowest = min(
        (float(np.mean(cell[head])), head, *key)
        for key, found in cells.items()
        for cell in found
        for head in heads[:3]
        if cell[head]
    )
    print(f"Lowest coverage of one dataset: {100 * lowest[0]:.1f} ({', '.join(lowest[1:])})")
    for judge, close in off.items():
        print(f"{judge} alone is within 2 points of the share of false on {sum(close)} of 10")


def _mean(found: list[dict[str, list[float]]], head: str) -> str:
    values = [np.mean(one[head]) for one in found if one[head]]
    return f"{100 * float(np.mean(values)):.1f}" if values else ""


if __name__ == "__main__":
    main()
