"""The linear models are scikit-learn's, nearer to the optimum than its own defaults come."""

from __future__ import annotations

import numpy as np
import pytest

from claimlab.text import linear
from claimlab.text.linear import Matrix, fit_logistic, fit_svm, margins, shares


def planted(classes: int, *, dense: bool, rows: int = 400) -> tuple[Matrix, np.ndarray]:
    """Rows whose label depends on a tenth of the columns and on chance, in unequal classes."""
    from scipy.sparse import random as sparse

    rng = np.random.default_rng(classes)
    if dense:
        matrix = rng.normal(size=(rows, 60)).astype(np.float32)
    else:
        matrix = sparse(rows, 1_000, 0.02, format="csr", dtype=np.float32, random_state=classes)
    signal = np.asarray(matrix[:, : matrix.shape[1] // 10].sum(axis=1)).ravel()
    signal = signal / signal.std() + rng.normal(size=rows)
    edges = np.quantile(signal, np.linspace(0, 1, classes + 1)[1:-1] ** 1.5)
    return matrix, np.array([f"c{k}" for k in np.digitize(signal, edges)])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("strength", [0.3, 10.0])
def test_logistic_regression_is_nearer_to_the_optimum_than_scikit_learn_by_default(
    classes: int, dense: bool, strength: float
) -> None:
    from sklearn.linear_model import LogisticRegression

    matrix, y = planted(classes, dense=dense)
    common = {"C": strength, "class_weight": "balanced", "max_iter": 500}
    exact = LogisticRegression(tol=1e-8, solver="newton-cg", **common).fit(
        matrix.astype(np.float64), y
    )
    usual = LogisticRegression(**common).fit(matrix, y)
    ours = fit_logistic(matrix, y, strength)
    truth = exact.predict_proba(matrix)
    gap = np.abs(shares(ours, matrix) - truth).max()
    assert gap < 5e-3
    assert gap <= np.abs(usual.predict_proba(matrix) - truth).max() + 1e-4
    assert list(ours.classes) == list(exact.classes_)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("dense", [True, False])
def test_without_the_compiled_descent_the_machine_is_the_same_to_its_tolerance(
    classes: int, dense: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sklearn.svm import LinearSVC

    monkeypatch.setattr(linear, "descend", None)
    matrix, y = planted(classes, dense=dense)
    peer = LinearSVC(C=1.0, class_weight="balanced", tol=1e-8, dual=False, max_iter=20_000)
    peer.fit(matrix, y)
    ours = fit_svm(matrix, y, 1.0)
    np.testing.assert_allclose(ours.coefficients, peer.coef_, rtol=0, atol=1e-2)
    np.testing.assert_allclose(ours.intercepts, peer.intercept_, rtol=0, atol=1e-2)
    answers = margins(ours, matrix, np.arange(len(y))).argmax(axis=1)
    assert (ours.classes[answers] == peer.predict(matrix)).mean() > 0.995


def test_a_single_class_is_certain() -> None:
    model = fit_logistic(np.ones((4, 2)), np.zeros(4, np.int64), 1.0)
    assert shares(model, np.ones((2, 2))).tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("strength", [0.1, 1.0, 3.0])
def test_sparse_rows_give_the_coefficients_of_scikit_learn(classes: int, strength: float) -> None:
    """To the last bit on this kind of processor; a fused multiply-add may round another way."""
    from scipy.sparse import random as sparse
    from sklearn.svm import LinearSVC

    pytest.importorskip("claimlab.text._descent", reason="the compiled loop was not built")
    matrix = sparse(600, 4_000, 0.02, format="csr", dtype=np.float32, random_state=classes)
    y = np.array([f"c{k}" for k in np.random.default_rng(classes).integers(0, classes, 600)])
    rows = np.flatnonzero(np.arange(600) % 7 > 0)
    ours = fit_svm(matrix, y[rows], strength, rows=rows, seed=3)
    peer = LinearSVC(
        C=strength, class_weight="balanced", tol=1e-2, max_iter=20_000, random_state=3, dual=True
    ).fit(matrix[rows], y[rows])
    np.testing.assert_allclose(ours.coefficients, peer.coef_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.intercepts, peer.intercept_, rtol=0, atol=1e-12)
    assert list(ours.classes) == list(peer.classes_)


def test_arrays_of_no_matrix_are_refused() -> None:
    module = pytest.importorskip("claimlab.text._descent", reason="the loop was not built")
    values, columns = np.ones(2, np.float32), np.array([0, 9], np.int32)
    starts, rows, labels = np.array([0, 1, 2]), np.array([0, 1]), np.array([0, 1], np.int32)
    weight, out = np.ones(1), np.zeros((1, 4))
    with pytest.raises(ValueError, match="do not belong to one matrix"):
        module.descend(values, columns, starts, rows, labels, weight, weight, 0.01, 9, 0, out)
