"""Are the scores of the default detector probabilities? Before and after smoothing what its
temperature is fitted to.

    python bench/calibration.py [NAME ...] [--data ../shared/data] [--most 6000]

For each dataset, `tfidf` is trained once on a split by near-duplicates (seed 0). Its test margins
are then put through a softmax with two temperatures: the most likely one on the dev rows, which is
how it was, and the one that is fitted to smoothed targets. Brier score, expected calibration error
(ten bins), log loss, scores that are exactly 0 or 1 as stored (with six decimals before, now with
nine), and AUROC with the share of records that share their score with another. Answers are the same
under both: the bench stops where they are not. No row is written anywhere.
"""

from __future__ import annotations

import numpy as np
from harness import begin, parser, shared
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.metrics import log_loss, roc_auc_score

import claimlab as cl
from claimlab.catalog.load import load
from claimlab.core.dataset import Dataset
from claimlab.detect import linear
from claimlab.detect.detector import Part
from claimlab.detect.detectors.tfidf import Tfidf
from claimlab.detect.tables import SCORE_DECIMALS
from claimlab.tasks.table import VERACITY

NAMES = ("isot", "covid19-fake-news", "fake-br", "liar")


def most_likely(margins: np.ndarray, truth: np.ndarray, classes: list[str]) -> float:
    """The temperature as it was: nothing keeps it from 0 where no dev row is wrong."""
    at = np.array([classes.index(t) for t in truth.tolist()])
    weight = 1 / np.bincount(at, minlength=len(classes))[at]

    def loss(log_temperature: float) -> float:
        likely = log_softmax(margins / np.exp(log_temperature), axis=1)[np.arange(len(at)), at]
        return float(-(weight * likely).sum())

    return float(np.exp(minimize_scalar(loss, bounds=(-5, 3), method="bounded").x))


def parts_of(dataset: Dataset) -> dict[str, Part]:
    records = cl.split(dataset, by="near-duplicates").dataset.records
    records = records.with_columns(truth=VERACITY.labels(records)).drop_nulls("truth")
    of = {name: records.filter(records["split"] == name) for name in ("train", "dev", "test")}
    return {name: Part(rows.drop("truth"), rows["truth"].to_list()) for name, rows in of.items()}


def measured(shares: np.ndarray, y: np.ndarray, decimals: int) -> str:
    stored = np.round(shares, decimals)
    brier = float(((shares - np.eye(shares.shape[1])[y]) ** 2).sum(axis=1).mean() / 2)
    confidence, right = shares.max(axis=1), shares.argmax(axis=1) == y
    bins = np.minimum((confidence * 10).astype(int), 9)
    gaps = [
        abs(confidence[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean()
        for b in set(bins.tolist())
    ]
    edges = int(((stored == 0) | (stored == 1)).any(axis=1).sum())
    auroc = roc_auc_score(y, stored[:, 1])
    ties = 1 - (np.unique(stored[:, 1], return_counts=True)[1] == 1).sum() / len(y)
    loss = log_loss(y, np.clip(shares, 1e-15, 1), labels=[0, 1])
    return f"{brier:7.4f} {sum(gaps):7.4f} {loss:8.4f} {edges:6,} {auroc:7.4f} {100 * ties:6.1f}"


def compare(name: str, dataset: Dataset, most: int) -> None:
    if len(dataset) > most:
        dataset = Dataset.build(dataset.name, dataset.records.sample(most, seed=0))
    parts = parts_of(dataset)
    seen: list[tuple[np.ndarray, np.ndarray, list[str]]] = []
    fitted = linear.temperature

    def noted(margins: np.ndarray, truth: np.ndarray, classes: list[str]) -> float:
        seen.append((margins, truth, classes))
        return fitted(margins, truth, classes)

    linear.temperature = noted
    try:
        detector = Tfidf()
        detector.fit(parts["train"], parts["dev"], seed=0)
    finally:
        linear.temperature = fitted
    margins = linear._margins(detector.linear.model, detector._matrix(parts["test"].records))
    y = np.array(
        [detector.linear.model.classes_.tolist().index(label) for label in parts["test"].labels]
    )
    wrong = int(
        (seen[0][0].argmax(axis=1) != [seen[0][2].index(t) for t in seen[0][1].tolist()]).sum()
    )
    before, after = most_likely(*seen[0]), detector.linear.temperature
    scores = {
        "before": softmax(margins / before, axis=1),
        "after": softmax(margins / after, axis=1),
    }
    assert (scores["before"].argmax(axis=1) == scores["after"].argmax(axis=1)).all(), (
        "answers changed"
    )
    print(f"{name}: {len(y):,} test records, {wrong} of {len(seen[0][1]):,} dev records wrong")
    for which, temperature, decimals in (("before", before, 6), ("after", after, SCORE_DECIMALS)):
        print(f"  {which:<7} {temperature:7.4f} {measured(scores[which], y, decimals)}", flush=True)


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("names", nargs="*", default=NAMES)
    made.add_argument(
        "--most", type=int, default=6_000, help="Of a larger dataset, this many records at random."
    )
    options = begin(made)
    print(
        f"  {'':<7} {'temp.':>7} {'Brier':>7} {'ECE':>7} {'log loss':>8} {'0 or 1':>6} {'AUROC':>7}"
        f" {'ties %':>6}"
    )
    for name in options.names:
        compare(name, load(name, shared(f"{name}.zip", options.data)), options.most)


if __name__ == "__main__":
    main()
