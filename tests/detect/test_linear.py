from __future__ import annotations

import numpy as np
import pytest

from claimlab.detect.linear import (
    STRENGTHS,
    Kind,
    Linear,
    as_predictions,
    stratified,
    temperature,
)
from claimlab.detect.tables import SCORE_DECIMALS
from claimlab.text.linear import margins as margins_of


def clouds(n: int, classes: int, seed: int = 0) -> tuple[np.ndarray, list[str]]:
    """Points around one corner per class: easy, but not without errors."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    return (2.5 * np.eye(classes)[y] + rng.normal(size=(n, classes))).astype(np.float32), [
        f"c{k}" for k in y
    ]


@pytest.mark.parametrize("kind", ["svm", "logistic"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("with_dev", [True, False])
def test_classes_are_told_apart_and_scores_agree_with_labels(
    kind: Kind, classes: int, with_dev: bool
) -> None:
    (x, y), (dev, dev_y), (test, test_y) = (
        clouds(300, classes),
        clouds(80, classes, 1),
        clouds(300, classes, 2),
    )
    model = Linear(kind)
    if with_dev:
        model.fit(np.concatenate([x, dev]), y, dev_labels=dev_y, seed=0)
    else:
        model.fit(x, y, seed=0)
    found = model.predict(test)
    assert np.mean([p.label == t for p, t in zip(found, test_y, strict=True)]) > 0.85
    assert all(p.label == max(p.scores, key=lambda c: p.scores[c]) for p in found)
    assert all(sum(p.scores.values()) == pytest.approx(1) for p in found)
    assert model.chosen in STRENGTHS[kind]


def test_dev_rows_are_learnt_from_too() -> None:
    x, y = clouds(40, 2)
    model = Linear("svm", strength=1.0)
    model.fit(x, y[:20], dev_labels=y[20:], seed=0)
    alone = Linear("svm", strength=1.0)
    alone.fit(x, y, seed=0)
    assert np.allclose(model.model.coefficients, alone.model.coefficients, atol=1e-2)


def test_temperature_finds_the_scale_that_the_scores_had() -> None:
    rng = np.random.default_rng(0)
    margins = rng.normal(size=(20_000, 2)) * 2
    likely = np.exp(margins) / np.exp(margins).sum(1, keepdims=True)
    truth = (rng.random(20_000) < likely[:, 1]).astype(int)
    assert temperature(margins, truth, [0, 1]) == pytest.approx(1, rel=0.1)
    assert temperature(margins * 5, truth, [0, 1]) == pytest.approx(5, rel=0.1)


def test_a_dev_class_that_training_never_met_is_no_crash() -> None:
    x, y = clouds(60, 2)
    model = Linear()
    model.fit(np.concatenate([x, x[:2]]), y, dev_labels=["other", "other"], seed=0)
    assert {p.label for p in model.predict(x)} <= {"c0", "c1", "other"}


def test_scores_are_tempered_not_clamped() -> None:
    sharp, flat = (
        as_predictions(np.array([[3.0, 1.0]]), ["a", "b"], t)[0].scores["a"] for t in (0.5, 5.0)
    )
    assert 0.5 < flat < sharp < 1


@pytest.mark.parametrize("kind", ["svm", "logistic"])
@pytest.mark.parametrize("classes", [2, 3])
def test_no_score_is_certain_where_nothing_was_wrong_on_dev(kind: Kind, classes: int) -> None:
    """Separable data: without a bound the temperature goes to 0 and the scores to 0 and 1."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, 900)
    x = (6 * np.eye(classes)[y] + 0.3 * rng.normal(size=(900, classes))).astype(np.float32)
    labels = [f"c{k}" for k in y]
    model = Linear(kind)
    model.fit(x[:600], labels[:400], dev_labels=labels[400:600], seed=0)
    found = model.predict(x[600:])
    assert [p.label for p in found] == labels[600:]
    stored = np.array(
        [[round(p.scores[f"c{k}"], SCORE_DECIMALS) for k in range(classes)] for p in found]
    )
    assert ((stored > 0) & (stored < 1)).all()
    margins = margins_of(model.model, x, np.arange(600, 900))
    for k in range(
        classes if classes == 2 else 0
    ):  # of two classes, the score rises with the margin
        order = np.argsort(margins[:, k])
        assert (np.diff(stored[order, k]) >= 0).all()
        assert len(np.unique(stored[:, k])) == len(stored)


@pytest.mark.parametrize("classes", [2, 3])
def test_temperature_is_where_scipy_finds_the_lowest_loss(classes: int) -> None:
    from scipy.optimize import minimize_scalar
    from scipy.special import log_softmax

    rng = np.random.default_rng(classes)
    margins = 3 * rng.normal(size=(500, classes))
    truth = np.where(rng.random(500) < 0.7, margins.argmax(axis=1), rng.integers(0, classes, 500))
    size = np.bincount(truth)[truth]
    target = (size[:, None] * np.eye(classes)[truth] + 1) / (size + classes)[:, None]

    def loss(logarithm: float) -> float:
        likely = log_softmax(margins / np.exp(logarithm), axis=1)
        return float(-((target * likely).sum(axis=1) / size).sum())

    peer = np.exp(minimize_scalar(loss, bounds=(-5, 3), method="bounded").x)
    assert temperature(margins, truth, list(range(classes))) == pytest.approx(peer, rel=1e-5)


@pytest.mark.parametrize("classes", [2, 5])
def test_folds_are_those_of_scikit_learn(classes: int) -> None:
    from sklearn.model_selection import StratifiedKFold

    y = np.random.default_rng(classes).integers(0, classes, 103).astype(str)
    peer = StratifiedKFold(3, shuffle=True, random_state=7).split(y, y)
    fold = stratified(y, 3, 7)
    for number, (_, test) in enumerate(peer):
        np.testing.assert_array_equal(np.flatnonzero(fold == number), test)


def test_a_model_without_an_error_is_taken_to_err_about_once_in_n() -> None:
    for n in (20, 200, 2_000):
        margins = np.repeat([[1.0, -1.0], [-1.0, 1.0]], n, axis=0)
        t = temperature(margins, np.repeat([0, 1], n), [0, 1])
        assert 1 / (1 + np.exp(-2 / t)) == pytest.approx((n + 1) / (n + 2), abs=1e-3)
